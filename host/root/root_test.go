package root_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// openTree makes a root with a file of its own path at each path; a path that ends with a slash is a directory.
func openTree(t *testing.T, paths ...string) *root.Root {
	t.Helper()
	dir := t.TempDir()
	for _, p := range paths {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

func open(t *testing.T, dir string) *root.Root {
	t.Helper()
	r, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// names lists everything beneath a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && p != dir {
			rel, _ := filepath.Rel(dir, p)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isLink(err error) bool {
	var le *root.LinkError
	return errors.As(err, &le)
}

func TestOpen(t *testing.T) {
	r := openTree(t, "file")
	if !filepath.IsAbs(r.Path()) || !r.Info().IsDir() {
		t.Errorf("the root is %q, %v; want an absolute path and a directory", r.Path(), r.Info().Mode())
	}
	for _, bad := range []string{filepath.Join(r.Path(), "file"), filepath.Join(r.Path(), "absent"), filepath.Join(r.Path(), "file", "x")} {
		if r, err := root.Open(bad); err == nil {
			r.Close()
			t.Errorf("Open(%q) took what is no directory", bad)
		}
	}
	t.Chdir(r.Path())
	again := open(t, ".")
	if again.Path() != r.Path() {
		t.Errorf("Open(\".\") is %q, want %q", again.Path(), r.Path())
	}
}

// TestIdentity: one directory has one identity, by whatever name and after a move; another has another.
func TestIdentity(t *testing.T) {
	r := openTree(t, "a/", "b/")
	id := func(path string) string {
		r := open(t, path)
		s, err := r.Identity()
		if err != nil || s == "" {
			t.Fatalf("the identity of %q: %q, %v", path, s, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := filepath.Join(r.Path(), "a"), filepath.Join(r.Path(), "b")
	was := id(a)
	if id(a) != was || id(filepath.Join(b, "..", "a")) != was {
		t.Error("one directory has two identities")
	}
	if id(b) == was {
		t.Error("two directories have one identity")
	}
	if err := os.Rename(a, filepath.Join(r.Path(), "c")); err != nil {
		t.Fatal(err)
	}
	if id(filepath.Join(r.Path(), "c")) != was {
		t.Error("a moved directory has another identity")
	}
}

// TestWalk goes to what is there, and says of everything else what it is. P02: no component leads up.
func TestWalk(t *testing.T) {
	r := openTree(t, "a/b/file", "file")
	for _, dir := range []string{"", ".", "a", "a/b"} {
		d, made, err := r.Walk(dir, false)
		if err != nil || made != nil {
			t.Errorf("Walk(%q): made %v, %v; want the directory", dir, made, err)
			continue
		}
		d.Close()
	}
	for dir, want := range map[string]func(error) bool{
		"absent":     func(err error) bool { return errors.Is(err, fs.ErrNotExist) },
		"a/absent/x": func(err error) bool { return errors.Is(err, fs.ErrNotExist) },
		"file":       isLink, "a/b/file/x": isLink, "file/x/y": isLink,
	} {
		d, made, err := r.Walk(dir, false)
		if err == nil {
			d.Close()
		}
		if !want(err) || made != nil {
			t.Errorf("Walk(%q): made %v, %v", dir, made, err)
		}
	}
	var le *root.LinkError
	if _, _, err := r.Walk("a/b/file/x/y", false); !errors.As(err, &le) || le.Path != "a/b/file" || le.Kind != "regular file" {
		t.Errorf("Walk past a file: %v, want the component named", err)
	}
}

// hostileNames are no plain file names anywhere.
var hostileNames = []string{"", ".", "..", "/", "/etc", "a/b", "../x", "a/..", `a\b`, `..\x`, "a\x00b", "\x00", "a/"}

// TestP02HostileComponents: whatever a caller checked before, no method takes a name that is none.
func TestP02HostileComponents(t *testing.T) {
	r := openTree(t, "a/b", "file", "d/")
	before := names(t, filepath.Dir(r.Path()))
	top := r.Top()
	methods := map[string]func(name string) error{
		"OpenDir": func(n string) error {
			d, err := top.OpenDir(n)
			if err == nil {
				d.Close()
			}
			return err
		},
		"Stat": func(n string) error { _, err := top.Stat(n); return err },
		"Open": func(n string) error {
			f, err := top.Open(n)
			if err == nil {
				f.Close()
			}
			return err
		},
		"Create": func(n string) error {
			f, err := top.Create(n, 0o644)
			if err == nil {
				f.Close()
			}
			return err
		},
		"Mkdir":          func(n string) error { return top.Mkdir(n, 0o755) },
		"MkdirExact":     func(n string) error { return top.MkdirExact(n, 0o755) },
		"Rename from":    func(n string) error { return top.Rename(n, top, "new") },
		"Rename to":      func(n string) error { return top.Rename("file", top, n) },
		"RenameNew from": func(n string) error { return top.RenameNew(n, top, "new") },
		"RenameNew to":   func(n string) error { return top.RenameNew("file", top, n) },
		"Remove":         top.Remove,
		"Rmdir":          top.Rmdir,
		"RemoveTree":     top.RemoveTree,
	}
	for _, name := range hostileNames {
		for method, call := range methods {
			if call(name) == nil {
				t.Errorf("%s(%q) took it", method, name)
			}
		}
		for _, dir := range []string{name, "d/" + name, name + "/d"} {
			if dir == "" || dir == "." || dir == "a/b" || dir == "d/a/b" {
				continue // the root itself, and plain paths
			}
			d, made, err := r.Walk(dir, true)
			if err == nil {
				d.Close()
				t.Errorf("Walk(%q) took it", dir)
			}
			for _, m := range slices.Backward(made) { // up to the hostile component, and said
				if err := os.Remove(filepath.Join(r.Path(), filepath.FromSlash(m))); err != nil {
					t.Errorf("Walk(%q) made %q: %v", dir, m, err)
				}
			}
		}
		for _, path := range []string{name, "d/" + name, name + "/d"} {
			if path == "a/b" || path == "d/a/b" || path == "./d" {
				continue
			}
			if f, err := r.Open(path); err == nil {
				f.Close()
				t.Errorf("Root.Open(%q) took it", path)
			}
			if info, err := r.Stat(path); err == nil && info.Exists {
				t.Errorf("Root.Stat(%q) found something", path)
			}
		}
	}
	if after := names(t, filepath.Dir(r.Path())); !slices.Equal(before, after) {
		t.Errorf("the tree was %v and is %v", before, after)
	}
}

// TestWalkMakes reports exactly the directories that it made, outermost first, also when it cannot go on.
func TestWalkMakes(t *testing.T) {
	r := openTree(t, "a/", "f/file")
	for _, tt := range []struct {
		dir  string
		made []string
		ok   bool
	}{
		{"a/b/c", []string{"a/b", "a/b/c"}, true},
		{"a/b/c", nil, true},
		{"a/b/d", []string{"a/b/d"}, true},
		{"x", []string{"x"}, true},
		{"f/file/x", nil, false},
		{"x/y/" + strings.Repeat("n", 300), []string{"x/y"}, false},
		{"x/y/z/../w", []string{"x/y/z"}, false},
	} {
		d, made, err := r.Walk(tt.dir, true)
		if (err == nil) != tt.ok || !slices.Equal(made, tt.made) {
			t.Errorf("Walk(%.40q): made %v, %v; want %v, success %v", tt.dir, made, err, tt.made, tt.ok)
		}
		if err == nil {
			d.Close()
		}
	}
	if got, want := names(t, r.Path()), []string{"a", "a/b", "a/b/c", "a/b/d", "f", "f/file", "x", "x/y", "x/y/z"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %v, want %v", got, want)
	}
}

// TestWalkMakesOnce: of many that make the same directories at the same time, all succeed and each directory is reported
// once.
func TestWalkMakesOnce(t *testing.T) {
	r := openTree(t)
	var mu sync.Mutex
	var all []string // mu
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			d, made, err := r.Walk("p/q/r/s", true)
			if err != nil {
				t.Errorf("Walk: %v", err)
				return
			}
			defer d.Close()
			mu.Lock()
			defer mu.Unlock()
			all = append(all, made...)
		})
	}
	wg.Wait()
	slices.Sort(all)
	if want := []string{"p", "p/q", "p/q/r", "p/q/r/s"}; !slices.Equal(all, want) {
		t.Errorf("made %v, want %v", all, want)
	}
}

func TestStat(t *testing.T) {
	r := openTree(t, "a/file", "d/")
	for path, want := range map[string]string{
		"a/file": "regular file", "d": "directory", "absent": "nothing", "no/such/parent": "nothing", "a": "directory",
	} {
		info, err := r.Stat(path)
		if err != nil || info.Kind() != want || info.Exists != (want != "nothing") || info.Regular() != (want == "regular file") {
			t.Errorf("Stat(%q): %+v (%s), %v; want %s", path, info, info.Kind(), err, want)
		}
	}
	if info, err := r.Stat("a/file"); err != nil || info.Size != int64(len("a/file")) {
		t.Errorf("Stat(a/file): %+v, %v", info, err)
	}
	if _, err := r.Stat("a/file/x"); !isLink(err) {
		t.Errorf("Stat past a file: %v, want a *LinkError", err)
	}
}

func TestOpenFile(t *testing.T) {
	r := openTree(t, "a/file", "d/")
	f, err := r.Open("a/file")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || string(text) != "a/file" {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("a file opened for reading can be written")
	}
	f.Close()
	if f, err := r.Open("d"); err == nil || !isLink(err) {
		t.Errorf("Open of a directory: %v, %v; want a *LinkError", f, err)
	}
	if f, err := r.Open("absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing: %v, %v; want fs.ErrNotExist", f, err)
	}
}

// TestCreate makes new files only.
func TestCreate(t *testing.T) {
	r := openTree(t, "file", "d/")
	f, err := r.Top().Create("new", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte("text"))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.Path(), "new")); string(text) != "text" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	for _, name := range []string{"file", "new", "d"} {
		if f, err := r.Top().Create(name, 0o644); err == nil || !errors.Is(err, fs.ErrExist) && name != "d" {
			t.Errorf("Create(%q) over what is there: %v, %v; want fs.ErrExist", name, f, err)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(r.Path(), "file")); string(text) != "file" {
		t.Errorf("the file that was there holds %q", text)
	}
}

// TestRename moves within and between directories. RenameNew never takes the place of anything.
func TestRename(t *testing.T) {
	r := openTree(t, "a/one", "b/two", "b/three", "e/", "full/x")
	walk := func(dir string) *root.Dir {
		d, _, err := r.Walk(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	a, b := walk("a"), walk("b")
	for _, name := range []string{"two", "three"} {
		if err := a.RenameNew("one", b, name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("RenameNew onto %q: %v, want fs.ErrExist", name, err)
		}
	}
	if err := a.RenameNew("one", r.Top(), "e"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("RenameNew onto a directory: %v, want fs.ErrExist", err)
	}
	if err := a.RenameNew("absent", b, "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("RenameNew of nothing: %v, want fs.ErrNotExist", err)
	}
	if err := a.Rename("absent", b, "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Rename of nothing: %v, want fs.ErrNotExist", err)
	}
	if err := a.RenameNew("one", b, "new"); err != nil {
		t.Errorf("RenameNew: %v", err)
	}
	if err := b.Rename("new", b, "two"); err != nil { // replaces
		t.Errorf("Rename: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(r.Path(), "b", "two")); string(text) != "a/one" {
		t.Errorf("b/two holds %q, %v", text, err)
	}
	if err := r.Top().Rename("b", r.Top(), "full"); err == nil {
		t.Error("a directory took the place of one that is not empty")
	}
	if got, want := names(t, r.Path()), []string{"a", "b", "b/three", "b/two", "e", "full", "full/x"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %v, want %v", got, want)
	}
}

// TestRemove takes files and empty directories, never a full one.
func TestRemove(t *testing.T) {
	r := openTree(t, "file", "empty/", "full/x")
	if err := r.Top().Rmdir("full"); err == nil {
		t.Error("Rmdir took a directory that is not empty")
	}
	for _, dir := range []string{"full", "empty"} {
		if err := r.Top().Remove(dir); err == nil {
			t.Errorf("Remove took the directory %q", dir)
		}
	}
	if err := r.Top().Rmdir("file"); err == nil {
		t.Error("Rmdir took a file")
	}
	if err := errors.Join(r.Top().Remove("file"), r.Top().Rmdir("empty")); err != nil {
		t.Error(err)
	}
	for _, gone := range []error{r.Top().Remove("absent"), r.Top().Rmdir("absent")} {
		if !errors.Is(gone, fs.ErrNotExist) {
			t.Errorf("removing nothing: %v, want fs.ErrNotExist", gone)
		}
	}
	if got, want := names(t, r.Path()), []string{"full", "full/x"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %v, want %v", got, want)
	}
}

// TestNamesBound: a listing is sorted, and one entry too many is an error and not a cut-off list.
func TestNamesBound(t *testing.T) {
	r := openTree(t, "d/b", "d/a", "d/c/", "empty/")
	for dir, want := range map[string][]string{"d": {"a", "b", "c"}, "empty": nil} {
		d, _, err := r.Walk(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a listing leaves no position behind
			got, err := d.Names(len(want))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Names of %q: %v, %v; want %v", dir, got, err, want)
			}
		}
		if len(want) > 0 {
			var le *abi.LimitError
			if got, err := d.Names(len(want) - 1); !errors.As(err, &le) || got != nil || le.Bound != int64(len(want)-1) {
				t.Errorf("Names of %q with room for one less: %v, %v; want a *abi.LimitError", dir, got, err)
			}
		}
		d.Close()
	}
}

func TestRemoveTree(t *testing.T) {
	r := openTree(t, "d/a/b/c/file", "d/a/other", "d/empty/", "keep/x", "file")
	for _, name := range []string{"d", "file", "absent"} {
		if err := r.Top().RemoveTree(name); err != nil {
			t.Errorf("RemoveTree(%q): %v", name, err)
		}
	}
	if got, want := names(t, r.Path()), []string{"keep", "keep/x"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %v, want %v", got, want)
	}
}

// TestDigest: the digest of what is there, and never of more than the bound.
func TestDigest(t *testing.T) {
	r := openTree(t, "file", "empty/")
	want := abi.DigestOf([]byte("file"))
	for _, bound := range []int64{4, 5, 1 << 40} {
		if got, n, err := r.Digest("file", bound); err != nil || got != want || n != 4 {
			t.Errorf("Digest with bound %d: %v, %d, %v", bound, got, n, err)
		}
	}
	var le *abi.LimitError
	for _, bound := range []int64{0, 3} {
		if _, _, err := r.Digest("file", bound); !errors.As(err, &le) || le.Bound != bound {
			t.Errorf("Digest with bound %d: %v, want a *abi.LimitError", bound, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := root.DigestFile(io.MultiReader(strings.NewReader("x"), badReader{broken}), 100); !errors.Is(err, broken) {
		t.Errorf("DigestFile of what breaks off: %v, want its error", err)
	}
}

type badReader struct{ err error }

func (b badReader) Read([]byte) (int, error) { return 0, b.err }

// TestClosedRoot: every call on a closed root is an error, none a panic or a use of another's descriptor.
func TestClosedRoot(t *testing.T) {
	r := openTree(t, "a/file")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, err1 := r.Stat("a/file")
	_, err2 := r.Open("a/file")
	_, _, err3 := r.Walk("a", true)
	_, err4 := r.Top().Names(10)
	err5 := r.Top().Rename("a", r.Top(), "b")
	err6 := r.Top().RemoveTree("a")
	for i, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err == nil {
			t.Errorf("call %d on a closed root succeeded", i+1)
		}
	}
}

func ExampleRoot_Stat() {
	dir, err := os.MkdirTemp("", "root")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	r, err := root.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	info, err := r.Stat(".claude/skills/doctor/SKILL.md")
	fmt.Println(info.Kind(), err)
	// Output: nothing <nil>
}
