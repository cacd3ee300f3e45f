package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
	"github.com/lola-ext/lola/testwasm"
)

// attack is a hostile guest with what it is asked, its bounds, and how it must end.
type attack struct {
	wasmbuild.Attack
	params   map[string]abi.Param
	deadline time.Duration
	want     Class // wantPlan: with a plan
}

// wantPlan is the class of a run that gave a plan, which is to say that the guest could do nothing but answer.
const wantPlan Class = "ok"

// Deadlines: for those that are to meet it, and for those that are not, on a busy machine neither.
const (
	soon = time.Second
	late = 2 * time.Minute
)

// attacks are all hostile guests. Those that compilers made are left out where they were not built.
func attacks(t *testing.T) (list []attack, complete bool) {
	t.Helper()
	for _, a := range wasmbuild.Attacks() {
		if a.Memory == 0 {
			a.Memory = limits.GuestMemory
		}
		h := attack{Attack: a, deadline: late, want: Class(a.Outcome)}
		switch {
		case a.Endless:
			h.deadline, h.want = soon, ClassDeadline
		case a.Outcome == job.OK && !bytes.Equal(a.Plan, wasmbuild.EmptyPlan):
			h.want = ClassPlan
		case a.Outcome == job.OK:
			h.want = wantPlan
		}
		list = append(list, h)
	}
	compiled, err := compiledAttacks()
	if err != nil && !errors.Is(err, testwasm.ErrNotBuilt) {
		t.Fatal(err)
	}
	return append(list, compiled...), err == nil
}

// lieEndings is what becomes of the lies of package testwasm.
var lieEndings = map[string]job.Outcome{
	"length": job.BadPlanPointer, "huge": job.BadPlanPointer, "pointer": job.BadPlanPointer, "wrap": job.BadPlanPointer,
	"limit": job.PlanTooLarge, "nothing": job.EmptyPlan, "garbage": "plan", "count": "plan", "trailing": "plan",
	"error-length": job.Status, "error-utf8": job.Status, "error-control": job.Status,
}

// few is list where a guest is compiled quickly. In Go each takes a second, and says by its parameter nothing new of the host.
func few[T any](l testwasm.Language, list []T) []T {
	if l == testwasm.Go {
		return list[:1]
	}
	return list
}

// compiledAttacks are the guests of package testwasm.
func compiledAttacks() (list []attack, err error) {
	for _, g := range testwasm.Catalogue() {
		if _, err := testwasm.Read(g.ID()); err != nil {
			return nil, err
		}
		add := func(name string, want Class, params map[string]abi.Param) {
			list = append(list, attack{
				Attack: wasmbuild.Attack{
					Guest: wasmbuild.Guest{Name: name}, Group: "compiled", Memory: 128 << 20,
					Make: func() []byte { wasm, _ := testwasm.Read(g.ID()); return wasm },
				},
				params: params, deadline: late, want: want,
			})
		}
		switch g.Ends {
		case testwasm.EndsWithPlan:
			add(g.ID(), wantPlan, nil)
		case testwasm.EndsByDeadline:
			add(g.ID(), ClassDeadline, nil)
			list[len(list)-1].deadline = 4 * time.Second // long enough to get as far as its own code
		case testwasm.EndsByMemory:
			add(g.ID(), Class(job.Trap), nil) // by the allocator's or the runtime's own word
		case testwasm.EndsByExit:
			for _, code := range few(g.Language, []int64{0, 1, 255}) {
				add(fmt.Sprintf("%s %d", g.ID(), code), Class(job.Exit), map[string]abi.Param{g.Param: code})
			}
		case testwasm.EndsByTrap:
			add(g.ID(), Class(job.Trap), nil)
		case testwasm.EndsRefused:
			for _, v := range few(g.Language, g.Values) {
				add(g.ID()+" "+v, Class(lieEndings[v]), map[string]abi.Param{g.Param: v})
			}
		default:
			return nil, fmt.Errorf("guest %s ends as no test knows: %q", g.ID(), g.Ends)
		}
	}
	return list, nil
}

// run has the runner ask the guest, and returns how it ended with what the run cost.
func (h attack) run(t *testing.T, dir string) (Class, *Reply, error) {
	t.Helper()
	r, err := New(Options{SpoolDir: dir, Limits: abi.Limits{
		Plan: limits.Plan, Diagnostics: limits.Diagnostics, GuestMemory: h.Memory, Deadline: h.deadline,
	}})
	if err != nil {
		t.Fatal(err)
	}
	req := *request
	req.Params = h.params
	var encoded bytes.Buffer
	if err := (wire.Options{}).EncodeRequest(&encoded, &req); err != nil {
		t.Fatal(err)
	}
	// As Run does it, which keeps the costs of a failure to itself.
	reply := &Reply{}
	s, err := r.open(Module{Name: "test", Bytes: h.Bytes()}, job.Run, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	err = s.ask(t.Context(), encoded.Bytes(), s.began.Add(h.deadline), true, reply, func(body io.Reader, size int64) error {
		var err error
		reply.Plan, err = wire.DecodePlan(body, nil, wire.Options{Limits: abi.Limits{Plan: limits.Plan}, Size: size})
		return err
	})
	var e *Error
	switch {
	case err == nil:
		return wantPlan, reply, nil
	case errors.As(err, &e):
		return e.Class, reply, err
	}
	t.Fatalf("%s: %s: %v is no *Error", h.Group, h.Name, err)
	return "", nil, nil
}

// TestHostileGuestsSample: where not all of them are measured, some end as they must.
func TestHostileGuestsSample(t *testing.T) {
	if measured {
		t.Skip("TestHostileGuests runs all of them here")
	}
	settled(t)
	all, _ := attacks(t)
	for i, h := range all {
		if i%15 != 0 || h.Group == "compiling" {
			continue
		}
		t.Run(h.Group+": "+h.Name, func(t *testing.T) {
			if got, _, err := h.run(t, t.TempDir()); got != h.want {
				t.Errorf("got %s, want %s: %v", got, h.want, err)
			}
		})
	}
}

// TestAttacksHaveNames: a name tells which guest it is.
func TestAttacksHaveNames(t *testing.T) {
	seen := map[string]bool{}
	all, _ := attacks(t)
	for _, h := range all {
		name := h.Group + ": " + h.Name
		if seen[name] || h.want == "" || bytes.ContainsAny([]byte(name), "|\n") {
			t.Errorf("%s: there are two, or it has no end", name)
		}
		seen[name] = true
		seen[h.Case] = true
	}
	for _, id := range []string{"W01", "W02", "W03", "W04", "W05"} {
		if !seen[id] {
			t.Errorf("no attack stands for %s", id)
		}
	}
	if len(all) < 300 {
		t.Errorf("got %d attacks", len(all))
	}
}
