package extension

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lola-ext/lola/host/internal/strictyaml"
)

// The schema in docs is for editors; the parser decides. Held here: what the parser takes the schema takes, what the parser
// refuses the schema refuses too unless it cannot say it, and both know the same fields.

func loadSchema(t testing.TB) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../docs/extension.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSchemaAgrees(t *testing.T) {
	schema := loadSchema(t)
	texts := map[string]string{"full": full, "a source": goodSource}
	for _, c := range manifests {
		text := manifestText(t, c.change)
		var v map[string]any
		if err := strictyaml.Parse([]byte(text), &v); err != nil {
			if c.want == "" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue // no YAML, no schema
		}
		err := validate(schema, schema, v, "")
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: the parser takes it and the schema does not: %v", c.name, err)
		case c.want != "" && !c.lenient && err == nil:
			t.Errorf("%s: the schema takes it and the parser does not", c.name)
		case c.lenient && err != nil:
			t.Errorf("%s: the schema can say it after all: %v", c.name, err)
		}
	}
	for name, text := range texts {
		var v map[string]any
		if err := strictyaml.Parse([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, schema, v, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaFields(t *testing.T) {
	schema := loadSchema(t)
	at := func(path ...string) []string {
		t.Helper()
		node := schema
		for _, p := range path {
			next, ok := node[p].(map[string]any)
			if !ok {
				t.Fatalf("the schema has no %q", path)
			}
			node = next
		}
		if node["additionalProperties"] != false {
			t.Errorf("%q takes unknown fields", path)
		}
		return slices.Sorted(maps.Keys(node["properties"].(map[string]any)))
	}
	for _, c := range []struct {
		fields []string
		schema []string
	}{
		{manifestFields, at()},
		{limitNames(), at("properties", "limits")},
		{paramFields, at("properties", "params", "additionalProperties")},
		{userFields, at("properties", "user")},
	} {
		if want := slices.Sorted(slices.Values(c.fields)); !slices.Equal(c.schema, want) {
			t.Errorf("the schema has %q, the parser %q", c.schema, want)
		}
	}
	for f := range refusedFields {
		if slices.Contains(manifestFields, f) {
			t.Errorf("field %q is both known and refused", f)
		}
	}
	var v map[string]any
	if err := strictyaml.Parse([]byte(full), &v); err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(v)), slices.Sorted(slices.Values(manifestFields)); !slices.Equal(got, want) {
		t.Errorf("the full manifest of the tests has %q, want all of %q", got, want)
	}
}

// The page for authors names every field, and the manifest that it shows is one.
func TestGuide(t *testing.T) {
	data, err := os.ReadFile("../../docs/writing-an-extension.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, ok := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "## The manifest\n")
	if !ok {
		t.Fatal("the page has no part on the manifest")
	}
	for _, f := range manifestFields {
		if !strings.Contains(page, "\n| `"+f+"` | ") {
			t.Errorf("the table of fields has no %q", f)
		}
	}
	for _, f := range slices.Concat(limitNames(), paramFields, userFields, slices.Collect(maps.Keys(refusedFields))) {
		if !strings.Contains(page, "`"+f+"`") {
			t.Errorf("the page does not name %q", f)
		}
	}
	_, rest, _ := strings.Cut(page, "```yaml\n")
	manifest, rest, _ := strings.Cut(rest, "```")
	for {
		_, after, ok := strings.Cut(rest, "```yaml\n")
		if !ok {
			break
		}
		var more string
		more, rest, _ = strings.Cut(after, "```")
		manifest += more // the other examples are parts of one
	}
	m, err := ParseManifest([]byte(manifest))
	if err != nil {
		t.Fatalf("%v, of\n%s", err, manifest)
	}
	if len(m.Writes) == 0 || len(m.Params) == 0 || m.User == nil || m.Limits.GuestMemory == 0 {
		t.Errorf("got %+v", m)
	}
}

// validate holds a value to the part of JSON Schema 2020-12 that our schema uses. A keyword that it does not know fails.
func validate(root, schema map[string]any, v any, at string) error {
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		arg := schema[key]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("%s: %s: %s", at, key, fmt.Sprintf(format, args...))
		}
		object, isObject := v.(map[string]any)
		list, isList := v.([]any)
		text, isText := v.(string)
		n, isNumber := whole(v)
		switch key {
		case "$schema", "$id", "$defs", "title", "description":
		case "$ref":
			name, ok := strings.CutPrefix(arg.(string), "#/$defs/")
			if !ok {
				return bad("%v", arg)
			}
			target, ok := root["$defs"].(map[string]any)[name].(map[string]any)
			if !ok {
				return bad("%v is not there", arg)
			}
			if err := validate(root, target, v, at); err != nil {
				return err
			}
		case "type":
			types, ok := arg.([]any)
			if !ok {
				types = []any{arg}
			}
			if !slices.ContainsFunc(types, func(want any) bool { return typeOf(v) == want }) {
				return bad("%v is not %v", v, arg)
			}
		case "const":
			if !equal(v, arg) {
				return bad("%v is not %v", v, arg)
			}
		case "enum":
			if !slices.ContainsFunc(arg.([]any), func(want any) bool { return equal(v, want) }) {
				return bad("%v is not among %v", v, arg)
			}
		case "anyOf":
			var err error
			if !slices.ContainsFunc(arg.([]any), func(s any) bool { err = validate(root, s.(map[string]any), v, at); return err == nil }) {
				return bad("%v", err)
			}
		case "allOf":
			for _, s := range arg.([]any) {
				if err := validate(root, s.(map[string]any), v, at); err != nil {
					return err
				}
			}
		case "required":
			for _, name := range arg.([]any) {
				if _, ok := object[name.(string)]; isObject && !ok {
					return bad("%v is missing", name)
				}
			}
		case "maxProperties":
			if isObject && float64(len(object)) > arg.(float64) {
				return bad("%d", len(object))
			}
		case "propertyNames":
			for name := range object {
				if err := validate(root, arg.(map[string]any), name, at+"."+name); err != nil {
					return err
				}
			}
		case "properties":
			for name, s := range arg.(map[string]any) {
				if value, ok := object[name]; ok {
					if err := validate(root, s.(map[string]any), value, at+"."+name); err != nil {
						return err
					}
				}
			}
		case "additionalProperties":
			known, _ := schema["properties"].(map[string]any)
			for name, value := range object {
				if _, ok := known[name]; ok {
					continue
				}
				s, ok := arg.(map[string]any)
				if !ok {
					return bad("%q", name)
				}
				if err := validate(root, s, value, at+"."+name); err != nil {
					return err
				}
			}
		case "items":
			for i, e := range list {
				if err := validate(root, arg.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		case "uniqueItems":
			for i, e := range list {
				if slices.ContainsFunc(list[:i], func(o any) bool { return equal(e, o) }) {
					return bad("%v stands twice", e)
				}
			}
		case "minItems", "maxItems":
			if c := float64(len(list)) - arg.(float64); isList && (key == "minItems" && c < 0 || key == "maxItems" && c > 0) {
				return bad("%d entries", len(list))
			}
		case "minLength", "maxLength":
			if c := float64(utf8.RuneCountInString(text)) - arg.(float64); isText && (key == "minLength" && c < 0 || key == "maxLength" && c > 0) {
				return bad("%q", text)
			}
		case "pattern":
			if isText && !regexp.MustCompile(arg.(string)).MatchString(text) {
				return bad("%q", text)
			}
		case "minimum":
			if isNumber && float64(n) < arg.(float64) {
				return bad("%d", n)
			}
		default:
			return bad("this test does not know the keyword")
		}
	}
	return nil
}

func typeOf(v any) string {
	if _, ok := whole(v); ok {
		return "integer"
	}
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func equal(a, b any) bool {
	if n, ok := whole(a); ok {
		f, isFloat := b.(float64)
		return isFloat && f == float64(n)
	}
	if typeOf(a) == "array" || typeOf(a) == "object" || typeOf(b) == "array" || typeOf(b) == "object" {
		return false
	}
	return a == b
}
