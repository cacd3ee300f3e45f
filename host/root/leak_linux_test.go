package root_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/host/root"
)

// TestNoDescriptorLeaks calls everything that opens, where it works and where it fails, and counts descriptors.
func TestNoDescriptorLeaks(t *testing.T) {
	dir := t.TempDir()
	tree := openTree(t, "a/b/c/file", "file", "full/x")
	if err := syscall.Mkfifo(filepath.Join(tree.Path(), "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	symlink(t, "a", tree.Path(), "link")
	all := func() {
		for _, path := range []string{"", dir, tree.Path(), "/nowhere", filepath.Join(tree.Path(), "file"), filepath.Join(tree.Path(), "link")} {
			if r, err := root.Open(path); err == nil {
				if _, err := r.Identity(); err != nil {
					t.Error(err)
				}
				r.Close()
			}
		}
		for _, path := range []string{
			"a/b/c/file", "file", "absent", "a/absent/x", "link/b", "link", "fifo", "fifo/x", "file/x", "a/b", "../x", "a//b", "", strings.Repeat("x", 300), "a/" + strings.Repeat("y", 300) + "/z",
		} {
			for _, makes := range []bool{false, true} {
				if d, _, err := tree.Walk(path, makes); err == nil {
					_, _ = d.Names(0)
					_, _ = d.Names(100)
					d.Close()
				}
			}
			_, _ = tree.Stat(path)
			if f, err := tree.Open(path); err == nil {
				f.Close()
			}
			_, _, _ = tree.Digest(path, 1)
			if d, err := tree.Top().OpenDir(path); err == nil {
				d.Close()
			}
			if f, err := tree.Top().Create(path, 0o644); err == nil {
				f.Close()
			}
		}
		_ = tree.Top().RemoveTree("full")
		_ = tree.Top().RemoveTree("fifo/x")
	}
	all()
	before := descriptors(t)
	for range 10 {
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

// TestDescriptorsCloseOnExec: no child that the host starts inherits a directory of the root.
func TestDescriptorsCloseOnExec(t *testing.T) {
	r := openTree(t, "a/file")
	d, _, err := r.Walk("a", false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	read, err := r.Open("a/file")
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	made, err := d.Create("new", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, l := range links {
		to, err := os.Readlink(l)
		if err != nil || !strings.HasPrefix(to, r.Path()) {
			continue
		}
		found++
		info, err := os.ReadFile(strings.Replace(l, "/fd/", "/fdinfo/", 1))
		if err != nil {
			t.Fatal(err)
		}
		if flags := field(string(info), "flags:"); len(flags) < 7 || (flags[len(flags)-7]-'0')&2 == 0 { // 02000000 is O_CLOEXEC
			t.Errorf("%s is inherited: flags %s", to, flags)
		}
	}
	if found < 4 {
		t.Errorf("%d descriptors beneath the root were looked at, want the root, its directory and two files", found)
	}
}

func field(text, name string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
