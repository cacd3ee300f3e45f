package grant

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"strings"
	"testing"
)

func example(t testing.TB) Record {
	t.Helper()
	r := Record{Name: "demo", Digest: sha256.Sum256([]byte("package"))}
	var err error
	if r.Project, err = Parse(Rights{Writes: []string{".demo/**", ".mcp.json"}, Reads: []string{"<a>&b"}, Capabilities: []string{"net.git:x.example/y"}}); err != nil {
		t.Fatal(err)
	}
	if r.User, err = Parse(Rights{Folder: ".demo", Writes: []string{"skills/**"}}); err != nil {
		t.Fatal(err)
	}
	return r
}

const exampleText = `{
  "format": 1,
  "package": "demo@sha256:bc4a71180870f7945155fbb02f4b0a2e3faa2a62d6d31b7039013055ed19869a",
  "project": {
    "writes": [
      ".demo/**",
      ".mcp.json"
    ],
    "reads": [
      "<a>&b"
    ],
    "capabilities": [
      "net.git:x.example/y"
    ]
  },
  "user": {
    "folder": ".demo",
    "writes": [
      "skills/**"
    ]
  }
}
`

func TestRecord(t *testing.T) {
	r := example(t)
	data, err := r.Encode()
	if err != nil || string(data) != exampleText {
		t.Fatalf("got %s, %v, want %s", data, err, exampleText)
	}
	again, err := DecodeRecord(data)
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("got %+v, %v, want %+v", again, err, r)
	}
	for name, change := range map[string][2]string{
		"another format": {`"format": 1`, `"format": 2`}, "unknown field": {`"format": 1`, `"format": 1, "x": 1`}, "another spelling": {`"format": 1`, `"Format": 1`},
		"twice": {`"format": 1,`, `"format": 1, "format": 1,`}, "trailing": {"  }\n}\n", "  }\n}\n{}"}, "space": {"  }\n}\n", "  }\n}\n\n"}, "no newline": {"  }\n}\n", "  }\n}"},
		"no digest": {"@sha256:", "@sha512:"}, "no name": {`"demo@`, `"@`}, "a path for a name": {`"demo@`, `"../demo@`}, "unknown capability": {"net.git:", "net.svn:"},
		"a glob that climbs": {"skills/**", "../**"}, "no folder": {"    \"folder\": \".demo\",\n", ""}, "a folder in a project": {`"project": {`, `"project": {"folder": ".x",`},
		"a value of null": {"[\n      \".demo/**\",\n      \".mcp.json\"\n    ]", "null"}, "a right twice": {`".demo/**",`, "\".demo/**\",\n      \".demo/**\","}, "nothing": {exampleText, ""},
	} {
		changed := strings.Replace(exampleText, change[0], change[1], 1)
		if changed == exampleText {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if r, err := DecodeRecord([]byte(changed)); err == nil {
			t.Errorf("%s: took %+v", name, r)
		}
	}
	if _, err := DecodeRecord(bytes.Repeat([]byte(" "), maxRecord+1)); err == nil {
		t.Error("took a record of any length")
	}
	r.Project = ForPaths([]string{"a"})
	if _, err := r.Encode(); err == nil {
		t.Error("stored paths that the host granted to itself")
	}
	if _, err := (Record{}).Encode(); err == nil {
		t.Error("stored a grant to nobody")
	}
}

func TestTrust(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for _, name := range []string{"a", "git-doctor", "A.b_c-9", strings.Repeat("a", 64)} {
		text := name + "@sha256:" + hex
		tr, err := ParseTrust(text)
		if err != nil || tr.Name != name || tr.String() != text {
			t.Errorf("ParseTrust(%q) = %+v, %v", text, tr, err)
		}
	}
	for text, hint := range map[string]string{
		"": "no \"@\"", "a": "no \"@\"", "a@": "sha256:", "a@sha256": "sha256:", "a@sha256:": "64", "a@" + hex: "sha256:", "a@sha512:" + hex: "sha256:", "a@SHA256:" + hex: "sha256:",
		"@sha256:" + hex: "name is missing", "../a@sha256:" + hex: "name", ".a@sha256:" + hex: "name", "a b@sha256:" + hex: "name", "a@b@sha256:" + hex: "sha256:",
		"a@sha256:" + hex[1:]: "64", "a@sha256:" + hex + "0": "64", "a@sha256:" + strings.ToUpper(hex): "lower", "a@sha256:" + strings.Repeat("g", 64): "hexadecimal",
		" a@sha256:" + hex: "name", "a@sha256:" + hex + "\n": "64", "é@sha256:" + hex: "name", strings.Repeat("a", 65) + "@sha256:" + hex: "at most 64",
		"a@sha256:" + hex[:62] + "\u00e9": "hexadecimal",
	} {
		tr, err := ParseTrust(text)
		if err == nil {
			t.Errorf("ParseTrust(%q) took %+v", text, tr)
			continue
		}
		if !strings.Contains(err.Error(), hint) || !strings.Contains(err.Error(), "NAME@sha256:HEX") {
			t.Errorf("ParseTrust(%q): %v, which does not say %q", text, err, hint)
		}
	}
}

// FuzzGrant: what is decoded is encoded to the same bytes, means the same read again as rights, asks for nothing beyond itself,
// grants no guarded path by a wildcard and no secret at all.
func FuzzGrant(f *testing.F) {
	data, err := example(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, ".mcp.json")
	f.Add([]byte(exampleText), ".claude/settings.json")
	f.Add(bytes.Replace(data, []byte(".demo/**"), []byte("**"), 1), "a/.ENVRC")
	f.Add([]byte(`{"format":1}`), "")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		if tr, err := ParseTrust(path); err == nil && tr.String() != path {
			t.Errorf("%q is printed as %q", path, tr)
		}
		if c, err := ParseCapability(path); err == nil {
			if again, err := ParseCapability(c.String()); c.String() != path || err != nil || again != c {
				t.Errorf("%q is printed as %q, and read again as %+v, %v", path, c, again, err)
			}
		}
		r, err := DecodeRecord(data)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%q is encoded as %q, %v", data, again, err)
		}
		for _, s := range []Set{r.Project, r.User} {
			same, err := Parse(s.Rights())
			if err != nil || !reflect.DeepEqual(same, s) {
				t.Errorf("%+v is read again as %+v, %v", s, same, err)
			}
			if more := s.Beyond(s); !more.Empty() {
				t.Errorf("%v asks for %v beyond itself", s, more)
			}
			if s.Empty() != (len(s.Lines()) == 0) || s.Empty() != (s.Beyond(Set{}).Empty()) {
				t.Errorf("%+v: empty, but %q", s, s.Lines())
			}
			_, guarded := s.Guarded(path)
			named := false
			for _, w := range s.Rights().Writes {
				named = named || w == path
			}
			if guarded && s.MayWrite(path) && !named {
				t.Errorf("%v grants the guarded path %q", s, path)
			}
			if _, secret := Secret(s.full(path)); secret && s.MayRead(path) {
				t.Errorf("%v supplies %q", s, path)
			}
		}
	})
}
