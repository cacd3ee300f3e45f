package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/host/internal/home"
)

// TestOverlapsThroughBindMounts: the folder, and a directory above it, mounted elsewhere.
func TestOverlapsThroughBindMounts(t *testing.T) {
	base := t.TempDir()
	h := open(t, filepath.Join(base, "up", "lola"))
	for _, dir := range []string{"mount", "up/lola/installed", "up/neighbour"} {
		mkdir(t, 0o700, base, dir)
	}
	mount := filepath.Join(base, "mount")
	for _, tt := range []struct {
		source, path string
		want         bool
	}{
		{"up", "mount", true}, {"up", "mount/lola", true}, {"up", "mount/lola/installed", true}, {"up", "mount/neighbour", false},
		{"up/lola", "mount", true}, {"up/lola", "mount/installed", true}, {"up/neighbour", "mount", false},
	} {
		bindMount(t, filepath.Join(base, tt.source), mount)
		checkOverlaps(t, h, filepath.Join(base, tt.path), tt.want)
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
}

// bindMount mounts one directory at another, or skips the test where nobody may.
func bindMount(t *testing.T, source, target string) {
	t.Helper()
	err := syscall.Mount(source, target, "", syscall.MS_BIND, "")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoDescriptorLeaks opens, locks, reads and writes, also in vain, and counts descriptors.
func TestNoDescriptorLeaks(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, "lola")
	open(t, path)
	r := openRoot(t, mkdir(t, 0o755, base, "project"))
	mkdir(t, 0o755, base, "wide")
	symlink(t, path, base, "link")
	all := func() {
		for _, bad := range []string{"wide", "link", "absent/\x00"} {
			if h, err := home.Open(filepath.Join(base, bad), nil); err == nil {
				h.Close()
				t.Errorf("Open(%q) took it", bad)
			}
		}
		h, err := home.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		unlock, err := h.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		if _, err := h.Lock(expired()); err == nil {
			t.Error("the lock was taken twice")
		}
		in := record(t, h, r)
		if err := h.Store(in); err != nil {
			t.Error(err)
		}
		if _, err := h.Installed(r); err != nil {
			t.Error(err)
		}
		if _, err := h.Overlaps(r.Path(), r.Info()); err != nil {
			t.Error(err)
		}
		if _, err := h.TempDir(); err != nil {
			t.Error(err)
		}
	}
	all()
	before := descriptors(t)
	for range 5 {
		all()
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors were open and %d are", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
