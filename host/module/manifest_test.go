package module_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/module"
)

func withManifest(t *testing.T, text string) string {
	return tree{"lola.yaml": text, "skills/x/SKILL.md": "x"}.write(t, "folder")
}

// TestManifest reads each field, and the defaults.
func TestManifest(t *testing.T) {
	for _, tt := range []struct {
		text string
		want module.Package
	}{
		{"", module.Package{Identity: abi.Identity{Name: "folder", Version: "0.0.0"}}},
		{"\n\n", module.Package{Identity: abi.Identity{Name: "folder", Version: "0.0.0"}}},
		{"# nothing\n", module.Package{Identity: abi.Identity{Name: "folder", Version: "0.0.0"}}},
		{"{}", module.Package{Identity: abi.Identity{Name: "folder", Version: "0.0.0"}}},
		{"name: git-doctor", module.Package{Identity: abi.Identity{Name: "git-doctor", Version: "0.0.0"}}},
		{"---\nname: a\nversion: 1.2.3-rc.1+build\n", module.Package{Identity: abi.Identity{Name: "a", Version: "1.2.3-rc.1+build"}}},
		{"# c\n---\nname: a\n", module.Package{Identity: abi.Identity{Name: "a", Version: "0.0.0"}}},
		{"name: a\r\nversion: 1.0.0\r\n", module.Package{Identity: abi.Identity{Name: "a", Version: "1.0.0"}}},
		{"name: \"a\"\ndescription: |\n  Two\n  lines.\n", module.Package{Identity: abi.Identity{Name: "a", Version: "0.0.0"}, Description: "Two\nlines.\n"}},
		{"description: 'R&D *notes* <<here>> !important'\n", module.Package{Identity: abi.Identity{Name: "folder", Version: "0.0.0"}, Description: "R&D *notes* <<here>> !important"}},
		{"hooks: {pre-install: scripts/a.sh, post-install: b.sh}\n",
			module.Package{Identity: abi.Identity{Name: "folder", Version: "0.0.0"}, Hooks: module.Hooks{PreInstall: "scripts/a.sh", PostInstall: "b.sh"}}},
	} {
		p := load(t, withManifest(t, tt.text))
		if p.Identity != tt.want.Identity || p.Description != tt.want.Description || p.Hooks != tt.want.Hooks {
			t.Errorf("%q: %+v %q %+v, want %+v %q %+v", tt.text, p.Identity, p.Description, p.Hooks, tt.want.Identity, tt.want.Description, tt.want.Hooks)
		}
		if _, ok := p.File("lola.yaml"); !ok {
			t.Errorf("%q: the manifest is no part of the package", tt.text)
		}
	}
}

// TestManifestIsStrict: what is not exactly a manifest is an error, and none of it takes long or much memory.
func TestManifestIsStrict(t *testing.T) {
	laughs := "description: &a xxxxxxxxxx\n"
	for c := 'a'; c < 'j'; c++ {
		laughs += fmt.Sprintf("%c: &%c [%s]\n", c+1, c+1, strings.TrimSuffix(strings.Repeat("*"+string(c)+",", 9), ","))
	}
	for name, text := range map[string]string{
		"unknown field": "name: a\nhook: x\n", "unknown, nested": "hooks: {pre-install: a, install: b}\n", "other case": "Name: a\n", "twice": "name: a\nname: b\n",
		"a list": "- name\n", "a word": "name\n", "a number": "42\n", "null": "null\n", "name is a list": "name: [a]\n", "hooks is a word": "hooks: run.sh\n", "hook is a list": "hooks: {pre-install: [a]}\n",
		"two documents": "name: a\n---\nname: b\n", "more after the end": "name: a\n...\nname: b\n", "not YAML": "name: [\n", "tab": "\tname: a\n", "not UTF-8": "description: \"\xff\"\n",
		"anchor": "name: &x a\n", "alias": "name: &x a\nversion: *x\n", "merge": "<<: {name: a}\n", "tag": "name: !!str a\n", "own tag": "!x\nname: a\n", "directive": "%YAML 1.2\n---\nname: a\n",
		"a billion laughs": laughs + "name: *j\n", "itself": "hooks: &h\n  pre-install: *h\n",
		"deep lists": "name: " + strings.Repeat("[", 60_000), "deep maps": strings.Repeat("{a: ", 15_000), "deep dashes": strings.Repeat("- ", 30_000),
		"many keys": strings.Repeat("a: 1\n", 12_000), "many anchors": "name: " + strings.Repeat("&a ", 20_000),
		"too long": "description: " + strings.Repeat("x", 64<<10) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if err := refused(t, withManifest(t, text), abi.Limits{}); !strings.Contains(err.Error(), "lola.yaml") {
				t.Errorf("the error %.200q does not name the manifest", err)
			}
		})
	}
	// A skill's frontmatter is read for its name alone; it may hold what it wants, and costs no more.
	for _, front := range []string{laughs + "name: *j", "name: &x doctor", strings.Repeat("[", 60_000), "x: " + strings.Repeat("{a: ", 15_000)} {
		p := load(t, tree{"SKILL.md": "---\n" + front + "\n---\n"}.write(t, "folder"))
		if p.Name != "folder" {
			t.Errorf("frontmatter %.40q: the name is %q, want the folder's", front, p.Name)
		}
	}
}

// TestP15Names: a name or version that could be a path, or no file name somewhere, is refused before anything is made of
// it, from the manifest and from the folder.
func TestP15Names(t *testing.T) {
	for _, name := range []string{
		"../../x", "..", ".", ".bin", "a/b", `a\b`, "/etc", "a..b", "a.", "-rf", "a b", "\"a\\nb\"", "a:b", "é", "nul", "NUL.txt", "com1", "\"\\u202ex\"",
		"\"a\\0\"", strings.Repeat("x", 65), "'~'", "$HOME", "a%2fb", "con.md",
	} {
		if err := refused(t, withManifest(t, "name: "+name+"\n"), abi.Limits{}); err == nil {
			t.Errorf("name %q", name)
		}
	}
	for _, version := range []string{"../../x", "..", ".", ".bin", "1/2", `1\2`, "v1.0.0", "1..0", "1.0.", "latest", "\"1 0\"", "1:0", "1.é", "\"1\\n\"", "1_0_0x_", strings.Repeat("1", 65)} {
		if err := refused(t, withManifest(t, "version: "+version+"\n"), abi.Limits{}); err == nil {
			t.Errorf("version %q", version)
		}
	}
	for _, folder := range []string{".bin", "a b", "é"} {
		dir := tree{"skills/x": "x"}.write(t, folder)
		if err := refused(t, dir, abi.Limits{}); !strings.Contains(err.Error(), "lola.yaml") {
			t.Errorf("folder %q: the error %q does not say how to give a name", folder, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "lola.yaml"), []byte("name: good\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if p := load(t, dir); p.Name != "good" {
			t.Errorf("folder %q with a manifest has the name %q", folder, p.Name)
		}
	}
}
