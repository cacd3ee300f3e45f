package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const schemaFile = "../../../docs/report.schema.json"

// schema is what the test reads of JSON Schema, which is all that the file uses.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Const       any                `json:"const"`
	Enum        []string           `json:"enum"`
	Pattern     string             `json:"pattern"`
	Minimum     *float64           `json:"minimum"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Items       *schema            `json:"items"`
	Defs        map[string]*schema `json:"$defs"`
	Draft       string             `json:"$schema"`
	ID          string             `json:"$id"`
	Title       string             `json:"title"`
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	f, err := os.Open(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields() // or the test would pass over it
	var s schema
	if err := dec.Decode(&s); err != nil {
		t.Fatalf("%s: %v", schemaFile, err)
	}
	return &s
}

func (s *schema) resolve(t *testing.T, in *schema) *schema {
	if in.Ref == "" {
		return in
	}
	def := s.Defs[strings.TrimPrefix(in.Ref, "#/$defs/")]
	if def == nil {
		t.Fatalf("%s: there is no %s", schemaFile, in.Ref)
	}
	return def
}

// TestSchemaFields: the schema has every field of the form and no other, of the same type, required where it is always
// there, and described.
func TestSchemaFields(t *testing.T) {
	root := readSchema(t)
	used := map[*schema]bool{}
	var check func(at string, s *schema, typ reflect.Type)
	check = func(at string, s *schema, typ reflect.Type) {
		if s.Description == "" && s.Ref == "" {
			t.Errorf("%s: %s has no description", schemaFile, at)
		}
		s = root.resolve(t, s)
		used[s] = true
		want := ""
		switch typ.Kind() {
		case reflect.Pointer:
			check(at, s, typ.Elem())
			return
		case reflect.String:
			want = "string"
		case reflect.Bool:
			want = "boolean"
		case reflect.Int, reflect.Int64:
			want = "integer"
		case reflect.Slice:
			want = "array"
			if s.Items == nil {
				t.Fatalf("%s: %s has no items", schemaFile, at)
			}
			if typ.Elem().Kind() != reflect.String {
				check(at+"[]", s.Items, typ.Elem())
			} else if s.Items.Type != "string" {
				t.Errorf("%s: items of %s are %q, not string", schemaFile, at, s.Items.Type)
			}
		case reflect.Struct:
			want = "object"
			var fields, required []string
			for i := range typ.NumField() {
				name, opts, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
				if fields = append(fields, name); opts == "" {
					required = append(required, name)
				}
				if p := s.Properties[name]; p != nil {
					check(at+"."+name, p, typ.Field(i).Type)
				}
			}
			slices.Sort(fields)
			slices.Sort(required)
			if got := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(got, fields) {
				t.Errorf("%s: %s has the fields\n%q, want\n%q", schemaFile, at, got, fields)
			}
			if got := slices.Sorted(slices.Values(s.Required)); !slices.Equal(got, required) {
				t.Errorf("%s: %s requires\n%q, want\n%q", schemaFile, at, got, required)
			}
		default:
			t.Fatalf("%s is a %s", at, typ)
		}
		if s.Const != nil {
			return
		}
		if s.Type != want {
			t.Errorf("%s: %s is of type %q, want %q", schemaFile, at, s.Type, want)
		}
	}
	check("report", root, reflect.TypeFor[report]())
	for name, def := range root.Defs {
		if !used[def] {
			t.Errorf("%s: nothing uses %s", schemaFile, name)
		}
	}
	if root.Const != nil || root.Properties["format"].Const != float64(Format) {
		t.Errorf("%s: format is %v, want %d", schemaFile, root.Properties["format"].Const, Format)
	}
}

// validate holds a value to a schema.
func (s *schema) validate(t *testing.T, at string, in *schema, v any) (problems []string) {
	in = s.resolve(t, in)
	bad := func(format string, args ...any) { problems = append(problems, at+": "+fmt.Sprintf(format, args...)) }
	if in.Const != nil {
		if v != in.Const {
			bad("%v is not %v", v, in.Const)
		}
		return problems
	}
	switch v := v.(type) {
	case string:
		if in.Type != "string" || in.Enum != nil && !slices.Contains(in.Enum, v) || in.Pattern != "" && !regexp.MustCompile(in.Pattern).MatchString(v) {
			bad("%q", v)
		}
	case bool:
		if in.Type != "boolean" {
			bad("%v", v)
		}
	case float64:
		if in.Type != "integer" || v != float64(int64(v)) || in.Minimum != nil && v < *in.Minimum {
			bad("%v", v)
		}
	case []any:
		if in.Type != "array" {
			bad("an array")
			return problems
		}
		for i, e := range v {
			problems = append(problems, s.validate(t, fmt.Sprintf("%s[%d]", at, i), in.Items, e)...)
		}
	case map[string]any:
		if in.Type != "object" {
			bad("an object")
		}
		for _, name := range in.Required {
			if _, ok := v[name]; !ok {
				bad("there is no %s", name)
			}
		}
		for name, e := range v {
			if p := in.Properties[name]; p != nil {
				problems = append(problems, s.validate(t, at+"."+name, p, e)...)
			} else {
				bad("%s is not described", name)
			}
		}
	default:
		bad("%v", v)
	}
	return problems
}

// TestSchemaGolden: every golden report is as the schema says.
func TestSchemaGolden(t *testing.T) {
	root := readSchema(t)
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no reports in testdata: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, p := range root.validate(t, "report", root, v) {
			if !strings.Contains(p, `"melt"`) { // which no plan has
				t.Errorf("%s: %s", path, p)
			}
		}
	}
	if len(root.validate(t, "report", root, map[string]any{"format": 2.0, "action": 1.0, "new": "x"})) < 3 {
		t.Error("the validator lets everything pass")
	}
}
