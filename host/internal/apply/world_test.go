package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// world is a disk with a project and a state folder on it, which a shape's plan is applied to by one process after another
// ([life]). What the processes leave is held to the tree before and the tree after.
type world struct {
	shape         shape
	dir, state    string
	before, after tree
	// noExchange lets the platform be one where two entries cannot change places in one call.
	noExchange bool
}

// newWorld makes a world for a shape.
func newWorld(t testing.TB, s shape) *world {
	t.Helper()
	base := memoryDir(t)
	w, err := makeWorld(base, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// makeWorld makes a world in a directory. Making many, a test removes each itself.
func makeWorld(base string, s shape) (*world, error) { return makeLike(base, s, nil) }

// makeLike is [makeWorld] where another world of the shape has told what there is before and after.
func makeLike(base string, s shape, like *world) (*world, error) {
	w := &world{shape: s, dir: filepath.Join(base, "project"), state: filepath.Join(base, "state")}
	for _, dir := range []string{w.dir, w.state} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := s.make(w.dir); err != nil {
		return nil, err
	}
	if like != nil {
		w.before, w.after = like.before, like.after
		return w, nil
	}
	var err error
	if w.before, err = picture(w.dir); err != nil {
		return nil, err
	}
	w.after, err = s.after(w.dir, w.before["."])
	return w, err
}

// worlds calls f with a function that makes a fresh world at each call. Each is to be removed.
func worlds(t testing.TB, s shape, f func(fresh func() *world)) {
	t.Helper()
	base, n := memoryDir(t), 0
	var first *world
	f(func() *world {
		n++
		at := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		w, err := makeLike(at, s, first)
		if err != nil {
			t.Fatal(err)
		}
		first = w
		return w
	})
}

func (w *world) remove() { os.RemoveAll(filepath.Dir(w.dir)) }

// errDead is what a dead process is told: nothing happens any more.
var errDead = errors.New("this process is dead")

// life is one process. Each call of it that changes a disk, in the project or in the state folder, is a step.
type life struct {
	dies  int // before which step, from 0; negative: never
	kill  func()
	tap   func(step int, op root.Op) error // what else happens at a step; its error is the call's
	steps int                              // how many it made
	dead  bool
	last  root.Op // the one it died before
	scene func()  // called when it dies

	noExchange bool
	open       []*root.Root
}

func (w *world) boot(dies int) *life { return &life{dies: dies, noExchange: w.noExchange} }

func (l *life) hook(op root.Op) error {
	if l.dead {
		return errDead
	}
	if l.noExchange && op.Kind == root.OpExchange {
		return errors.ErrUnsupported
	}
	if l.steps == l.dies {
		l.dead, l.last = true, op
		if l.kill != nil {
			l.kill()
		}
		if l.scene != nil {
			l.scene()
		}
		return errDead
	}
	l.steps++
	if l.tap != nil {
		return l.tap(l.steps-1, op)
	}
	return nil
}

// root opens a root until the life is over.
func (l *life) root(path string) (*root.Root, error) {
	r, err := root.OpenHooked(path, l.hook)
	if err == nil {
		l.open = append(l.open, r)
	}
	return r, err
}

func (l *life) over() {
	for _, r := range l.open {
		r.Close()
	}
	l.open = nil
}

// finished is the file of the state folder in which Finish writes down what it was told, as the host does with what is
// installed: each step of that is a step too.
const finished = "finished"

func (l *life) options(state *root.Root, meta string) apply.Options {
	return apply.Options{State: state, Meta: json.RawMessage(meta), Finish: func(_ *root.Root, meta json.RawMessage, done apply.Done) error {
		line, err := json.Marshal(struct {
			Meta json.RawMessage
			Done apply.Done
		}{meta, done})
		if err != nil {
			return err
		}
		f, err := state.Top().Append(finished)
		if err != nil {
			return err
		}
		_, err = f.Write([]byte("\n" + string(line) + "\n"))
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if err := state.Top().Sync(); err != nil {
			return fmt.Errorf("making %q durable: %w", state.Path(), err)
		}
		return nil
	}}
}

// install applies the shape's plan.
func (w *world) install(l *life) (apply.Done, error) {
	defer l.over()
	r, err := l.root(w.dir)
	if err != nil {
		return apply.Done{}, err
	}
	state, err := l.root(w.state)
	if err != nil {
		return apply.Done{}, err
	}
	c, err := w.shape.check(r)
	if err != nil {
		return apply.Done{}, err
	}
	return w.run(l, state, c)
}

func (w *world) run(l *life, state *root.Root, c plan.Checked) (apply.Done, error) {
	o := l.options(state, `"install"`)
	o.Prune = w.shape.prune
	return apply.Run(context.Background(), c, o)
}

// undo takes the last change back.
func (w *world) undo(l *life) error {
	_, err := w.undone(l)
	return err
}

func (w *world) undone(l *life) (apply.Done, error) {
	defer l.over()
	r, err := l.root(w.dir)
	if err != nil {
		return apply.Done{}, err
	}
	state, err := l.root(w.state)
	if err != nil {
		return apply.Done{}, err
	}
	entries, err := apply.Entries(state)
	if err != nil {
		return apply.Done{}, err
	}
	if len(entries) == 0 {
		return apply.Done{}, errors.New("there is nothing to undo")
	}
	return apply.Undo(context.Background(), r, entries[len(entries)-1].ID, l.options(state, `"undo"`))
}

// recover finishes or takes back what was interrupted.
func (w *world) recover(l *life) error {
	defer l.over()
	state, err := l.root(w.state)
	if err != nil {
		return err
	}
	pending, err := apply.Pending(state)
	if err != nil {
		return err
	}
	for _, u := range pending {
		if _, err := apply.Recover(u.ID, l.options(state, ""), func(path string) (*root.Root, error) {
			return root.OpenHooked(path, l.hook)
		}); err != nil {
			return err
		}
	}
	return nil
}

// told are the lines that Finish wrote, those of installs and those of undos. One that broke off was never written.
func (w *world) told() (installs, undos []string, err error) {
	text, err := os.ReadFile(filepath.Join(w.state, finished))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	for line := range bytes.Lines(text) {
		var said struct {
			Meta string
			Done apply.Done
		}
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		if said.Meta == "undo" {
			undos = append(undos, string(line))
		} else {
			installs = append(installs, string(line))
		}
	}
	return installs, undos, err
}

// books are the files of the folder of changes, without the undo data and without journals that break off.
func (w *world) books() ([]string, error) {
	list, err := os.ReadDir(filepath.Join(w.state, "changes"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var left []string
	for _, e := range list {
		name := e.Name()
		if strings.HasSuffix(name, ".undo") {
			continue
		}
		if strings.HasSuffix(name, ".journal") {
			text, err := os.ReadFile(filepath.Join(w.state, "changes", name))
			if err != nil {
				return nil, err
			}
			if bytes.Count(text, []byte("\n")) < 2 {
				continue
			}
		}
		left = append(left, name)
	}
	return left, err
}

// settled says how what is there differs from one of the trees, "" if it does not: nothing is pending, the tree is the one
// and not a byte else, and Finish was told of it as often as it should be. which is 0 or 1.
//
// phase is "install" or "undo", whose Finish counts; lives is how many processes there were, each of which may have told.
func (w *world) settled(phase string, lives int, first, second tree) (which int, problem string) {
	got, err := picture(w.dir)
	if err != nil {
		return 0, err.Error()
	}
	switch a, b := differs(got, first), differs(got, second); {
	case a == "" && b == "":
		which = 2 // both
	case b == "":
		which = 1
	case a == "":
	default:
		return 0, fmt.Sprintf("the tree is neither as before:%s\nnor as after:%s", a, b)
	}
	left, err := w.books()
	if err != nil || len(left) > 0 {
		return which, fmt.Sprintf("left in the state folder: %q, %v", left, err)
	}
	installs, undos, err := w.told()
	if err != nil {
		return which, err.Error()
	}
	lines := installs
	if phase == "undo" {
		lines = undos
	}
	for _, l := range lines {
		if l != lines[0] {
			return which, fmt.Sprintf("Finish was told %s and then %s", lines[0], l)
		}
	}
	switch {
	case which == 0 && len(lines) > 0, which == 1 && len(lines) == 0, len(lines) > lives:
		return which, fmt.Sprintf("the tree is as %s and Finish was called %d times by %d processes", [...]string{"before", "after", "before and after"}[which], len(lines), lives)
	}
	return which, ""
}

// expect holds the tree to one, and how often Finish was called in all.
func (w *world) expect(t testing.TB, when string, want tree, told int) {
	t.Helper()
	got, err := picture(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := differs(got, want); d != "" {
		t.Errorf("%s the tree is not as it should be:%s", when, d)
	}
	left, err := w.books()
	if err != nil || len(left) > 0 {
		t.Errorf("%s there is left in the state folder: %q, %v", when, left, err)
	}
	installs, undos, err := w.told()
	if n := len(installs) + len(undos); err != nil || n != told {
		t.Errorf("%s Finish was called %d times, want %d: %v", when, n, told, err)
	}
}

// torn are the journals that break off.
func (w *world) torn() []string {
	list, _ := filepath.Glob(filepath.Join(w.state, "changes", "*.journal"))
	return list
}
