package launch

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
	"strings"
	"testing"
	"time"
)

// spec is a child in the given mode, under bounds that the test does not mean to meet.
func spec(args ...string) Spec {
	return Spec{
		Path: self, Args: append([]string{"child"}, args...), Env: emulatorEnv(),
		MaxStdout: 64 << 20, MaxStderr: 1 << 20, Deadline: patience,
	}
}

var self = func() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}()

// emulatorEnv is what an emulator of this platform may need to find itself again.
func emulatorEnv() (env []string) {
	for _, name := range []string{"QEMU_LD_PREFIX", "WINEPREFIX"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// settled fails the test if goroutines, descriptors or child processes are left once it is over.
func settled(t *testing.T) {
	t.Helper()
	warmUp()
	goroutines, descriptors := runtime.NumGoroutine(), openDescriptors()
	t.Cleanup(func() {
		limit := time.Now().Add(10 * time.Second)
		for {
			g, d := runtime.NumGoroutine(), openDescriptors()
			if g <= goroutines && d <= descriptors {
				break
			}
			if time.Now().After(limit) {
				buf := make([]byte, 1<<20)
				t.Errorf("%d goroutines and %d descriptors are left, there were %d and %d\n%s",
					g, d, goroutines, descriptors, buf[:runtime.Stack(buf, true)])
				break
			}
			runtime.Gosched()
		}
		if n := children(); n != 0 {
			t.Errorf("%d child processes are left", n)
		}
	})
}

// TestRoundTrip is the transport proof: every size on either side, in every order of reading and writing in the child.
func TestRoundTrip(t *testing.T) {
	settled(t)
	sizes := []int64{0, 1, 64 << 10, 1 << 20, 32 << 20}
	if testing.Short() {
		sizes = []int64{0, 1, 1 << 20}
	}
	for _, mode := range []string{"read-write", "write-read", "both"} {
		for _, request := range sizes {
			for _, answer := range sizes {
				t.Run(fmt.Sprintf("%s/%d/%d", mode, request, answer), func(t *testing.T) {
					var got sum
					s := spec(mode, fmt.Sprint(answer))
					s.Request, s.Stdout, s.MaxStdout = &pattern{n: request}, &got, answer
					result, err := Run(t.Context(), s)
					if err != nil {
						t.Fatal(err)
					}
					if got.String() != sumOf(answer) || result.Stdout != answer {
						t.Errorf("the answer has %s (counted: %d), want %s", &got, result.Stdout, sumOf(answer))
					}
					if string(result.Stderr) != sumOf(request) {
						t.Errorf("the child read %s, want %s", result.Stderr, sumOf(request))
					}
					want := Result{
						Started: true, State: "exit status 0", Stdout: answer, Stderr: result.Stderr, RequestBytes: request,
						Elapsed: result.Elapsed, PeakRSS: result.PeakRSS,
					}
					if !reflect.DeepEqual(result, want) {
						t.Errorf("got %+v\nwant %+v", result, want)
					}
					if result.Elapsed <= 0 || runtime.GOOS != "windows" && result.PeakRSS < 1<<20 {
						t.Errorf("it took %v and %d bytes", result.Elapsed, result.PeakRSS)
					}
				})
			}
		}
	}
}

func TestStreamBothWays(t *testing.T) {
	settled(t)
	var got sum
	s := spec("copy")
	s.Request, s.Stdout = &pattern{n: 8 << 20}, &got
	if _, err := Run(t.Context(), s); err != nil || got.String() != sumOf(8<<20) {
		t.Errorf("got %s, %v", &got, err)
	}
}

// TestX10DeadlineCoversTheWrite: a child that never reads, and a request larger than any pipe.
func TestX10DeadlineCoversTheWrite(t *testing.T) {
	settled(t)
	s := spec("never")
	s.Request, s.Deadline = &pattern{n: 32 << 20}, 2*time.Second
	result, err := Run(t.Context(), s)
	var run *RunError
	if !errors.Is(err, ErrDeadline) || !errors.As(err, &run) || !strings.Contains(err.Error(), fmt.Sprintf("%q", self)) {
		t.Errorf("got %v", err)
	}
	if !result.TimedOut || !result.RequestCut || result.RequestBytes >= 32<<20 || result.ExitCode == 0 {
		t.Errorf("got %+v", result)
	}
	if result.Elapsed < s.Deadline || result.Elapsed > patience/2 {
		t.Errorf("it took %v", result.Elapsed)
	}
}

func TestChildClosesStdinEarlyAndAnswers(t *testing.T) {
	settled(t)
	var got sum
	s := spec("close", "100000")
	s.Request, s.Stdout = &pattern{n: 32 << 20}, &got
	result, err := Run(t.Context(), s)
	if err != nil || got.String() != sumOf(100000) || !result.RequestCut || result.ExitCode != 0 {
		t.Errorf("got %s, %+v, %v", &got, result, err)
	}
}

func TestChildExitsBeforeTheRequestIsRead(t *testing.T) {
	settled(t)
	for _, code := range []int{0, 1, 2, 77, 255} {
		s := spec("exit", fmt.Sprint(code))
		s.Request = &pattern{n: 32 << 20}
		result, err := Run(t.Context(), s)
		if err != nil || result.ExitCode != code || result.State != fmt.Sprintf("exit status %d", code) || !result.RequestCut {
			t.Errorf("exit %d: got %+v, %v", code, result, err)
		}
	}
}

func TestManySmallWrites(t *testing.T) {
	settled(t)
	var got bytes.Buffer
	s := spec("messages", "20", "100")
	s.Stdout, s.MaxStdout = &got, 2000
	if _, err := Run(t.Context(), s); err != nil || got.Len() != 2000 {
		t.Errorf("got %d bytes, %v", got.Len(), err)
	}
}

func TestBounds(t *testing.T) {
	settled(t)
	one := func(name string, bound int64, change func(*Spec), want string) {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			s := spec("flood", "stdout")
			s.Stdout, s.MaxStdout = &got, bound
			change(&s)
			result, err := Run(t.Context(), s)
			var be *BoundError
			if !errors.As(err, &be) || be.Stream != want || be.Bound != bound {
				t.Fatalf("got %v", err)
			}
			if result.ExitCode == 0 || result.TimedOut || int64(got.Len()) > bound || int64(len(result.Stderr)) > bound {
				t.Errorf("got %d bytes, %+v", got.Len(), result)
			}
			if want == "stdout" && int64(got.Len()) != bound {
				t.Errorf("got %d bytes of %d", got.Len(), bound)
			}
		})
	}
	nothing := func(*Spec) {}
	one("stdout", 100_000, nothing, "stdout")
	one("stdout, the zero value", 0, nothing, "stdout")
	one("stdout, one byte over", 4095, nothing, "stdout")
	fatal := func(s *Spec) { s.Args[2], s.StderrFatal, s.MaxStderr = "stderr", true, s.MaxStdout }
	one("stderr", 100_000, fatal, "stderr")
	one("stderr, nothing allowed", 0, fatal, "stderr")

	t.Run("exactly the bound", func(t *testing.T) {
		s := spec("write-read", "70000")
		s.MaxStdout = 70000
		if result, err := Run(t.Context(), s); err != nil || result.Stdout != 70000 {
			t.Errorf("got %+v, %v", result, err)
		}
	})
	t.Run("stderr is truncated and counted", func(t *testing.T) {
		for _, bound := range []int64{0, 1, 100_000} {
			s := spec("stderr", "300000")
			s.MaxStderr = bound
			result, err := Run(t.Context(), s)
			if err != nil || int64(len(result.Stderr)) != bound || result.StderrDropped != 300_000-bound || result.ExitCode != 0 {
				t.Errorf("bound %d: got %d bytes, %d dropped, %v", bound, len(result.Stderr), result.StderrDropped, err)
			}
		}
	})
	t.Run("a flood on stderr lasts until the deadline", func(t *testing.T) {
		s := spec("flood", "stderr")
		s.MaxStderr, s.Deadline = 1000, time.Second
		result, err := Run(t.Context(), s)
		if !errors.Is(err, ErrDeadline) || len(result.Stderr) != 1000 || result.StderrDropped == 0 {
			t.Errorf("got %d bytes, %d dropped, %v", len(result.Stderr), result.StderrDropped, err)
		}
	})
}

// TestX04GrandchildHoldsThePipe: what holds now is that the call returns, with the child's answer; see the package
// comment for what does not.
func TestX04GrandchildHoldsThePipe(t *testing.T) {
	for _, mode := range []string{"hold", "flood"} {
		t.Run(mode, func(t *testing.T) {
			settled(t)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var got bytes.Buffer
			s := spec("parent", mode, "stdout")
			s.Stdout, s.MaxStdout, s.Donate = &got, 1<<20, []Donation{{"life", r}}
			if mode == "hold" {
				s.MaxStdout = 8
			}
			result, err := Run(t.Context(), s)
			_ = w.Close() // lets the grandchild that holds go; the one that floods meets a broken pipe
			if !strings.HasPrefix(got.String(), "answered") || result.Elapsed > patience/2 {
				t.Errorf("got %.100q, %+v", got.String(), result)
			}
			var be *BoundError
			switch mode {
			case "hold":
				if err != nil || !result.Held || result.ExitCode != 0 {
					t.Errorf("got %+v, %v", result, err)
				}
			case "flood":
				// A grandchild that begins late is not waited for.
				if !errors.As(err, &be) && !(err == nil && result.Held) {
					t.Errorf("got %+v, %v", result, err)
				}
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	settled(t)
	cause := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := spec("flood", "stdout")
	s.MaxStdout = 1 << 40
	s.Stdout = writerFunc(func(b []byte) (int, error) { cancel(cause); return len(b), nil })
	result, err := Run(ctx, s)
	if !errors.Is(err, cause) || result.TimedOut || !result.Started || result.ExitCode == 0 {
		t.Errorf("got %+v, %v", result, err)
	}

	// Ended before the start: nothing is started.
	result, err = Run(ctx, s)
	var start *StartError
	if !errors.Is(err, cause) || !errors.As(err, &start) || result.Started {
		t.Errorf("got %+v, %v", result, err)
	}

	ctx2, cancel2 := context.WithTimeout(t.Context(), time.Second)
	defer cancel2()
	result, err = Run(ctx2, spec("never"))
	if !errors.Is(err, context.DeadlineExceeded) || !result.TimedOut {
		t.Errorf("got %+v, %v", result, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestOurOwnEndsFail(t *testing.T) {
	settled(t)
	broken := errors.New("the disk is full")
	s := spec("flood", "stdout")
	s.Stdout = writerFunc(func([]byte) (int, error) { return 0, broken })
	if result, err := Run(t.Context(), s); !errors.Is(err, broken) || result.TimedOut {
		t.Errorf("writing: got %+v, %v", result, err)
	}
	s = spec("never")
	s.Request = readerFunc(func([]byte) (int, error) { return 0, broken })
	if result, err := Run(t.Context(), s); !errors.Is(err, broken) || result.TimedOut {
		t.Errorf("reading: got %+v, %v", result, err)
	}
}

// TestX02OnlyWhatWasGiven: a descriptor that is open without close-on-exec, an environment variable and a directory of
// this process do not reach the child.
func TestX02OnlyWhatWasGiven(t *testing.T) {
	settled(t)
	t.Setenv("LOLA_TEST_SECRET", "hunter2")
	leaked := leakDescriptor(t)
	var out bytes.Buffer
	s := spec("about", "a b", `c"d`, "", "é\\")
	s.Env, s.Stdout = append(s.Env, "ONLY=this"), &out
	if _, err := Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{`args=["a b" "c\"d" "" "é\\"]`, `"ONLY=this"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "hunter2") {
		t.Errorf("the environment was inherited:\n%s", got)
	}
	if runtime.GOOS != "windows" {
		if !strings.Contains(got, "fds=[0 1 2]\n") {
			t.Errorf("descriptor %d was open here, and the child has:\n%s", leaked, got)
		}
		if !strings.Contains(got, `dir="/"`) {
			t.Errorf("the directory is not the root:\n%s", got)
		}
	}

	out.Reset()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = dir
	if _, err := Run(t.Context(), s); err != nil || !strings.Contains(out.String(), fmt.Sprintf("dir=%q", dir)) {
		t.Errorf("want directory %q, got\n%s%v", dir, out.String(), err)
	}
}

func TestDonation(t *testing.T) {
	settled(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("to the child"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	leakDescriptor(t)
	var out bytes.Buffer
	s := spec("donated")
	s.Stdout, s.Donate = &out, []Donation{{"in", in}, {"out", w}}
	result, err := Run(t.Context(), s)
	_ = w.Close()
	if err != nil || out.String() != "to the child <nil> <nil>" {
		t.Fatalf("got %q, %+v, %v", out.String(), result, err)
	}
	// The end of the pipe comes only if no process kept the other end.
	if b, err := io.ReadAll(r); string(b) != "from the child" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}

	out.Reset()
	s = spec("about")
	s.Stdout, s.Donate = &out, []Donation{{"in", in}}
	if _, err := Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && !strings.Contains(out.String(), "args=[\"in=3\"]") || runtime.GOOS != "windows" && !strings.Contains(out.String(), "fds=[0 1 2 3]\n") {
		t.Errorf("got %s", out.String())
	}
}

func TestKeepStdin(t *testing.T) {
	settled(t)
	// The child waits for the end of its stdin, which comes only with its own: so it is the deadline that ends it.
	var out bytes.Buffer
	s := spec("lifeline")
	s.Request, s.Stdout, s.KeepStdin, s.Deadline = strings.NewReader("abc"), &out, true, 2*time.Second
	result, err := Run(t.Context(), s)
	if !errors.Is(err, ErrDeadline) || out.String() != "abc <nil>" || result.RequestCut {
		t.Errorf("kept: got %q, %+v, %v", out.String(), result, err)
	}
	out.Reset()
	s.Request, s.KeepStdin, s.Deadline = strings.NewReader("abc"), false, patience
	if result, err := Run(t.Context(), s); err != nil || out.String() != "abc <nil>" || result.ExitCode != 5 {
		t.Errorf("not kept: got %q, %+v, %v", out.String(), result, err)
	}
}

// TestRequestThatWaits: a request that has nothing to write for now ends when the child does, not later.
func TestRequestThatWaits(t *testing.T) {
	settled(t)
	r, w := io.Pipe()
	s := spec("exit", "7")
	calls := 0
	s.Request, s.Exited, s.Deadline = r, func() { calls++; _ = w.Close() }, patience
	if result, err := Run(t.Context(), s); err != nil || result.ExitCode != 7 || calls != 1 {
		t.Errorf("got %+v, %v, %d calls", result, err, calls)
	}
	// A child that is killed too.
	r, w = io.Pipe()
	s = spec("never")
	s.Request, s.Exited, s.Deadline = r, func() { calls++; _ = w.Close() }, time.Second
	if result, err := Run(t.Context(), s); !errors.Is(err, ErrDeadline) || calls != 2 {
		t.Errorf("got %+v, %v, %d calls", result, err, calls)
	}
}

// TestStderrAsItComes: it is given on, and nothing of it is kept.
func TestStderrAsItComes(t *testing.T) {
	settled(t)
	var out bytes.Buffer
	s := spec("stderr", "300000")
	s.Stderr, s.MaxStderr, s.StderrFatal = &out, 10, true
	if result, err := Run(t.Context(), s); err != nil || out.Len() != 300000 || len(result.Stderr) != 0 || result.StderrDropped != 0 {
		t.Errorf("got %d bytes, %+v, %v", out.Len(), result, err)
	}
}

// TestLifeline: a child notices that its parent was killed. The leaf holds one end of a pipe, and the end of that pipe is
// the proof that the leaf is gone.
func TestLifeline(t *testing.T) {
	settled(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, gone := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := io.ReadFull(r, make([]byte, 1))
		ready <- err
		_, err = io.Copy(io.Discard, r)
		gone <- err
	}()
	ended := make(chan error, 1)
	go func() {
		s := spec("middle")
		s.Donate = []Donation{{"alive", w}}
		_, err := Run(ctx, s)
		_ = w.Close()
		ended <- err
	}()
	await := func(what string, c chan error) error {
		select {
		case err := <-c:
			return err
		case <-time.After(patience):
			t.Fatalf("no word of: %s", what)
			return nil
		}
	}
	if err := await("the leaf is ready", ready); err != nil {
		t.Fatal(err)
	}
	cancel() // kills the one in the middle, which cannot tell the leaf
	if err := await("the middle was killed", ended); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := await("the leaf is gone", gone); err != nil {
		t.Fatal(err)
	}
}

func TestNotStarted(t *testing.T) {
	settled(t)
	dir := t.TempDir()
	f, err := os.CreateTemp(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := map[string]Spec{
		"relative path":       {Path: "tool"},
		"no path":             {},
		"relative directory":  {Path: self, Dir: "here"},
		"negative deadline":   {Path: self, Deadline: -1},
		"negative bound":      {Path: self, MaxStdout: -1},
		"negative bound 2":    {Path: self, MaxStderr: -1},
		"no such file":        {Path: filepath.Join(dir, "none")},
		"not a program":       {Path: f.Name()},
		"no such directory":   {Path: self, Dir: filepath.Join(dir, "none")},
		"NUL in an argument":  {Path: self, Args: []string{"a\x00b"}},
		"NUL in a variable":   {Path: self, Args: []string{"child", "exit", "0"}, Env: []string{"A=\x00"}},
		"donation, no name":   {Path: self, Donate: []Donation{{"", f}}},
		"donation, bad name":  {Path: self, Donate: []Donation{{"a=b", f}}},
		"donation, no file":   {Path: self, Donate: []Donation{{"a", nil}}},
		"donation, one twice": {Path: self, Donate: []Donation{{"a", f}, {"a", f}}},
	}
	if runtime.GOOS == "windows" {
		for _, name := range []string{"a.bat", "a.CMD", "a.cmd. ."} {
			cases[name] = Spec{Path: filepath.Join(dir, name)}
		}
	}
	for name, s := range cases {
		result, err := Run(t.Context(), s)
		var start *StartError
		if !errors.As(err, &start) || start.Program != s.Path || result.Started || result.ExitCode != -1 {
			t.Errorf("%s: got %+v, %v", name, result, err)
		}
	}
}

// TestManyAtOnce: calls do not disturb each other.
func TestManyAtOnce(t *testing.T) {
	settled(t)
	const n = 8
	errs := make(chan error, n)
	for i := range n {
		go func() {
			size := int64(i+1) * 100_000
			var got sum
			s := spec("both", fmt.Sprint(size))
			s.Request, s.Stdout = &pattern{n: size}, &got
			result, err := Run(t.Context(), s)
			if err == nil && (got.String() != sumOf(size) || string(result.Stderr) != sumOf(size)) {
				err = fmt.Errorf("%d: got %s, %+v", i, &got, result)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if _, err := Run(b.Context(), spec("exit", "0")); err != nil {
			b.Fatal(err)
		}
	}
}
