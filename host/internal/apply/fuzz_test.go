package apply_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/plan/plantest"
	"github.com/lola-ext/lola/host/root"
)

// drawn makes a shape: a small tree of few names, so that what a plan does is mostly about what is there, and the intents of
// which each is accepted beside those before it.
func drawn(t testing.TB, c *plantest.Choices) shape {
	t.Helper()
	s := shape{name: "drawn", here: plantest.Tree{}}
	names := []string{"a", "b", "a!", "ab"}
	draw := func() string {
		p := names[c.Below(len(names))]
		for range c.Below(3) {
			p += "/" + names[c.Below(len(names))]
		}
		return p
	}
	texts := []string{"x", "", "y", "longer than the others"}
	modes := []abi.Mode{0o644, 0o755, 0o600, 0o444}
	for range c.Below(9) {
		p := draw()
		if free(s.here, p) {
			for up := path.Dir(p); up != "."; up = path.Dir(up) {
				s.here[up] = plantest.Node{Dir: true, Mode: 0o755}
			}
			s.here[p] = plantest.Node{Mode: modes[c.Below(len(modes))], Data: []byte(texts[c.Below(len(texts))])}
			if c.Below(4) == 3 {
				s.here[p] = plantest.Node{Dir: true, Mode: 0o755}
			}
		}
	}
	for range c.Below(3) {
		s.prune = append(s.prune, draw())
	}
	dir := memoryDir(t)
	defer os.RemoveAll(dir)
	if err := s.make(dir); err != nil {
		t.Fatal(err)
	}
	r, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range c.Below(9) {
		var in abi.Intent
		switch c.Below(5) {
		case 0, 1:
			in = write(draw(), texts[c.Below(len(texts))], modes[c.Below(len(modes))])
		case 2:
			in = abi.Delete{Path: draw()}
		case 3:
			in = abi.Rename{From: draw(), To: draw()}
		case 4:
			in = block(draw(), "id", texts[c.Below(len(texts))])
		}
		had := s.intents
		s.intents = append(slices.Clone(had), in)
		if _, err := s.check(r); err != nil {
			s.intents = had
		}
	}
	return s
}

// free reports whether a file can be put at a path: nothing is there, and no file is above it.
func free(t plantest.Tree, p string) bool {
	if _, ok := t[p]; ok {
		return false
	}
	for p = path.Dir(p); p != "."; p = path.Dir(p) {
		if n, ok := t[p]; ok && !n.Dir {
			return false
		}
	}
	return true
}

// fuzzWorld makes a world and takes it away again.
func fuzzWorld(t *testing.T, s shape, f func(w *world)) {
	t.Helper()
	base := memoryDir(t)
	defer os.RemoveAll(base)
	w, err := makeWorld(base, s)
	if err != nil {
		t.Fatalf("%v: %v", s.words(), err)
	}
	f(w)
}

// words describe a shape in a message.
func (s *shape) words() string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(s.here)) {
		fmt.Fprintf(&b, "\n  here %q: %s", p, s.here[p])
	}
	for _, in := range s.intents {
		fmt.Fprintf(&b, "\n  %T %+v", in, in)
	}
	fmt.Fprintf(&b, "\n  prune %q", s.prune)
	return b.String()
}

// FuzzApplyCrashRecover: whatever the plan, a process that dies at any step, and a recovery that does, leave what recovery
// makes as before or as the model says; and it can be undone.
func FuzzApplyCrashRecover(f *testing.F) {
	f.Add([]byte{}, uint(10), uint(3), false)
	f.Add([]byte("\x05\x00\x01\x00\x01\x00\x00\x00\x02\x01\x03\x02\x01\x00\x01\x01"), uint(25), uint(2), true)
	f.Add([]byte("\x08aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ0123456789"), uint(30), uint(5), false)
	f.Fuzz(func(t *testing.T, data []byte, k, j uint, noExchange bool) {
		crashDrawn(t, drawn(t, plantest.FromBytes(data)), k, j, noExchange)
	})
}

func crashDrawn(t *testing.T, s shape, k, j uint, noExchange bool) {
	t.Helper()
	fuzzWorld(t, s, func(w *world) {
		w.noExchange = noExchange
		l := w.boot(int(k % 100))
		done, err := w.install(l)
		if !l.dead && err != nil {
			t.Fatalf("%v%s", err, s.words())
		}
		_ = w.recover(w.boot(int(j % 40)))
		if err := w.recover(w.boot(-1)); err != nil {
			t.Fatalf("dead before step %d (%v), recovery before %d: %v%s", k%100, l.last, j%40, err, s.words())
		}
		which, problem := w.settled(installing.name, 3, w.before, w.after)
		if which == 2 && strings.HasPrefix(problem, "the tree is") && done.ID == "" { // nothing changes but the record
			problem = ""
		}
		if problem != "" {
			t.Fatalf("dead before step %d (%v), recovery before %d: %s%s", k%100, l.last, j%40, problem, s.words())
		}
		if which != 1 {
			return
		}
		l = w.boot(int(j % 60))
		_ = w.undo(l)
		if err := w.recover(w.boot(-1)); err != nil {
			t.Fatalf("undo dead before step %d (%v): %v%s", j%60, l.last, err, s.words())
		}
		if _, problem := w.settled(undoing.name, 2, w.after, w.before); problem != "" {
			t.Fatalf("undo dead before step %d (%v): %s%s", j%60, l.last, problem, s.words())
		}
	})
}

// TestDrawnPlans is [FuzzApplyCrashRecover] and [FuzzApplyUndo] with plans drawn by chance: those of a fuzzer, which changes a
// byte here and there, stay small.
func TestDrawnPlans(t *testing.T) {
	n := 300 / *oneIn
	if *exhaustive {
		n = 40_000
	}
	for part := range 2 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			random := chance(fmt.Sprintf("drawn %d", part))
			c := plantest.FromRand(random)
			for range n / 2 {
				s := drawn(t, c)
				crashDrawn(t, s, uint(random.IntN(100)), uint(random.IntN(60)), random.IntN(4) == 0)
				undoDrawn(t, s, byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(256)))
				if t.Failed() {
					return
				}
			}
		})
	}
}

// FuzzApplyUndo: an undo makes everything as before, with what somebody else did meanwhile elsewhere; or it says what was
// changed since, and changes nothing.
func FuzzApplyUndo(f *testing.F) {
	f.Add([]byte{}, byte(0), byte(0), byte(0))
	f.Add([]byte("\x05\x00\x01\x00\x01\x00\x00\x00\x02\x01\x03\x02\x01\x00\x01\x01"), byte(1), byte(2), byte(0))
	f.Add([]byte("\x08aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ0123456789"), byte(2), byte(1), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, what, where, name byte) {
		undoDrawn(t, drawn(t, plantest.FromBytes(data)), what, where, name)
	})
}

func undoDrawn(t *testing.T, s shape, what, where, name byte) {
	t.Helper()
	fuzzWorld(t, s, func(w *world) {
		done, err := w.install(w.boot(-1))
		if err != nil {
			t.Fatalf("%v%s", err, s.words())
		}
		if done.ID == "" {
			return
		}
		did := meddle(t, w, what, where, name)
		foreign, err := picture(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.undone(w.boot(-1))
		got, perr := picture(w.dir)
		if perr != nil {
			t.Fatal(perr)
		}
		var changed *apply.ChangedError
		var stale *apply.StaleError
		switch {
		case err == nil:
			if d := differs(got, merged(w.before, w.after, foreign)); d != "" {
				t.Errorf("%s, undone:%s%s", did, d, s.words())
			}
		case errors.As(err, &changed), errors.As(err, &stale):
			if did == "" {
				t.Errorf("nobody changed anything, and %v%s", err, s.words())
			}
			if d := differs(got, foreign); d != "" {
				t.Errorf("%s; %v, and it changed:%s%s", did, err, d, s.words())
			}
		default:
			t.Errorf("%s: %v%s", did, err, s.words())
		}
		if left, err := w.books(); err != nil || len(left) > 0 {
			t.Errorf("%s: there is left %q, %v%s", did, left, err, s.words())
		}
	})
}

// meddle changes one thing in the tree after, as somebody else would, and says what.
func meddle(t *testing.T, w *world, what, where, name byte) string {
	t.Helper()
	var files, dirs []string
	for _, p := range slices.Sorted(maps.Keys(w.after)) {
		if strings.HasPrefix(w.after[p], "d") {
			dirs = append(dirs, p)
		} else {
			files = append(files, p)
		}
	}
	pick := func(list []string) string { return list[int(where)%len(list)] }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if what%6 == 5 {
		p := path.Join(pick(dirs), []string{"a", "b", "mine", "a!"}[name%4])
		if w.after[p] == "" {
			must(os.WriteFile(filepath.Join(w.dir, p), []byte("mine"), 0o644))
			return fmt.Sprintf("%q was made", p)
		}
	}
	if len(files) == 0 {
		return ""
	}
	p := pick(files)
	at := filepath.Join(w.dir, p)
	switch what % 6 {
	case 1:
		must(os.Chmod(at, 0o644))
		must(os.WriteFile(at, []byte("mine"), 0o644))
		return fmt.Sprintf("%q was written", p)
	case 2:
		must(os.Remove(at))
		return fmt.Sprintf("%q was removed", p)
	case 3:
		must(os.Chmod(at, 0o640))
		return fmt.Sprintf("the mode of %q was changed", p)
	case 4:
		must(os.Remove(at))
		must(os.Mkdir(at, 0o750))
		return fmt.Sprintf("%q was made a directory", p)
	}
	return ""
}

// merged is the tree before with what somebody did to the tree after, which made it foreign, and the directories above that.
func merged(before, after, foreign tree) tree {
	want := maps.Clone(before)
	for p := range after {
		if foreign[p] == "" {
			delete(want, p)
		}
	}
	for p, e := range foreign {
		if after[p] == e {
			continue
		}
		want[p] = e
		for up := path.Dir(p); up != "."; up = path.Dir(up) {
			want[up] = foreign[up]
		}
	}
	return want
}

// journalID is the id of the planted change.
const journalID = "20991231-235959-00000000000000000000"

// planted makes a file of the folder of changes from the fuzzer's bytes: as they are, or as the line of JSON, with the names
// of this world in it and the digest behind it, so that it is taken for one that lola wrote.
func planted(data []byte, sealed bool, dir, identity string) []byte {
	if !sealed {
		return data
	}
	line := bytes.ReplaceAll(data, []byte("\n"), []byte(" "))
	line = bytes.ReplaceAll(line, []byte("@ROOT@"), []byte(dir))
	line = bytes.ReplaceAll(line, []byte("@IDENTITY@"), []byte(identity))
	line = bytes.ReplaceAll(line, []byte("@ID@"), []byte(journalID))
	sum := sha256.Sum256(line)
	return slices.Concat(line, []byte("\n"+hex.EncodeToString(sum[:])+"\n"), []byte("old aold bold fileold old/aold old/deep/b and what lies behind it"))
}

// FuzzJournal plants a change: nothing that is asked of it crashes or takes memory beyond its size, nothing outside the root
// is touched, and no file changes whose content it does not know.
func FuzzJournal(f *testing.F) {
	for i, name := range []string{"everything", "rename into a deleted directory, and what it held written", "directory deleted and written", "a symlink replaced", "remove what is alone"} {
		s, err := shapeNamed(name)
		if err != nil {
			f.Fatal(err)
		}
		if s.needs != "" && !slices.ContainsFunc(usable(f), func(u shape) bool { return u.name == name }) {
			continue
		}
		for _, dies := range []int{4, 30, -1} {
			w := newWorld(f, s)
			_, _ = w.install(w.boot(dies))
			list, err := os.ReadDir(filepath.Join(w.state, "changes"))
			if err != nil || len(list) != 1 {
				f.Fatal(list, err)
			}
			text, err := os.ReadFile(filepath.Join(w.state, "changes", list[0].Name()))
			if err != nil {
				f.Fatal(err)
			}
			r, err := root.Open(w.dir)
			if err != nil {
				f.Fatal(err)
			}
			identity, err := r.Identity()
			r.Close()
			if err != nil {
				f.Fatal(err)
			}
			id, _, _ := strings.Cut(list[0].Name(), ".")
			line, _, _ := bytes.Cut(text, []byte("\n"))
			line = bytes.ReplaceAll(line, []byte(r.Path()), []byte("@ROOT@"))
			line = bytes.ReplaceAll(line, []byte(identity), []byte("@IDENTITY@"))
			line = bytes.ReplaceAll(line, []byte(id), []byte("@ID@"))
			for state := range 4 {
				f.Add(line, byte(state), true, byte(i), byte(20+dies))
			}
			f.Add(text, byte(0), false, byte(i), byte(0))
		}
	}
	f.Add([]byte("{}\n"), byte(1), true, byte(0), byte(0))
	f.Add([]byte(""), byte(2), false, byte(0), byte(0))
	f.Add([]byte(`{"format":1,"id":"@ID@","root":"@ROOT@","identity":"@IDENTITY@","staging":".lola-stage-@ID@","moves":[{"kind":"put","path":"../outside/a","after":{"mode":420}}]}`), byte(0), true, byte(0), byte(0))
	shapesOf := []string{"everything", "rename into a deleted directory, and what it held written", "directory deleted and written", "a symlink replaced", "remove what is alone"}
	f.Fuzz(func(t *testing.T, data []byte, state byte, sealed bool, which, dies byte) {
		s, err := shapeNamed(shapesOf[int(which)%len(shapesOf)])
		if err != nil {
			t.Fatal(err)
		}
		fuzzWorld(t, s, func(w *world) {
			outside := filepath.Join(filepath.Dir(w.dir), "outside")
			put(t, outside, "a", "outside", 0o644)
			put(t, outside, "d/b", "outside", 0o644)
			if os.Symlink(outside, filepath.Join(w.dir, "link")) != nil {
				t.Skip("there are no links here")
			}
			if dies > 0 { // a staging directory is there, such as a real one
				_, _ = w.install(w.boot(int(dies) % 80))
				rename(t, w)
			}
			r, err := root.Open(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			identity, err := r.Identity()
			if err != nil {
				t.Fatal(err)
			}
			text := planted(data, sealed, r.Path(), identity)
			name := journalID + []string{".journal", ".commit", ".undo", ".aside"}[state%4]
			put(t, filepath.Join(w.state, "changes"), name, string(text), 0o600)
			before, elsewhere := mustPicture(t, w.dir), mustPicture(t, outside)

			st, err := root.Open(w.state)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			o := apply.Options{State: st}
			open := func(p string) (*root.Root, error) {
				if p != r.Path() {
					return nil, fs.ErrNotExist
				}
				return root.Open(p)
			}
			for range 2 {
				_, _ = apply.Pending(st)
				_, _ = apply.Entries(st)
				_, _ = apply.Recover(journalID, o, open)
				_, _ = apply.Undo(context.Background(), r, journalID, o)
			}
			if d := differs(mustPicture(t, outside), elsewhere); d != "" {
				t.Errorf("it reached outside:%s", d)
			}
			after := mustPicture(t, w.dir)
			for p, e := range before {
				if after[p] == e || strings.HasPrefix(p, plan.StagingPrefix) || strings.HasPrefix(e, "d") {
					continue
				}
				if sum, ok := sumOf(e); !ok || !bytes.Contains(text, []byte(sum)) {
					t.Errorf("%q was %s and is %q, and no word of it was said", p, e, after[p])
				}
			}
		})
	})
}

// rename gives a staging directory that is there the name that the planted change has for its own.
func rename(t *testing.T, w *world) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, plan.StagingPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range list {
		if err := os.Rename(at, filepath.Join(w.dir, plan.StagingPrefix+journalID)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(w.state, "changes")); err != nil {
		t.Fatal(err)
	}
}

func mustPicture(t *testing.T, dir string) tree {
	t.Helper()
	got, err := picture(dir)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// sumOf is the digest of a regular file as an [entry] describes it, or of nothing for a link: a journal has what it says.
func sumOf(e string) (string, bool) {
	mode, text, _ := strings.Cut(e, " ")
	var says string
	if _, err := fmt.Sscanf(text, "%q", &says); err != nil {
		return "", false
	}
	if strings.HasPrefix(mode, "L") {
		return says, true
	}
	if says == "" {
		return "", true // the digest of nothing may be left out
	}
	sum := sha256.Sum256([]byte(says))
	return hex.EncodeToString(sum[:]), true
}

// TestUndoPrunedInTheWay was found by FuzzApplyUndo: a file took the place of a directory that had been removed when it was
// empty, and the undo said nothing of it.
func TestUndoPrunedInTheWay(t *testing.T) {
	w := newWorld(t, shape{name: "pruned", here: has("a/a/"), prune: []string{"a", "a/a"}})
	if _, err := w.install(w.boot(-1)); err != nil {
		t.Fatal(err)
	}
	put(t, w.dir, "a", "mine", 0o644)
	want := mustPicture(t, w.dir)
	var changed *apply.ChangedError
	if err := w.undo(w.boot(-1)); !errors.As(err, &changed) || len(changed.Left) == 0 || changed.Left[0].Path != "a" {
		t.Errorf("Undo: %v, want a *ChangedError about \"a\"", err)
	}
	checkTree(t, w.dir, want)
}
