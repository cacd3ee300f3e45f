//go:build unix

package apply_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
)

// platformSabotages: what only Unix has in place of a file.
func platformSabotages(here bool) []sabotage {
	clear := func(t *testing.T, p string) {
		if here {
			must(t, os.Remove(p))
		} else {
			must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		}
	}
	list := []sabotage{
		{"made a link", func(t *testing.T, p string) { clear(t, p); must(t, os.Symlink("kept", p)) }},
		{"made a dangling link", func(t *testing.T, p string) { clear(t, p); must(t, os.Symlink("nowhere", p)) }},
		{"made a fifo", func(t *testing.T, p string) { clear(t, p); must(t, syscall.Mkfifo(p, 0o600)) }},
	}
	if here {
		list = append(list, sabotage{"of another mode", func(t *testing.T, p string) { must(t, os.Chmod(p, 0o666)) }})
	}
	return list
}

// outside is a directory with a file of each name that the change touches.
func outside(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range []string{"a", "b", "c", "x/a", "x/b", "deep/b", "is/now/a/directory"} {
		put(t, dir, p, "outside", 0o640)
	}
	return dir
}

// TestP03P16ParentSwapped: a parent that becomes a link between check and use, or while the change is taken back, leads
// nowhere: what lies behind it keeps its bytes, modes and names.
func TestP03P16ParentSwapped(t *testing.T) {
	for _, parent := range []string{"old", "old/deep", "gone", "new", "file"} {
		for _, when := range []string{"before", "staging", "late", "record"} {
			t.Run(parent+" "+when, func(t *testing.T) {
				dir := memoryDir(t)
				r := project(t, dir)
				out := outside(t)
				outBefore := snapshot(t, out)
				swap := func() {
					at := filepath.Join(dir, filepath.FromSlash(parent))
					if err := os.Rename(at, at+"-away"); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
					must(t, os.Symlink(out, at))
				}
				in := change()
				if when == "staging" {
					in = append(in, abi.Write{Path: "zz", Mode: 0o644, Content: promises("z", swap, "z", nil)})
				}
				c := check(t, r, in...)
				o := pruning(t, recordNothing(t), parent, parent+"/x")
				switch when {
				case "before":
					swap()
				case "late":
					atLastMoment(t, r, swap)
				case "record":
					o = uncommitted(t, swap)
					o.Prune = []string{parent, parent + "/x"}
				}
				_, err := apply.Run(t.Context(), c, o)
				if err == nil {
					t.Error("Run took no notice")
				}
				checkTree(t, out, outBefore)
				if link, err := os.Readlink(filepath.Join(dir, filepath.FromSlash(parent))); link != out {
					t.Errorf("the link leads to %q, %v", link, err)
				}
				// Whatever cannot be taken back is said, and what was moved aside is kept.
				var rb *apply.RollbackError
				if errors.As(err, &rb) {
					if _, err := os.Lstat(rb.Staging); err != nil || rb.Staging == "" {
						t.Errorf("the staging directory %q: %v", rb.Staging, err)
					}
					return
				}
				if when == "record" {
					t.Errorf("Run: %v, want a *RollbackError: it cannot all be taken back", err)
				}
				got := snapshot(t, dir)
				for p := range got {
					if strings.HasPrefix(p, plan.StagingPrefix) {
						t.Errorf("%q is left", p)
					}
				}
			})
		}
	}
}

// TestHardLinks: a file that has another name is replaced, not written through, and its other name keeps what it was.
func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	out := t.TempDir()
	other := filepath.Join(out, "other")
	must(t, os.Link(filepath.Join(dir, "old", "a"), other))
	must(t, os.Link(filepath.Join(dir, "gone", "a"), other+"-gone"))
	before := snapshot(t, out)
	_, err := apply.Run(t.Context(), check(t, r, change()...), options(t, nil))
	must(t, err)
	checkTree(t, out, before)
	if text, err := os.ReadFile(filepath.Join(dir, "old", "a")); string(text) != "changed a" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// TestModesAndTimesComeBack: what is taken back is the very file: its inode, owner and time.
func TestModesAndTimesComeBack(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	at := filepath.Join(dir, "old", "a")
	must(t, os.Chtimes(at, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	before, err := os.Lstat(at)
	must(t, err)
	if _, err := apply.Run(t.Context(), check(t, r, change()...), uncommitted(t, nil)); !errors.Is(err, errTest) {
		t.Fatal(err)
	}
	after, err := os.Lstat(at)
	if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("another file came back: %v, %v", after, err)
	}
}

// TestUmask: planned modes hold whatever the umask; directories follow it.
func TestUmask(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	want := changed(snapshot(t, dir))
	for p := range want {
		if p == "new" || p == "new/x" || p == "file" || strings.HasPrefix(p, "file/") && p != "file/is/now/a/directory" {
			want[p] = entry(fs.ModeDir|0o700, "")
		}
	}
	old := syscall.Umask(0o077)
	_, err := apply.Run(t.Context(), check(t, r, change()...), options(t, nil))
	syscall.Umask(old)
	must(t, err)
	checkTree(t, dir, want)
}

// TestStagingIsPrivate: while it is there, nobody else reads what is staged, and git does not list it.
func TestStagingIsPrivate(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	_, err := apply.Run(t.Context(), check(t, r, change()...), options(t, func(apply.Done) error {
		list, err := filepath.Glob(filepath.Join(dir, plan.StagingPrefix+"*"))
		if err != nil || len(list) != 1 {
			t.Fatalf("the staging directories are %q, %v; want one", list, err)
		}
		if info, err := os.Lstat(list[0]); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("the staging directory is %v, %v", info.Mode(), err)
		}
		if text, err := os.ReadFile(filepath.Join(list[0], ".gitignore")); string(text) != "*\n" {
			t.Errorf("its .gitignore holds %q, %v", text, err)
		}
		if len(filepath.Base(list[0])) < len(plan.StagingPrefix)+20 {
			t.Errorf("its name %q can be guessed", list[0])
		}
		return nil
	}))
	must(t, err)
}

// TestLinksBesideStay: links of the user's that the plan does not touch are as they were, and so is what they lead to.
func TestLinksBesideStay(t *testing.T) {
	dir := t.TempDir()
	out := outside(t)
	must(t, os.Symlink(out, filepath.Join(dir, "link")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	r := project(t, dir)
	want, outBefore := changed(snapshot(t, dir)), snapshot(t, out)
	_, err := apply.Run(t.Context(), check(t, r, change()...), pruning(t, nil, "link", "link/x", "dangling"))
	must(t, err)
	checkTree(t, dir, want)
	checkTree(t, out, outBefore)
}

// TestRootMoved: the root is a directory and not a path: moved while the change is made, it is changed where it is now.
func TestRootMoved(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "project")
	must(t, os.Mkdir(dir, 0o755))
	r := project(t, dir)
	want := changed(snapshot(t, dir))
	c := check(t, r, change()...)
	atLastMoment(t, r, func() {
		must(t, os.Rename(dir, dir+"-moved"))
		must(t, os.Mkdir(dir, 0o755))
	})
	_, err := apply.Run(t.Context(), c, options(t, nil))
	must(t, err)
	checkTree(t, dir+"-moved", want)
	if got := snapshot(t, dir); len(got) != 1 {
		t.Errorf("what took its place holds %v", got)
	}
}
