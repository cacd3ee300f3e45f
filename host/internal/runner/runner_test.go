package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// limits are those that wasmbuild's guests expect, with a deadline that is not meant to be met.
var limits = abi.Limits{Plan: 1 << 20, GuestMemory: 16 << 20, Diagnostics: 4096, Deadline: 2 * time.Minute}

var request = &abi.Request{Action: "install", Extension: abi.Identity{Name: "test", Version: "1.0.0"}, Scope: abi.ScopeProject}

func newRunner(t *testing.T, l abi.Limits) *Runner {
	t.Helper()
	r, err := New(Options{Limits: l, SpoolDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settled fails the test if goroutines or child processes are left once it is over.
func settled(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		limit := time.Now().Add(10 * time.Second)
		for runtime.NumGoroutine() > before {
			if time.Now().After(limit) {
				buf := make([]byte, 1<<20)
				t.Errorf("%d goroutines are left, there were %d\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
				break
			}
			runtime.Gosched()
		}
		if childrenLeft() {
			t.Error("child processes are left")
		}
	})
}

// confined reports whether a level is one that a child here may have: on Linux there is always something.
func confined(l policy.Level) bool {
	return l.AtLeast(policy.None) && (runtime.GOOS != "linux" || l.AtLeast(policy.Process))
}

// TestGuests: every guest that ends by itself, through a real child. The class of its failure arrives.
func TestGuests(t *testing.T) {
	settled(t)
	r := newRunner(t, limits)
	t.Run("all", func(t *testing.T) {
		for _, g := range wasmbuild.Guests() {
			name := g.Name
			if g.Case != "" {
				name = g.Case + ": " + name
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				reply, err := r.Run(t.Context(), Module{Name: "test", Bytes: g.Module}, request, nil)
				want := Class(g.Outcome)
				if g.Outcome == job.OK {
					if bytes.Equal(g.Plan, wasmbuild.EmptyPlan) {
						if err != nil || len(reply.Plan.Intents) != 0 || !confined(reply.Level) || reply.GuestMemory < 1<<16 {
							t.Errorf("got %+v, %v", reply, err)
						}
						return
					}
					want = ClassPlan // the guests that answer something else answer no plan
				}
				var e *Error
				if !errors.As(err, &e) || e.Class != want || e.Extension != "test" || reply != nil {
					t.Fatalf("got %v, want %s", err, want)
				}
				if text := err.Error(); strings.ContainsAny(text, "\n\r\x1b\u202e") || !strings.HasPrefix(text, `running extension "test": `) {
					t.Errorf("got %q", text)
				}
			})
		}
	})
}

// TestEndlessGuests: who does not end is ended at the deadline, in each of the ways not to end (W01, W04, W05).
func TestEndlessGuests(t *testing.T) {
	settled(t)
	l := limits
	l.Deadline = 1500 * time.Millisecond
	r := newRunner(t, l)
	t.Run("all", func(t *testing.T) {
		for _, g := range wasmbuild.Endless() {
			t.Run(g.Case+" "+g.Name, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				_, err := r.Run(t.Context(), Module{Name: "test", Bytes: g.Module}, request, nil)
				var e *Error
				if !errors.As(err, &e) || e.Class != ClassDeadline {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took < l.Deadline || took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		}
	})
}

// TestHostileReplies: what a child says is read in one form only, and nothing it says makes the call hang.
func TestHostileReplies(t *testing.T) {
	settled(t)
	l := limits
	slow := limits
	slow.Deadline = 2 * time.Second
	for mode, want := range map[string]Class{
		"silent":                  ClassReply,
		"silent-exit":             ClassDied,
		"hello-only":              ClassReply,
		"hello-exit":              ClassDied,
		"half-hello":              ClassReply,
		"status-first":            ClassReply,
		"two-hellos":              ClassReply,
		"long-hello":              ClassReply,
		"no-line":                 ClassReply,
		"other-status":            ClassReply,
		"json":                    ClassReply,
		"json-bomb":               ClassReply,
		"unknown-outcome":         ClassReply,
		"huge-body":               ClassReply,
		"negative-body":           ClassReply,
		"body-over-limit":         ClassReply,
		"failure-with-body":       ClassReply,
		"failure-then-more":       ClassReply,
		"failure":                 Class(job.Internal),
		"plan-shorter":            ClassReply,
		"plan-longer":             ClassPlan,
		"plan-and-more":           ClassReply,
		"plan-and-flood":          ClassReply,
		"empty-body":              ClassPlan,
		"plan-then-trailing-item": ClassPlan,
		"nesting":                 ClassPlan,
		"lengths":                 ClassPlan,
		"flood":                   ClassPlan,
		"good-then-exit":          ClassDied,
		"never-closing":           ClassDeadline,
		"never-answering":         ClassDeadline,
		"slow-half":               ClassDeadline,
	} {
		t.Run(mode, func(t *testing.T) {
			l := l
			if want == ClassDeadline {
				l = slow
			}
			reply, err := newRunner(t, l).Run(t.Context(), fakeModule(mode), request, nil)
			var e *Error
			if !errors.As(err, &e) || e.Class != want || reply != nil {
				t.Fatalf("got %+v, %v, want %s", reply, err, want)
			}
			if text := err.Error(); strings.ContainsAny(text, "\n\x1b\u202e") || len(text) > 8<<10 {
				t.Errorf("got %q", text)
			}
		})
	}
	t.Run("good", func(t *testing.T) {
		if reply, err := newRunner(t, l).Run(t.Context(), fakeModule("good"), request, nil); err != nil || reply.Level != job.LevelNone {
			t.Errorf("got %+v, %v", reply, err)
		}
	})
	t.Run("inspected", func(t *testing.T) {
		for _, mode := range []string{"good", "json", "huge-body", "empty-body", "flood"} {
			info, err := newRunner(t, l).Inspect(t.Context(), fakeModule(mode))
			var e *Error
			if !errors.As(err, &e) || e.Class != ClassReply || info != nil {
				t.Errorf("%s: got %+v, %v", mode, info, err)
			}
		}
	})
	t.Run("diagnostics", func(t *testing.T) {
		reply, err := newRunner(t, l).Run(t.Context(), fakeModule("stderr-flood"), request, nil)
		if err != nil || int64(len(reply.Diagnostics)) != l.Diagnostics || !reply.DiagnosticsTruncated {
			t.Errorf("got %+v, %v", reply, err)
		}
	})
}

func TestPlanArrives(t *testing.T) {
	settled(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 400_000)
	want := &abi.Plan{
		Messages: []abi.Message{{Level: abi.LevelWarn, Text: "mind the gap"}},
		Intents: []abi.Intent{
			abi.Write{Path: "a/b.md", Mode: 0o644, Content: abi.Bytes("small")},
			abi.Write{Path: "a/c.bin", Mode: 0o755, Content: abi.Bytes(big)},
			abi.Delete{Path: "old"},
		},
	}
	var encoded bytes.Buffer
	if err := wire.EncodePlan(&encoded, want); err != nil {
		t.Fatal(err)
	}
	guest := wasmbuild.Reactor(wasmbuild.Parts{
		MemoryMin: 128, MemoryMax: 512, Plan: encoded.Bytes(), Alloc: wasmbuild.GrowingAlloc(),
	})
	spool := wire.NewSpool(t.TempDir())
	defer spool.Close()
	// A request that is larger than any pipe.
	content := bytes.Repeat([]byte("x"), 5<<20)
	req := *request
	req.Module = &abi.Module{
		Identity: abi.Identity{Name: "m", Version: "1.0.0"},
		Files:    []abi.File{{Path: "SKILL.md", Mode: 0o644, Size: int64(len(content)), Digest: abi.DigestOf(content), Content: content}},
	}
	r := newRunner(t, abi.Limits{})
	reply, err := r.Run(t.Context(), Module{Name: "test", Bytes: guest}, &req, spool)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Plan.Intents) != 3 || !reflect.DeepEqual(reply.Plan.Messages, want.Messages) || reply.Plan.Intents[2] != want.Intents[2] {
		t.Errorf("got %+v", reply.Plan)
	}
	for i, b := range [][]byte{[]byte("small"), big} {
		w := reply.Plan.Intents[i].(abi.Write)
		f, err := w.Content.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil || !bytes.Equal(got, b) || w.Content.Digest() != abi.DigestOf(b) {
			t.Errorf("content %d has %d bytes, %v", i, len(got), err)
		}
	}
	if reply.Elapsed <= 0 || reply.GuestMemory < 128<<16 || reply.DiagnosticsTruncated || len(reply.Diagnostics) != 0 {
		t.Errorf("got %+v", reply)
	}
}

func TestCanceled(t *testing.T) {
	settled(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user has had enough")
	timer := time.AfterFunc(500*time.Millisecond, func() { cancel(cause) })
	defer timer.Stop()
	_, err := newRunner(t, limits).Run(ctx, Module{Name: "test", Bytes: wasmbuild.Spin()}, request, nil)
	var e *Error
	if !errors.As(err, &e) || e.Class != ClassCanceled || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	ctx2, cancel2 := context.WithTimeout(t.Context(), time.Second)
	defer cancel2()
	_, err = newRunner(t, limits).Run(ctx2, Module{Name: "test", Bytes: wasmbuild.Spin()}, request, nil)
	if !errors.As(err, &e) || e.Class != ClassDeadline {
		t.Errorf("got %v", err)
	}
}

func TestModuleFile(t *testing.T) {
	settled(t)
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	path := filepath.Join(t.TempDir(), "module.wasm")
	if err := os.WriteFile(path, append(bytes.Clone(module), "tail that is not the module's"...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := newRunner(t, limits)
	run := func(size int64, d abi.Digest) error {
		_, err := r.Run(t.Context(), Module{Name: "test", File: f, Size: size, Digest: d}, request, nil)
		return err
	}
	if err := os.Truncate(path, int64(len(module))); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the offset is nobody's
		if err := run(int64(len(module)), abi.DigestOf(module)); err != nil {
			t.Error(err)
		}
	}
	for name, err := range map[string]error{
		"another digest": run(int64(len(module)), abi.DigestOf(nil)),
		"shorter":        run(int64(len(module)-1), abi.DigestOf(module[:len(module)-1])),
		"longer":         run(int64(len(module)+1), abi.DigestOf(module)),
	} {
		var e *Error
		if !errors.As(err, &e) || e.Class != Class(job.BadModule) || !strings.Contains(e.Text, "digest") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNotStarted(t *testing.T) {
	settled(t)
	good := Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{})}
	r := newRunner(t, limits)
	for name, m := range map[string]Module{"no module": {Name: "test"}, "too large": {Name: "test", Bytes: make([]byte, job.MaxModule+1)}} {
		var e *Error
		if _, err := r.Run(t.Context(), m, request, nil); !errors.As(err, &e) || e.Class != ClassStart {
			t.Errorf("%s: got %v", name, err)
		}
	}
	none, err := New(Options{Program: filepath.Join(t.TempDir(), "none"), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := none.Run(t.Context(), good, request, nil); !errors.As(err, &e) || e.Class != ClassStart || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: got %v", err)
	}
	bad := *request
	bad.Params = map[string]abi.Param{"a": 1.5}
	if _, err := r.Run(t.Context(), good, &bad, nil); !errors.As(err, &e) || e.Class != ClassRequest {
		t.Errorf("no request: got %v", err)
	}
	if _, err := New(Options{Program: "lola"}); err == nil {
		t.Error("a program that is searched")
	}
	if _, err := New(Options{Limits: abi.Limits{GuestMemory: 1 << 32}}); err == nil {
		t.Error("W03: a ceiling of 65,536 pages")
	}
}

// TestProgramThatIsNoHost: a program without shim.RunIfChild takes the child's argument for one of its own.
func TestProgramThatIsNoHost(t *testing.T) {
	path, err := lookProgram()
	if err != nil {
		t.Skip(err)
	}
	r, err := New(Options{Program: path, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	_, err = r.Run(t.Context(), Module{Name: "test", Bytes: wasmbuild.Echo()}, request, nil)
	if !errors.As(err, &e) || e.Class != ClassReply && e.Class != ClassDied {
		t.Errorf("got %v", err)
	}
}

// lookProgram finds any program that ends by itself.
func lookProgram() (string, error) {
	for _, p := range []string{"/bin/true", "/usr/bin/true", `C:\windows\system32\hostname.exe`} {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && filepath.IsAbs(p) {
			return p, nil
		}
	}
	return "", errors.New("this system has no program for it")
}

func TestInspect(t *testing.T) {
	settled(t)
	r := newRunner(t, limits)
	info, err := r.Inspect(t.Context(), Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{})})
	if err != nil {
		t.Fatal(err)
	}
	if info.Form != "reactor" || info.ABIVersion != 1 || info.Problem != "" || info.MemoryMin != 1<<16 || info.MemoryMax != 1<<20 ||
		!confined(info.Level) || !slices.Contains(info.Exports, "lola_run") || !slices.Contains(info.Imports, "wasi_snapshot_preview1.fd_write") {
		t.Errorf("got %+v", info)
	}
	info, err = r.Inspect(t.Context(), Module{Name: "test", Bytes: wasmbuild.Reactor(wasmbuild.Parts{Before: func(m *wasmbuild.Builder) {
		m.Import("env", "system", nil, nil)
	}})})
	if err != nil || info.Problem != Class(job.ForbiddenImport) || info.ProblemText != `it imports the func "system" from "env"` {
		t.Errorf("got %+v, %v", info, err)
	}
	var e *Error
	if _, err = r.Inspect(t.Context(), Module{Name: "test", Bytes: []byte("no module")}); !errors.As(err, &e) || e.Class != Class(job.BadModule) {
		t.Errorf("got %v", err)
	}
}

// TestManyAtOnce: runs do not disturb each other, also with one file for all.
func TestManyAtOnce(t *testing.T) {
	settled(t)
	r := newRunner(t, limits)
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	path := filepath.Join(t.TempDir(), "module.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const n = 8
	errs := make(chan error, n)
	for i := range n {
		go func() {
			m := Module{Name: fmt.Sprint(i), Bytes: module}
			if i%2 == 0 {
				m = Module{Name: fmt.Sprint(i), File: f, Size: int64(len(module)), Digest: abi.DigestOf(module)}
			}
			_, err := r.Run(t.Context(), m, request, nil)
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestClassesHaveWords: no class is shown without a phrase.
func TestClassesHaveWords(t *testing.T) {
	for _, o := range job.Outcomes {
		if o != job.OK && phrases[Class(o)] == "" {
			t.Errorf("no words for %q", o)
		}
	}
	for c, phrase := range phrases {
		if phrase == "" || strings.ToLower(phrase[:1]) != phrase[:1] {
			t.Errorf("class %q has the words %q", c, phrase)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	r, err := New(Options{Limits: limits})
	if err != nil {
		b.Fatal(err)
	}
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	for b.Loop() {
		if _, err := r.Run(b.Context(), Module{Name: "test", Bytes: module}, request, nil); err != nil {
			b.Fatal(err)
		}
	}
}
