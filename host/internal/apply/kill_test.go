package apply_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// victimVariable tells a process of this test binary that it is a victim, and what it is to do: an [errand].
const victimVariable = "LOLA_APPLY_VICTIM"

// errand is what a victim does, and before which step it kills itself.
type errand struct {
	Shape, Base, Phase string
	Dies               int
}

// TestMain is the tests, or a victim.
func TestMain(m *testing.M) {
	text := os.Getenv(victimVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := victim(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// victim runs an errand. It is over before the end of it if the step is reached: by SIGKILL, or TerminateProcess on Windows,
// so that nothing of it is left but what it has done.
func victim(text string) error {
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	s, err := shapeNamed(e.Shape)
	if err != nil {
		return err
	}
	w := &world{shape: s, dir: filepath.Join(e.Base, "project"), state: filepath.Join(e.Base, "state")}
	l := w.boot(e.Dies)
	l.kill = func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // it is on its way
	}
	switch e.Phase {
	case installing.name:
		_, err = w.install(l)
	case undoing.name:
		err = w.undo(l)
	case "recover":
		err = w.recover(l)
	default:
		err = fmt.Errorf("%q is no phase", e.Phase)
	}
	return err
}

// send runs a victim and reports whether it was killed.
func send(w *world, phase string, dies int) (killed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(errand{Shape: w.shape.name, Base: filepath.Dir(w.dir), Phase: phase, Dies: dies})
	if err != nil {
		return false, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victimVariable+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false, nil
	}
	if wasKilled(cmd.ProcessState) && len(out) == 0 {
		return true, nil
	}
	return false, fmt.Errorf("%w: %s", err, out)
}

// TestKill is [TestCrashAtEveryStep] with processes that are killed: one that applies or undoes, and one that recovers from
// that, which is killed too; then somebody recovers.
func TestKill(t *testing.T) {
	all := usable(t)
	var kills, twice atomic.Int64
	if *exhaustive {
		for _, p := range []phase{installing, undoing} {
			for _, s := range all {
				if p.name == undoing.name && s.nothing() {
					continue
				}
				t.Run(p.name+" "+s.name, func(t *testing.T) {
					t.Parallel()
					worlds(t, s, func(fresh func() *world) {
						v := &killing{t: t, phase: p, fresh: fresh, kills: &kills, twice: &twice}
						for k := 0; v.kill(k, 0); k++ {
							for j := 1; v.kill(k, j) && v.recoveryDied; j++ {
							}
						}
					})
				})
			}
		}
		t.Cleanup(func() { t.Logf("%d were killed, %d of them in recovery", kills.Load()+twice.Load(), twice.Load()) })
		return
	}
	n := 120 / *oneIn
	random := chance("kill")
	type job struct {
		s    shape
		p    phase
		k, j int
	}
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for g := range jobs {
				worlds(t, g.s, func(fresh func() *world) {
					v := &killing{t: t, phase: g.p, fresh: fresh, kills: &kills, twice: &twice}
					v.kill(g.k, g.j)
				})
			}
		})
	}
	for i := range n {
		p := []phase{installing, undoing}[i%2]
		s := all[random.IntN(len(all))]
		for s.nothing() {
			s = all[random.IntN(len(all))]
		}
		steps := cleanSteps(t, p, s)
		jobs <- job{s, p, random.IntN(steps), random.IntN(10)}
	}
	close(jobs)
	wg.Wait()
	t.Logf("%d were killed, %d of them in recovery", kills.Load()+twice.Load(), twice.Load())
	if kills.Load() != int64(n) {
		t.Errorf("%d of %d were killed", kills.Load(), n)
	}
	if twice.Load() < int64(n)/4 {
		t.Errorf("%d recoveries were killed: too few to say anything", twice.Load())
	}
}

// cleanSteps counts the steps of a phase that nobody kills.
func cleanSteps(t *testing.T, p phase, s shape) int {
	t.Helper()
	w := newWorld(t, s)
	p.prepare(t, w)
	l := w.boot(-1)
	if _, err := p.act(w, l); err != nil {
		t.Fatal(err)
	}
	return l.steps
}

// killing is one kind of processes that are killed.
type killing struct {
	t            *testing.T
	phase        phase
	fresh        func() *world
	kills, twice *atomic.Int64
	recoveryDied bool
}

// kill kills a process before step k, the one that recovers before step j, and lets another recover. It reports whether
// there was a step k.
func (v *killing) kill(k, j int) bool {
	t := v.t
	w := v.fresh()
	defer w.remove()
	v.phase.prepare(t, w)
	killed, err := send(w, v.phase.name, k)
	if err != nil {
		t.Errorf("%s, step %d: %v", w.shape.name, k, err)
		return false
	}
	if killed {
		v.kills.Add(1)
	}
	if v.recoveryDied, err = send(w, "recover", j); err != nil {
		t.Errorf("%s killed before step %d, recovery to be killed before step %d: %v", w.shape.name, k, j, err)
	}
	if v.recoveryDied {
		v.twice.Add(1)
		if err := w.recover(w.boot(-1)); err != nil {
			t.Errorf("%s killed before step %d, recovery before step %d, the next one: %v", w.shape.name, k, j, err)
		}
	}
	if _, problem := w.settled(v.phase.name, 3, v.phase.from(w), v.phase.to(w)); problem != "" {
		t.Errorf("%s, %s killed before step %d, recovery before step %d (%v): %s", w.shape.name, v.phase.name, k, j, v.recoveryDied, problem)
	}
	return killed
}

// wasKilled reports whether a process ended by a signal, or as Windows ends one that is terminated, and not by itself.
func wasKilled(s *os.ProcessState) bool {
	if runtime.GOOS == "windows" {
		return s.ExitCode() == 1
	}
	return strings.Contains(s.String(), "killed")
}
