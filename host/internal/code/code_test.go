package code_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/code"
	"github.com/lola-ext/lola/host/internal/home"
)

// entry is what the fake engine calls an entry.
var entry = "wazero-v1-any-any/" + strings.Repeat("ab", 32)

// bench is a store with a compiler that writes what it is told to.
type bench struct {
	*code.Store
	home     *home.Home
	dir      string // of the state folder
	program  string
	compiled atomic.Int32
}

func newBench(t *testing.T, o code.Options) *bench {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	h, err := home.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	b := &bench{home: h, dir: dir, program: filepath.Join(t.TempDir(), "program")}
	b.build(t, "the program")
	b.reopen(o)
	return b
}

// build makes the program another one, of some age.
func (b *bench) build(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(b.program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) reopen(o code.Options) {
	o.Home, o.Program = b.home, b.program
	b.Store = code.Open(o)
}

func module(name string) code.Module {
	return code.Module{Name: name, Digest: abi.DigestOf([]byte(name))}
}

// compile leaves the module's name and a number, so that what was made twice can be told.
func (b *bench) compile(m code.Module) code.Compile {
	return func(_ context.Context, folder string) (string, int64, error) {
		if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
			return "", 0, fmt.Errorf("the folder has %d names, %w", len(names), err)
		}
		text := fmt.Sprintf("code of %s", m.Name)
		b.compiled.Add(1)
		at := filepath.Join(folder, filepath.FromSlash(entry))
		if err := os.Mkdir(filepath.Dir(at), 0o700); err != nil {
			return "", 0, err
		}
		return entry, int64(len(text)), os.WriteFile(at, []byte(text), 0o600)
	}
}

// use has a module's code used, which must be the right one, and returns how often it was compiled for that.
func (b *bench) use(t *testing.T, name string) (times int32, notes []string) {
	t.Helper()
	m := module(name)
	before := b.compiled.Load()
	c, err := b.Use(t.Context(), m, b.compile(m))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Folder == "" {
		t.Fatalf("there is no code for %q: %q", name, c.Notes)
	}
	got, err := os.ReadFile(filepath.Join(c.Folder, filepath.FromSlash(entry)))
	if err != nil || string(got) != "code of "+name {
		t.Errorf("the code of %q is %q, %v", name, got, err)
	}
	if all := walk(t, c.Folder); len(all) != 2 {
		t.Errorf("the folder holds %q", all)
	}
	return b.compiled.Load() - before, c.Notes
}

// walk lists what is in a folder.
func walk(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir && err == nil {
			all = append(all, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// left are folders that somebody forgot.
func (b *bench) left(t *testing.T) []string {
	t.Helper()
	return walk(t, filepath.Join(b.dir, "tmp"))
}

func TestCompiledOnce(t *testing.T) {
	for _, private := range []bool{false, true} {
		b := newBench(t, code.Options{Private: private})
		for i, want := range []int32{1, 0, 0} {
			if n, notes := b.use(t, "a"); n != want || len(notes) > 0 {
				t.Errorf("private %v, use %d: compiled %d times, want %d, notes %q", private, i, n, want, notes)
			}
		}
		if n, _ := b.use(t, "b"); n != 1 {
			t.Error("another module was not compiled")
		}
		b.reopen(code.Options{Private: private})
		if n, _ := b.use(t, "a"); n != 0 {
			t.Error("another process compiles it again")
		}
		if left := b.left(t); len(left) > 0 {
			t.Errorf("private %v: left behind: %q", private, left)
		}
	}
}

// TestPrivateCopies: what a run could change is not what the next run gets.
func TestPrivateCopies(t *testing.T) {
	b := newBench(t, code.Options{Private: true})
	m := module("a")
	c, err := b.Use(t.Context(), m, b.compile(m))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(c.Folder, filepath.Join(b.dir, "code")) {
		t.Errorf("it got the entry itself: %q", c.Folder)
	}
	if err := os.WriteFile(filepath.Join(c.Folder, filepath.FromSlash(entry)), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, notes := b.use(t, "a"); n != 0 || len(notes) > 0 {
		t.Errorf("compiled %d times, %q", n, notes)
	}
	c.Close()
	c.Close()
	if left := b.left(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFailures: what is the module's fault is an error and leaves nothing; what is not is a note.
func TestFailures(t *testing.T) {
	b := newBench(t, code.Options{})
	broken := errors.New("no module")
	m := module("a")
	if c, err := b.Use(t.Context(), m, func(context.Context, string) (string, int64, error) { return "", 0, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, %v", c, err)
	}
	c, err := b.Use(t.Context(), m, func(context.Context, string) (string, int64, error) { return "", 0, code.ErrNone })
	if err != nil || c.Folder != "" || len(c.Notes) > 0 {
		t.Errorf("got %+v, %v", c, err)
	}
	if left := append(b.left(t), walk(t, filepath.Join(b.dir, "code"))...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if n, _ := b.use(t, "a"); n != 1 {
		t.Errorf("compiled %d times after that", n)
	}
	// The program is gone, as while it is replaced: nothing is kept, and nothing is used.
	if err := os.Remove(b.program); err != nil {
		t.Fatal(err)
	}
	b.reopen(code.Options{})
	if c, err := b.Use(t.Context(), m, b.compile(m)); err != nil || c.Folder != "" || len(c.Notes) != 1 {
		t.Errorf("got %+v, %v", c, err)
	}
}

// TestWhatAChildLeaves: what is not one file of the form and size that it said is not taken.
func TestWhatAChildLeaves(t *testing.T) {
	write := func(folder, name, text string) {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		said string
		size int64
		make func(folder string)
	}{
		"nothing":           {entry, 4, func(string) {}},
		"shorter":           {entry, 5, func(f string) { write(f, entry, "code") }},
		"longer":            {entry, 3, func(f string) { write(f, entry, "code") }},
		"none of it":        {entry, 0, func(f string) { write(f, entry, "") }},
		"too large":         {entry, 1 << 30, func(f string) { write(f, entry, "code") }},
		"beside it":         {entry, 4, func(f string) { write(f, entry, "code"); write(f, "more", "x") }},
		"beside it, within": {entry, 4, func(f string) { write(f, entry, "code"); write(f, filepath.Dir(entry)+"/more", "x") }},
		"another path":      {"../code/x", 4, func(f string) { write(f, entry, "code") }},
		"an absolute path":  {"/etc/passwd", 4, func(f string) { write(f, entry, "code") }},
		"deeper":            {entry, 4, func(f string) { write(f, entry+"/x", "code") }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, code.Options{})
			got, err := b.Use(t.Context(), module("a"), func(_ context.Context, folder string) (string, int64, error) {
				c.make(folder)
				return c.said, c.size, nil
			})
			if err != nil || got.Folder != "" || len(got.Notes) != 1 {
				t.Errorf("got %+v, %v", got, err)
			}
			if left := append(b.left(t), walk(t, filepath.Join(b.dir, "code"))...); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestAnotherBuild: what another program file compiled is not used, and goes when that program is no more.
func TestAnotherBuild(t *testing.T) {
	b := newBench(t, code.Options{})
	old := time.Now().Add(-time.Minute)
	b.use(t, "a")
	first, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.build(t, "the next program")
	if err := os.Chtimes(b.program, old, old); err != nil {
		t.Fatal(err)
	}
	b.reopen(code.Options{})
	if second, err := b.Build(t.Context()); err != nil || second == first {
		t.Errorf("the build is %v, %v, and was %v", second, err, first)
	}
	if n, notes := b.use(t, "a"); n != 1 || len(notes) > 0 {
		t.Errorf("compiled %d times, notes %q", n, notes)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 || list[0].Key.Build == first.String() {
		t.Errorf("kept: %+v, %v", list, err)
	}
}

// TestConcurrentFirstUses: all of them work, and one is kept.
func TestConcurrentFirstUses(t *testing.T) {
	b := newBench(t, code.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := code.Open(code.Options{Home: b.home, Program: b.program, Private: i%2 == 1})
			m := module("a")
			c, err := s.Use(t.Context(), m, b.compile(m))
			if err != nil || c.Folder == "" || len(c.Notes) > 0 {
				t.Errorf("got %+v, %v", c, err)
				return
			}
			if got, err := os.ReadFile(filepath.Join(c.Folder, filepath.FromSlash(entry))); string(got) != "code of a" {
				t.Errorf("got %q, %v", got, err)
			}
			c.Close()
		})
	}
	all.Wait()
	if n, notes := b.use(t, "a"); n != 0 || len(notes) > 0 {
		t.Errorf("compiled %d times after that, %q", n, notes)
	}
	if left := b.left(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("kept: %+v, %v", list, err)
	}
}

func TestBounds(t *testing.T) {
	b := newBench(t, code.Options{Entries: 3})
	age := func(name string, hours time.Duration) {
		t.Helper()
		list, err := b.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			at := time.Now().Add(-hours * time.Hour)
			if e.Name == name {
				if err := os.Chtimes(filepath.Join(b.dir, "codes", e.ID+".json"), at, at); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i, name := range []string{"a", "b", "c"} {
		b.use(t, name)
		age(name, time.Duration(10-i))
	}
	b.use(t, "a") // it is now what was used last
	b.use(t, "d")
	names := func() (names string) {
		list, err := b.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			names += e.Name
		}
		return names
	}
	if got := names(); len(got) != 3 || strings.Contains(got, "b") {
		t.Errorf("kept %q, want all but b", got)
	}
	// By bytes: each has nine.
	b.reopen(code.Options{Bytes: 18})
	if dropped, err := b.Prune(t.Context(), false); err != nil || len(dropped) != 1 || dropped[0].Name != "c" {
		t.Errorf("dropped %+v, %v", dropped, err)
	}
	if dropped, err := b.Prune(t.Context(), false); err != nil || len(dropped) != 0 {
		t.Errorf("dropped %+v, %v", dropped, err)
	}
	if dropped, err := b.Prune(t.Context(), true); err != nil || len(dropped) != 2 || names() != "" {
		t.Errorf("dropped %+v, %v, kept %q", dropped, err, names())
	}
	if rest := append(walk(t, filepath.Join(b.dir, "code")), walk(t, filepath.Join(b.dir, "codes"))...); len(rest) > 0 {
		t.Errorf("left behind: %q", rest)
	}
}

// TestDropIsHealed: a child that cannot use its code has it made again.
func TestDropIsHealed(t *testing.T) {
	b := newBench(t, code.Options{})
	m := module("a")
	c, err := b.Use(t.Context(), m, b.compile(m))
	if err != nil || !c.Fresh {
		t.Fatalf("got %+v, %v", c, err)
	}
	if err := c.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, notes := b.use(t, "a"); n != 1 || len(notes) > 0 {
		t.Errorf("compiled %d times, %q", n, notes)
	}
}
