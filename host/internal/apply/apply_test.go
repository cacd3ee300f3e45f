package apply_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// TestRun: everything that was planned is there, to the byte and the mode, and nothing else; the record is written once,
// when it is.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	want := changed(snapshot(t, dir))
	keptSince := modTime(t, dir, "kept")
	calls := 0
	made := []string{"file", "file/is", "file/is/now", "file/is/now/a", "new", "new/x"}
	done, err := apply.Run(t.Context(), check(t, r, change()...), options(t, func(d apply.Done) error {
		calls++
		got := snapshot(t, dir)
		for p := range got {
			if strings.HasPrefix(p, plan.StagingPrefix) { // what was moved aside lies there still
				delete(got, p)
			}
		}
		if d := differs(got, want); d != "" {
			t.Errorf("when the record is written the tree is not as it should be:%s", d)
		}
		if !slices.Equal(d.Made, made) || d.Pruned != nil {
			t.Errorf("the record is told of %+v", d)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	checkTree(t, dir, want)
	if calls != 1 || !slices.Equal(done.Made, made) || done.Pruned != nil {
		t.Errorf("the record was written %d times; done is %+v", calls, done)
	}
	if !modTime(t, dir, "kept").Equal(keptSince) {
		t.Error("a file that was to be kept was written")
	}
}

func modTime(t *testing.T, dir, path string) time.Time {
	t.Helper()
	info, err := os.Lstat(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// TestM06Again: the same plan a second time changes nothing, not even a time, and stages nothing.
func TestM06Again(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	if _, err := apply.Run(t.Context(), check(t, r, change()...), options(t, nil)); err != nil {
		t.Fatal(err)
	}
	before, at := snapshot(t, dir), modTime(t, dir, "old/a")
	top := modTime(t, dir, ".")
	c := check(t, r, slices.DeleteFunc(change(), func(in abi.Intent) bool { return in.Op() == abi.OpDelete })...)
	if c.Changes() != 0 {
		t.Fatalf("%d changes, want none", c.Changes())
	}
	if _, err := apply.Run(t.Context(), c, options(t, nil)); err != nil {
		t.Fatal(err)
	}
	checkTree(t, dir, before)
	if !modTime(t, dir, "old/a").Equal(at) || !modTime(t, dir, ".").Equal(top) {
		t.Error("a time moved")
	}
}

// TestZeroChecked: what nobody checked does nothing and records nothing.
func TestZeroChecked(t *testing.T) {
	done, err := apply.Run(t.Context(), plan.Checked{}, pruning(t, func(apply.Done) error { return errTest }, "x"))
	if err != nil || done.Made != nil || done.Pruned != nil {
		t.Errorf("Run of the zero Checked: %+v, %v", done, err)
	}
}

// TestCommitFails: the last step's failure takes everything back.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	before := snapshot(t, dir)
	done, err := apply.Run(t.Context(), check(t, r, change()...), uncommitted(t, nil))
	if !errors.Is(err, errTest) || done.Made != nil {
		t.Errorf("Run: %+v, %v; want the commit's error", done, err)
	}
	var rb *apply.RollbackError
	if errors.As(err, &rb) {
		t.Errorf("taking it back: %v", err)
	}
	checkTree(t, dir, before)
}

// TestContentFails: content that cannot be had, breaks off or is not what its digest says never arrives, and nothing else
// of the plan does.
func TestContentFails(t *testing.T) {
	for name, c := range map[string]abi.Content{
		"cannot be opened": content{3, abi.DigestOf([]byte("abc")), func() (io.ReadCloser, error) { return nil, errTest }},
		"breaks off":       promises("abcdef", nil, "abc", errTest),
		"is shorter":       promises("abcdef", nil, "abc", nil),
		"is longer":        promises("abc", nil, "abcdef", nil),
		"is other":         promises("abc", nil, "abd", nil),
		"never ends":       content{3, abi.DigestOf([]byte("abc")), func() (io.ReadCloser, error) { return io.NopCloser(endless{}), nil }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := memoryDir(t)
			r := project(t, dir)
			before := snapshot(t, dir)
			c := check(t, r, append(change(), abi.Write{Path: "zz", Mode: 0o644, Content: c})...)
			if _, err := apply.Run(t.Context(), c, options(t, recordNothing(t))); err == nil || !strings.Contains(err.Error(), `"zz"`) {
				t.Errorf("Run: %v, want an error that names the file", err)
			}
			checkTree(t, dir, before)
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// recordNothing is a record that must not be written.
func recordNothing(t *testing.T) func(apply.Done) error {
	return func(apply.Done) error {
		t.Error("a record was written of what did not happen")
		return nil
	}
}

// TestCancelled: an end before the first move leaves everything as it was; one after it comes too late.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	before := snapshot(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	in := append(change(), abi.Write{Path: "zz", Mode: 0o644, Content: promises("z", func() { cancel(errTest) }, "z", nil)}, write("zzz", "", 0o644))
	c := check(t, r, in...)
	for range 2 { // while it is staged, and before it began
		if _, err := apply.Run(ctx, c, options(t, recordNothing(t))); !errors.Is(err, errTest) {
			t.Errorf("Run: %v, want the context's cause", err)
		}
		checkTree(t, dir, before)
	}
	late, cancelLate := context.WithCancelCause(t.Context())
	_, err := apply.Run(late, c, options(t, func(apply.Done) error { cancelLate(errTest); return nil }))
	if err != nil {
		t.Errorf("an end after the commit: %v", err)
	}
}

// sabotage is what somebody else does to a path in the meantime.
type sabotage struct {
	name string
	do   func(t *testing.T, path string)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sabotages of a file that is there, and of one that is not.
var (
	ofFiles = []sabotage{
		{"changed", func(t *testing.T, p string) { overwrite(t, p, "their own") }},
		{"changed, same length", func(t *testing.T, p string) {
			text, err := os.ReadFile(p)
			must(t, err)
			overwrite(t, p, strings.Repeat("~", len(text)))
		}},
		{"removed", func(t *testing.T, p string) { must(t, forceRemove(p)) }},
		{"made a directory", func(t *testing.T, p string) {
			must(t, forceRemove(p))
			must(t, os.MkdirAll(filepath.Join(p, "sub"), 0o755))
		}},
	}
	ofGaps = []sabotage{
		{"made", func(t *testing.T, p string) {
			must(t, os.MkdirAll(filepath.Dir(p), 0o755))
			must(t, os.WriteFile(p, []byte("their own"), 0o640))
		}},
		{"made a directory", func(t *testing.T, p string) { must(t, os.MkdirAll(p, 0o755)) }},
		{"made, a parent as a file", func(t *testing.T, p string) {
			must(t, os.MkdirAll(filepath.Dir(filepath.Dir(p)), 0o755))
			if os.Mkdir(filepath.Dir(p), 0o755) == nil {
				must(t, os.Remove(filepath.Dir(p)))
				must(t, os.WriteFile(filepath.Dir(p), []byte("their own"), 0o640))
			} else {
				must(t, os.WriteFile(p, []byte("their own"), 0o640))
			}
		}},
	}
)

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Chmod(path, 0o600))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	must(t, os.Chmod(path, info.Mode().Perm()))
}

func forceRemove(path string) error { // Windows removes no read-only file
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	return os.Remove(path)
}

// TestForeignHandAtEveryStep changes what one step is about, for each step in turn: while files are staged, and at the last
// moment, when all was compared. The result is what was there before plus the foreign change, to the mode.
func TestForeignHandAtEveryStep(t *testing.T) {
	here := map[string]bool{"old/a": true, "old/deep/b": true, "gone/a": true, "gone/b": true, "file": true, "kept": true}
	paths := []string{"old/a", "old/deep/b", "gone/a", "gone/b", "file", "kept", "new/x/a", "new/x/b", "top", "old/c"}
	tried := 0
	for _, path := range paths {
		list := ofGaps
		if here[path] {
			list = ofFiles
		}
		for _, s := range append(slices.Clone(list), platformSabotages(here[path])...) {
			for _, late := range []bool{false, true} {
				if path == "kept" && late || s.do == nil {
					continue // nothing is moved there, so nothing can be noticed at the move
				}
				tried++
				t.Run(fmt.Sprintf("%s %s, late %v", path, s.name, late), func(t *testing.T) {
					dir := memoryDir(t)
					r := project(t, dir)
					var want tree
					hit := func() {
						s.do(t, filepath.Join(dir, filepath.FromSlash(path)))
						want = snapshot(t, dir)
						for p := range want {
							if strings.HasPrefix(p, plan.StagingPrefix) {
								delete(want, p)
							}
						}
					}
					in := change()
					if !late {
						in = append(in, abi.Write{Path: "zz", Mode: 0o644, Content: promises("z", hit, "z", nil)})
					}
					c := check(t, r, in...)
					if late {
						atLastMoment(t, r, hit)
					}
					_, err := apply.Run(t.Context(), c, options(t, recordNothing(t)))
					var stale *apply.StaleError
					var link *root.LinkError
					if !errors.As(err, &stale) && !errors.As(err, &link) {
						t.Errorf("Run: %v, want that something changed", err)
					}
					var rb *apply.RollbackError
					if errors.As(err, &rb) {
						t.Errorf("taking it back was not possible: %v", err)
					}
					checkTree(t, dir, want)
				})
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d tried, want at least 60", tried)
	}
}

// TestStaleErrorNames: the error names the path and the next step.
func TestStaleErrorNames(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	c := check(t, r, write("old/a", "new", 0o644))
	overwrite(t, filepath.Join(dir, "old", "a"), "other")
	_, err := apply.Run(t.Context(), c, options(t, nil))
	var stale *apply.StaleError
	if !errors.As(err, &stale) || stale.Path != "old/a" || !strings.Contains(err.Error(), "again") {
		t.Errorf("Run: %v, want a *StaleError of old/a", err)
	}
}

// TestEditsAfterTheMove: what the user does to a new file before the commit fails is the user's and stays where it is; what
// was there before is kept and named. What the user removed is as it was before.
func TestEditsAfterTheMove(t *testing.T) {
	dir := t.TempDir()
	r := project(t, dir)
	want := snapshot(t, dir)
	_, err := apply.Run(t.Context(), check(t, r, change()...), uncommitted(t, func() {
		overwrite(t, filepath.Join(dir, "old", "a"), "the user's own")
		must(t, forceRemove(filepath.Join(dir, "top")))        // a new file
		must(t, forceRemove(filepath.Join(dir, "old/deep/b"))) // one that replaced another
	}))
	var rb *apply.RollbackError
	if !errors.As(err, &rb) || !errors.Is(err, errTest) || len(rb.Left) != 1 || !strings.Contains(rb.Left[0].Error(), `"old/a"`) {
		t.Fatalf("Run: %v, want a *RollbackError about old/a alone", err)
	}
	got, found := snapshot(t, dir), false
	for p, e := range got {
		if strings.HasPrefix(filepath.Join(dir, p), rb.Staging) {
			found = found || strings.Contains(e, "old a") && strings.Contains(err.Error(), p)
			delete(got, p)
		}
	}
	if !found {
		t.Errorf("what was there before is not where the error says: %v", err)
	}
	want["old/a"] = entry(0o600, "the user's own")
	if d := differs(got, want); d != "" {
		t.Errorf("the tree is not as it was:%s", d)
	}
}

// TestPrune removes the directories that are named and empty, deepest first, and nothing else.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a/b/c/file", "x", 0o644)
	put(t, dir, "a/full/mine", "x", 0o644)
	put(t, dir, "empty/", "", 0o755)
	put(t, dir, "unnamed/", "", 0o755)
	put(t, dir, "nest/in/side/", "", 0o755)
	put(t, dir, "is-file", "x", 0o644)
	r := openRoot(t, dir)
	c := check(t, r, abi.Delete{Path: "a/b/c/file"})
	done, err := apply.Run(t.Context(), c, pruning(t, nil,
		"a", "a/b", "a/b/c", "a/full", "empty", "nest", "nest/in", "nest/in/side", "absent", "absent/x", "is-file", "", ".", "..", "a/../unnamed", "/", "is-file/x",
	))
	must(t, err)
	slices.Sort(done.Pruned)
	if want := []string{"a/b", "a/b/c", "absent", "absent/x", "empty", "nest", "nest/in", "nest/in/side"}; !slices.Equal(done.Pruned, want) {
		t.Errorf("pruned %q, want %q", done.Pruned, want)
	}
	checkTree(t, dir, tree{
		".": snapshot(t, dir)["."], "a": entry(fs.ModeDir|0o755, ""), "a/full": entry(fs.ModeDir|0o755, ""), "a/full/mine": entry(0o644, "x"),
		"unnamed": entry(fs.ModeDir|0o755, ""), "is-file": entry(0o644, "x"),
	})
}

// TestRemovesOnly, and a plan that leaves the root empty.
func TestRemovesOnly(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "d/file", "x", 0o644)
	r := openRoot(t, dir)
	done, err := apply.Run(t.Context(), check(t, r, abi.Delete{Path: "d/file"}), pruning(t, nil, "d"))
	if err != nil || !slices.Equal(done.Pruned, []string{"d"}) {
		t.Errorf("Run: %+v, %v", done, err)
	}
	if got := snapshot(t, dir); len(got) != 1 {
		t.Errorf("the root holds %v", got)
	}
}

// TestManyFiles: a plan of some thousands, and nothing is left open or running.
func TestManyFiles(t *testing.T) {
	dir := memoryDir(t)
	r := openRoot(t, dir)
	n := 1000
	if testing.Short() {
		n = 100
	}
	var in []abi.Intent
	for i := range n {
		in = append(in, write(fmt.Sprintf("d%d/e%d/f%d", i%7, i%31, i), fmt.Sprint(i), 0o644))
	}
	goroutines := runtime.NumGoroutine()
	if _, err := apply.Run(t.Context(), check(t, r, in...), options(t, nil)); err != nil {
		t.Fatal(err)
	}
	files := 0
	for p := range snapshot(t, dir) {
		if strings.Contains(p, "/f") {
			files++
		}
	}
	if files != n {
		t.Errorf("%d files, want %d", files, n)
	}
	if got := runtime.NumGoroutine(); got > goroutines {
		t.Errorf("%d goroutines were there and %d are", goroutines, got)
	}
}
