package apply_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// faults are what a call that changes a disk can fail with although nothing is wrong with the call: a bad disk, a full one,
// a right that was taken away, a file system that became read-only.
var faults = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.EROFS}

// TestFaults lets each call fail once, the rest being well: the tree is as before and the error says of what, or the change
// is made. Then it can be tried again. A second fault, while the first is being dealt with, may leave something behind; it
// is said, and recovery clears it up.
func TestFaults(t *testing.T) {
	for _, p := range []phase{installing, undoing} {
		var once, twice, left atomic.Int64
		t.Run(p.name, func(t *testing.T) {
			for _, s := range usable(t) {
				if p.name == undoing.name && s.nothing() {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					steps := cleanSteps(t, p, s)
					random, in := chance("fault "+p.name+s.name), 20
					if steps > long {
						in = 80
					}
					worlds(t, s, func(fresh func() *world) {
						for k := range steps {
							for _, e := range faults {
								if !sampled(random, in) {
									continue
								}
								f := &fault{t: t, phase: p, shape: s, errno: e, at: []int{k}}
								f.try(fresh())
								once.Add(1)
							}
							for range 4 {
								if !sampled(random, in) {
									continue
								}
								f := &fault{t: t, phase: p, shape: s, errno: faults[random.IntN(len(faults))], at: []int{k, k + 1 + second(random)}}
								f.try(fresh())
								twice.Add(1)
								if f.left {
									left.Add(1)
								}
							}
							if t.Failed() {
								return
							}
						}
					})
				})
			}
		})
		t.Logf("%s: %d single faults, %d double ones, of which %d left something to recover", p.name, once.Load(), twice.Load(), left.Load())
		if once.Load() < 300/int64(*oneIn) || twice.Load() < 300/int64(*oneIn) {
			t.Error("that is too few to say anything")
		}
	}
}

// second is how long after a fault the next one comes: mostly soon.
func second(random *rand.Rand) int {
	if random.IntN(2) == 0 {
		return random.IntN(4)
	}
	return random.IntN(20)
}

// fault is a run in which calls fail.
type fault struct {
	t     *testing.T
	phase phase
	shape shape
	errno syscall.Errno
	at    []int // which calls
	left  bool  // it left something to recover
	ops   []root.Op
}

func (f *fault) errorf(format string, args ...any) {
	f.t.Helper()
	f.t.Errorf("%v at %v: %s", f.errno, f.ops, fmt.Sprintf(format, args...))
}

func (f *fault) try(w *world) {
	defer w.remove()
	f.phase.prepare(f.t, w)
	l := w.boot(-1)
	l.tap = func(step int, op root.Op) error {
		if slices.Contains(f.at, step) {
			op.Data = nil
			f.ops = append(f.ops, op)
			return f.errno
		}
		return nil
	}
	done, err := f.phase.act(w, l)
	got, perr := picture(w.dir)
	if perr != nil {
		f.t.Fatal(perr)
	}
	asFrom := differs(got, f.phase.from(w)) == ""
	pending := f.pending(w)
	var unfinished *apply.UnfinishedError
	var rollback *apply.RollbackError
	switch {
	case err == nil:
		f.succeeded(w, got, done)
		if pending {
			f.errorf("it succeeded, and there is something to recover")
		}
	case errors.As(err, &unfinished):
		f.named(w, err)
		if !pending {
			f.errorf("it is unfinished, and there is nothing to recover: %v", err)
		}
	case errors.As(err, &rollback):
		f.named(w, err)
		if len(f.at) == 1 {
			f.errorf("one fault, and it could not be taken back: %v", err)
		}
		if !pending {
			f.errorf("it was not taken back everywhere, and there is nothing to recover: %v", err)
		}
	default:
		f.named(w, err)
		if !asFrom && !(pending && strings.Contains(err.Error(), plan.StagingPrefix)) {
			f.errorf("it failed (%v), and the tree is not as before:%s", err, differs(got, f.phase.from(w)))
		}
	}
	f.left = pending
	if err := w.recover(w.boot(-1)); err != nil {
		f.errorf("it said %v; recovery: %v", err, err)
	}
	if err == nil && (done.Litter != "" || f.kept()) { // what could not be tidied up stays
		return
	}
	which, problem := w.settled(f.phase.name, 3, f.phase.from(w), f.phase.to(w))
	if f.kept() && strings.HasPrefix(problem, "Finish was told") {
		problem = "" // of a directory that could be removed the second time
	}
	if problem != "" {
		f.errorf("it said %v; recovered: %s", err, problem)
		return
	}
	if unfinished != nil && which == 0 {
		f.errorf("it said that it was made, %v, and recovery took it back", err)
	}
	if which == 0 {
		if _, err := f.phase.act(w, w.boot(-1)); err != nil {
			f.errorf("the second time: %v", err)
		}
		if which, problem := w.settled(f.phase.name, 1, f.phase.from(w), f.phase.to(w)); which == 0 || problem != "" {
			f.errorf("the second time it becomes %d: %s", which, problem)
		}
	}
}

// pending reports whether there is something to recover.
func (f *fault) pending(w *world) bool {
	f.t.Helper()
	left, err := w.books()
	if err != nil {
		f.t.Fatal(err)
	}
	return len(left) > 0
}

// kept reports whether a directory could not be removed, or that not made durable, which nobody need be told.
func (f *fault) kept() bool {
	return slices.ContainsFunc(f.ops, func(op root.Op) bool {
		return op.Kind == root.OpRmdir && !strings.HasPrefix(op.Path, plan.StagingPrefix)
	})
}

// succeeded holds a tree to the one that was to be, but for what the result says is litter, and directories that were to go.
func (f *fault) succeeded(w *world, got tree, done apply.Done) {
	f.t.Helper()
	litter := false
	for p := range got {
		if strings.HasPrefix(p, plan.StagingPrefix) {
			litter = true
			delete(got, p)
		}
	}
	if litter && !strings.Contains(done.Litter, plan.StagingPrefix) {
		f.errorf("a staging directory is left and not said: %q", done.Litter)
	}
	want := f.phase.to(w)
	for p, e := range got {
		if _, ok := want[p]; !ok && f.kept() && f.phase.from(w)[p] == e {
			if slices.Contains(done.Pruned, p) {
				f.errorf("%q is there and said to be pruned", p)
			}
			delete(got, p)
		}
	}
	if d := differs(got, want); d != "" {
		f.errorf("it succeeded, and the tree is not as it should be:%s", d)
	}
}

// named holds an error to naming a path, and what went wrong with it.
func (f *fault) named(w *world, err error) {
	f.t.Helper()
	if !errors.Is(err, f.errno) {
		f.errorf("the error does not say what went wrong: %v", err)
	}
	op := f.ops[0]
	if len(f.at) > 1 {
		return // either may be named
	}
	text := err.Error()
	for _, p := range []string{op.Path, op.To} {
		if p != "" && (strings.Contains(text, p) || strings.Contains(text, fmt.Sprintf("%q", p))) {
			return
		}
	}
	if (op.Path == "" || op.Kind == root.OpSyncDir) && (strings.Contains(text, filepath.Base(w.dir)) || strings.Contains(text, filepath.Base(w.state))) {
		return
	}
	f.errorf("the error names no path: %v", err)
}
