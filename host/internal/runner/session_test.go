package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// wants fails unless err is of a class.
func wants(t *testing.T, err error, c Class) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Class != c {
		t.Fatalf("got %v, want %s", err, c)
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\x1b\u202e") || !strings.HasPrefix(text, "running extension ") {
		t.Errorf("got %q", text)
	}
	return e
}

// spinsAbove is a guest that never returns when the request has more than n bytes.
func spinsAbove(n int32) []byte {
	return wasmbuild.Reactor(wasmbuild.Parts{MemoryMin: 1, MemoryMax: 1024, Alloc: wasmbuild.GrowingAlloc(), Run: bytes.Join([][]byte{
		wasmbuild.LocalGet(1), wasmbuild.I32Const(n), {0x4a, 0x04, 0x40}, wasmbuild.Forever(), {0x0b}, wasmbuild.I32Const(0),
	}, nil)})
}

func large() *abi.Request {
	req := *request
	req.Params = map[string]abi.Param{"text": strings.Repeat("x", 1000)}
	return &req
}

func TestSession(t *testing.T) {
	settled(t)
	s, err := newRunner(t, limits).Open(Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{})})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		reply, err := s.Ask(t.Context(), request, nil)
		if err != nil || reply.Plan == nil || reply.Level == "" || len(reply.Open) == 0 || reply.GuestMemory < 1<<16 || reply.Elapsed <= 0 {
			t.Fatalf("got %+v, %v", reply, err)
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = s.Ask(t.Context(), request, nil)
	wants(t, err, ClassEnded)
}

// TestSessionEndsWithAFailure: whatever an ask fails of, the child is gone, and the next ask says so.
func TestSessionEndsWithAFailure(t *testing.T) {
	settled(t)
	r := newRunner(t, limits)
	short := limits
	short.Deadline = 1500 * time.Millisecond
	fails := func(name string, m Module, class Class, ask func(*Session) error) {
		t.Run(name, func(t *testing.T) {
			s, err := r.Open(m)
			if err != nil {
				t.Fatal(err)
			}
			wants(t, ask(s), class)
			select {
			case <-s.done:
			default:
				t.Error("the child is not gone")
			}
			_, err = s.Ask(t.Context(), request, nil)
			wants(t, err, ClassEnded)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	twice := func(second *abi.Request) func(*Session) error {
		return func(s *Session) error {
			if _, err := s.Ask(t.Context(), request, nil); err != nil {
				return err
			}
			_, err := s.Ask(t.Context(), second, nil)
			return err
		}
	}
	once := func(s *Session) error { _, err := s.Ask(t.Context(), request, nil); return err }
	module := func(b []byte) Module { return Module{Name: "test", Bytes: b} }
	fails("the guest", module(wasmbuild.Reactor(wasmbuild.Parts{Run: wasmbuild.Unreachable()})), Class(job.Trap), once)
	fails("the module", module([]byte("no module")), Class(job.BadModule), once)
	fails("the plan", module(wasmbuild.Echo()), ClassPlan, once)
	bad := *request
	bad.Params = map[string]abi.Param{"a": 1.5}
	fails("the request", module(wasmbuild.Echo()), ClassRequest, func(s *Session) error { _, err := s.Ask(t.Context(), &bad, nil); return err })
	fails("the deadline", Module{Name: "test", Bytes: spinsAbove(500), Limits: mustResolve(t, short)}, ClassDeadline, twice(large()))
	fails("the caller", module(spinsAbove(500)), ClassCanceled, func(s *Session) error {
		if err := once(s); err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(200*time.Millisecond, func() { cancel(errors.New("enough")) })
		defer timer.Stop()
		_, err := s.Ask(ctx, large(), nil)
		return err
	})
	fails("a child that goes on talking", fakeModule("plan-and-more"), ClassReply, twice(request))
	fails("a flood after the answer", fakeModule("plan-and-flood"), ClassReply, twice(request))
	fails("a child that dies between two asks", fakeModule("good-then-exit"), ClassDied, twice(request))
	fails("an answer before the ask", fakeModule("two-answers"), ClassReply, func(s *Session) error {
		if err := twice(request)(s); err != nil {
			return err
		}
		return s.Close() // the answers were whole; what follows them is seen in the end
	})
}

func mustResolve(t *testing.T, l abi.Limits) abi.Limits {
	t.Helper()
	l, err := l.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestSessionDiagnostics: what a guest says comes with the answer to the ask in which it said it.
func TestSessionDiagnostics(t *testing.T) {
	settled(t)
	for _, g := range wasmbuild.Guests() {
		if !strings.HasPrefix(g.Name, "writes 1 GB") {
			continue
		}
		s, err := newRunner(t, limits).Open(Module{Name: "test", Bytes: g.Module})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			reply, err := s.Ask(t.Context(), request, nil)
			if err != nil || int64(len(reply.Diagnostics)) != limits.Diagnostics || !reply.DiagnosticsTruncated {
				t.Errorf("%s: got %v", g.Name, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// A child that announces more than it writes is waited for no longer than the deadline.
	l := limits
	l.Deadline = time.Second
	_, err := newRunner(t, l).Run(t.Context(), fakeModule("lies-about-diagnostics"), request, nil)
	wants(t, err, ClassDeadline)
	_, err = newRunner(t, limits).Run(t.Context(), fakeModule("huge-diagnostics"), request, nil)
	wants(t, err, ClassReply)
}

// TestRequiredLevel: a child that is less confined than required gets no request, and is gone.
func TestRequiredLevel(t *testing.T) {
	settled(t)
	levels := policy.Levels()
	for i, got := range levels {
		for j, want := range levels {
			r, err := New(Options{Limits: limits, SpoolDir: t.TempDir(), RequireLevel: want})
			if err != nil {
				t.Fatal(err)
			}
			reply, err := r.Run(t.Context(), fakeModule("level "+string(got)), request, nil)
			if i >= j {
				if err != nil || reply.Level != got || !slices.Equal(reply.Open, policy.Open(got, 3)) {
					t.Errorf("%s, want %s: got %+v, %v", got, want, reply, err)
				}
				continue
			}
			if e := wants(t, err, ClassLevel); !strings.Contains(e.Text, string(got)) || !strings.Contains(e.Text, string(want)) || len(e.Diagnostics) != 0 {
				t.Errorf("%s, want %s: got %q, %q", got, want, e.Text, e.Diagnostics)
			}
		}
	}
	if _, err := New(Options{RequireLevel: "high"}); err == nil {
		t.Error("a level that is none")
	}
	r := newRunner(t, limits)
	for _, level := range []string{"high", "none.", ""} {
		_, err := r.Run(t.Context(), fakeModule("level "+level), request, nil)
		wants(t, err, ClassReply)
	}
}

// TestCompileAndLoad: what one child compiles the others run, and a Module without it is compiled anew.
func TestCompileAndLoad(t *testing.T) {
	settled(t)
	r := newRunner(t, limits)
	m := Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{})}
	folder := t.TempDir()
	entry, size, err := r.Compile(t.Context(), m, folder)
	if runtime.GOOS == "linux" && !probe.System().Has(policy.WallLandlock) {
		wants(t, err, ClassDied) // a child does not store where nothing keeps it to the folder
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, filepath.FromSlash(entry))
	if info, err := os.Lstat(path); err != nil || info.Size() != size || !info.Mode().IsRegular() {
		t.Fatalf("got %q, %d, %v", entry, size, err)
	}
	m.Code = folder
	for range 2 {
		if reply, err := r.Run(t.Context(), m, request, nil); err != nil || reply.Plan == nil {
			t.Errorf("got %+v, %v", reply, err)
		}
	}
	other := Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{Plan: []byte("x")}), Code: folder}
	_, err = r.Run(t.Context(), other, request, nil)
	wants(t, err, Class(job.StaleCode))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(t.Context(), m, request, nil)
	wants(t, err, Class(job.StaleCode))
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
		t.Errorf("the entry was changed, %v", err)
	}

	// What cannot run is not kept, and nothing of a guest runs.
	_, _, err = r.Compile(t.Context(), Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{Omit: []string{"lola_run"}})}, t.TempDir())
	wants(t, err, Class(job.BadExport))
	for _, g := range wasmbuild.Endless() {
		if _, _, err := r.Compile(t.Context(), Module{Name: "test", Bytes: g.Module}, t.TempDir()); err != nil {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
	for _, mode := range []string{"good", "json", "huge-body", "empty-body", "flood", "code-elsewhere"} {
		_, _, err := r.Compile(t.Context(), fakeModule(mode), t.TempDir())
		wants(t, err, ClassReply)
	}
}

// TestGrowthIsNoCopy: a guest that grows to its ceiling in small steps makes the child no larger than the memory and what a
// child has anyway.
func TestGrowthIsNoCopy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system does not tell how large a child was")
	}
	const ceiling = 192 << 20
	// It grows page by page, writes to each page, and answers when there is no more.
	c := wasmbuild.I32Const
	grow := bytes.Join([][]byte{
		{0x03, 0x40},                                                 // loop
		c(1), wasmbuild.Grow(), {0x22, 0}, c(-1), {0x47, 0x04, 0x40}, // grown: local.tee 0, i32.ne, if
		wasmbuild.LocalGet(0), c(16), {0x74}, c(1), wasmbuild.Store(), // a word at its beginning
		{0x0c, 1, 0x0b, 0x0b}, // again
		c(0),
	}, nil)
	l := mustResolve(t, limits)
	l.GuestMemory = ceiling
	run := func(run []byte) *Reply {
		m := Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{MemoryMin: 1, MemoryMax: 65535, Run: run}), Limits: l}
		reply, err := newRunner(t, limits).Run(t.Context(), m, request, nil)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	small, full := run(nil), run(grow)
	if full.GuestMemory != ceiling || small.GuestMemory != 1<<16 {
		t.Fatalf("got %d and %d bytes of memory", full.GuestMemory, small.GuestMemory)
	}
	if extra := full.PeakRSS - small.PeakRSS; extra > ceiling+ceiling/4 {
		t.Errorf("%d bytes of memory cost %d bytes", full.GuestMemory, extra)
	}
}

func TestPool(t *testing.T) {
	settled(t)
	r := newRunner(t, limits)
	p, err := r.Pool(Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{})}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if reply, err := p.Ask(t.Context(), request, nil); err != nil || reply.Plan == nil {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	}
	all.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Ask(ctx, request, nil)
	wants(t, err, ClassCanceled)
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = p.Ask(t.Context(), request, nil)
	wants(t, err, ClassEnded)
	for _, n := range []int{-1, 0, maxPool + 1} {
		if _, err := r.Pool(Module{Name: "test", Bytes: wasmbuild.Echo()}, n); err == nil {
			t.Errorf("%d children", n)
		}
	}
}

// TestPoolChildrenAnswerOnce: no request sees what another left, and a failure is one ask's alone.
func TestPoolChildrenAnswerOnce(t *testing.T) {
	settled(t)
	p, err := newRunner(t, limits).Pool(Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{Run: wasmbuild.Unreachable()})}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 3 {
		_, err := p.Ask(t.Context(), request, nil)
		wants(t, err, Class(job.Trap))
	}
}

// TestPoolReplacesTheDead: children that died while they waited are not used.
func TestPoolReplacesTheDead(t *testing.T) {
	settled(t)
	p, err := newRunner(t, limits).Pool(Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{})}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := <-p.waiting
	s.cancel(errKilled)
	_ = s.out.CloseWithError(errKilled)
	<-s.done
	p.waiting <- s
	if _, err := p.Ask(t.Context(), request, nil); err != nil {
		t.Error(err)
	}
}

// TestPoolOfBadBeginnings: what a guest does before its request, in a child that waits, costs whoever asks no more than the
// deadline, and the pool its end nothing.
func TestPoolOfBadBeginnings(t *testing.T) {
	settled(t)
	short := limits
	short.Deadline = time.Second
	for _, tc := range []struct {
		name  string
		begin []byte
		lim   abi.Limits
		class Class
	}{
		{"endless", wasmbuild.Forever(), short, ClassDeadline},
		{"a trap", wasmbuild.Unreachable(), limits, Class(job.Trap)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := newRunner(t, tc.lim).Pool(Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{Initialize: tc.begin})}, 2)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Ask(t.Context(), request, nil)
			wants(t, err, tc.class)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPoolThatIsNotUsed: it ends while its children still start.
func TestPoolThatIsNotUsed(t *testing.T) {
	settled(t)
	for _, m := range []Module{{Name: "test", Bytes: wasmbuild.Echo()}, fakeModule("never-answering"), fakeModule("flood")} {
		p, err := newRunner(t, limits).Pool(m, 3)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
