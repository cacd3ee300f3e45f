package apply_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/plan/plantest"
	"github.com/lola-ext/lola/host/root"
)

// shape is a plan and the tree that it is for. The tests of crashes, power cuts and faults run every shape.
type shape struct {
	name    string
	here    plantest.Tree     // before
	links   map[string]string // symlinks beside it, by path: what they say
	names   map[string]string // hard links beside it, by path: another name of which file
	intents []abi.Intent
	prune   []string
	// by says what the tree is afterwards where the model of host/plan/plantest does not know it: links, and modes that
	// directories keep.
	by func(want tree)
	// needs is "superuser" where only root may do it (reading a file of mode 0000, moving a directory of mode 0555), "links"
	// where the platform must have symlinks, hard links and modes.
	needs string
}

// has makes a tree of what the words say: a path, with a slash at its end for a directory, then perhaps ":" and a mode, then
// for a file perhaps "=" and its bytes. Without those it holds "old " and its path.
func has(words ...string) plantest.Tree {
	files, modes := map[string]string{}, map[string]abi.Mode{}
	for _, w := range words {
		path, text, given := strings.Cut(w, "=")
		path, mode, ok := strings.Cut(path, ":")
		if !given {
			text = "old " + path
		}
		if ok {
			m, err := strconv.ParseUint(mode, 8, 32)
			if err != nil {
				panic(err)
			}
			modes[strings.TrimSuffix(path, "/")] = abi.Mode(m)
		}
		files[path] = text
	}
	t := plantest.Files(files)
	for path, m := range modes {
		n := t[path]
		n.Mode = m
		t[path] = n
	}
	return t
}

// puts writes a new file at each path.
func puts(paths ...string) []abi.Intent {
	var in []abi.Intent
	for _, p := range paths {
		in = append(in, write(p, "new "+p, 0o644))
	}
	return in
}

func plans(parts ...any) []abi.Intent {
	var in []abi.Intent
	for _, p := range parts {
		switch p := p.(type) {
		case []abi.Intent:
			in = append(in, p...)
		case abi.Intent:
			in = append(in, p)
		}
	}
	return in
}

func del(paths ...string) []abi.Intent {
	var in []abi.Intent
	for _, p := range paths {
		in = append(in, abi.Delete{Path: p})
	}
	return in
}

func ren(from, to string) abi.Intent { return abi.Rename{From: from, To: to} }

func numbered(n int, format string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return list
}

func setJSON(path, at string, v any) abi.Intent {
	return abi.EditJSON{Path: path, Edits: []abi.JSONEdit{{At: at, Set: true, Value: v}}}
}

func block(path, id, text string) abi.Intent { return abi.EditBlock{Path: path, ID: id, Text: &text} }

// mode sets the mode that a directory has afterwards.
func keepsMode(path string, mode fs.FileMode) func(tree) {
	return func(want tree) { want[path] = entry(fs.ModeDir|mode, "") }
}

// shapes are the plans. Names of files and directories are such that what sorts between a directory and what lies beneath
// it ("d!" and "d-") is there too.
func shapes() []shape {
	long := strings.Repeat("n", 200)
	return []shape{
		{name: "create at the top", here: has("mine"), intents: puts("a")},
		{name: "create in an empty root", here: has(), intents: puts("a", "b/c")},
		{name: "create beside", here: has("d/mine"), intents: puts("d/a", "d/z")},
		{name: "create in a missing directory", here: has("mine"), intents: puts("d/a")},
		{name: "create deep", here: has("a/mine"), intents: puts("a/b/c/d/e/f")},
		{name: "create a tree", here: has("mine"), intents: puts("t/a", "t/b/c", "t/b/d/e", "t/b/d!", "t/z/y/x", "t!", "t-/u")},
		{name: "create in two directories of a missing one", here: has("s/mine"), intents: puts("s/x/a/1", "s/x/b/2", "s/y")},
		{name: "create an empty file", here: has("d/"), intents: plans(write("d/empty", "", 0o644), write("e/empty", "", 0o600))},
		{name: "create with modes", here: has("d/"), intents: plans(write("d/run", "x", 0o755), write("d/read", "y", 0o444), write("m/own", "z", 0o600))},
		{name: "create with mode 0000", here: has("d/"), intents: plans(write("d/none", "x", 0), write("m/none", "y", 0)), needs: "links"},
		{name: "create a large file", here: has("d/"), intents: plans(write("d/large", strings.Repeat("0123456789abcdef", 5000), 0o644))},

		{name: "update", here: has("d/a", "b"), intents: puts("d/a", "b")},
		{name: "update the mode alone", here: has("a=same", "d/b:0755=same"), intents: plans(write("a", "same", 0o600), write("d/b", "same", 0o644)), needs: "links"},
		{name: "update to nothing and from nothing", here: has("a", "b="), intents: plans(write("a", "", 0o644), write("b", "new", 0o644))},
		{name: "update what is read-only", here: has("d/a:0444"), intents: puts("d/a")},
		{name: "update of mode 0000", here: has("d/a:0000", "d/b"), intents: puts("d/a", "d/b"), needs: "superuser"},
		{name: "update, the same and another", here: has("a=same", "b", "c:0600=same"), intents: plans(write("a", "same", 0o644), puts("b"), write("c", "same", 0o600))},
		{name: "update a large file", here: has("d/a=" + strings.Repeat("fedcba9876543210", 5000)), intents: puts("d/a")},

		{name: "nothing changes", here: has("d/a=same"), intents: plans(write("d/a", "same", 0o644), del("absent"))},
		{name: "nothing changes but directories", here: has("d/a=same", "e/f/"), intents: plans(write("d/a", "same", 0o644)), prune: []string{"d", "e", "e/f", "gone"}},

		{name: "remove one", here: has("d/a", "d/b"), intents: del("d/a"), prune: []string{"d"}},
		{name: "remove all", here: has("d/a", "d/b:0600"), intents: del("d/a", "d/b"), prune: []string{"d"}},
		{name: "remove and leave the directory", here: has("d/a"), intents: del("d/a")},
		{name: "remove deep", here: has("a/b/c/d/x", "a/b/y"), intents: del("a/b/c/d/x"), prune: []string{"a", "a/b", "a/b/c", "a/b/c/d"}},
		{name: "remove what is alone", here: has("a/b/c/x"), intents: del("a/b/c/x"), prune: []string{"a", "a/b", "a/b/c", "was/never"}},
		{name: "remove with modes of directories", here: has("a/:0700", "a/b/:0750", "a/b/x"), intents: del("a/b/x"), prune: []string{"a", "a/b"}, needs: "links"},
		{name: "remove what is read-only", here: has("d/a:0444", "d/b:0400"), intents: del("d/a", "d/b")},
		{name: "remove of mode 0000", here: has("d/a:0000"), intents: del("d/a"), needs: "superuser"},
		{name: "remove and create", here: has("d/a", "e/b"), intents: plans(del("d/a"), puts("d/b", "f/c")), prune: []string{"d", "e"}},

		{name: "file to directory", here: has("f", "g/h"), intents: plans(del("f", "g/h"), puts("f/a", "g/h/i/j"))},
		{name: "file to deep directory", here: has("f:0600"), intents: plans(del("f"), puts("f/a/b/c", "f/a/d"))},
		{name: "directory to file", here: has("d/a", "d/e/b:0600", "d/empty/"), intents: plans(del("d"), puts("d"))},
		{name: "file to the same file", here: has("f=same", "g"), intents: plans(del("f", "g"), write("f", "same", 0o644), puts("g"))},

		{name: "directory deleted", here: has("d/a", "d/e/b:0600", "d/empty/", "mine"), intents: del("d")},
		{name: "directory deleted with its parent", here: has("p/d/a", "p/d/e/b"), intents: del("p/d"), prune: []string{"p"}},
		{name: "directories deleted and moved with what was to be pruned", here: has("b/a/", "b/c/x", "d/e/f", "d/g/"), intents: plans(del("b"), ren("d", "t")),
			prune: []string{"b", "b/a", "b/a", "b/c", "d", "d/e", "d/g"}},
		{name: "empty directory deleted", here: has("d/:0700", "e/f/"), intents: del("d", "e/f"), needs: "links"},
		{name: "directory within a directory deleted", here: has("d/a", "d/e/b", "d/e/c/x"), intents: del("d", "d/e", "d/e/b")},
		{name: "directory deleted and written", here: has("d/a", "d/e/b", "d/empty/", "d!"), intents: plans(del("d"), puts("d/a", "d/new/c", "d-"))},
		{name: "directory deleted and written, some the same", here: has("d/a=same", "d/b"), intents: plans(del("d"), write("d/a", "same", 0o644), puts("d/c"))},
		{name: "directory deleted and written with what it held", here: has("d/a=same", "d/e/b=same"), intents: plans(del("d"), write("d/a", "same", 0o644), write("d/e/b", "same", 0o644))},
		{name: "directory deleted and written, modes kept", here: has("d/:0700", "d/e/:0750", "d/e/a"), intents: plans(del("d"), puts("d/e/b", "d/f/c")),
			by: func(want tree) { keepsMode("d", 0o700)(want); keepsMode("d/e", 0o750)(want) }, needs: "links"},
		{name: "directory deleted, its folder written as a file", here: has("d/e/a", "d/f"), intents: plans(del("d"), puts("d/e", "d/f/g"))},
		{name: "empty directory deleted and written", here: has("d/"), intents: plans(del("d"), puts("d/a"))},
		{name: "read-only directory deleted", here: has("d/:0555", "d/a:0444", "d/e/:0500", "d/e/b"), intents: del("d"), needs: "superuser"},
		{name: "read-only directory written", here: has("d/:0555", "d/a"), intents: puts("d/a", "d/b"), needs: "superuser"},
		{name: "directory with 0000 deleted", here: has("d/a:0000", "d/e/:0000", "d/e/b"), intents: del("d"), needs: "superuser"},

		{name: "rename into a deleted directory", here: has("d/a", "d/b", "x"), intents: plans(del("d"), ren("x", "d/x"))},
		{name: "rename into an empty deleted directory", here: has("d/:0700", "x"), intents: plans(del("d"), ren("x", "d/x")), needs: "links"},
		{name: "rename into a folder of a deleted directory", here: has("d/e/", "d/a", "x/y"), intents: plans(del("d"), ren("x", "d/e/x"))},
		{name: "rename into a deleted directory, and what it held written", here: has("d/a=same", "d/b", "d/e/c=same", "x"),
			intents: plans(del("d"), ren("x", "d/x"), write("d/a", "same", 0o644), puts("d/n/o"), write("d/e/c", "same", 0o644))},
		{name: "rename two into a deleted directory", here: has("d/e/f/", "d/g/", "x", "y/z"), intents: plans(del("d"), ren("x", "d/e/f/x"), ren("y", "d/g/y"))},
		{name: "rename to a deleted directory", here: has("d/a", "d/e/", "x/a", "x/e/"), intents: plans(del("d"), ren("x", "d"))},
		{name: "rename to a deleted file", here: has("f", "x=same"), intents: plans(del("f"), ren("x", "f"))},
		{name: "rename beneath a deleted file", here: has("f", "x"), intents: plans(del("f"), ren("x", "f/g/x"))},
		{name: "rename to an empty deleted directory", here: has("d/", "e/"), intents: plans(del("d"), ren("e", "d"))},

		{name: "rename a file", here: has("a", "d/b:0600"), intents: plans(ren("a", "z"), ren("d/b", "d/c"))},
		{name: "rename a directory", here: has("d/a", "d/e/b:0600", "d/empty/"), intents: plans(ren("d", "t"))},
		{name: "rename an empty directory", here: has("d/:0700", "t/"), intents: plans(ren("d", "t/d")), needs: "links"},
		{name: "rename into missing directories", here: has("a", "p/mine"), intents: plans(ren("a", "p/q/r/a"))},
		{name: "rename a directory into missing ones", here: has("d/a", "d/e/b"), intents: plans(ren("d", "n/m/d"), puts("n/m/x", "n/y", "k/z"))},
		{name: "rename out of a directory that goes", here: has("d/e/a"), intents: plans(ren("d/e/a", "a")), prune: []string{"d", "d/e"}},
		{name: "rename upwards", here: has("a/b/c/d", "a/b/e"), intents: plans(ren("a/b/c", "c"))},
		{name: "rename read-only", here: has("d/a:0444"), intents: plans(ren("d/a", "e/a"))},
		{name: "rename and create beside", here: has("d/a", "u"), intents: plans(ren("d/a", "d/z"), puts("d/b", "u"))},

		{name: "edit JSON", here: has("c/set.json={\n  // mine\n  \"a\": 1\n}\n"), intents: plans(setJSON("c/set.json", "/servers/x", "run"), setJSON("c/set.json", "/b", true))},
		{name: "edit JSON that is missing", here: has("mine"), intents: plans(setJSON("new/set.json", "/a/b", "c"))},
		{name: "edit a block", here: has("TEXT.md:0600=# mine\n", "d/mine"), intents: plans(block("TEXT.md", "one", "first"), block("TEXT.md", "two", "second"), block("d/NEW.md", "one", "first")), needs: "links"},
		{name: "edit to the same", here: has("a.json={\"a\": 1}\n", "u"), intents: plans(setJSON("a.json", "/a", int64(1)), puts("u"))},

		{name: "many creates", here: has("d/mine"), intents: puts(numbered(18, "d/f%02d")...)},
		{name: "many creates in new directories", here: has("mine"), intents: puts(append(numbered(10, "n/f%02d"), numbered(10, "n/%02d/x")...)...)},
		{name: "many updates", here: has(numbered(18, "d/f%02d")...), intents: puts(numbered(18, "d/f%02d")...)},
		{name: "many removes", here: has(numbered(18, "d/f%02d")...), intents: del(numbered(18, "d/f%02d")...), prune: []string{"d"}},
		{name: "many of all", here: has(append(numbered(12, "u/f%02d"), "g/a", "g/b/", "x/y", "f", "k")...),
			intents: plans(puts(numbered(12, "u/f%02d")...), puts(numbered(4, "n/%02d/x")...), del("g", "f"), ren("x", "g/b/x"), puts("f/a", "g/a", "h/k")), prune: []string{"g"}},
		{name: "a large directory deleted and written", here: has(append(numbered(20, "d/f%02d"), numbered(5, "d/e/%d/f")...)...), intents: plans(del("d"), puts(numbered(20, "d/f%02d")...), puts("d/e/5"))},

		{name: "names that are not ASCII", here: has("d/\u00e9t\u00e9", "\u65e5\u672c/\u8a9e"), intents: plans(puts("d/\u00e9t\u00e9", "\u00fc/\u1ea1\u0301", "\U0001f600/\uac00"), ren("\u65e5\u672c/\u8a9e", "\u03c3/\u8a9e"))},
		{name: "long names", here: has(long + "/" + long), intents: plans(puts(long+"/a"+long, "b"+long+"/"+long), del(long+"/"+long))},
		{name: "names that sort around a directory", here: has("d/a", "d-/b", "d!/c", "d0/d"), intents: plans(del("d"), puts("d/x", "d-/b", "d!/c", "d0/d"))},

		{name: "a symlink replaced", here: has("d/mine"), links: map[string]string{"l": "d/mine", "d/m": "nowhere", "stays": "l"},
			intents: plans(abi.Write{Path: "l", Mode: 0o644, Content: abi.Bytes("new l"), ReplaceSymlink: true}, abi.Write{Path: "d/m", Mode: 0o600, Content: abi.Bytes(""), ReplaceSymlink: true}),
			by:      func(want tree) { want["stays"] = entry(fs.ModeSymlink|0o777, "l") }, needs: "links"},
		{name: "hard links", here: has("a=same", "d/b", "e/x"), names: map[string]string{"other-a": "a", "other-b": "d/b", "e/y": "e/x"},
			intents: plans(puts("a"), del("d/b", "e"), puts("e/z")),
			by: func(want tree) {
				want["other-a"], want["other-b"] = entry(0o644, "same"), entry(0o644, "old d/b")
			}, needs: "links"},
		{name: "everything", here: has("old/a", "old/deep/b:0600", "gone/a:0755", "gone/b:0444", "file:0640", "kept=kept", "other/mine:0600", "other/empty/:0700"), intents: change(), prune: []string{"gone"}, needs: "links"},
	}
}

// usable are the shapes that this platform and this user can run.
func usable(t testing.TB) []shape {
	t.Helper()
	all := slices.DeleteFunc(shapes(), func(s shape) bool {
		return s.needs != "" && runtime.GOOS == "windows" || s.needs == "superuser" && os.Geteuid() != 0
	})
	if len(all) < 40 {
		t.Fatalf("%d shapes can be run here, want 40 at least", len(all))
	}
	return all
}

// shapeNamed returns one of them.
func shapeNamed(name string) (shape, error) {
	all := shapes()
	if i := slices.IndexFunc(all, func(s shape) bool { return s.name == name }); i >= 0 {
		return all[i], nil
	}
	return shape{}, fmt.Errorf("no shape %q", name)
}

// make makes the tree before in an empty directory.
func (s *shape) make(dir string) error {
	if err := s.here.Write(dir); err != nil {
		return err
	}
	for path, says := range s.links {
		if err := os.Symlink(says, filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	for path, of := range s.names {
		if err := os.Link(filepath.Join(dir, filepath.FromSlash(of)), filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	return nil
}

// check judges the plan, all of which is granted.
func (s *shape) check(r *root.Root) (plan.Checked, error) {
	everything, err := grant.Parse(grant.Rights{Writes: []string{"**"}, Capabilities: []string{grant.SymlinkReplace}})
	if err != nil {
		return plan.Checked{}, err
	}
	return plan.Check(r, plan.Options{Limits: abi.DefaultLimits()}, plan.Proposal{
		Owner: "x", Kind: abi.KindTarget, Action: "install", Grant: everything, Plan: &abi.Plan{Intents: s.intents},
	})
}

// after is the tree after the plan: what the model makes of the tree before, without the directories that go when they are
// empty, and what only the shape knows. dir holds the tree before; top describes the root itself.
func (s *shape) after(dir, top string) (tree, error) {
	edited, err := s.edited(dir)
	if err != nil {
		return nil, err
	}
	made, err := s.here.Apply([][]abi.Intent{s.intents}, plantest.Effects{Edit: func(in abi.Intent, _ []byte, _ bool) ([]byte, error) {
		switch in := in.(type) {
		case abi.EditJSON:
			return edited[in.Path], nil
		case abi.EditBlock:
			return edited[in.Path], nil
		}
		return nil, fmt.Errorf("%T is no edit", in)
	}})
	if err != nil {
		return nil, err
	}
	prune := slices.Clone(s.prune)
	slices.SortFunc(prune, func(a, b string) int { return strings.Compare(b, a) })
	for _, dir := range prune {
		holds := slices.ContainsFunc(slices.Collect(maps.Keys(made)), func(p string) bool { return strings.HasPrefix(p, dir+"/") })
		if made[dir].Dir && !holds && !s.arrives(dir) {
			delete(made, dir)
		}
	}
	want := tree{".": top}
	for p, n := range made {
		mode := fs.FileMode(n.Mode)
		if n.Dir {
			mode |= fs.ModeDir
		}
		want[p] = entry(mode, string(n.Data))
	}
	if s.by != nil {
		s.by(want)
	}
	return want, nil
}

// edited returns what edits make of each file, as the plan says that was made of them: what an edit does is not the business
// of these tests.
func (s *shape) edited(dir string) (map[string][]byte, error) {
	made := map[string][]byte{}
	if !slices.ContainsFunc(s.intents, func(in abi.Intent) bool { return in.Op() == abi.OpEdit }) {
		return made, nil
	}
	r, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c, err := s.check(r)
	if err != nil {
		return nil, err
	}
	for _, step := range c.Steps() {
		if step.Edits == nil {
			continue
		}
		f, err := step.Content.Open()
		if err != nil {
			return nil, err
		}
		made[step.Path], err = io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// arrives reports whether a rename brings a directory: what was to go from there is not it.
func (s *shape) arrives(dir string) bool {
	return slices.ContainsFunc(s.intents, func(in abi.Intent) bool {
		r, ok := in.(abi.Rename)
		return ok && (r.To == dir || strings.HasPrefix(dir, r.To+"/"))
	})
}

// picture is [snapshot] for whoever has no test at hand, and may not be allowed to read everything: of such a file it takes
// down that.
func picture(dir string) (tree, error) {
	got := tree{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if errors.Is(err, fs.ErrPermission) {
				text, err = []byte("it cannot be read"), nil
			}
			if err != nil {
				return err
			}
			what = string(text)
		case info.Mode()&fs.ModeSymlink != 0:
			if what, err = os.Readlink(p); err != nil {
				return err
			}
		}
		rel := filepath.ToSlash(strings.TrimPrefix(p[len(dir):], string(filepath.Separator)))
		if rel == "" {
			rel = "."
		}
		got[rel] = entry(info.Mode(), what)
		return nil
	})
	return got, err
}

// TestShapes: each shape does what the model says, and its undo brings back what was there.
func TestShapes(t *testing.T) {
	names := map[string]bool{}
	for _, s := range usable(t) {
		if names[s.name] {
			t.Errorf("two shapes are called %q", s.name)
		}
		names[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t, s)
			l := w.boot(-1)
			done, err := w.install(l)
			if err != nil {
				t.Fatal(err)
			}
			w.expect(t, "after it", w.after, 1)
			if done.Litter != "" {
				t.Errorf("litter: %s", done.Litter)
			}
			if done.ID == "" {
				return // nothing was moved
			}
			if !done.Undo {
				t.Fatal("it cannot be undone")
			}
			if err := w.undo(w.boot(-1)); err != nil {
				t.Fatal(err)
			}
			w.expect(t, "after its undo", w.before, 2)
			if err := w.undo(w.boot(-1)); err == nil {
				t.Error("it was undone twice")
			}
		})
	}
	t.Logf("%d shapes", len(names))
}
