//go:build unix

package module_test

import (
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/module"
)

func symlink(t *testing.T, target string, at ...string) {
	t.Helper()
	path := filepath.Join(at...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not return", what)
	}
}

// secret is a file of the user's outside any module.
func secret(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".ssh", "id_ed25519")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestM04P20Links: a link inside the package to a regular file of it is that file; every other link is left out and said,
// and nothing that it leads to is read.
func TestM04P20Links(t *testing.T) {
	key := secret(t)
	dir := tree{
		"skills/x/SKILL.md": "skill", "skills/x/real.md": "real", "skills/y/SKILL.md": "other", "commands/c.md": "command", "AGENTS.md": "agents",
		"README.md": "beside", "src/secret": "SECRET", ".git/config": "SECRET", "skills/z/.git/config": "SECRET", "lola.yaml": "name: m\n",
	}.write(t, "m")
	good := map[string]string{ // link: target
		"skills/x/same.md": "real.md", "skills/x/dotted.md": "./../x/./real.md", "skills/x/other.md": "../y/SKILL.md", "skills/x/command.md": "../../commands/c.md",
		"commands/agents.md": "../AGENTS.md", "INSTRUCTIONS.md": "AGENTS.md", "skills/x/manifest.yaml": "../../lola.yaml",
		"skills/x/lexical.md": "../absent/../x/real.md",
	}
	bad := map[string]string{
		"skills/x/key": key, "skills/x/relative-key": "../../../" + filepath.Base(filepath.Dir(filepath.Dir(key))) + "/.ssh/id_ed25519", "skills/x/passwd": "/etc/passwd",
		"skills/x/home": "~/.ssh/id_ed25519", "skills/x/beside": "../../README.md", "skills/x/src": "../../src/secret", "skills/x/up": "..", "skills/x/top": "../..",
		"skills/x/out": "../../..", "skills/x/dir": "../y", "skills/x/self": "self", "skills/x/a": "b", "skills/x/b": "a", "skills/x/dangling": "nowhere",
		"skills/x/chain": "same.md", "skills/x/through": "dir/SKILL.md", "skills/x/git": "../../.git/config", "skills/x/inner-git": "../z/.git/config",
		"skills/x/abs": filepath.Join(dir, "skills/x/real.md"), "skills/linked": "x", "agents": "skills", "skills/x/proc": "/proc/self/environ", "skills/x/dot": ".",
		"skills/x/slash": "real.md/",
	}
	// A path with ".." is taken as written, so "absent" need not be there; nothing is followed either way.
	for _, links := range []map[string]string{good, bad} {
		for link, target := range links {
			symlink(t, target, dir, filepath.FromSlash(link))
		}
	}
	delete(bad, "skills/x/slash") // the slash is not kept by every reading; it must not be followed to anything else
	p := load(t, dir)
	got := contents(t, p)
	want := tree{
		"skills/x/SKILL.md": "skill", "skills/x/real.md": "real", "skills/y/SKILL.md": "other", "commands/c.md": "command", "AGENTS.md": "agents", "lola.yaml": "name: m\n",
		"skills/x/same.md": "real", "skills/x/dotted.md": "real", "skills/x/other.md": "other", "skills/x/command.md": "command", "commands/agents.md": "agents",
		"INSTRUCTIONS.md": "agents", "skills/x/manifest.yaml": "name: m\n", "skills/x/lexical.md": "real",
	}
	delete(got, "skills/x/slash")
	if !maps.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	for link := range bad {
		if why(p, link) == "" {
			t.Errorf("the link %q is left out and not said", link)
		}
	}
	for path, text := range got {
		if strings.Contains(text, "SECRET") {
			t.Errorf("%q holds the secret", path)
		}
	}
}

// TestLinkedParts: the folders that a module is known by are not followed either, and it is said.
func TestLinkedParts(t *testing.T) {
	dir := tree{"commands/c.md": "x", "elsewhere/x/SKILL.md": "x"}.write(t, "m")
	symlink(t, "elsewhere", dir, "skills")
	p := load(t, dir)
	if got := slices.Sorted(maps.Keys(contents(t, p))); !slices.Equal(got, []string{"commands/c.md"}) || why(p, "skills") == "" {
		t.Errorf("the files are %q and skipped is %v", got, p.Skipped)
	}
	dir = tree{"elsewhere/skills/x/SKILL.md": "x"}.write(t, "m")
	symlink(t, "elsewhere", dir, "module")
	if err := refused(t, dir, abi.Limits{}); !strings.Contains(err.Error(), `"module"`) {
		t.Errorf("the error %q does not name the link", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "agents", "a.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if p := load(t, dir); why(p, "module") == "" {
		t.Errorf("the link module is not said: %v", p.Skipped)
	}
	// The module's folder itself may be a link: the user named it.
	base := t.TempDir()
	symlink(t, tree{"skills/x": "x"}.write(t, "real-name"), base, "link")
	if p := load(t, filepath.Join(base, "link")); p.Name != "real-name" {
		t.Errorf("a module behind a link has the name %q", p.Name)
	}
}

// TestManifestBehindLink: a manifest that is a link, or no file, is an error and not read.
func TestManifestBehindLink(t *testing.T) {
	dir := tree{"skills/x": "x", "real.yaml": "name: stolen\n"}.write(t, "m")
	symlink(t, "real.yaml", dir, "lola.yaml")
	refused(t, dir, abi.Limits{})
	dir = tree{"skills/x": "x"}.write(t, "m")
	if err := syscall.Mkfifo(filepath.Join(dir, "lola.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	soon(t, "Load with a FIFO for a manifest", func() {
		if p, err := module.Load(dir, limits(t, abi.Limits{})); err == nil {
			p.Close()
			t.Error("a FIFO passes for a manifest")
		}
	})
	dir = tree{"other.md": "---\nname: stolen\n---\n", "x": "x"}.write(t, "folder")
	symlink(t, "other.md", dir, "SKILL.md")
	if p := load(t, dir); p.Name != "folder" {
		t.Errorf("the name %q was read through a link", p.Name)
	}
}

// TestSpecialFiles: a FIFO, a socket and a device in a module are left out and said; nothing waits for them.
func TestSpecialFiles(t *testing.T) {
	base, err := os.MkdirTemp("", "m") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	for _, path := range []string{"skills/x/SKILL.md", "commands/c.md"} {
		at := filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, fifo := range []string{"skills/x/fifo", "AGENTS.md", "agents", "SKILL.md"} {
		if err := syscall.Mkfifo(filepath.Join(base, fifo), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(base, "skills", "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	symlink(t, "fifo", base, "skills", "x", "link-to-fifo")
	soon(t, "Load with a FIFO", func() {
		p := load(t, base)
		if got := slices.Sorted(maps.Keys(contents(t, p))); !slices.Equal(got, []string{"commands/c.md", "skills/x/SKILL.md"}) {
			t.Errorf("the files are %q", got)
		}
		for path, kind := range map[string]string{"skills/x/fifo": "named pipe", "AGENTS.md": "named pipe", "skills/socket": "socket", "skills/x/link-to-fifo": "link"} {
			if !strings.Contains(why(p, path), kind) {
				t.Errorf("of %q it is said %q, want that it is a %s", path, why(p, path), kind)
			}
		}
	})
}

// TestSwappedAfterLoad: a file that became a link or a FIFO since it was loaded is not followed and not waited for.
func TestSwappedAfterLoad(t *testing.T) {
	key := secret(t)
	for what, place := range map[string]func(path string) error{
		"link":        func(p string) error { return os.Symlink(key, p) },
		"fifo":        func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"linked part": func(p string) error { return swapParent(p, filepath.Dir(key)) },
	} {
		dir := tree{"skills/x/id_ed25519": "mine"}.write(t, "m")
		p := load(t, dir)
		path := filepath.Join(dir, "skills", "x", "id_ed25519")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := place(path); err != nil {
			t.Fatal(err)
		}
		soon(t, "reading a "+what, func() {
			c, _ := p.File("skills/x/id_ed25519")
			if r, err := c.Open(); err == nil {
				text, _ := io.ReadAll(r)
				r.Close()
				t.Errorf("a %s was opened and holds %q", what, text)
			}
			if req, err := p.Request(nil); err == nil {
				t.Errorf("a %s was read: %q", what, req.Files[0].Content)
			}
		})
	}
}

// swapParent puts a link to target in place of the folder that holds path.
func swapParent(path, target string) error {
	if err := os.Remove(filepath.Dir(path)); err != nil {
		return err
	}
	return os.Symlink(target, filepath.Dir(path))
}

// TestM05Modes: permission bits arrive, set-id and sticky bits do not; a link has the mode of its file.
func TestM05Modes(t *testing.T) {
	dir := tree{"skills/run": "x", "skills/read": "x", "skills/all": "x", "skills/suid": "x"}.write(t, "m")
	modes := map[string]os.FileMode{"run": 0o755, "read": 0o444, "all": 0o777, "suid": 0o755 | os.ModeSetuid | os.ModeSetgid | os.ModeSticky}
	for name, mode := range modes {
		if err := os.Chmod(filepath.Join(dir, "skills", name), mode); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, "run", dir, "skills", "link")
	req, err := load(t, dir).Request(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range req.Files {
		want := modes[strings.TrimPrefix(f.Path, "skills/")].Perm()
		if f.Path == "skills/link" {
			want = 0o755
		}
		if f.Mode != abi.Mode(want) {
			t.Errorf("the mode of %q is %s, want %04o", f.Path, f.Mode, want)
		}
	}
}

// TestNamesThatForgeDigests: the digest is over lines, so a name that holds one could make two packages look the same.
// Such names, and those that are not UTF-8, are no part of a package, and it is said.
func TestNamesThatForgeDigests(t *testing.T) {
	honest := tree{"skills/a": "one", "skills/b": "two"}
	forged := "a\n" + abi.DigestOf([]byte("two")).String() + "  skills"
	dir := tree{"skills/x": "x"}.write(t, "m")
	if err := os.MkdirAll(filepath.Join(dir, "skills", forged), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "skills", forged, "b"), []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "skills", "x")); err != nil {
		t.Fatal(err)
	}
	want := recompute(honest)
	p, err := module.Load(dir, limits(t, abi.Limits{}))
	if err == nil {
		defer p.Close()
		if p.Digest == want {
			t.Error("another package has the honest one's digest")
		}
	}
	dir = tree{"skills/x": "x"}.write(t, "m")
	names := []string{"lf\n", "cr\r", "Icon\r", "esc\x1b[31m", "del\x7f", "c1\u0085", "tab\t", "bad\xff", "cut\xc3"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, "skills", name), []byte("x"), 0o644); err != nil {
			t.Skipf("this file system does not take the name %q: %v", name, err)
		}
	}
	p = load(t, dir)
	if got := slices.Sorted(maps.Keys(contents(t, p))); !slices.Equal(got, []string{"skills/x"}) {
		t.Errorf("the files are %q", got)
	}
	for _, name := range names {
		if why(p, "skills/"+name) == "" {
			t.Errorf("the name %q is left out and not said", name)
		}
	}
}
