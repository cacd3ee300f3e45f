package strictyaml

import (
	"strings"
	"testing"
)

type document struct {
	Name string   `yaml:"name"`
	List []string `yaml:"list"`
}

func TestParse(t *testing.T) {
	for _, text := range []string{
		"name: a\nlist: [x, y]\n",
		"# comment\n---\nname: \"a\"\nlist:\n  - x\n  - y # comment\n",
	} {
		var d document
		if err := Parse([]byte(text), &d); err != nil || d.Name != "a" || len(d.List) != 2 {
			t.Errorf("%q: got %+v, %v", text, d, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"unknown field":   "nam: a\n",
		"duplicate field": "name: a\nname: b\n",
		"anchor":          "name: &a b\n",
		"alias":           "name: *a\n",
		"merge key":       "<<: {name: a}\n",
		"tag":             "name: !!str a\n",
		"directive":       "%YAML 1.2\n---\nname: a\n",
		"two documents":   "name: a\n---\nname: b\n",
		"document end":    "name: a\n...\n",
		"NUL":             "\x00",
		"escape":          "name: a\n\x1b[2J: b\n",
		"C1 control":      "name: \u009b1m\n",
		"not UTF-8":       "name: \xff\n",
		"deep brackets":   "list: " + strings.Repeat("[", 60_000),
		"many tokens":     "list: [" + strings.Repeat("a, ", 2000) + "a]\n",
		"broken":          "name: [a\n",
		"another type":    "name: {a: b}\n",
	} {
		var d document
		err := Parse([]byte(text), &d)
		if err == nil {
			t.Errorf("%s: took %+v", name, d)
		} else if strings.ContainsFunc(err.Error(), unprintable) {
			t.Errorf("%s: the error %q holds a control character", name, err)
		}
	}
	var d document
	if err := ParseSome([]byte("name: a\nother: 1\n"), &d); err != nil || d.Name != "a" {
		t.Errorf("other fields: got %+v, %v", d, err)
	}
}
