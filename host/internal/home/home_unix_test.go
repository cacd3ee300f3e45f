//go:build unix

package home_test

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lola-ext/lola/host/internal/home"
)

func mkdir(t *testing.T, mode fs.FileMode, at ...string) string {
	t.Helper()
	path := filepath.Join(at...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func symlink(t *testing.T, target string, at ...string) string {
	t.Helper()
	path := filepath.Join(at...)
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	return path
}

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
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not return", what)
	}
}

// TestMade0700: the folder is its owner's alone, whatever the umask.
func TestMade0700(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o177, 0o377, 0o700} {
		path := filepath.Join(t.TempDir(), "lola")
		old := syscall.Umask(mask)
		h, err := home.Open(path, nil)
		syscall.Umask(old)
		if err != nil {
			t.Errorf("umask %03o: %v", mask, err)
			continue
		}
		h.Close()
		if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("umask %03o: the folder has mode %v, %v", mask, info.Mode(), err)
		}
	}
}

// TestWrongModes: a folder that others could have written to is refused, and left as it is.
func TestWrongModes(t *testing.T) {
	for _, mode := range []fs.FileMode{0o755, 0o777, 0o770, 0o701, 0o750, 0o500, 0o600, 0o777 | fs.ModeSticky} {
		path := mkdir(t, mode, t.TempDir(), "lola")
		if text := refused(t, path); !strings.Contains(text, "0700") {
			t.Errorf("mode %v: the error %q does not say what is wanted", mode, text)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeDir|mode {
			t.Errorf("mode %v: it is %v now, %v", mode, info.Mode(), err)
		}
	}
}

// TestP25WrongOwner: a folder that another user planted is refused, also for root, for whom modes mean nothing.
func TestP25WrongOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a folder of another user's")
	}
	path := mkdir(t, 0o700, t.TempDir(), ".lola")
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if text := refused(t, path); !strings.Contains(text, "65534") || !strings.Contains(text, home.Variable) {
		t.Errorf("the error %q does not name the owner and the way out", text)
	}
	if list, err := os.ReadDir(path); err != nil || len(list) != 0 {
		t.Errorf("the folder holds %v, %v; want nothing", list, err)
	}
}

// TestLinks: the folder may be no link, whatever it leads to and however the path ends; its parents may.
func TestLinks(t *testing.T) {
	base := t.TempDir()
	good := mkdir(t, 0o700, base, "good")
	symlink(t, good, base, "link")
	symlink(t, "absent", base, "dangling")
	symlink(t, "loop", base, "loop")
	for _, path := range []string{"link", "link/", "link/.", "./link//", "good/../link/", "dangling", "dangling/", "loop"} {
		refused(t, base+"/"+path)
	}
	if list, err := os.ReadDir(good); err != nil || len(list) != 0 {
		t.Errorf("the link's target holds %v, %v; want nothing", list, err)
	}
	if _, err := os.Lstat(filepath.Join(base, "absent")); err == nil {
		t.Error("the dangling link's target was made")
	}
	mkdir(t, 0o755, base, "real")
	symlink(t, "real", base, "parent")
	h := open(t, filepath.Join(base, "parent", "lola"))
	unlock, err := h.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if info, err := os.Lstat(filepath.Join(base, "real", "lola")); err != nil || !info.IsDir() {
		t.Errorf("the folder behind the link is %v, %v", info, err)
	}
}

// TestTempDirIsPrivate: 0700, and no link.
func TestTempDirIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir, err := open(t, filepath.Join(t.TempDir(), "lola")).TempDir()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	h := open(t, filepath.Join(t.TempDir(), "lola"))
	symlink(t, t.TempDir(), h.Path(), "tmp")
	if dir, err := h.TempDir(); err == nil {
		t.Errorf("a link passes for the folder %q", dir)
	}
}

// TestP25InPlaceOfTheLock: whatever lies where the lock should, the answer comes at once, and no link is followed.
func TestP25InPlaceOfTheLock(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(outside, []byte("victim"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, place := range map[string]func(path string) error{
		"fifo":          func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"directory":     func(p string) error { return os.Mkdir(p, 0o700) },
		"link":          func(p string) error { return os.Symlink(outside, p) },
		"dangling link": func(p string) error { return os.Symlink(outside+"-absent", p) },
		"socket": func(p string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p})
			if err == nil {
				l.SetUnlinkOnClose(false)
				l.Close()
			}
			return err
		},
	} {
		base, err := os.MkdirTemp("", "h") // a socket's path must be short
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(base)
		h := open(t, filepath.Join(base, "h"))
		if err := place(filepath.Join(h.Path(), "lock")); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		soon(t, "Lock with a "+what+" in its place", func() {
			if unlock, err := h.Lock(context.Background()); err == nil {
				unlock()
				t.Errorf("a %s passes for the lock", what)
			}
		})
	}
	if text, err := os.ReadFile(outside); string(text) != "victim" {
		t.Errorf("the link's target holds %q, %v", text, err)
	}
	if _, err := os.Lstat(outside + "-absent"); err == nil {
		t.Error("the dangling link's target was made")
	}
}

// TestOverlapsThroughLinks: another name does not hide what a directory is.
func TestOverlapsThroughLinks(t *testing.T) {
	base := t.TempDir()
	mkdir(t, 0o755, base, "real", "neighbour")
	h := open(t, filepath.Join(symlink(t, "real", base, "parent"), "lola"))
	mkdir(t, 0o700, h.Path(), "installed")
	for i, tt := range []struct {
		path string
		want bool
	}{
		{base + "/real", true}, {base + "/real/lola", true}, {base + "/parent", true}, {base + "/parent/lola/installed", true}, {base + "/real/neighbour", false},
		{symlink(t, h.Path(), base, "direct"), true}, {symlink(t, h.Path()+"/installed", base, "inner"), true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { checkOverlaps(t, h, tt.path, tt.want) })
	}
}
