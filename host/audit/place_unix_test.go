//go:build unix

package audit_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lola-ext/lola/host/audit"
)

// soon fails the test if f does not return within seconds.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatalf("%s does not return", what)
	}
}

// planters put something into the place of a path.
var planters = map[string]func(path string) error{
	"a named pipe":       func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a link to a file":   func(path string) error { return os.Symlink(path+".target", path) },
	"a link to nothing":  func(path string) error { return os.Symlink("nowhere", path) },
	"a link to a folder": func(path string) error { return os.Symlink(path+".folder", path) },
	"a folder":           func(path string) error { return os.Mkdir(path, 0o700) },
	"a device":           func(path string) error { return os.Symlink("/dev/zero", path) },
	"a file with two names": func(path string) error {
		return os.Link(path+".target", path)
	},
}

// TestP25PlantedFiles: a pipe, a link, a folder, a second name in the place of the lock, the log's file or its folder: an
// error that names it, at once, and nothing outside is written.
func TestP25PlantedFiles(t *testing.T) {
	for place, at := range map[string]string{"the lock": "audit/lock", "the file": "audit/" + one, "the folder": "audit"} {
		for what, plant := range planters {
			if place == "the folder" && what == "a folder" || place == "the lock" && what == "a file with two names" {
				continue // that is how it should be; and a lock is never written to
			}
			t.Run(place+" is "+what, func(t *testing.T) {
				home := t.TempDir()
				path := filepath.Join(home, filepath.FromSlash(at))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+".target", nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(path+".folder", 0o700); err != nil {
					t.Fatal(err)
				}
				if err := plant(path); err != nil {
					t.Fatal(err)
				}
				l := openAt(t, home)
				soon(t, "Append", func() {
					_, err := l.Append(t.Context(), small(1))
					if err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
						t.Errorf("Append: %v", err)
					}
				})
				if what != "a file with two names" || place == "the folder" {
					soon(t, "Verify", func() {
						if r, err := l.Verify(t.Context(), audit.VerifyOptions{}); err == nil {
							t.Errorf("Verify: %+v", r)
						}
					})
				}
				if info, err := os.Lstat(path + ".target"); err != nil || info.Size() != 0 {
					t.Errorf("something was written outside: %v, %v", info, err)
				}
				if inside, err := os.ReadDir(path + ".folder"); err != nil || len(inside) != 0 {
					t.Errorf("something was made outside: %v, %v", inside, err)
				}
			})
		}
	}
}

// TestP25ForeignOwner: what belongs to another user is refused, by name of its owner; only root can make such a thing.
func TestP25ForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes files of another user")
	}
	for _, place := range []string{"audit", "audit/lock", "audit/" + one} {
		home := t.TempDir()
		l := openAt(t, home)
		appendN(t, l, 1, small)
		path := filepath.Join(home, filepath.FromSlash(place))
		if err := os.Lchown(path, 12345, 12345); err != nil {
			t.Skipf("no user may be given a file here: %v", err)
		}
		before := files(t, home)[one]
		_, err := l.Append(t.Context(), small(2))
		if err == nil || !strings.Contains(err.Error(), "user 12345") || !strings.Contains(err.Error(), "you are user 0") {
			t.Errorf("%s of another user: %v", place, err)
		}
		if after := files(t, home)[one]; string(after) != string(before) {
			t.Errorf("%s of another user: the log was written", place)
		}
	}
}

// TestModes: folder and files are the user's alone whatever the umask, and a folder that others can write to is refused.
func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o377} {
		home := t.TempDir()
		l := openAt(t, home)
		old := syscall.Umask(mask)
		_, err := l.Append(t.Context(), small(1))
		if err == nil {
			_, err = l.Append(t.Context(), small(2))
		}
		syscall.Umask(old)
		if err != nil {
			t.Errorf("umask %03o: %v", mask, err)
			continue
		}
		for path, want := range map[string]fs.FileMode{"audit": fs.ModeDir | 0o700, "audit/lock": 0o600, "audit/" + one: 0o600} {
			if info, err := os.Lstat(filepath.Join(home, filepath.FromSlash(path))); err != nil || info.Mode() != want {
				t.Errorf("umask %03o: %s has mode %v, %v", mask, path, info.Mode(), err)
			}
		}
	}
	for _, mode := range []fs.FileMode{0o777, 0o770, 0o702, 0o720} {
		home := lay(t, nil)
		if err := os.Chmod(filepath.Join(home, "audit"), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := openAt(t, home).Append(t.Context(), small(1)); err == nil || !strings.Contains(err.Error(), "lets others write") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}

// TestLockFileReplaced: a writer that got the lock of a file that was put aside since does not think that it holds it.
func TestLockFileReplaced(t *testing.T) {
	home := t.TempDir()
	l := openAt(t, home)
	appendN(t, l, 1, small)
	lock := filepath.Join(home, "audit", "lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	head := appendN(t, l, 1, small)
	holds(t, l, 2, head)
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock was not made again: %v", err)
	}
}
