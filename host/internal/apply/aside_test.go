package apply_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// halves is a plan that a crash can leave half made at many places.
func halves() shape {
	return shape{name: "halves", here: has("a", "b", "c", "d/x"), intents: plans(
		puts("a", "new/p", "q"), abi.Delete{Path: "b"}, abi.Rename{From: "c", To: "deep/er/c"})}
}

// crashEach calls f with a world in which a process died before each of its steps in turn.
func crashEach(t *testing.T, s shape, f func(t *testing.T, w *world)) {
	t.Helper()
	w := newWorld(t, s)
	l := w.boot(-1)
	_, err := w.install(l)
	must(t, err)
	for step := range l.steps {
		w := newWorld(t, s)
		if _, err := w.install(w.boot(step)); err != nil {
			f(t, w)
		}
	}
}

func (w *world) staging() []string {
	list, _ := filepath.Glob(filepath.Join(w.dir, plan.StagingPrefix+"*"))
	return list
}

// TestStagingRemovedAfterACrash: a user who finds the staging directory of a crash and removes it is not told that all is as
// before if it is not, and what was kept of the old contents stays.
func TestStagingRemovedAfterACrash(t *testing.T) {
	named := 0
	crashEach(t, halves(), func(t *testing.T, w *world) {
		for _, dir := range w.staging() {
			must(t, os.RemoveAll(dir))
		}
		err := w.recover(w.boot(-1))
		if _, problem := w.settled("install", 2, w.before, w.after); err == nil && problem != "" {
			t.Errorf("nothing is said and %s", problem)
		}
		if err == nil {
			return
		}
		var left *apply.RollbackError
		if !errors.As(err, &left) {
			t.Fatalf("got %v, want that it cannot be taken back", err)
		}
		named++
		kept, _ := filepath.Glob(filepath.Join(w.state, "changes", "*.aside"))
		if text, err := os.ReadFile(strings.Join(kept, "")); err != nil || !strings.Contains(string(text), "old b") {
			t.Errorf("the old contents are not kept: %v", err)
		}
	})
	if named < 4 {
		t.Errorf("%d of the crashes were named", named)
	}
}

// TestAsideIsOvertaken: a change that was set aside, since its root was gone, is taken back when the root is there again, but
// not what another change made of it since.
func TestAsideIsOvertaken(t *testing.T) {
	overtaken := 0
	crashEach(t, halves(), func(t *testing.T, w *world) {
		must(t, os.Rename(w.dir, w.dir+"-away"))
		_ = w.recover(w.boot(-1)) // it says that the root is gone
		must(t, os.Rename(w.dir+"-away", w.dir))
		if aside, _ := filepath.Glob(filepath.Join(w.state, "changes", "*.aside")); len(aside) == 0 {
			return
		}
		r, err := root.Open(w.dir)
		must(t, err)
		_, err = w.shape.check(r)
		r.Close()
		if err != nil {
			return // what it is about is gone
		}
		if _, err := w.install(w.boot(-1)); err != nil {
			t.Fatal(err)
		}
		overtaken++
		look := func() tree {
			got, err := picture(w.dir)
			must(t, err)
			for path := range got {
				if strings.HasPrefix(path, plan.StagingPrefix) {
					delete(got, path)
				}
			}
			return got
		}
		want := look()
		had := w.staging()
		err = w.recover(w.boot(-1))
		if d := differs(look(), want); d != "" {
			t.Errorf("what was made since is taken back:%s", d)
		}
		if left := (*apply.RollbackError)(nil); len(had) > 0 && !errors.As(err, &left) {
			t.Errorf("got %v, want that it is not tried again", err)
		}
		for _, dir := range w.staging() {
			must(t, os.RemoveAll(dir))
		}
		must(t, w.recover(w.boot(-1)))
		if left, err := w.books(); err != nil || len(left) > 0 {
			t.Errorf("when the user has removed it, there is left %q, %v", left, err)
		}
	})
	if overtaken < 4 {
		t.Errorf("%d of the crashes were overtaken", overtaken)
	}
}

// TestDirectoryOfOthers: where a directory is to be made somebody makes one, at that instant. It is theirs, though it is empty.
func TestDirectoryOfOthers(t *testing.T) {
	for _, path := range []string{"n", "n/m"} {
		dir := memoryDir(t)
		r := project(t, dir)
		c := check(t, r, abi.Rename{From: "old/a", To: "n/m/b"})
		came := false
		before(r, func(op root.Op) error {
			if op.Kind == root.OpMkdir && op.Path == "n" && !came {
				came = true
				must(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
			}
			return nil
		})
		want := snapshot(t, dir)
		_, err := apply.Run(t.Context(), c, options(t, nil))
		if stale := (*apply.StaleError)(nil); !errors.As(err, &stale) || !came {
			t.Errorf("got %v, want that something is there now", err)
		}
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || !info.IsDir() {
			t.Errorf("their directory %q is gone: %v", path, err)
		}
		must(t, os.RemoveAll(filepath.Join(dir, "n")))
		checkTree(t, dir, want)
	}
}
