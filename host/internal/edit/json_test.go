package edit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

func set(at string, v any) abi.JSONEdit { return abi.JSONEdit{At: at, Set: true, Value: v} }

func remove(at string) abi.JSONEdit { return abi.JSONEdit{At: at} }

type object = map[string]any

// TestJSON holds each layout to what a person would have written, and reverting to the bytes that were there.
func TestJSON(t *testing.T) {
	for name, c := range map[string]struct {
		old   string
		edits []abi.JSONEdit
		want  string
		kinds string // of the records; empty: add
	}{
		"one line":                   {`{"a": 1}`, []abi.JSONEdit{set("/b", int64(2))}, `{"a": 1, "b": 2}`, ""},
		"one line, compact":          {`{"a":1}`, []abi.JSONEdit{set("/b", object{"x": int64(2), "y": nil})}, `{"a":1,"b":{"x":2,"y":null}}`, ""},
		"one line, padded":           {`{ "a": 1 }`, []abi.JSONEdit{set("/b", true)}, `{ "a": 1, "b": true }`, ""},
		"one line, nested":           {`{"a": {}}`, []abi.JSONEdit{set("/a/b", "x")}, `{"a": {"b": "x"}}`, ""},
		"one line, commented":        {`{"a": 1 /* one */}`, []abi.JSONEdit{set("/b", int64(2))}, `{"a": 1, /* one */ "b": 2}`, ""},
		"empty object":               {"{}", []abi.JSONEdit{set("/a", int64(1))}, "{\n  \"a\": 1\n}", ""},
		"empty object, spaced":       {"{  }\n", []abi.JSONEdit{set("/a", int64(1))}, "{\n  \"a\": 1\n}\n", ""},
		"empty object, two lines":    {"{\n\n}\n", []abi.JSONEdit{set("/a", int64(1))}, "{\n  \"a\": 1\n\n}\n", ""},
		"empty object, commented":    {"{\n  // nothing yet\n}\n", []abi.JSONEdit{set("/a", int64(1))}, "{\n  // nothing yet\n  \"a\": 1\n}\n", ""},
		"empty, comment at the end":  {"{ // nothing yet\n}\n", []abi.JSONEdit{set("/a", int64(1))}, "{ // nothing yet\n  \"a\": 1\n}\n", ""},
		"two spaces":                 {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b", int64(2))}, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", ""},
		"tabs":                       {"{\n\t\"a\": {\n\t\t\"x\": 1\n\t}\n}", []abi.JSONEdit{set("/a/y", []any{"v"})}, "{\n\t\"a\": {\n\t\t\"x\": 1,\n\t\t\"y\": [\n\t\t\t\"v\"\n\t\t]\n\t}\n}", ""},
		"CRLF":                       {"{\r\n    \"a\": 1 // one\r\n}\r\n", []abi.JSONEdit{set("/b", int64(2))}, "{\r\n    \"a\": 1, // one\r\n    \"b\": 2\r\n}\r\n", ""},
		"byte order mark":            {"\ufeff{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b", int64(2))}, "\ufeff{\n  \"a\": 1,\n  \"b\": 2\n}", ""},
		"trailing comma":             {"{\n  \"a\": 1, // one\n}\n", []abi.JSONEdit{set("/b", int64(2))}, "{\n  \"a\": 1, // one\n  \"b\": 2,\n}\n", ""},
		"comma on a line of its own": {"{\n  \"a\": 1 // one\n  , // comma\n}\n", []abi.JSONEdit{set("/b", int64(2))}, "{\n  \"a\": 1 // one\n  , // comma\n  \"b\": 2,\n}\n", ""},
		"comments at the end":        {"{\n  \"a\": 1\n  // \"b\": off\n}\n// bye", []abi.JSONEdit{set("/b", int64(2))}, "{\n  \"a\": 1,\n  // \"b\": off\n  \"b\": 2\n}\n// bye", ""},
		"blank line at the end":      {"{\n  \"a\": 1\n\n}\n", []abi.JSONEdit{set("/b", int64(2))}, "{\n  \"a\": 1,\n  \"b\": 2\n\n}\n", ""},
		"bracket behind the value":   {"{\"a\": 1,\n \"b\": 2}", []abi.JSONEdit{set("/c", int64(3))}, "{\"a\": 1,\n \"b\": 2,\n \"c\": 3}", ""},
		"brace on its own line":      {"{\n  \"a\":\n  {\n    \"x\": 1\n  }\n}\n", []abi.JSONEdit{set("/a/y", object{"z": true})}, "{\n  \"a\":\n  {\n    \"x\": 1,\n    \"y\": {\n      \"z\": true\n    }\n  }\n}\n", ""},
		"parents":                    {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b/c/d", int64(2))}, "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": {\n      \"d\": 2\n    }\n  }\n}\n", ""},
		"parents shared": {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b/c", int64(2)), set("/b/d", int64(3)), set("/b/e/f", int64(4))},
			"{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n    \"d\": 3,\n    \"e\": {\n      \"f\": 4\n    }\n  }\n}\n", "add add add"},
		"escapes in the pointer":   {`{"a/b": {"~": 1}}`, []abi.JSONEdit{set("/a~1b/~01", int64(2))}, `{"a/b": {"~": 1, "~1": 2}}`, ""},
		"escapes in the file":      {`{"\u0061": {}}`, []abi.JSONEdit{set("/a/b", int64(2))}, `{"\u0061": {"b": 2}}`, ""},
		"names that are positions": {`{"0": {"1": 1}}`, []abi.JSONEdit{set("/0/2", int64(2))}, `{"0": {"1": 1, "2": 2}}`, ""},
		"odd names":                {`{"": 1}`, []abi.JSONEdit{set("/__proto__/constructor", "x"), set("/a/", "y")}, `{"": 1, "__proto__": {"constructor": "x"}, "a": {"": "y"}}`, "add add"},
		"array":                    {"{\n  \"a\": [\n    1\n  ]\n}\n", []abi.JSONEdit{set("/a/-", int64(2))}, "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n", ""},
		"array, one line":          {"{\n  \"a\": [\"x\"]\n}\n", []abi.JSONEdit{set("/a/-", "y"), set("/a/-", "z")}, "{\n  \"a\": [\"x\", \"y\", \"z\"]\n}\n", "add add"},
		"array, there":             {`{"a": [{"y": 1.0, "x": 2}]}`, []abi.JSONEdit{set("/a/-", object{"x": int64(2), "y": int64(1)})}, `{"a": [{"y": 1.0, "x": 2}]}`, "same"},
		"array, twice":             {`{"a": [1]}`, []abi.JSONEdit{set("/a/-", int64(2)), set("/a/-", int64(2))}, `{"a": [1, 2]}`, "add same"},
		"array, missing":           {"{\n}\n", []abi.JSONEdit{set("/p/deny/-", "x"), set("/p/deny/-", "y")}, "{\n  \"p\": {\n    \"deny\": [\n      \"x\",\n      \"y\"\n    ]\n  }\n}\n", "add add"},
		"array at the root":        {"[1]\n", []abi.JSONEdit{set("/-", int64(2))}, "[1, 2]\n", ""},
		"same":                     {"{\"a\" : 10e-1 /* one */ , \"b\": \"\\u0041\"}", []abi.JSONEdit{set("/a", int64(1)), set("/b", "A")}, "{\"a\" : 10e-1 /* one */ , \"b\": \"\\u0041\"}", "same same"},
		"replace":                  {"{\n  \"a\": 1.5 /* x */, // y\n  \"b\": 2\n}", []abi.JSONEdit{set("/a", "new")}, "{\n  \"a\": \"new\" /* x */, // y\n  \"b\": 2\n}", "replace"},
		"replace, comments in it":  {"{\n  \"a\": { // mine\n    \"x\": 1, }\n}", []abi.JSONEdit{set("/a", object{"y": int64(2)})}, "{\n  \"a\": {\n    \"y\": 2\n  }\n}", "replace"},
		"replace, on one line":     {"{\n  \"a\": [\"x\"]\n}", []abi.JSONEdit{set("/a", []any{"y", "z"})}, "{\n  \"a\": [\"y\", \"z\"]\n}", "replace"},
		"replace by null":          {`{"a": 1}`, []abi.JSONEdit{set("/a", nil)}, `{"a": null}`, "replace"},
		"remove":                   {"{\n  \"a\": 1,\n  // two\n  \"b\" : 2, // b\n  \"c\": 3\n}", []abi.JSONEdit{remove("/b")}, "{\n  \"a\": 1,\n  // two\n  // b\n  \"c\": 3\n}", "remove"},
		"remove the first":         {`{"a": 1, "b": 2}`, []abi.JSONEdit{remove("/a")}, `{"b": 2}`, "remove"},
		"remove the last":          {"{\n  \"a\": 1 /* a */ ,\n  \"b\": 2 // b\n}", []abi.JSONEdit{remove("/b")}, "{\n  \"a\": 1 /* a */ \n  // b\n}", "remove"},
		"remove the last, comma":   {"{\n  \"a\": 1,\n  \"b\": 2,\n}", []abi.JSONEdit{remove("/b")}, "{\n  \"a\": 1,\n}", "remove"},
		"remove the only":          {"{\n  \"a\": 1,\n}", []abi.JSONEdit{remove("/a")}, "{}", "remove"},
		"remove all":               {"{\n  \"a\": 1,\n  \"b\": [2], \"c\": 3\n}", []abi.JSONEdit{remove("/b"), remove("/a"), remove("/c")}, "{}", "remove remove remove"},
		"remove what is absent":    {`{"a": 1}`, []abi.JSONEdit{remove("/b"), remove("/c/d")}, `{"a": 1}`, "same same"},
		"remove and add":           {"{\n  \"a\": 1,\n  \"b\": 2\n}", []abi.JSONEdit{remove("/b"), set("/c", int64(3))}, "{\n  \"a\": 1,\n  \"c\": 3\n}", "remove add"},
		"empty file":               {"", []abi.JSONEdit{set("/a", int64(1))}, "{\n  \"a\": 1\n}\n", ""},
		"blank file":               {" \r\n\r\n", []abi.JSONEdit{set("/a", int64(1))}, "{\r\n  \"a\": 1\r\n}\r\n", ""},
		"only a comment":           {"// mine", []abi.JSONEdit{set("/a", int64(1))}, "// mine\n{\n  \"a\": 1\n}\n", ""},
		"only comments":            {"/* mine */\n// too\n\n", []abi.JSONEdit{set("/-", int64(1))}, "/* mine */\n// too\n[\n  1\n]\n", ""},
		"only a byte order mark":   {"\ufeff", []abi.JSONEdit{set("/a", int64(1))}, "\ufeff{\n  \"a\": 1\n}\n", ""},
		"strings that could lie":   {`{"a": 1}`, []abi.JSONEdit{set("/b", "\"\\\n\t\r\x00\x7f\u0085\u2028\u2029\u202e\u2066\ufeffé<&>🙂")}, `{"a": 1, "b": "\"\\\n\t\r\u0000\u007f\u0085\u2028\u2029\u202e\u2066\ufeffé<&>🙂"}`, ""},
		"big integers":             {`{"a": 9223372036854775807}`, []abi.JSONEdit{set("/a", int64(9223372036854775807)), set("/b", int64(-9223372036854775808))}, `{"a": 9223372036854775807, "b": -9223372036854775808}`, "same add"},
		"neighbours of a big one":  {`{"a": 9223372036854775806}`, []abi.JSONEdit{set("/a", int64(9223372036854775807))}, `{"a": 9223372036854775807}`, "replace"},
		"a name twice elsewhere":   {`{"a": 1, "a": 2, "b": {"c": 1, "c": 2}}`, []abi.JSONEdit{set("/d", int64(1)), set("/b/d", int64(1))}, `{"a": 1, "a": 2, "b": {"c": 1, "c": 2, "d": 1}, "d": 1}`, "add add"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := edit.JSON([]byte(c.old), true, c.edits)
			if err != nil {
				t.Fatal(err)
			}
			if string(result.New) != c.want {
				t.Errorf("got  %q\nwant %q", result.New, c.want)
			}
			if c.kinds == "" {
				c.kinds = "add"
			}
			if got := kinds(result.Records); got != c.kinds {
				t.Errorf("kinds %q, want %q", got, c.kinds)
			}
			if result.Changed != (strings.Trim(c.kinds, "same ") != "") {
				t.Errorf("changed is %t", result.Changed)
			}
			again(t, "x.json", result, func(old []byte) (edit.Result, error) { return edit.JSON(old, true, c.edits) })
			back(t, "x.json", []byte(c.old), result)
		})
	}
}

func kinds(records []edit.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, string(r.Kind))
	}
	return strings.Join(all, " ")
}

// again applies a second time: nothing changes, and merged with what it says the first records still revert.
func again(t *testing.T, path string, first edit.Result, apply func([]byte) (edit.Result, error)) {
	t.Helper()
	second, err := apply(first.New)
	if err != nil {
		t.Fatalf("a second time: %v", err)
	}
	if second.Changed || !bytes.Equal(second.New, first.New) || strings.Trim(kinds(second.Records), "same ") != "" {
		t.Errorf("a second time: %q, %s", second.New, kinds(second.Records))
	}
	merged := edit.Merge(first.Records, second.Records)
	once, e1, _, err1 := edit.Revert(path, first.New, first.Records)
	twice, e2, _, err2 := edit.Revert(path, first.New, merged)
	if err1 != nil || err2 != nil || e1 != e2 || !bytes.Equal(once, twice) {
		t.Errorf("reverting what was merged: %q, %t, %v; want %q, %t, %v", twice, e2, err2, once, e1, err1)
	}
}

// back reverts and wants the old bytes.
func back(t *testing.T, path string, old []byte, result edit.Result) {
	t.Helper()
	got, empty, left, err := edit.Revert(path, result.New, stored(t, result.Records))
	if err != nil || empty || len(left) > 0 || !bytes.Equal(got, old) {
		t.Errorf("reverted: %q, empty %t, left %v, %v\nwant      %q", got, empty, left, err, old)
	}
}

func TestJSONRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		old   string
		edits []abi.JSONEdit
		want  string
	}{
		"root":                    {`{}`, []abi.JSONEdit{set("", object{})}, "the empty pointer names the whole file"},
		"root, removed":           {`{}`, []abi.JSONEdit{remove("")}, "the empty pointer names the whole file"},
		"no pointer":              {`{}`, []abi.JSONEdit{set("a", nil)}, `editing "a": it is no JSON pointer`},
		"no pointer, tilde":       {`{}`, []abi.JSONEdit{set("/a~2", nil)}, "a tilde without 0 or 1"},
		"too many parts":          {`{}`, []abi.JSONEdit{set(strings.Repeat("/a", 129), nil)}, "it has 129 parts"},
		"position":                {"{\n\"a\": [1]}", []abi.JSONEdit{set("/a/0", nil)}, `editing "/a/0": line 2: "/a" is an array, and only /- leads into one`},
		"position, removed":       {`{"a": [1]}`, []abi.JSONEdit{remove("/a/0")}, "only /- leads into one"},
		"through an array":        {`{"a": [{"b": 1}]}`, []abi.JSONEdit{set("/a/-/b", nil)}, "only /- leads into one"},
		"remove at -":             {`{"a": [1]}`, []abi.JSONEdit{remove("/a/-")}, "no element behind an array's last one"},
		"- of an object":          {`{"a": {}}`, []abi.JSONEdit{set("/a/-", nil)}, `"/a" is an object, and only an array can be added to`},
		"- of text":               {`{"a": "x"}`, []abi.JSONEdit{set("/a/-", nil)}, `"/a" is a string, and only an array can be added to`},
		"parent is null":          {`{"a": null}`, []abi.JSONEdit{set("/a/b/c", nil)}, `"/a" is null, and only an object has names`},
		"parent is a number":      {`{"a": 1}`, []abi.JSONEdit{remove("/a/b")}, `"/a" is a number, and only an object has names`},
		"root is true":            {`true`, []abi.JSONEdit{set("/a", nil)}, `"" is true or false, and only an object has names`},
		"name twice":              {"\n{\"a\": 1, \"\\u0061\": 2}", []abi.JSONEdit{set("/a", nil)}, `editing "/a": line 2: the object "" has this name more than once`},
		"name twice on the way":   {`{"a": {"b": {}, "b": {}}}`, []abi.JSONEdit{set("/a/b/c", nil)}, `the object "/a" has this name more than once`},
		"equal pointers":          {`{}`, []abi.JSONEdit{set("/a", nil), set("/a", nil)}, `editing "/a": "/a", which is edited too, overlaps it`},
		"one pointer in another":  {`{}`, []abi.JSONEdit{set("/a/b", nil), remove("/a")}, `"/a/b", which is edited too, overlaps it`},
		"no JSON":                 {"{\n\"token\": s3cret}", []abi.JSONEdit{set("/a", nil)}, "editing the file: line 2: it is no JSON, with or without comments: stuck at column 10"},
		"two values":              {`{} {}`, []abi.JSONEdit{set("/a", nil)}, "it is no JSON"},
		"comment without end":     {"/* x", []abi.JSONEdit{set("/a", nil)}, "it is no JSON"},
		"comment with a lone CR":  {"{\n// x\r\"a\": 1\n}", []abi.JSONEdit{set("/a", nil)}, "line 2: a comment holds a carriage return"},
		"not UTF-8":               {"{\"a\": \"\xff\"}", []abi.JSONEdit{set("/a", nil)}, "it is not valid UTF-8"},
		"UTF-16":                  {"\xff\xfe{\x00}\x00", []abi.JSONEdit{set("/a", nil)}, "it is not valid UTF-8"},
		"deep":                    {strings.Repeat("[", 513) + strings.Repeat("]", 513), []abi.JSONEdit{set("/-", nil)}, "nested more than 512 deep"},
		"value of another type":   {`{}`, []abi.JSONEdit{set("/a", 1.5)}, "holds a float64, which JSON does not have"},
		"value that is not UTF-8": {`{}`, []abi.JSONEdit{set("/a", "\xff")}, "not valid UTF-8"},
		"many values":             {"[" + strings.Repeat("0,", 1<<19) + "0]", []abi.JSONEdit{set("/-", nil)}, "values: want at most"},
		"large":                   {strings.Repeat(" ", edit.MaxFile+1), []abi.JSONEdit{set("/a", nil)}, "bytes: want at most"},
		"large by the edit":       {"{}" + strings.Repeat(" ", edit.MaxFile-10), []abi.JSONEdit{set("/a", "0123456789")}, "it would have"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := edit.JSON([]byte(c.old), true, c.edits)
			var e *edit.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v\nwant  %q", err, c.want)
			}
			if result.New != nil || result.Records != nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("result %v, error %v", result, err)
			}
		})
	}
}

// TestJSONMakesTheFile: what was made goes when it is empty, and what a person added to it stays.
func TestJSONMakesTheFile(t *testing.T) {
	edits := []abi.JSONEdit{set("/mcpServers/x", object{"command": "x"}), remove("/y")}
	result, err := edit.JSON(nil, false, edits)
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"x\"\n    }\n  }\n}\n"; string(result.New) != want {
		t.Fatalf("got %q, want %q", result.New, want)
	}
	if now, empty, left, err := edit.Revert("x.json", result.New, result.Records); now != nil || !empty || left != nil || err != nil {
		t.Errorf("reverted: %q, empty %t, left %v, %v", now, empty, left, err)
	}
	added := bytes.Replace(result.New, []byte("{\n  \"mcp"), []byte("{\n  // mine\n  \"mcp"), 1)
	if now, empty, left, err := edit.Revert("x.json", added, result.Records); string(now) != "{\n  // mine\n}\n" || empty || left != nil || err != nil {
		t.Errorf("reverted: %q, empty %t, left %v, %v", now, empty, left, err)
	}
	nothing, err := edit.JSON(nil, false, []abi.JSONEdit{remove("/y/z")})
	if err != nil || nothing.Changed || nothing.New != nil || kinds(nothing.Records) != "same" {
		t.Errorf("removing from no file: %+v, %v", nothing, err)
	}
}
