package host

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/root"
)

// readable is a root with these files, whose contents are their paths, and a grant to read.
func readable(t *testing.T, reads []string, files ...string) (*root.Root, grant.Set, string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, err := grant.Parse(grant.Rights{Reads: reads})
	if err != nil {
		t.Fatal(err)
	}
	r, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, g, dir
}

func pathsOf(in inputs) []string {
	var list []string
	for _, i := range in.list {
		list = append(list, string(i.State)+" "+i.Path)
	}
	return list
}

// TestP21Inputs: what the globs match is supplied, sorted and once; what looks secret, version control and staging never are.
func TestP21Inputs(t *testing.T) {
	r, g, _ := readable(t, []string{"**/*.md", "docs/**", "package.json", "absent.txt", "**/.env*", "*"},
		"a.md", "docs/b.md", "docs/c.txt", "docs/.env", ".env.local", "id_rsa", "x/id_ed25519", "package.json", ".git/config.md",
		"src/deep/d.md", ".lola-stage-x/e.md", "src/other.go", ".npmrc")
	in, err := gatherInputs(r, "x", g, abi.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"file a.md", "absent absent.txt", "file docs/b.md", "file docs/c.txt", "file package.json", "file src/deep/d.md"}
	if got := pathsOf(in); !slices.Equal(got, want) {
		t.Errorf("inputs: %q\nwant    %q", got, want)
	}
	for _, i := range in.list {
		if i.State == abi.InputFile && (string(i.Content) != i.Path || *i.Digest != abi.DigestOf(i.Content) || i.Mode == nil) {
			t.Errorf("input %q: %+v", i.Path, i)
		}
	}
}

// TestP20Inputs: a match that is a link, or lies behind one that is named, is an error, and nothing of it is read.
func TestP20Inputs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a link needs a privilege there")
	}
	secret := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, reads := range map[string]string{"a glob": "**/*.md", "by name": "link.md", "behind a link": "dir/notes.md", "beneath a link": "dir/**"} {
		r, g, dir := readable(t, []string{reads}, "a.md")
		if err := os.Symlink(secret, filepath.Join(dir, "link.md")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "dir")); err != nil {
			t.Fatal(err)
		}
		if in, err := gatherInputs(r, "x", g, abi.DefaultLimits()); err == nil || !strings.Contains(err.Error(), "symlink") {
			t.Errorf("%s: %q, %v, want an error about a symlink", name, pathsOf(in), err)
		}
	}
}

// TestInputsBound: more than a request takes is an error.
func TestInputsBound(t *testing.T) {
	r, g, _ := readable(t, []string{"**"}, "a", "b", strings.Repeat("c", 100))
	lim := abi.DefaultLimits()
	lim.Request = 50
	if in, err := gatherInputs(r, "x", g, lim); err == nil {
		t.Errorf("inputs: %q, want an error", pathsOf(in))
	}
}

// TestInputsAreAPrecondition: a file that changes, comes or goes is noticed.
func TestInputsAreAPrecondition(t *testing.T) {
	r, g, dir := readable(t, []string{"*.md", "named.txt"}, "a.md", "b.md")
	was, err := gatherInputs(r, "x", g, abi.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	p := &Pending{host: &Host{limits: abi.DefaultLimits()}, root: r, inputs: []inputs{was}}
	if err := p.unchangedInputs(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func() error{
		"changed": func() error { return os.WriteFile(filepath.Join(dir, "a.md"), []byte("b"), 0o644) },
		"came":    func() error { return os.WriteFile(filepath.Join(dir, "c.md"), nil, 0o644) },
		"named":   func() error { return os.WriteFile(filepath.Join(dir, "named.txt"), nil, 0o644) },
		"went":    func() error { return os.Remove(filepath.Join(dir, "b.md")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := p.unchangedInputs(); err == nil {
			t.Errorf("%s: not noticed", name)
		}
		now, err := gatherInputs(r, "x", g, abi.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		p.inputs = []inputs{now}
	}
}
