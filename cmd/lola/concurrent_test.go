package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/audit"
)

// again reports whether a command failed because another one was quicker, as it may say: then it is to be run again.
func again(out string) bool {
	return strings.Contains(out, "run this one again") || strings.Contains(out, "run the command again") || strings.Contains(out, "another lola holds it")
}

// crowd is several users' worth of commands at once, each a process, and what they have done.
type crowd struct {
	w        *world
	modules  map[string]string // folder of each by name
	runs     atomic.Int64
	retries  atomic.Int64
	unasked  atomic.Int64 // commands that had nothing to do any more
	problems chan string
}

// do runs a command until it was not another one's turn.
func (c *crowd) do(args ...string) {
	for range 1000 {
		c.runs.Add(1)
		state, out := c.w.real(nil, args...)
		switch {
		case state.Success():
			return
		case again(out):
			c.retries.Add(1)
		case args[0] == "uninstall" && strings.Contains(out, "is not installed"):
			c.unasked.Add(1) // another one took it out
			return
		default:
			c.problems <- fmt.Sprintf("lola %q: %v\n%s", args, state, out)
			return
		}
	}
	c.problems <- fmt.Sprintf("lola %q: it was never its turn", args)
}

func (c *crowd) install(project, module string, targets ...string) {
	args := []string{"install", c.modules[module], "--project", project, "--trust", trust(c.w.t, c.modules[module])}
	for _, t := range targets {
		args = append(args, "-a", t)
	}
	c.do(args...)
}

func (c *crowd) uninstall(project, module string, targets ...string) {
	args := []string{"uninstall", module, "--project", project}
	for _, t := range targets {
		args = append(args, "-a", t)
	}
	c.do(args...)
}

// newCrowd has n modules "m0", "m1", ..., all of which change shared files too.
func newCrowd(t *testing.T, n int) *crowd {
	c := &crowd{w: newWorld(t), modules: map[string]string{}, problems: make(chan string, 1000)}
	for i := range n {
		name := fmt.Sprintf("m%d", i)
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		frozen{
			"lola.yaml": file("name: " + name + "\nversion: 1.0.0\n"), "AGENTS.md": file("# " + name + "\n"),
			"mcps.json": file(`{"mcpServers": {"` + name + `": {"command": "true", "args": ["` + name + `"]}}}`),
			"skills":    folder(), "skills/" + name: folder(), "skills/" + name + "/SKILL.md": file("---\nname: " + name + "\ndescription: It does.\n---\n" + name + "\n"),
			"commands": folder(), "commands/" + name + ".md": file("Do " + name + ".\n"),
		}.thaw(t, dir)
		c.modules[name] = dir
	}
	return c
}

// together runs all at once and wants no problem.
func (c *crowd) together(work ...func()) {
	c.w.t.Helper()
	var wg sync.WaitGroup
	for _, f := range work {
		wg.Go(f)
	}
	wg.Wait()
	close(c.problems)
	for p := range c.problems {
		c.w.t.Error(p)
	}
	c.problems = make(chan string, 1000)
}

// serial wants that what a project holds and what is recorded for it is what the same changes give one after the other, in
// the order in which they were made, and that nothing is left of them.
func (c *crowd) serial(project string, without string) {
	t := c.w.t
	t.Helper()
	at := *c.w
	at.project = project
	got, problem := at.look()
	if problem != "" {
		t.Errorf("%s: %s", project, problem)
	}
	h, err := host.New(host.Options{Home: c.w.home})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	order, err := h.Undoable(project)
	if err != nil {
		t.Fatal(err)
	}
	logged := map[string]audit.Event{}
	for rec, err := range h.Log().Read(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Transaction != "" && (rec.Event == audit.EventApplied || rec.Event == audit.EventRolledBack) {
			logged[rec.Transaction] = rec.Event
		}
	}
	alone := *newWorld(t)
	one := crowd{w: &alone, modules: c.modules, problems: make(chan string, 10)}
	for _, u := range order {
		if logged[u.ID] != audit.EventApplied {
			t.Errorf("the change %s %s is %q in the log", u.Action, u.ID, logged[u.ID])
		}
		if u.Action == "install" {
			one.install(alone.project, u.Module, u.Targets...)
		} else {
			one.uninstall(alone.project, u.Module, u.Targets...)
		}
		if len(one.problems) > 0 || one.retries.Load()+one.unasked.Load() > 0 {
			t.Fatalf("one after the other: %s %s %v does not go: %s", u.Action, u.Module, u.Targets, <-one.problems)
		}
	}
	want, problem := alone.look()
	if problem != "" {
		t.Errorf("one after the other: %s", problem)
	}
	if without != "" { // another root
		for p := range got.project {
			if p == without || strings.HasPrefix(p, without+"/") {
				delete(got.project, p)
			}
		}
	}
	if d := got.project.differs(want.project); d != "" {
		t.Errorf("%s: it is not what %d changes one after the other give:%s", project, len(order), d)
	}
	if got.list != want.list || got.undoable != want.undoable {
		t.Errorf("%s: the list is %s, want %s", project, got.list, want.list)
	}
}

// TestConcurrent: two, then eight commands at once, each a process, on one project and on two of which one lies in the
// other. What comes of it is what some order of them gives; no record is lost; the log is one chain.
func TestConcurrent(t *testing.T) {
	rounds := 1
	if os.Getenv(exhaustiveVariable) != "" {
		rounds = 8
	}
	targets := []string{"claude-code", "cursor", "gemini-cli", "opencode", "copilot"}
	crowds := []int{2, 8}
	if slowly {
		crowds = crowds[:1]
	}
	for _, n := range crowds {
		t.Run(fmt.Sprintf("%d, a module each", n), func(t *testing.T) {
			c := newCrowd(t, n)
			var work []func()
			for i := range n {
				name := fmt.Sprintf("m%d", i)
				work = append(work, func() {
					for range rounds {
						c.install(c.w.project, name, targets[i%5], targets[(i+1)%5])
						c.uninstall(c.w.project, name)
					}
					c.install(c.w.project, name, targets[i%5], targets[(i+2)%5])
				})
			}
			c.together(work...)
			c.serial(c.w.project, "")
			list := c.w.must("list", "--project", c.w.project)
			for name := range c.modules {
				if strings.Count(list, name+" ") != 2 {
					t.Errorf("%q is not in the list for two targets:\n%s", name, list)
				}
			}
			t.Logf("%d runs, %d of them again", c.runs.Load(), c.retries.Load())
		})
		t.Run(fmt.Sprintf("%d, one module", n), func(t *testing.T) {
			c := newCrowd(t, 1)
			var work []func()
			for i := range n {
				target := targets[i%5]
				work = append(work, func() {
					for range rounds {
						c.install(c.w.project, "m0", target)
						c.uninstall(c.w.project, "m0", target)
					}
					if i < 5 {
						c.install(c.w.project, "m0", target)
					}
				})
			}
			c.together(work...)
			for i := range min(n, 5) { // another one may have taken it out again
				c.install(c.w.project, "m0", targets[i])
			}
			c.serial(c.w.project, "")
			if list := c.w.must("list", "--project", c.w.project); strings.Count(list, "m0 ") != min(n, 5) {
				t.Errorf("want %d targets:\n%s", min(n, 5), list)
			}
			t.Logf("%d runs, %d of them again, %d had nothing to do", c.runs.Load(), c.retries.Load(), c.unasked.Load())
		})
		t.Run(fmt.Sprintf("%d, one project in the other", n), func(t *testing.T) {
			c := newCrowd(t, n)
			inner := filepath.Join(c.w.project, "b")
			if err := os.Mkdir(inner, 0o755); err != nil {
				t.Fatal(err)
			}
			var work []func()
			for i := range n {
				project := []string{c.w.project, inner}[i%2]
				mine, other := fmt.Sprintf("m%d", i), fmt.Sprintf("m%d", (i+1)%n)
				work = append(work, func() {
					random := rand.New(rand.NewPCG(uint64(i), uint64(os.Getpid())))
					for range rounds {
						c.install(project, mine, targets[random.IntN(5)])
						c.install(project, other, targets[random.IntN(5)])
						c.uninstall(project, []string{mine, other}[random.IntN(2)])
					}
					c.install(project, mine, targets[i%5])
				})
			}
			c.together(work...)
			c.serial(c.w.project, "b")
			c.serial(inner, "")
			t.Logf("%d runs, %d of them again, %d had nothing to do", c.runs.Load(), c.retries.Load(), c.unasked.Load())
		})
	}
}

// TestConcurrentUndo: commands at once of which some take the last change back. A record and the tree never part.
func TestConcurrentUndo(t *testing.T) {
	c := newCrowd(t, 3)
	var work []func()
	for i := range 6 {
		work = append(work, func() {
			for range 4 {
				if i%2 == 0 {
					c.install(c.w.project, fmt.Sprintf("m%d", i/2), "claude-code")
					continue
				}
				state, out := c.w.real(nil, "undo", "--project", c.w.project)
				may := []string{"can be undone", "removed again since", "were changed since"}
				if !state.Success() && !again(out) && !slices.ContainsFunc(may, func(s string) bool { return strings.Contains(out, s) }) {
					c.problems <- fmt.Sprintf("undo: %v\n%s", state, out)
				}
			}
		})
	}
	c.together(work...)
	if _, problem := c.w.look(); problem != "" {
		t.Error(problem)
	}
	for i := range 3 { // all goes on as ever
		c.install(c.w.project, fmt.Sprintf("m%d", i), "claude-code")
	}
	for i := range 3 {
		c.uninstall(c.w.project, fmt.Sprintf("m%d", i))
	}
	s, problem := c.w.look()
	if problem != "" || len(s.project) > 0 || s.list != "[]" {
		t.Errorf("at the end: %s, %v, %s", problem, s.project, s.list)
	}
}
