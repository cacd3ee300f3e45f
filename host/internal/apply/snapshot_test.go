package apply_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// tree is what a directory holds: by path, its type, mode and bytes or target.
type tree map[string]string

// memoryDir is a directory in memory, where the system has such a one: tests of many changes do not wait for a disk there.
func memoryDir(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "apply")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// snapshot takes down everything beneath dir.
func snapshot(t testing.TB, dir string) tree {
	t.Helper()
	got := tree{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			what = string(text)
		case info.Mode()&fs.ModeSymlink != 0:
			if what, err = os.Readlink(p); err != nil {
				return err
			}
		}
		got[filepath.ToSlash(rel)] = entry(info.Mode(), what)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// entry describes one entry; Windows keeps no modes.
func entry(mode fs.FileMode, what string) string {
	if runtime.GOOS == "windows" {
		mode = mode.Type()
	}
	return fmt.Sprintf("%v %q", mode, what)
}

// differs lists how got differs from want, "" if it does not.
func differs(got, want tree) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(got)) {
		if w, ok := want[p]; !ok {
			fmt.Fprintf(&b, "\n  %q is there: %.100s", p, got[p])
		} else if w != got[p] {
			fmt.Fprintf(&b, "\n  %q is %.100s, want %.100s", p, got[p], w)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[p]; !ok {
			fmt.Fprintf(&b, "\n  %q is gone", p)
		}
	}
	return b.String()
}

// checkTree compares what dir holds.
func checkTree(t testing.TB, dir string, want tree) {
	t.Helper()
	if d := differs(snapshot(t, dir), want); d != "" {
		t.Errorf("the tree is not as it should be:%s", d)
	}
}

// put makes a file beneath the directory, with its parents; a path that ends with a slash is a directory.
func put(t testing.TB, dir, path, text string, mode fs.FileMode) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(path))
	if strings.HasSuffix(path, "/") {
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at, mode); err != nil {
		t.Fatal(err)
	}
}

// project is a root with files of the user's: old/* are there to be replaced, gone/* to be removed, and file is one where a
// directory is wanted.
func project(t testing.TB, dir string) *root.Root {
	t.Helper()
	put(t, dir, "old/a", "old a", 0o644)
	put(t, dir, "old/deep/b", "old b", 0o600)
	put(t, dir, "gone/a", "gone a", 0o755)
	put(t, dir, "gone/b", "gone b", 0o444)
	put(t, dir, "file", "in the way", 0o640)
	put(t, dir, "kept", "kept", 0o644)
	put(t, dir, "other/mine", "mine", 0o600)
	put(t, dir, "other/empty/", "", 0o700)
	return openRoot(t, dir)
}

// openRoot opens a root whose changes a test can step into ([before]).
func openRoot(t testing.TB, dir string) *root.Root {
	t.Helper()
	var r *root.Root
	r, err := root.OpenHooked(dir, func(op root.Op) error {
		if h, ok := steps.Load(r); ok {
			return h.(root.Hook)(op)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		steps.Delete(r)
		r.Close()
	})
	return r
}

// steps are the hooks of roots that tests opened.
var steps sync.Map

// before runs f before every change beneath a root that [openRoot] opened.
func before(r *root.Root, f root.Hook) { steps.Store(r, f) }

// options are those of a run with a state folder of its own.
func options(t testing.TB, finish func(apply.Done) error) apply.Options {
	t.Helper()
	o := apply.Options{State: openRoot(t, memoryDir(t))}
	if finish != nil {
		o.Finish = func(_ *root.Root, _ json.RawMessage, d apply.Done) error { return finish(d) }
	}
	return o
}

// pruning is [options] with directories that may go.
func pruning(t testing.TB, finish func(apply.Done) error, dirs ...string) apply.Options {
	o := options(t, finish)
	o.Prune = dirs
	return o
}

// uncommitted are options of a run that fails at its very end: all moves are made, f runs, then the commit fails.
func uncommitted(t *testing.T, f func()) apply.Options {
	t.Helper()
	o := options(t, recordNothing(t))
	before(o.State, func(op root.Op) error {
		if strings.HasSuffix(op.To, ".commit") {
			if f != nil {
				f()
			}
			return errTest
		}
		return nil
	})
	return o
}

// change is a plan over all of that: creates, updates, removes, a file kept, and a directory where a file was.
func change() []abi.Intent {
	return []abi.Intent{
		write("new/x/a", "new a", 0o644), write("new/x/b", "new b", 0o755), write("top", "top", 0o600), write("old/c", "new c", 0o444),
		write("old/a", "changed a", 0o600), write("old/deep/b", "changed b", 0o755), write("kept", "kept", 0o644),
		abi.Delete{Path: "gone/a"}, abi.Delete{Path: "gone/b"}, abi.Delete{Path: "file"}, abi.Delete{Path: "absent"},
		write("file/is/now/a/directory", "inside", 0o644),
	}
}

// changed is what the project must be after it, less what the test says of directories that were made.
func changed(before tree) tree {
	want := maps.Clone(before)
	for _, d := range []string{"new", "new/x", "file", "file/is", "file/is/now", "file/is/now/a"} {
		want[d] = entry(fs.ModeDir|0o755, "")
	}
	for p, e := range map[string]string{
		"new/x/a": entry(0o644, "new a"), "new/x/b": entry(0o755, "new b"), "top": entry(0o600, "top"), "old/c": entry(0o444, "new c"),
		"old/a": entry(0o600, "changed a"), "old/deep/b": entry(0o755, "changed b"), "file/is/now/a/directory": entry(0o644, "inside"),
	} {
		want[p] = e
	}
	delete(want, "gone/a")
	delete(want, "gone/b")
	return want
}

func write(path, text string, mode abi.Mode) abi.Write {
	return abi.Write{Path: path, Mode: mode, Content: abi.Bytes(text)}
}

// check judges the intents, all of which are granted.
func check(t testing.TB, r *root.Root, intents ...abi.Intent) plan.Checked {
	t.Helper()
	everything, err := grant.New([]string{"**"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := plan.Check(r, plan.Options{Limits: abi.DefaultLimits()}, plan.Proposal{
		Owner: "x", Kind: abi.KindTarget, Action: "install", Grant: everything, Plan: &abi.Plan{Intents: intents},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// content is content that does not keep its word.
type content struct {
	size   int64
	digest abi.Digest
	open   func() (io.ReadCloser, error)
}

func (c content) Size() int64                  { return c.size }
func (c content) Digest() abi.Digest           { return c.digest }
func (c content) Open() (io.ReadCloser, error) { return c.open() }

// promises is content that says it is want and reads as got, after running first, and breaks off with err.
func promises(want string, first func(), got string, err error) abi.Content {
	return content{int64(len(want)), abi.DigestOf([]byte(want)), func() (io.ReadCloser, error) {
		if first != nil {
			first()
		}
		end := io.Reader(strings.NewReader(""))
		if err != nil {
			end = broken{err}
		}
		return io.NopCloser(io.MultiReader(strings.NewReader(got), end)), nil
	}}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// atLastMoment runs f once before the first file is moved, when everything was compared.
func atLastMoment(t testing.TB, r *root.Root, f func()) {
	came := false
	t.Cleanup(func() {
		if !came && !t.Failed() {
			t.Error("the last moment never came")
		}
	})
	before(r, func(op root.Op) error {
		if (op.Kind == root.OpMove || op.Kind == root.OpExchange || op.Kind == root.OpRename) && !came {
			came = true
			f()
		}
		return nil
	})
}

var errTest = errors.New("the test's own error")
