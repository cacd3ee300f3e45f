package edit_test

import (
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

// TestRevertKeepsTheUsers: what a person did between install and revert stays, byte for byte.
func TestRevertKeepsTheUsers(t *testing.T) {
	for name, c := range map[string]struct {
		old   string
		edits []abi.JSONEdit
		now   string // what JSON gives, once the person has been at it
		want  string
		left  string
	}{
		"another member behind": {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", "{\n  \"a\": 1,\n  \"c\": 3\n}\n", ""},
		"another member before": {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1, // one\n  \"c\": 3,\n  \"b\": 2\n}\n", "{\n  \"a\": 1, // one\n  \"c\": 3\n}\n", ""},
		"trailing comma since": {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "{\n  \"a\": 1,\n}\n", ""},
		"the member before is gone": {"{\n  \"a\": 1\n}\n", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"b\": 2\n}\n", "{}\n", ""},
		"in an object that was empty": {"{}\n", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1\n}\n", ""},
		"on one line since": {"{}\n", []abi.JSONEdit{set("/b", int64(2))}, "{\"b\":2}\n", "{}\n", ""},
		"value changed": {`{"a": 1}`, []abi.JSONEdit{set("/b", int64(2)), set("/c", int64(3))},
			`{"a": 1, "b": 20, "c": 3}`, `{"a": 1, "b": 20}`, "/b"},
		"value respelled": {`{"a": 1}`, []abi.JSONEdit{set("/b", object{"x": int64(2), "y": "A"})},
			"{\n  \"a\": 1,\n  \"b\": {\"y\": \"\\u0041\",\n    \"x\": 2.0,\n  },\n}\n", "{\n  \"a\": 1,\n}\n", ""},
		"value commented": {`{"a": 1}`, []abi.JSONEdit{set("/b", object{"x": int64(2)})},
			"{\"a\": 1, \"b\": {\"x\": 2 /* mine */}}", "{\"a\": 1, \"b\": {\"x\": 2 /* mine */}}", "/b"},
		"value added to": {`{"a": 1}`, []abi.JSONEdit{set("/b", object{"x": int64(2)})},
			`{"a": 1, "b": {"x": 2, "y": 3}}`, `{"a": 1, "b": {"x": 2, "y": 3}}`, "/b"},
		"value removed":  {`{"a": 1}`, []abi.JSONEdit{set("/b/c", int64(2))}, `{"a": 1}`, `{"a": 1}`, ""},
		"parent changed": {`{"a": 1}`, []abi.JSONEdit{set("/b/c", int64(2))}, `{"a": 1, "b": [1]}`, `{"a": 1, "b": [1]}`, ""},
		"parent added to": {"{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b/c", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n    \"mine\": 1\n  }\n}", "{\n  \"a\": 1,\n  \"b\": {\n    \"mine\": 1\n  }\n}", ""},
		"parent commented": {"{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b/c", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": {\n    // mine\n    \"c\": 2\n  }\n}", "{\n  \"a\": 1,\n  \"b\": {\n    // mine\n  }\n}", "/b"},
		"comment on the line": {"{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": 2 // mine\n}", "{\n  \"a\": 1\n  // mine\n}", ""},
		"comment on the line, more behind": {"{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  \"b\": 2, // mine\n  \"c\": 3\n}", "{\n  \"a\": 1,\n  // mine\n  \"c\": 3\n}", ""},
		"comment above": {"{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  // mine\n  \"b\": 2\n}", "{\n  \"a\": 1\n  // mine\n}", ""},
		"comments between": {"{\n  \"a\": 1\n}", []abi.JSONEdit{set("/b", int64(2))},
			"{\n  \"a\": 1,\n  /*m*/ \"b\": 2 /*i*/, /*n*/\n  \"c\": 3 /*e*/\n}", "{\n  \"a\": 1,\n  /*m*/ /*i*/ /*n*/\n  \"c\": 3 /*e*/\n}", ""},
		"name twice":                  {`{"a": 1}`, []abi.JSONEdit{set("/b", int64(2))}, `{"a": 1, "b": 2, "b": 2}`, `{"a": 1, "b": 2, "b": 2}`, "/b"},
		"parent twice":                {`{"a": 1}`, []abi.JSONEdit{set("/b/c", int64(2))}, `{"b": {"c": 2}, "b": {}}`, `{"b": {"c": 2}, "b": {}}`, "/b/c"},
		"element moved":               {`{"a": [1]}`, []abi.JSONEdit{set("/a/-", int64(2))}, `{"a": [2, 1, 3]}`, `{"a": [1, 3]}`, ""},
		"element there twice":         {`{"a": [1]}`, []abi.JSONEdit{set("/a/-", int64(2))}, `{"a": [2, 1, 2]}`, `{"a": [2, 1]}`, ""},
		"element removed":             {`{"a": [1]}`, []abi.JSONEdit{set("/a/-", int64(2))}, `{"a": [1]}`, `{"a": [1]}`, ""},
		"element commented":           {`{"a": [1]}`, []abi.JSONEdit{set("/a/-", []any{"x"})}, `{"a": [1, ["x" /* mine */]]}`, `{"a": [1, ["x" /* mine */]]}`, "/a/-"},
		"array made and added to":     {`{"a": 1}`, []abi.JSONEdit{set("/b/-", int64(2))}, `{"a": 1, "b": [2, 3]}`, `{"a": 1, "b": [3]}`, ""},
		"array is an object now":      {`{"a": [1]}`, []abi.JSONEdit{set("/a/-", int64(2))}, `{"a": {"-": 2}}`, `{"a": {"-": 2}}`, ""},
		"replaced, changed since":     {`{"a": 1.50}`, []abi.JSONEdit{set("/a", int64(2))}, `{"a": 3}`, `{"a": 3}`, "/a"},
		"replaced, moved":             {"{\"a\": [1.50, // x\n 2]}", []abi.JSONEdit{set("/a", int64(2))}, `{"b": 1, "a": 2.0}`, "{\"b\": 1, \"a\": [1.50, // x\n 2]}", ""},
		"replaced, gone":              {`{"a": 1.50}`, []abi.JSONEdit{set("/a", int64(2))}, `{}`, `{}`, ""},
		"removed, more behind":        {"{\n  \"a\": 1.50 // one\n}", []abi.JSONEdit{remove("/a")}, "{\n  \"b\": 2\n}", "{\n  \"b\": 2,\n  \"a\": 1.50\n}", ""},
		"removed, there again":        {`{"a": 1.50}`, []abi.JSONEdit{remove("/a")}, `{"a": 15e-1}`, `{"a": 15e-1}`, ""},
		"removed, there, other":       {`{"a": 1.50}`, []abi.JSONEdit{remove("/a")}, `{"a": 2}`, `{"a": 2}`, "/a"},
		"removed, parent gone":        {`{"a": {"b": 1}}`, []abi.JSONEdit{remove("/a/b")}, `{}`, `{}`, ""},
		"all gone":                    {`{"a": {"b": 1}}`, []abi.JSONEdit{set("/a/c", int64(2))}, ` `, ` `, ""},
		"another root":                {`{"a": {"b": 1}}`, []abi.JSONEdit{set("/a/c", int64(2))}, `7`, `7`, ""},
		"blank before, added to":      {" \n", []abi.JSONEdit{set("/a", int64(2))}, "{\"mine\": 1, \"a\": 2}", "{\"mine\": 1}", ""},
		"comment before, and another": {"// one", []abi.JSONEdit{set("/a", int64(2))}, "// one\n{\"a\": 2}\n// two", "// one\n\n// two", ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := edit.JSON([]byte(c.old), true, c.edits)
			if err != nil {
				t.Fatal(err)
			}
			got, empty, left, err := edit.Revert("x.json", []byte(c.now), stored(t, result.Records))
			if err != nil || empty || string(got) != c.want || leftOf(left) != c.left {
				t.Errorf("got  %q, empty %t, left %v, %v\nwant %q", got, empty, left, err, c.want)
			}
		})
	}
}

func TestRevertRefuses(t *testing.T) {
	result, err := edit.JSON([]byte("{}"), true, []abi.JSONEdit{set("/a", int64(1))})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := edit.Revert("x.json", []byte("{\"a\": 1"), result.Records); err == nil || !strings.Contains(err.Error(), "it is no JSON") {
		t.Errorf("reverting in a broken file: %v", err)
	}
	if now, _, _, err := edit.Revert("x.json", []byte("no JSON"), nil); string(now) != "no JSON" || err != nil {
		t.Errorf("reverting nothing: %q, %v", now, err)
	}
}

// TestDecodeRefuses: a record that was altered cannot bring in anything but values and layout.
func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ stored, want string }{
		"no JSON":              {`[`, "reading edit records"},
		"unknown field":        {`[{"kind": "same", "at": "/a", "x": 1}]`, "unknown field"},
		"something behind":     {`[] []`, "something follows them"},
		"kind":                 {`[{"kind": "move", "at": "/a"}]`, `its kind is "move"`},
		"no text":              {`[{"kind": "add", "at": "/a"}]`, "it lacks a text"},
		"text too many":        {`[{"kind": "add", "at": "/a", "old": "1", "new": "2"}]`, "it lacks a text"},
		"no place":             {`[{"kind": "remove", "at": "/a", "old": "1"}]`, "a value's place is missing"},
		"pointer":              {`[{"kind": "same", "at": "a"}]`, `its pointer is "a"`},
		"root":                 {`[{"kind": "same"}]`, `its pointer is ""`},
		"two values":           {`[{"kind": "add", "at": "/a", "new": "1, 2"}]`, "not one JSON value"},
		"comment at a value":   {`[{"kind": "add", "at": "/a", "new": "1 // x\n"}]`, "not one JSON value"},
		"layout":               {`[{"kind": "add", "at": "/a", "new": "1", "slot": {"was": "\"x\": 1", "lead": "", "tail": ""}}]`, "layout is not white space"},
		"layout of a made one": {`[{"kind": "add", "at": "/a/b", "new": "1", "made": [{"at": "/a", "slot": {"was": "", "lead": "1", "tail": ""}}]}]`, "layout is not white space"},
		"layout of a removed":  {`[{"kind": "remove", "at": "/a", "old": "1", "slot": {"was": "", "lead": "", "tail": "", "head": "\"a\":", "after": ", \"b\": 1"}}]`, "more than white space and comments"},
		"name of a removed":    {`[{"kind": "remove", "at": "/a", "old": "1", "slot": {"was": "", "lead": "", "tail": "", "head": "\"b\": 1, \"a\":"}}]`, "has no name"},
		"other name":           {`[{"kind": "remove", "at": "/a", "old": "1", "slot": {"was": "", "lead": "", "tail": "", "head": "\"b\":"}}]`, "has another name"},
		"neighbour":            {`[{"kind": "remove", "at": "/a", "old": "1", "slot": {"was": "", "lead": "", "tail": "", "head": "\"a\":", "next": "x"}}]`, "next to a removed value"},
		"made":                 {`[{"kind": "same", "at": "/a", "made": [{"at": "b"}]}]`, `it made "b"`},
		"file":                 {`[{"kind": "same", "at": "/a", "file": {"was": "x"}}]`, "its file's layout is not white space"},
		"block id":             {`[{"kind": "same", "id": "X"}]`, `its block id is "X"`},
		"block and value":      {`[{"kind": "same", "id": "x", "at": "/a"}]`, "about a block and about a value"},
		"blocks and values":    {`[{"kind": "same", "id": "x"}, {"kind": "same", "at": "/a"}]`, "values and blocks of one file"},
		"block's place":        {`[{"kind": "add", "id": "x", "new": ""}]`, "a block's place is missing"},
		"block's range":        {`[{"kind": "add", "id": "x", "new": "", "place": {"rest": "", "offset": -1}}]`, "out of range"},
		"block's text":         {`[{"kind": "add", "id": "x", "new": "# lola:x:end", "place": {"rest": ""}}]`, "holds a marker line"},
		"block's file":         {`[{"kind": "same", "id": "x", "file": {"was": " "}}]`, "a block's file"},
		"deep":                 {`[{"kind": "add", "at": "/a", "new": "` + strings.Repeat("[", 1000) + `"}]`, "not one JSON value"},
	} {
		t.Run(name, func(t *testing.T) {
			if records, err := edit.Decode([]byte(c.stored)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("records %v, error %v\nwant %q", records, err, c.want)
			}
		})
	}
}
