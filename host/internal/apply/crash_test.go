package apply_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/root"
)

// exhaustive makes the tests of crashes, power cuts and faults try everything: hours of a small machine are minutes here.
// Every day they try each step of each shape that is not long, and samples of what comes after it.
var exhaustive = flag.Bool("exhaustive", os.Getenv("LOLA_APPLY_EXHAUSTIVE") != "", "try every crash, power cut and fault, not samples")

// oneIn makes the samples of every day smaller, for platforms where each call is slow.
var oneIn = flag.Int("one-in", 1, "try one in so many of what is tried every day")

// sampled reports whether a case is tried of which one in so many is tried every day.
func sampled(random *rand.Rand, in int) bool { return *exhaustive || random.IntN(in**oneIn) == 0 }

// chance is the test's own, the same every day.
func chance(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// counts says at the end how much was tried.
type counts struct{ deaths, recoveries, again atomic.Int64 }

// phase is what a process is killed in: it begins with the world as prepare leaves it.
type phase struct {
	name    string // what is told to Finish
	prepare func(t *testing.T, w *world)
	act     func(w *world, l *life) (apply.Done, error)
	// from and to are the trees before and after.
	from, to func(w *world) tree
}

var (
	installing = phase{
		name:    "install",
		prepare: func(*testing.T, *world) {},
		act:     func(w *world, l *life) (apply.Done, error) { return w.install(l) },
		from:    func(w *world) tree { return w.before },
		to:      func(w *world) tree { return w.after },
	}
	undoing = phase{
		name: "undo",
		prepare: func(t *testing.T, w *world) {
			t.Helper()
			if _, err := w.install(w.boot(-1)); err != nil {
				t.Fatal(err)
			}
		},
		act:  func(w *world, l *life) (apply.Done, error) { return w.undone(l) },
		from: func(w *world) tree { return w.after },
		to:   func(w *world) tree { return w.before },
	}
)

// TestCrashAtEveryStep is a crash within this process: one that dies before any of its steps, which the hooks of both
// roots tell, so that none can be missed, leaves a tree that recovery makes what it was before or what it was to be, to the
// byte and the mode; and a recovery that dies before any of its own steps does not change that. Who is dead changes nothing:
// not even a rollback is made any more.
func TestCrashAtEveryStep(t *testing.T) {
	for name, p := range map[string]phase{
		"install": installing, "undo": undoing, "install without exchange": withoutExchange(installing), "undo without exchange": withoutExchange(undoing),
	} {
		t.Run(name, func(t *testing.T) {
			var n counts
			t.Cleanup(func() {
				t.Logf("%s: %d deaths, %d recoveries that died too, %d third ones", name, n.deaths.Load(), n.recoveries.Load(), n.again.Load())
			})
			for _, s := range usable(t) {
				if p.name == undoing.name && s.nothing() || strings.Contains(name, "without") && !s.swaps(t) {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					worlds(t, s, func(fresh func() *world) { crashes(t, p, s, fresh, name == installing.name, &n) })
				})
			}
		})
	}
}

// withoutExchange is a phase on a platform where nothing can be exchanged in one call, as on Windows.
func withoutExchange(p phase) phase {
	prepare := p.prepare
	p.prepare = func(t *testing.T, w *world) {
		t.Helper()
		w.noExchange = true
		prepare(t, w)
	}
	return p
}

// swaps reports whether something is put in the place of something else.
func (s *shape) swaps(t *testing.T) bool {
	t.Helper()
	w, found := newWorld(t, *s), false
	l := w.boot(-1)
	l.tap = func(_ int, op root.Op) error {
		found = found || op.Kind == root.OpExchange
		return nil
	}
	if _, err := w.install(l); err != nil {
		t.Fatal(err)
	}
	return found
}

// nothing reports whether the shape moves nothing, so that there is nothing to undo.
func (s *shape) nothing() bool {
	return s.name == "nothing changes" || s.name == "directory deleted and written with what it held"
}

// long is how many steps make a shape one of which only some are tried every day: most of them are alike.
const long = 60

// crashes tries every step of a shape, or only some every day.
func crashes(t *testing.T, p phase, s shape, fresh func() *world, every bool, n *counts) {
	w := fresh()
	p.prepare(t, w)
	clean := w.boot(-1)
	if _, err := p.act(w, clean); err != nil {
		t.Fatal(err)
	}
	w.remove()
	random := chance(p.name + s.name)
	for k := 0; k <= clean.steps; k++ {
		in := 1
		if !every || clean.steps > long {
			in = 4
		}
		if !sampled(random, in) {
			continue
		}
		c := &crash{t: t, phase: p, shape: s, fresh: fresh, n: n, random: random, step: k, of: clean.steps}
		c.try()
		if t.Failed() && !*exhaustive {
			return
		}
	}
}

// crash is one death, and all that can come of it.
type crash struct {
	t        *testing.T
	phase    phase
	shape    shape
	fresh    func() *world
	n        *counts
	random   *rand.Rand
	step, of int // before which step, and how many there are
}

func (c *crash) errorf(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("dead before step %d of %d: %s", c.step, c.of, fmt.Sprintf(format, args...))
}

// die makes a world in which the process died.
func (c *crash) die() *world {
	w := c.fresh()
	c.phase.prepare(c.t, w)
	l := w.boot(c.step)
	var scene tree
	look := sampled(c.random, 4)
	l.scene = func() {
		if !look {
			return
		}
		var err error
		if scene, err = picture(w.dir); err != nil {
			c.t.Error(err)
		}
	}
	_, err := c.phase.act(w, l)
	if l.dead != (c.step < c.of) || l.dead && err == nil && !isTidying(l) {
		c.errorf("%v: dead %v, and it says %v", l.last, l.dead, err)
	}
	if l.dead && look {
		got, err := picture(w.dir)
		if err != nil {
			c.t.Fatal(err)
		}
		if d := differs(got, scene); d != "" {
			c.errorf("%v: a dead process changed the tree:%s", l.last, d)
		}
	}
	return w
}

// settled holds a world to before and after and returns which it is.
func (c *crash) settled(w *world, lives int, when string) int {
	c.t.Helper()
	which, problem := w.settled(c.phase.name, lives, c.phase.from(w), c.phase.to(w))
	if problem != "" {
		c.errorf("%s: %s", when, problem)
	}
	return which
}

func (c *crash) try() {
	w := c.die()
	defer w.remove()
	c.n.deaths.Add(1)
	l := w.boot(-1)
	if err := w.recover(l); err != nil {
		c.errorf("recovery: %v", err)
	}
	which := c.settled(w, 2, "recovered")
	for _, j := range some(l.steps, 3, c.random) {
		if again := c.recovers(j, l.steps); again != which {
			c.errorf("recovery makes it %d, and after one that died before step %d of %d it becomes %d", which, j, l.steps, again)
		}
	}
	if sampled(c.random, 5) {
		c.goesOn(w, which)
	}
}

// recovers lets the recovery die before a step, and the one after it perhaps too.
func (c *crash) recovers(j, of int) int {
	w := c.die()
	defer w.remove()
	dies := w.boot(j)
	if err := w.recover(dies); !dies.dead || err == nil && !isTidying(dies) {
		c.errorf("recovery before its step %d of %d, %v: dead %v, and it says %v", j, of, dies.last, dies.dead, err)
	}
	c.n.recoveries.Add(1)
	when := fmt.Sprintf("recovery dead before step %d of %d, %v", j, of, dies.last)
	if c.random.IntN(2) == 0 {
		dies := w.boot(c.random.IntN(of))
		_ = w.recover(dies)
		if dies.dead {
			c.n.again.Add(1)
			when += fmt.Sprintf(", the next one before step %d, %v", dies.dies, dies.last)
		}
	}
	if err := w.recover(w.boot(-1)); err != nil {
		c.errorf("%s: the last one: %v", when, err)
	}
	which := c.settled(w, 4, when)
	l := w.boot(-1)
	if err := w.recover(l); err != nil || l.steps > 0 {
		c.errorf("%s: there was still something to recover, %d steps: %v", when, l.steps, err)
	}
	return which
}

// goesOn does what was taken back again, and undoes what was installed.
func (c *crash) goesOn(w *world, which int) {
	if which == 0 {
		if _, err := c.phase.act(w, w.boot(-1)); err != nil {
			c.errorf("done again: %v", err)
		}
		if which := c.settled(w, 1, "done again"); which == 0 {
			c.errorf("done again it is as before")
		}
		if left := w.torn(); len(left) > 0 {
			c.errorf("journals that break off stay: %q", left)
		}
	}
	if c.phase.name != installing.name || c.shape.nothing() {
		return
	}
	if err := w.undo(w.boot(-1)); err != nil {
		c.errorf("undone: %v", err)
	}
	got, err := picture(w.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	if d := differs(got, w.before); d != "" {
		c.errorf("undone the tree is not as before:%s", d)
	}
}

// isTidying reports whether the process may say that all is well although it died: what it did not do is only tidying up.
func isTidying(l *life) bool {
	return l.last.Kind == root.OpRemove || l.last.Kind == root.OpRmdir || l.last.Kind == root.OpChmod
}

// some are the numbers below n, or one of them, and that in one case of so many.
func some(n, in int, random *rand.Rand) []int {
	if !*exhaustive {
		if n == 0 || random.IntN(in) != 0 {
			return nil
		}
		return []int{random.IntN(n)}
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
