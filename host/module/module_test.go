package module_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/module"
)

// parts are files of a module in the layout that extensions see.
var parts = tree{
	"skills/x/SKILL.md": "skill", "skills/x/scripts/run.sh": "#!/bin/sh\n", "commands/c.md": "command", "agents/a.md": "agent", "mcps.json": "{}",
	"AGENTS.md": "agents", "INSTRUCTIONS.md": "instructions", "skills/é.md": "é", "commands/deep/er/still/c.md": "",
}

// in returns the parts beneath a folder, with others beside them.
func (tr tree) in(prefix string, others tree) tree {
	out := maps.Clone(others)
	if out == nil {
		out = tree{}
	}
	for p, text := range tr {
		out[prefix+p] = text
	}
	return out
}

// TestLayouts: the parts at the top or in module/ are one package with one digest, and what lies beside them is none of it.
func TestLayouts(t *testing.T) {
	manifest := tree{"lola.yaml": "name: m\nversion: 1.2.3\n"}
	want := parts.in("", manifest)
	beside := tree{"README.md": "x", "src/main.go": "x", "LICENSE": "x", "skills.md": "x", ".github/workflows/ci.yml": "x", "lola.yaml": manifest["lola.yaml"]}
	var digests []abi.Digest
	for _, dir := range []string{
		parts.in("", manifest).write(t, "one"),
		parts.in("module/", manifest).write(t, "two"),
		parts.in("", beside).write(t, "three"),
		parts.in("module/", beside.in("", tree{"commands/other.md": "not of the module", "AGENTS.md": "nor this", "SKILL.md": "nor this"})).write(t, "four"),
	} {
		p := load(t, dir)
		if got := contents(t, p); !maps.Equal(got, want) {
			t.Errorf("%s: the files are %q, want %q", dir, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		if p.Name != "m" || p.Version != "1.2.3" || len(p.Skipped) != 0 {
			t.Errorf("%s: %q %q, skipped %v", dir, p.Name, p.Version, p.Skipped)
		}
		digests = append(digests, p.Digest)
	}
	if len(slices.Compact(digests)) != 1 {
		t.Errorf("one package has the digests %v", digests)
	}
	if got := recompute(want); got != digests[0] {
		t.Errorf("the digest is %v, want %v by the specification", digests[0], got)
	}
}

// recompute is the package digest as SPEC.md, section 4, says it.
func recompute(files tree) abi.Digest {
	var lines bytes.Buffer
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256([]byte(files[p])), p)
	}
	return abi.DigestOf(lines.Bytes())
}

// TestDigestVector holds the digest to one that coreutils made:
//
//	sha256sum AGENTS.md lola.yaml skills/x/SKILL.md | sha256sum
func TestDigestVector(t *testing.T) {
	p := load(t, tree{"lola.yaml": "name: vector\n", "AGENTS.md": "agents\n", "skills/x/SKILL.md": "skill\n"}.write(t, "vector"))
	if got, want := p.Digest.String(), "8a7489eb5274663c6cee756bccfae2c7f8881b0db6cd1c17027ed3b9ce968332"; got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

// TestDigestCounts: every byte, name and file counts; order on disk, modes and what is no part do not.
func TestDigestCounts(t *testing.T) {
	base := tree{"skills/a": "1", "skills/b": "2"}
	was := load(t, base.write(t, "m")).Digest
	seen := map[abi.Digest]string{was: "the first"}
	for name, tr := range map[string]tree{
		"other bytes": {"skills/a": "1", "skills/b": "3"}, "swapped": {"skills/a": "2", "skills/b": "1"}, "renamed": {"skills/a": "1", "skills/c": "2"},
		"one more": {"skills/a": "1", "skills/b": "2", "skills/c": ""}, "one less": {"skills/a": "1"}, "other case": {"skills/a": "1", "skills/B": "2"},
		"a manifest": {"skills/a": "1", "skills/b": "2", "lola.yaml": ""},
	} {
		d := load(t, tr.write(t, "m")).Digest
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
	if d := load(t, tree{"skills/b": "2", "skills/a": "1", "other": "x", "skills/empty/": ""}.write(t, "other-name")).Digest; d != was {
		t.Errorf("what is no part of the package changed the digest")
	}
}

// TestLoneSkill: a folder with a SKILL.md is a module of one skill, named by its frontmatter, else by the folder.
func TestLoneSkill(t *testing.T) {
	front := func(name string) string { return "---\nname: " + name + "\ndescription: x\n---\n# Text\n" }
	for _, tt := range []struct {
		what string
		tree tree
		name string
	}{
		{"frontmatter", tree{"SKILL.md": front("doctor")}, "doctor"},
		{"CRLF", tree{"SKILL.md": strings.ReplaceAll(front("doctor"), "\n", "\r\n")}, "doctor"},
		{"quoted", tree{"SKILL.md": front(`"doctor"`)}, "doctor"},
		{"other keys", tree{"SKILL.md": "---\nmetadata: {a: [1, 2]}\nallowed-tools: Bash(git *)\nname: doctor\n---\n"}, "doctor"},
		{"nothing after it", tree{"SKILL.md": "---\nname: doctor\n---"}, "doctor"},
		{"long text", tree{"SKILL.md": front("doctor") + strings.Repeat("x", 100_000)}, "doctor"},
		{"the manifest wins", tree{"SKILL.md": front("doctor"), "lola.yaml": "name: other\n"}, "other"},
		{"the manifest has no name", tree{"SKILL.md": front("doctor"), "lola.yaml": "version: 1.0.0\n"}, "doctor"},
		{"in module/", tree{"module/SKILL.md": front("doctor"), "README.md": "x"}, "doctor"},
		{"no frontmatter", tree{"SKILL.md": "# Text\n"}, "folder"},
		{"frontmatter that does not end", tree{"SKILL.md": "---\nname: doctor\n"}, "folder"},
		{"frontmatter that does not begin", tree{"SKILL.md": "\n---\nname: doctor\n---\n"}, "folder"},
		{"no name", tree{"SKILL.md": "---\ndescription: x\n---\n"}, "folder"},
		{"a name that is none (P15)", tree{"SKILL.md": front("../../x")}, "folder"},
		{"another one (P15)", tree{"SKILL.md": front(".bin")}, "folder"},
		{"a device (P11)", tree{"SKILL.md": front("nul")}, "folder"},
		{"not YAML", tree{"SKILL.md": "---\n: [\n---\n"}, "folder"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			tt.tree["scripts/run.sh"] = "at the top"
			tt.tree["module/scripts/run.sh"] = "in module/"
			if _, ok := tt.tree["module/SKILL.md"]; !ok {
				delete(tt.tree, "module/scripts/run.sh")
			}
			p := load(t, tt.tree.write(t, "folder"))
			if p.Name != tt.name {
				t.Errorf("the name is %q, want %q", p.Name, tt.name)
			}
			want := []string{"skills/" + tt.name + "/SKILL.md", "skills/" + tt.name + "/scripts/run.sh"}
			if _, ok := tt.tree["lola.yaml"]; ok {
				want = append([]string{"lola.yaml"}, want...)
			}
			if got := slices.Sorted(maps.Keys(contents(t, p))); !slices.Equal(got, want) {
				t.Errorf("the files are %q, want %q", got, want)
			}
		})
	}
	// A folder of a module beside it makes SKILL.md a file like another.
	p := load(t, tree{"SKILL.md": front("doctor"), "commands/c.md": "x"}.write(t, "folder"))
	if got := slices.Sorted(maps.Keys(contents(t, p))); p.Name != "folder" || !slices.Equal(got, []string{"commands/c.md"}) {
		t.Errorf("a module with a SKILL.md is %q with %q", p.Name, got)
	}
}

// TestNoModule: what holds nothing is an error that says what is wanted.
func TestNoModule(t *testing.T) {
	for name, tr := range map[string]tree{
		"nothing": {"README.md": "x"}, "empty folders": {"skills/": "", "commands/": ""}, "a folder for a file": {"AGENTS.md/x": "x"},
		"too deep": {"src/module/skills/x": "x"}, "a manifest alone": {"lola.yaml": "name: x\n"}, "other case": {"Skillz/x": "x"},
	} {
		if err := refused(t, tr.write(t, "m"), abi.Limits{}); !strings.Contains(err.Error(), "m") {
			t.Errorf("%s: the error %q does not name the folder", name, err)
		}
	}
	refused(t, filepath.Join(t.TempDir(), "absent"), abi.Limits{})
	refused(t, filepath.Join(tree{"SKILL.md": ""}.write(t, "m"), "SKILL.md"), abi.Limits{})
}

// TestM05AwkwardFiles: README, dotfiles, empty files, a large binary and names in any script all arrive to the byte.
func TestM05AwkwardFiles(t *testing.T) {
	binary := bytes.Repeat([]byte{0, 0xff, '\r', '\n', 0x1a, 0x80, 'x'}, 5<<20/7+1)
	want := tree{
		"skills/x/SKILL.md": "x", "skills/x/README.md": "read", "skills/x/.hidden": "dot", "skills/x/.config/.deep": "dot", "skills/x/empty": "",
		"skills/x/a b.md": "space", "skills/x/日本語/スキル.md": "日本", "skills/x/e\u0301.md": "decomposed", "skills/x/🚀.md": "rocket",
		"skills/x/data.bin": string(binary), "skills/x/crlf.txt": "a\r\nb\r\n", "skills/x/.gitignore": "*\n", "skills/x/lola.yaml": "not a manifest: here",
		"skills/x/node_modules/p/index.js": "x", "skills/x/SKILL.md.bak": "x", "skills/module/skills/y": "nested", "agents/.keep": "",
	}
	p := load(t, want.write(t, "m"))
	got := contents(t, p)
	if !maps.Equal(got, want) {
		t.Errorf("the files are %q, want %q, with their bytes", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	if len(p.Skipped) != 0 {
		t.Errorf("skipped %v", p.Skipped)
	}
}

// TestVersionControlStays: no folder or file of a version control system is part of a package, in any case, at any depth.
func TestVersionControlStays(t *testing.T) {
	p := load(t, tree{
		"skills/x/SKILL.md": "x", "skills/.git/config": "x", "skills/x/.GIT/hooks/post-checkout": "x", "skills/x/sub/.git": "gitdir: ../../elsewhere",
		"commands/.hg/hgrc": "x", "agents/.svn/entries": "x", "skills/.jj/x": "x", ".git/config": "x", "skills/x/.gitkeep": "",
	}.write(t, "m"))
	if got, want := slices.Sorted(maps.Keys(contents(t, p))), []string{"skills/x/.gitkeep", "skills/x/SKILL.md"}; !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	for _, path := range []string{"skills/.git", "skills/x/.GIT", "skills/x/sub/.git", "commands/.hg", "agents/.svn", "skills/.jj"} {
		if why(p, path) == "" {
			t.Errorf("%q is left out and not said", path)
		}
	}
	p = load(t, tree{"SKILL.md": "x", ".git/config": "x", "sub/.git/config": "x"}.write(t, "lone"))
	if got, want := slices.Sorted(maps.Keys(contents(t, p))), []string{"skills/lone/SKILL.md"}; !slices.Equal(got, want) {
		t.Errorf("the lone skill's files are %q, want %q", got, want)
	}
}

// TestRequest: what an extension sees: text up to 64 KiB that a glob matches, and of everything the name, mode and digest.
func TestRequest(t *testing.T) {
	at, over := strings.Repeat("x", module.MaxShown), strings.Repeat("x", module.MaxShown+1)
	p := load(t, tree{
		"skills/x/SKILL.md": "text", "skills/x/empty.md": "", "skills/x/at.md": at, "skills/x/over.md": over, "skills/x/zero.md": "a\x00b",
		"skills/x/latin1.md": "\xe9", "commands/c.md": "é", "lola.yaml": "name: m\n",
	}.write(t, "m"))
	glob, err := grant.ParseGlob("skills/x/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		globs []grant.Glob
		shown []string
	}{
		{nil, []string{"commands/c.md", "lola.yaml", "skills/x/SKILL.md", "skills/x/at.md", "skills/x/empty.md"}},
		{[]grant.Glob{glob}, []string{"skills/x/SKILL.md", "skills/x/at.md", "skills/x/empty.md"}},
		{[]grant.Glob{{}}, nil},
	} {
		req, err := p.Request(tt.globs)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, f := range req.Files {
			if f.Content != nil {
				shown = append(shown, f.Path)
				if abi.DigestOf(f.Content) != f.Digest {
					t.Errorf("the content of %q is not what its digest says", f.Path)
				}
			}
			if f.Mode&^abi.ModeMask != 0 || runtime.GOOS == "windows" && f.Mode != 0o644 {
				t.Errorf("the mode of %q is %s", f.Path, f.Mode)
			}
		}
		if !slices.Equal(shown, tt.shown) || len(req.Files) != 8 {
			t.Errorf("globs %v: the contents of %q are shown of %d files, want %q of 8", tt.globs, shown, len(req.Files), tt.shown)
		}
		if req.Digest != p.Digest || req.Identity != p.Identity {
			t.Errorf("the request is about %v %v, want %v %v", req.Identity, req.Digest, p.Identity, p.Digest)
		}
	}
}

// TestBounds: each limit holds at the byte.
func TestBounds(t *testing.T) {
	var le *abi.LimitError
	dir := tree{"skills/x": "12345", "skills/y": "1"}.write(t, "m")
	if p, err := module.Load(dir, limits(t, abi.Limits{Content: 5})); err != nil {
		t.Errorf("a file at the limit: %v", err)
	} else {
		p.Close()
	}
	if err := refused(t, dir, abi.Limits{Content: 4}); !errors.As(err, &le) || le.Bound != 4 || !strings.Contains(err.Error(), "skills/x") {
		t.Errorf("a file over the limit: %v, want a *abi.LimitError that names it", err)
	}
	deep := tree{"skills/" + strings.Repeat("d/", 40) + "x": ""}.write(t, "m")
	if err := refused(t, deep, abi.Limits{}); !errors.As(err, &le) {
		t.Errorf("folders too deep: %v, want a *abi.LimitError", err)
	}
	// The contents for one request are bounded before they are all in memory.
	p, err := module.Load(tree{"skills/x": strings.Repeat("x", 600), "skills/y": strings.Repeat("y", 600)}.write(t, "m"), limits(t, abi.Limits{Request: 1000}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Request(nil); !errors.As(err, &le) || le.Limit != "request" {
		t.Errorf("contents over the request's limit: %v, want a *abi.LimitError", err)
	}
	if _, err := p.Request([]grant.Glob{{}}); err != nil {
		t.Errorf("without contents: %v", err)
	}
}

// TestChangedSinceLoaded: bytes that are not those of the digest never pass for them.
func TestChangedSinceLoaded(t *testing.T) {
	for name, text := range map[string]string{"other bytes": "TEXT", "longer": "text and more", "shorter": "te", "empty": ""} {
		dir := tree{"skills/x/SKILL.md": "text"}.write(t, "m")
		p := load(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "skills", "x", "SKILL.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if req, err := p.Request(nil); err == nil || !strings.Contains(err.Error(), "skills/x/SKILL.md") {
			t.Errorf("%s: Request: %v, %v; want an error that names the file", name, req, err)
		}
	}
	dir := tree{"skills/x/SKILL.md": "text"}.write(t, "m")
	p := load(t, dir)
	if err := os.Remove(filepath.Join(dir, "skills", "x", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Request(nil); err == nil {
		t.Error("Request of a file that is gone is no error")
	}
	c, ok := p.File("skills/x/SKILL.md")
	if !ok {
		t.Fatal("the package forgot its file")
	}
	if r, err := c.Open(); err == nil {
		r.Close()
		t.Error("Open of a file that is gone is no error")
	}
}

// TestFileNames: only the names that the request has are files.
func TestFileNames(t *testing.T) {
	p := load(t, tree{"module/skills/x/SKILL.md": "x", "secret": "x"}.write(t, "m"))
	for _, name := range []string{"", ".", "skills", "skills/x", "skills/x/skill.md", "/skills/x/SKILL.md", "module/skills/x/SKILL.md", "../secret", "secret", "skills/x/../x/SKILL.md", "skills//x/SKILL.md"} {
		if c, ok := p.File(name); ok {
			t.Errorf("File(%q) has %d bytes", name, c.Size())
		}
	}
}

// TestConcurrentUse: many read one package.
func TestConcurrentUse(t *testing.T) {
	p := load(t, parts.write(t, "m"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := p.Request(nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := "---\nname: doctor\ndescription: Looks after you.\n---\nSay something kind.\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	p, err := module.Load(dir, abi.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	fmt.Println(p.Name, p.Version, p.Files())
	// Output: doctor 0.0.0 1
}
