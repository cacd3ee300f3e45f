package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/root"
)

// arena is a project whose components somebody swaps while a plan is made real in it, and a tree outside of it that looks
// just like it: whatever follows a link finds there what it seeks.
type arena struct {
	t                             testing.TB
	base, project, outside, aside string
	host                          *host.Host
	step                          func(root.Op) error // what the hook does; nil: nothing
	mu                            sync.Mutex          // guards step
}

// arenaFiles is what is in the project before, and outside with other bytes.
var arenaFiles = []string{".guest/put/mine", ".guest/upd", ".guest/rm", ".guest/from/y", ".guest/d/x", ".guest/d/s/x", ".guest/r/f", "mine"}

// arenaPlan makes a move of every kind.
func arenaPlan() []abi.Intent {
	return []abi.Intent{
		abi.Delete{Path: ".guest/rm"},
		abi.Delete{Path: ".guest/d"},
		abi.Rename{From: ".guest/from", To: ".guest/to/there"},
		abi.Rename{From: ".guest/r/f", To: ".guest/r/g"},
		abi.Write{Path: ".guest/d/n", Mode: 0o644, Content: abi.Bytes("planned d/n")},
		abi.Write{Path: ".guest/fresh/a/b", Mode: 0o755, Content: abi.Bytes("planned b")},
		abi.Write{Path: ".guest/put/new", Mode: 0o600, Content: abi.Bytes("planned new")},
		abi.Write{Path: ".guest/upd", Mode: 0o755, Content: abi.Bytes("planned upd")},
	}
}

// victims are the components that are swapped. One that begins with "stage" is the staging directory, whatever its name, or
// lies in it.
var victims = []string{
	".guest", ".guest/put", ".guest/put/new", ".guest/upd", ".guest/rm", ".guest/d", ".guest/d/n", ".guest/from", ".guest/r", ".guest/r/f",
	".guest/to", ".guest/to/there", ".guest/fresh", ".guest/fresh/a", "mine", "stage", "stage/new", "stage/old",
}

func newArena(t testing.TB) *arena {
	t.Helper()
	base, err := os.MkdirTemp("/dev/shm", "race")
	if err != nil {
		base = t.TempDir()
	}
	a := &arena{
		t: t, base: base, project: filepath.Join(base, "project"), outside: filepath.Join(base, "outside"), aside: filepath.Join(base, "aside"),
	}
	for i, dir := range []string{a.project, a.outside} {
		for _, p := range arenaFiles {
			at := filepath.Join(dir, p)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte([]string{"old ", "victim "}[i]+p), 0o640)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range []string{".guest/to/there", ".guest/fresh/a", "stage/new", "stage/old"} { // what will be there, or may be
		if err := os.MkdirAll(filepath.Join(a.outside, p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{".guest/to/there/y", ".guest/fresh/a/b", ".guest/put/new", ".guest/d/n", "stage/ready", "stage/new/0", "stage/old/0"} {
		if err := os.WriteFile(filepath.Join(a.outside, p), []byte("victim "+p), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(a.aside, 0o700); err != nil {
		t.Fatal(err)
	}
	a.host, err = host.New(host.Options{
		Home: filepath.Join(base, "home"), Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: answering(t, arenaPlan()...)}},
		Hook: func(op root.Op) error {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.step != nil {
				return a.step(op)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *arena) close() {
	a.host.Close()
	os.RemoveAll(a.base)
}

// hook sets what happens before each change of a disk.
func (a *arena) hook(f func(root.Op) error) {
	a.mu.Lock()
	a.step = f
	a.mu.Unlock()
}

// savedArenaPlan is the plan in a file: taking it up again starts no child.
func savedArenaPlan(t testing.TB) string {
	t.Helper()
	a := newArena(t)
	defer a.close()
	module := t.TempDir()
	if err := os.MkdirAll(filepath.Join(module, "skills", "s"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "skills", "s", "SKILL.md"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := a.host.Install(context.Background(), host.Install{Module: module, Project: a.project, Targets: []string{"guest"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	name := filepath.Join(t.TempDir(), "plan.lola")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Save(context.Background(), f), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// act is one command. It is judged, then ready is called, then it is made.
func (a *arena) act(what, plan string, ready func()) error {
	var (
		p   *host.Pending
		err error
	)
	switch what {
	case "install":
		p, err = a.host.OpenPlan(context.Background(), host.OpenPlan{File: plan, Project: a.project})
	case "undo":
		p, err = a.host.Undo(context.Background(), host.Undo{Project: a.project})
	case "uninstall":
		list, lerr := a.host.List(a.project)
		if lerr != nil || len(list) != 1 {
			a.t.Fatalf("installed: %v, %v", list, lerr)
		}
		p, err = a.host.Uninstall(context.Background(), host.Uninstall{Module: list[0].Module, Project: a.project})
	}
	if err != nil {
		return err
	}
	defer p.Close()
	ready()
	return p.Apply(context.Background(), host.Consent{Foreign: true})
}

// swapper swaps one component for a link to what has its name outside, in one step, and swaps it back.
type swapper struct {
	a      *arena
	victim string
	out    bool // the component leaves the project meanwhile; else it lies beside, within it
	plain  bool // nothing takes its place: it is just moved away (P06)

	at, hidden, target string // where it is, where the other one is, what the link says
	planted            bool   // nothing was there: the link alone came
	watch              bool   // it is taken down what was in it when it was moved away, since nobody moves meanwhile
	found              facts
	swapped            bool
}

// swap is called before a step; it does what it can.
func (s *swapper) swap() bool {
	victim := s.victim
	if rest, ok := strings.CutPrefix(victim, "stage"); ok {
		found, _ := filepath.Glob(filepath.Join(s.a.project, ".lola-stage-*"))
		if len(found) != 1 {
			return false
		}
		victim = filepath.Base(found[0]) + rest
	}
	s.at, s.target = filepath.Join(s.a.project, victim), filepath.Join(s.a.outside, s.victim)
	s.hidden = filepath.Join(s.a.aside, "hidden")
	if !s.out {
		s.hidden = filepath.Join(s.a.project, ".guest-hidden")
	}
	if s.plain {
		s.swapped = unix.Renameat2(unix.AT_FDCWD, s.at, unix.AT_FDCWD, s.hidden, unix.RENAME_NOREPLACE) == nil
		if s.swapped && s.watch {
			s.found = factsOf(s.a.t, s.hidden, false)
		}
		return s.swapped
	}
	if os.Symlink(s.target, s.hidden) != nil {
		return false
	}
	err := unix.Renameat2(unix.AT_FDCWD, s.at, unix.AT_FDCWD, s.hidden, unix.RENAME_EXCHANGE)
	s.planted = errors.Is(err, fs.ErrNotExist)
	if s.planted {
		err = unix.Renameat2(unix.AT_FDCWD, s.hidden, unix.AT_FDCWD, s.at, unix.RENAME_NOREPLACE)
	}
	if s.swapped = err == nil; !s.swapped {
		os.Remove(s.hidden)
	}
	return s.swapped
}

// grown says what came into it while it was away.
func (s *swapper) grown() (came []string) {
	if s.swapped && s.plain {
		for p, what := range factsOf(s.a.t, s.hidden, false) {
			if s.found[p] == "" {
				came = append(came, p+" "+what)
			}
		}
	}
	return came
}

// heal brings the component back to its place, as its owner would, and reports whether the place was free.
func (s *swapper) heal() bool {
	if !s.swapped {
		return true
	}
	link := false
	if to, err := os.Readlink(s.at); err == nil && to == s.target {
		link = true
	}
	var err error
	switch {
	case s.planted:
		if link {
			err = os.Remove(s.at)
		}
	case link:
		if err = unix.Renameat2(unix.AT_FDCWD, s.at, unix.AT_FDCWD, s.hidden, unix.RENAME_EXCHANGE); err == nil {
			err = os.Remove(s.hidden)
		}
	default:
		if err = unix.Renameat2(unix.AT_FDCWD, s.hidden, unix.AT_FDCWD, s.at, unix.RENAME_NOREPLACE); errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(s.victim, "stage") {
			if err = os.MkdirAll(filepath.Dir(s.at), 0o755); err == nil { // what it lay in went when it was empty
				err = unix.Renameat2(unix.AT_FDCWD, s.hidden, unix.AT_FDCWD, s.at, unix.RENAME_NOREPLACE)
			}
		}
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(s.victim, "stage") {
			err = os.RemoveAll(s.hidden) // the command is over: it is nobody's any more
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
		s.a.t.Errorf("bringing %q back: %v", s.at, err)
	}
	s.swapped = err != nil
	return !s.swapped
}

// arenaStates are what the project may be: before the plan, after it, and after it was uninstalled.
type arenaStates struct{ before, after, uninstalled facts }

func statesOf(t testing.TB, plan string) (s arenaStates) {
	t.Helper()
	a := newArena(t)
	defer a.close()
	s.before = factsOf(t, a.project, false)
	if err := a.act("install", plan, func() {}); err != nil {
		t.Fatal(err)
	}
	s.after = factsOf(t, a.project, false)
	if err := a.act("uninstall", plan, func() {}); err != nil {
		t.Fatal(err)
	}
	s.uninstalled = factsOf(t, a.project, false)
	return s
}

// settle recovers what a failed command left and says what the project is then. What lies beneath ignored is not looked at.
func (a *arena) settle(err error, from, to facts, ignored ...string) (problem string) {
	if err == nil {
		if d := factsOf(a.t, a.project, false).differs(to, ignored...); d != "" {
			return "it went well and is not as planned:" + d
		}
		return ""
	}
	recovered, rerr := a.host.Recover(context.Background())
	if rerr != nil {
		return fmt.Sprintf("recovering from %v: %v", err, rerr)
	}
	for _, r := range recovered {
		if r.Problem != "" {
			return fmt.Sprintf("recovering from %v: %s", err, r.Problem)
		}
	}
	now := factsOf(a.t, a.project, false)
	if d := now.differs(from, ignored...); d != "" && now.differs(to, ignored...) != "" {
		return fmt.Sprintf("after %v (%d recovered) it is neither as before nor as after; than before:%s", err, len(recovered), d)
	}
	return ""
}

// sweep removes a staging directory that somebody hid until the command was over: it was not to be found, and is theirs to
// remove. If something of the project's is in it, the project lacks it, and that shows.
func (a *arena) sweep() {
	left, _ := filepath.Glob(filepath.Join(a.project, ".lola-stage-*"))
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			a.t.Fatal(err)
		}
	}
}

// plainFiles are victims that are files which may look removed when they are moved away, and so they were.
var plainFiles = []string{".guest/put/new", ".guest/upd", ".guest/rm", ".guest/d/n", ".guest/r/f"}

// raceCase is one swap at one step.
type raceCase struct {
	what       string // the command
	victim     string
	out, plain bool
	flash      bool // it is swapped back before the next step
	fails      bool // the command fails where it would commit, and takes everything back
	k          int  // the step
}

func (c raceCase) String() string {
	return fmt.Sprintf("%s (fails: %t), %q swapped (out: %t, moved: %t, flash: %t) before step %d", c.what, c.fails, c.victim, c.out, c.plain, c.flash, c.k)
}

// run runs a case; it reports whether there is such a step and whether something was swapped.
func (c raceCase) run(t testing.TB, plan string, s arenaStates) (there, swapped, worked bool) {
	a := newArena(t)
	defer a.close()
	from, to := s.before, s.after
	if c.what != "install" {
		if err := a.act("install", plan, func() {}); err != nil {
			t.Fatal(err)
		}
		from, to = s.after, s.before
		if c.what == "uninstall" {
			to = s.uninstalled
		}
	}
	outside := factsOf(t, a.outside, true)
	sw := &swapper{a: a, victim: c.victim, out: c.out, plain: c.plain, watch: true}
	step := 0
	err := a.act(c.what, plan, func() {
		a.hook(func(op root.Op) error {
			defer func() { step++ }()
			switch {
			case step == c.k:
				swapped = sw.swap()
			case step == c.k+1 && c.flash:
				sw.heal()
			}
			if c.fails && op.Kind == root.OpRename && path.Ext(op.To) == ".commit" {
				return errors.New("it fails here")
			}
			return nil
		})
	})
	a.hook(nil)
	if d := factsOf(t, a.outside, true).differs(outside); d != "" {
		t.Errorf("%v: outside changed:%s", c, d)
	}
	if came := sw.grown(); len(came) > 0 && !c.fails && !strings.HasPrefix(c.victim, "stage") { // what is taken back goes back to its directory, wherever that is
		t.Errorf("%v: %v, and in what was moved away there is now %v", c, err, came)
	}
	ignored := ""
	if c.fails && c.plain && slices.Contains(plainFiles, c.victim) {
		ignored = c.victim
	}
	if !sw.heal() { // what was moved away was made anew: its owner has both, and the new one is looked at below
		ignored = c.victim
		if err := os.RemoveAll(sw.hidden); err != nil {
			t.Fatal(err)
		}
	}
	for p, what := range factsOf(t, a.project, false) { // a link that was caught in between is removed by whoever made it
		if strings.HasPrefix(what, "L") {
			if err := os.Remove(filepath.Join(a.project, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.fails && err == nil {
		t.Errorf("%v: it went well", c)
	}
	problem := a.settle(err, from, to, ignored)
	if problem != "" && strings.HasPrefix(c.victim, "stage") {
		a.sweep()
		problem = a.settle(err, from, to, ignored)
	}
	if problem != "" {
		t.Errorf("%v: %s", c, problem)
	}
	for _, in := range arenaPlan() {
		if w, ok := in.(abi.Write); ok && c.what == "install" && err == nil {
			if text, rerr := os.ReadFile(filepath.Join(a.project, w.Path)); rerr != nil || !bytes.Equal(text, w.Content.(abi.Bytes)) {
				t.Errorf("%v: it went well, and %q holds %q, %v", c, w.Path, text, rerr)
			}
		}
	}
	if left, err := os.ReadDir(a.aside); err != nil || len(left) > 0 {
		t.Errorf("%v: outside is left %v, %v", c, left, err)
	}
	return step > c.k, swapped, err == nil
}

// TestP03SwapAtEveryStep: before each change of a disk that a command makes, a component is swapped for a link that leads to
// a like tree outside, or is moved away, out of the project or within it, for good or for one step. Nothing outside ever
// changes. A command that went well made exactly what was planned, in the directories that were checked; one that failed
// leaves the project as it was, at once or when what was swapped is back and recovery runs (P04, P06, P16).
func TestP03SwapAtEveryStep(t *testing.T) {
	plan := savedArenaPlan(t)
	s := statesOf(t, plan)
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	runs, swaps, worked := 0, 0, 0
	try := func(c raceCase) bool {
		there, swapped, well := c.run(t, plan, s)
		runs++
		if swapped {
			swaps++
		}
		if swapped && well {
			worked++
		}
		return there
	}
	var kinds []raceCase
	for _, what := range []string{"install", "undo", "uninstall"} {
		for _, v := range victims {
			for i := range 16 {
				c := raceCase{what: what, victim: v, out: i&1 != 0, plain: i&2 != 0, flash: i&4 != 0, fails: i&8 != 0}
				if c.flash && v == ".guest/d/n" {
					continue // another directory may be in the place of its own by then, which would be a change to that
				}
				kinds = append(kinds, c)
			}
		}
	}
	if exhaustive() {
		for _, c := range kinds {
			for try(c) {
				c.k++
			}
		}
	} else {
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end) && !t.Failed(); {
			c := kinds[random.IntN(len(kinds))]
			c.k = random.IntN(80)
			try(c)
		}
	}
	t.Logf("%d runs, %d with a swap, of which %d went well", runs, swaps, worked)
	if swaps == 0 || worked == 0 || worked == swaps {
		t.Error("nothing was tried")
	}
}

// TestP03Race: commands run while somebody swaps components without a pause, for links that lead outside or away and back.
// What holds at every step holds here, at every instant: see [TestP03SwapAtEveryStep]. Everything is brought back before
// it is looked at.
func TestP03Race(t *testing.T) {
	plan := savedArenaPlan(t)
	s := statesOf(t, plan)
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	lasts, least := 2*time.Second, 500
	if exhaustive() {
		lasts, least = 3*time.Minute, 100_000
	}
	var tries, swaps, worked, failed, again int
	for end := time.Now().Add(lasts); time.Now().Before(end) && !t.Failed(); {
		a := newArena(t)
		outside := factsOf(t, a.outside, true)
		now, ignored := s.before, []string{""}
		for _, what := range []string{"install", []string{"undo", "uninstall"}[random.IntN(2)]} {
			to := map[string]facts{"install": s.after, "undo": s.before, "uninstall": s.uninstalled}[what]
			fails := random.IntN(4) == 0
			var w *saboteur
			err := a.act(what, plan, func() {
				a.hook(func(op root.Op) error {
					if fails && op.Kind == root.OpRename && path.Ext(op.To) == ".commit" {
						return errors.New("it fails here")
					}
					return nil
				})
				w = a.sabotage(random)
			})
			a.hook(nil)
			if w == nil {
				t.Fatal(err)
			}
			ignored = append(ignored, w.end()...)
			tries, swaps = tries+w.tries, swaps+w.swaps
			if d := factsOf(t, a.outside, true).differs(outside); d != "" {
				t.Errorf("%s: outside changed:%s", what, d)
			}
			problem := a.settle(err, now, to, ignored...)
			if problem != "" && w.hid {
				a.sweep()
				problem = a.settle(err, now, to, ignored...)
			}
			if problem != "" {
				t.Errorf("%s (fails: %t): %s\nwhat was done: %v", what, fails, problem, w.done)
			}
			if left, lerr := os.ReadDir(a.aside); lerr != nil || len(left) > 0 {
				t.Errorf("%s: outside is left %v, %v", what, left, lerr)
			}
			if err != nil {
				failed++
				if rolled := (*host.RollbackError)(nil); errors.As(err, &rolled) {
					again++
				}
				break
			}
			worked++
			now = to
		}
		a.close()
	}
	t.Logf("%d tries, %d swaps; %d commands went well, %d failed, %d of them to be recovered", tries, swaps, worked, failed, again)
	if swaps < least || worked == 0 || failed == 0 {
		t.Error("too little was tried")
	}
}

// saboteur swaps without a pause until it is ended.
type saboteur struct {
	a            *arena
	tries, swaps int
	done         []string // the last swaps
	plain        []string // files that were moved away at some time
	hid          bool     // the staging directory was swapped at some time
	last         *swapper
	stop, over   chan struct{}
}

func (a *arena) sabotage(random *rand.Rand) *saboteur {
	w := &saboteur{a: a, stop: make(chan struct{}), over: make(chan struct{})}
	dice := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
	slow := time.Duration(dice.IntN(4)) * 100 * time.Microsecond
	only := ""
	if dice.IntN(2) == 0 {
		only = victims[dice.IntN(len(victims)-3)]
	}
	go func() {
		defer close(w.over)
		for {
			select {
			case <-w.stop:
				return
			default:
			}
			w.tries++
			if w.last == nil || w.last.heal() {
				v := only
				if v == "" || dice.IntN(8) == 0 {
					v = victims[dice.IntN(len(victims))]
				}
				if v == ".guest/d/n" { // see TestP03SwapAtEveryStep
					continue
				}
				w.last = &swapper{a: a, victim: v, out: dice.IntN(2) == 0, plain: dice.IntN(4) == 0}
				if w.last.swap() {
					w.swaps++
					w.done = append(w.done[max(0, len(w.done)-20):], fmt.Sprintf("%s (out: %t, moved: %t)", v, w.last.out, w.last.plain))
					w.hid = w.hid || strings.HasPrefix(v, "stage")
					if w.last.plain && slices.Contains(plainFiles, v) {
						w.plain = append(w.plain, v)
					}
				}
			}
			if slow > 0 && w.tries%8 == 0 {
				time.Sleep(slow)
			}
		}
	}()
	return w
}

// end ends it and brings all back; it returns what its owner moved away and back while it was made anew.
func (w *saboteur) end() (ignored []string) {
	close(w.stop)
	<-w.over
	if w.last != nil && !w.last.heal() {
		_ = os.Remove(w.last.at) // a directory that was made in its place, if it is empty
	}
	if w.last != nil && !w.last.heal() {
		ignored = append(ignored, w.last.victim)
		if err := os.RemoveAll(w.last.hidden); err != nil {
			w.a.t.Fatal(err)
		}
	}
	for p, what := range factsOf(w.a.t, w.a.project, false) {
		if strings.HasPrefix(what, "L") {
			if err := os.Remove(filepath.Join(w.a.project, p)); err != nil {
				w.a.t.Fatal(err)
			}
		}
	}
	return append(ignored, w.plain...)
}
