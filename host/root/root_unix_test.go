//go:build unix

package root_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

func symlink(t *testing.T, target string, at ...string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(at...)); err != nil {
		t.Fatal(err)
	}
}

// soon fails the test if f does not return within seconds: what waits for the other end of a pipe waits for ever.
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

// TestRootThroughLink: the user named the root, so it may be a link; its canonical path is not.
func TestRootThroughLink(t *testing.T) {
	r := openTree(t, "real/sub/file")
	symlink(t, "real", r.Path(), "link")
	for _, path := range []string{"link", "link/", "link/sub/.."} {
		got := open(t, r.Path()+"/"+path)
		if want := filepath.Join(r.Path(), "real"); got.Path() != want {
			t.Errorf("Open(%q) has the path %q, want %q", path, got.Path(), want)
		}
	}
}

// TestP01Links: no component that is a link is passed, wherever it leads, with a trailing slash or without; and it is said
// that it is one.
func TestP01Links(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := openTree(t, "real/file", "deep/er/")
	for link, target := range map[string]string{
		"out": outside, "in": "real", "file-in": "real/file", "file-out": filepath.Join(outside, "secret"), "dangling": "nowhere", "self": "self",
		"deep/up": "..", "deep/er/top": "/", "proc": "/proc/self/cwd", "slash": "real/", "dot": ".",
	} {
		symlink(t, target, r.Path(), filepath.FromSlash(link))
	}
	before := names(t, r.Path())
	for _, link := range []string{"out", "in", "file-in", "file-out", "dangling", "self", "deep/up", "deep/er/top", "proc", "slash", "dot"} {
		info, err := r.Stat(link)
		if err != nil || info.Kind() != "symlink" || info.Regular() {
			t.Errorf("Stat(%q): %+v, %v; want a symlink", link, info, err)
		}
		for _, suffix := range []string{"", "/"} {
			if f, err := r.Open(link + suffix); !isLink(err) {
				t.Errorf("Open(%q): %v, %v; want a *LinkError", link+suffix, f, err)
			}
		}
		for _, dir := range []string{link, link + "/", link + "/x", link + "/."} {
			for _, makes := range []bool{false, true} {
				var le *root.LinkError
				d, made, err := r.Walk(dir, makes)
				if !errors.As(err, &le) || made != nil || le.Path != link || le.Kind != "symlink" {
					t.Errorf("Walk(%q, %v): %v, made %v, %v; want a *LinkError of %q", dir, makes, d, made, err, link)
				}
			}
		}
		for _, path := range []string{link + "/secret", link + "/file", link + "/"} {
			if info, err := r.Stat(path); !isLink(err) {
				t.Errorf("Stat(%q): %+v, %v; want a *LinkError", path, info, err)
			}
			if f, err := r.Open(path); !isLink(err) {
				t.Errorf("Open(%q): %v, %v; want a *LinkError", path, f, err)
			}
			if _, _, err := r.Digest(path, 100); !isLink(err) {
				t.Errorf("Digest(%q): %v; want a *LinkError", path, err)
			}
		}
	}
	if after := names(t, r.Path()); !slices.Equal(before, after) {
		t.Errorf("the tree was %v and is %v", before, after)
	}
}

// TestP04Create: an exclusive create over any link is an error that says so, and leaves link and target alone.
func TestP04Create(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("victim"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := openTree(t)
	targets := map[string]string{"dangling": filepath.Join(outside, "new"), "to-file": victim, "to-dir": outside, "self": "self", "relative": "nowhere"}
	for link, target := range targets {
		symlink(t, target, r.Path(), link)
		if f, err := r.Top().Create(link, 0o644); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create(%q): %v, %v; want fs.ErrExist", link, f, err)
		}
		if err := r.Top().Mkdir(link, 0o755); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Mkdir(%q): %v; want fs.ErrExist", link, err)
		}
		if got, err := os.Readlink(filepath.Join(r.Path(), link)); got != target {
			t.Errorf("the link %q leads to %q, %v; want %q", link, got, err, target)
		}
	}
	if got := names(t, outside); !slices.Equal(got, []string{"victim"}) {
		t.Errorf("outside lie %v", got)
	}
	if text, _ := os.ReadFile(victim); string(text) != "victim" {
		t.Errorf("the link's target holds %q", text)
	}
}

// TestRenameMovesLinks: a rename moves or replaces a link itself, never what it leads to.
func TestRenameMovesLinks(t *testing.T) {
	outside := t.TempDir()
	r := openTree(t, "file", "other", "d/")
	symlink(t, outside, r.Path(), "link")
	symlink(t, "nowhere", r.Path(), "dangling")
	if err := r.Top().RenameNew("file", r.Top(), "dangling"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("RenameNew onto a dangling link: %v, want fs.ErrExist", err)
	}
	if err := r.Top().Rename("file", r.Top(), "link"); err != nil {
		t.Error(err)
	}
	d, _, err := r.Walk("d", false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := r.Top().RenameNew("dangling", d, "moved"); err != nil {
		t.Error(err)
	}
	if got := names(t, outside); len(got) != 0 {
		t.Errorf("outside lie %v", got)
	}
	if info, err := r.Stat("link"); err != nil || !info.Regular() {
		t.Errorf("link is a %s, %v; want the file", info.Kind(), err)
	}
	if info, err := r.Stat("d/moved"); err != nil || info.Kind() != "symlink" {
		t.Errorf("d/moved is a %s, %v; want the link", info.Kind(), err)
	}
}

// TestRemoveTreeStays: links beneath a tree go, what they lead to stays.
func TestRemoveTreeStays(t *testing.T) {
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(outside, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := openTree(t, "d/sub/file", "keep/file")
	symlink(t, outside, r.Path(), "d", "out")
	symlink(t, filepath.Join(outside, "a"), r.Path(), "d", "sub", "out")
	symlink(t, "../keep", r.Path(), "d", "in")
	symlink(t, "../keep/file", r.Path(), "d", "in-file")
	symlink(t, "..", r.Path(), "d", "up")
	symlink(t, outside, r.Path(), "top")
	if err := syscall.Mkfifo(filepath.Join(r.Path(), "d", "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	soon(t, "RemoveTree", func() {
		for _, name := range []string{"d", "top"} {
			if err := r.Top().RemoveTree(name); err != nil {
				t.Errorf("RemoveTree(%q): %v", name, err)
			}
		}
	})
	if got, want := names(t, r.Path()), []string{"keep", "keep/file"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %v, want %v", got, want)
	}
	if got, want := names(t, outside), []string{"a", "a/b"}; !slices.Equal(got, want) {
		t.Errorf("outside lie %v, want %v", got, want)
	}
}

// TestSpecialFiles: a FIFO, a socket and a device are named and never opened, neither as files nor as directories; no call
// waits for their other end.
func TestSpecialFiles(t *testing.T) {
	dir, err := os.MkdirTemp("", "r") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := open(t, dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tt := range []struct {
		root       *root.Root
		name, kind string
	}{
		{r, "fifo", "named pipe"}, {r, "socket", "socket"}, {open(t, "/dev"), "zero", "device"}, {open(t, "/dev"), "null", "device"},
	} {
		soon(t, "a call on a "+tt.kind, func() {
			info, err := tt.root.Stat(tt.name)
			if err != nil || info.Kind() != tt.kind || info.Regular() {
				t.Errorf("Stat(%q): %s, %v; want a %s", tt.name, info.Kind(), err, tt.kind)
			}
			if f, err := tt.root.Open(tt.name); !isLink(err) {
				t.Errorf("Open(%q): %v, %v; want a *LinkError", tt.name, f, err)
			}
			if _, _, err := tt.root.Digest(tt.name, 10); !isLink(err) {
				t.Errorf("Digest(%q): %v; want a *LinkError", tt.name, err)
			}
			if _, _, err := tt.root.Walk(tt.name+"/x", false); !isLink(err) {
				t.Errorf("Walk past %q: %v; want a *LinkError", tt.name, err)
			}
			if f, err := tt.root.Top().Create(tt.name, 0o644); !errors.Is(err, fs.ErrExist) {
				t.Errorf("Create(%q): %v, %v; want fs.ErrExist", tt.name, f, err)
			}
		})
	}
}

// TestModes: a new file has its mode to the bit whatever the umask, and no bit beyond permissions; a directory follows the
// umask, as what other programs make beside it does.
func TestModes(t *testing.T) {
	r := openTree(t)
	for _, mask := range []int{0, 0o022, 0o027, 0o077, 0o377} {
		old := syscall.Umask(mask)
		for i, mode := range []abi.Mode{0o644, 0o755, 0o600, 0o777, 0o444, 0, 0o7644} {
			name := string(rune('a' + i))
			f, err := r.Top().Create(name, mode)
			if err != nil {
				t.Errorf("umask %o, mode %s: %v", mask, mode, err)
				continue
			}
			if _, err := f.Write([]byte("x")); err != nil {
				t.Errorf("umask %o, mode %s: writing: %v", mask, mode, err)
			}
			f.Close()
			info, err := os.Lstat(filepath.Join(r.Path(), name))
			if err != nil || info.Mode() != fs.FileMode(mode&abi.ModeMask) {
				t.Errorf("umask %o, mode %s: the file has %v, %v", mask, mode, info.Mode(), err)
			}
			if st, err := r.Stat(name); err != nil || st.Mode != mode&abi.ModeMask {
				t.Errorf("Stat: mode %s, %v; want %s", st.Mode, err, mode&abi.ModeMask)
			}
			if err := r.Top().Remove(name); err != nil {
				t.Error(err)
			}
		}
		err := r.Top().Mkdir("d", 0o755)
		exact := r.Top().MkdirExact("exact", 0o2750)
		syscall.Umask(old)
		if info, err := os.Lstat(filepath.Join(r.Path(), "exact")); exact != nil || info.Mode() != fs.ModeDir|0o750 {
			t.Errorf("umask %o: the exact directory: %v, %v, %v", mask, info, exact, err)
		}
		if err := r.Top().Rmdir("exact"); err != nil {
			t.Error(err)
		}
		info, serr := os.Lstat(filepath.Join(r.Path(), "d"))
		if err != nil || serr != nil || info.Mode().Perm() != 0o755&^fs.FileMode(mask) {
			t.Errorf("umask %o: the directory has %v, %v, %v", mask, info.Mode(), err, serr)
		}
		if err := r.Top().Rmdir("d"); err != nil {
			t.Error(err)
		}
	}
}

// TestHardLinksAreFiles: another name of a file is a regular file; removing one leaves the other.
func TestHardLinksAreFiles(t *testing.T) {
	r := openTree(t, "one")
	if err := os.Link(filepath.Join(r.Path(), "one"), filepath.Join(r.Path(), "two")); err != nil {
		t.Fatal(err)
	}
	if err := r.Top().Remove("one"); err != nil {
		t.Error(err)
	}
	if d, _, err := r.Digest("two", 100); err != nil || d != abi.DigestOf([]byte("one")) {
		t.Errorf("the other name has digest %v, %v", d, err)
	}
}
