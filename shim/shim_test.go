package shim

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// The test binary is the program whose main calls RunIfChild.
func TestMain(m *testing.M) {
	RunIfChild()
	os.Exit(m.Run())
}

const patience = 2 * time.Minute

// host is the other side of a child, spoken by hand.
type host struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	err    io.Reader // nil: it goes to stderr
	stderr bytes.Buffer
}

// spawn starts a child with the file as its module. It is killed at the end of the test, or when patience ends.
func spawn(t *testing.T, module *os.File) *host { return spawnWith(t, module, false) }

// spawnWith gives the child's standard error to who reads host.err, if it is piped.
func spawnWith(t *testing.T, module *os.File, piped bool) *host {
	t.Helper()
	h := &host{cmd: exec.Command(os.Args[0], job.Command)}
	h.cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // the lifeline must not need a second processor
	if module != nil {
		donateModule(t, h.cmd, module)
	}
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewReader(out)
	if piped {
		if h.err, err = h.cmd.StderrPipe(); err != nil {
			t.Fatal(err)
		}
	} else {
		h.cmd.Stderr = &h.stderr
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = h.cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	})
	return h
}

func fileOf(t *testing.T, b []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "module")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func jobFor(module []byte, request string) job.Job {
	return job.Job{
		Do: job.Run, Memory: 16 << 20, Plan: 1 << 20, Diagnostics: 1000, Request: int64(len(request)), CPU: 300,
		ModuleSize: int64(len(module)), Digest: sha256.Sum256(module),
	}
}

func ask(request string) []byte {
	return append(job.Ask{Request: int64(len(request))}.Append(nil), request...)
}

// start writes a job and the first request.
func (h *host) start(t *testing.T, j job.Job, request string) {
	t.Helper()
	h.write(t, append(j.Append(nil), ask(request)...))
	h.hello(t)
}

// answer reads one answer.
func (h *host) answer(t *testing.T) (job.Reply, string) {
	t.Helper()
	reply, err := job.ReadReply(h.out)
	if err != nil {
		t.Fatalf("%v, %s", err, &h.stderr)
	}
	body := make([]byte, reply.Body)
	if _, err := io.ReadFull(h.out, body); err != nil {
		t.Fatal(err)
	}
	return reply, string(body)
}

// end says that there is nothing more to do, and wants the child to end well.
func (h *host) end(t *testing.T) {
	t.Helper()
	_ = h.in.Close()
	if rest, status := h.finish(t); len(rest) != 0 || status != exitAnswered {
		t.Errorf("got %q, status %d, %s", rest, status, &h.stderr)
	}
}

// finish reads to the end and returns the exit status.
func (h *host) finish(t *testing.T) (rest []byte, status int) {
	t.Helper()
	rest, err := io.ReadAll(h.out)
	if err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait()
	return rest, h.cmd.ProcessState.ExitCode()
}

func (h *host) write(t *testing.T, b []byte) {
	t.Helper()
	if _, err := h.in.Write(b); err != nil {
		t.Fatal(err)
	}
}

func (h *host) hello(t *testing.T) {
	t.Helper()
	hello, err := job.ReadHello(h.out)
	if err != nil {
		t.Fatalf("%v, %s", err, &h.stderr)
	}
	level, err := policy.ParseLevel(hello.Level)
	if err != nil || hello.Seccomp != level.AtLeast(policy.Seccomp) || level == policy.Full && hello.Landlock == 0 {
		t.Fatalf("got %+v, %v", hello, err)
	}
	if runtime.GOOS == "linux" && !level.AtLeast(policy.Process) {
		t.Fatalf("got %+v: nothing stands around it", hello)
	}
}

func TestRun(t *testing.T) {
	module := wasmbuild.Echo()
	h := spawn(t, fileOf(t, module))
	request := strings.Repeat("what now? ", 30_000)
	h.start(t, jobFor(module, request), request)
	if reply, body := h.answer(t); reply.Outcome != job.OK || body != request || reply.Memory < 1<<16 {
		t.Errorf("got %+v, %d bytes", reply, len(body))
	}
	h.end(t)
	if h.stderr.Len() != 0 {
		t.Errorf("got %s", &h.stderr)
	}
}

// TestManyAsks: each request is answered by a new instance, whatever became of the one before, and bounds are for each.
func TestManyAsks(t *testing.T) {
	big := strings.Repeat("0123456789", 100_000)
	module := wasmbuild.Echo()
	h := spawn(t, fileOf(t, module))
	h.start(t, jobFor(module, big), "")
	if reply, _ := h.answer(t); reply.Outcome != job.EmptyPlan {
		t.Errorf("got %+v", reply)
	}
	var memory int64
	for i := range 40 {
		request := big[:len(big)-i]
		h.write(t, ask(request))
		reply, body := h.answer(t)
		if reply.Outcome != job.OK || body != request || i > 0 && reply.Memory != memory {
			t.Fatalf("%d: got %+v, %d bytes", i, reply, len(body))
		}
		memory = reply.Memory
	}
	h.end(t)

	// Its diagnostics are counted anew, and a trap in one is nothing to the next.
	for _, g := range wasmbuild.Guests() {
		if g.Outcome != job.Trap && !strings.HasPrefix(g.Name, "writes 1 GB") {
			continue
		}
		h := spawn(t, fileOf(t, g.Module))
		h.start(t, jobFor(g.Module, ""), "")
		first, _ := h.answer(t)
		h.write(t, ask(""))
		if second, _ := h.answer(t); second != first || first.Written == 0 {
			t.Errorf("%s: got %+v\nthen %+v", g.Name, first, second)
		}
		h.end(t)
		if int64(h.stderr.Len()) != 2*first.Written {
			t.Errorf("%s: %d bytes of diagnostics, twice %d were announced", g.Name, h.stderr.Len(), first.Written)
		}
	}
}

// TestNoProperAsk: a request over the job's bound, and other lines.
func TestNoProperAsk(t *testing.T) {
	module := wasmbuild.Echo()
	for name, line := range map[string]string{
		"too large": string(ask("hello")), "another line": string(jobFor(module, "").Append(nil)), "text": "hello\n",
	} {
		h := spawn(t, fileOf(t, module))
		h.start(t, jobFor(module, "hell"), "hell")
		h.answer(t)
		h.write(t, []byte(line))
		if rest, status := h.finish(t); status != exitFrame || len(rest) != 0 {
			t.Errorf("%s: got %q, status %d", name, rest, status)
		}
	}
}

// TestCompileAndLoad: the code that one child leaves in a folder is what another runs, and what is stale is told as such.
func TestCompileAndLoad(t *testing.T) {
	module := wasmbuild.Echo()
	j := jobFor(module, "hello")
	j.Do, j.Code = job.Compile, t.TempDir()
	h := spawn(t, fileOf(t, module))
	if runtime.GOOS == "linux" && !probe.System().Has(policy.WallLandlock) {
		h.write(t, j.Append(nil))
		if rest, status := h.finish(t); status != exitFrame || len(rest) != 0 {
			t.Errorf("it stores where nothing keeps it to the folder: got %q, status %d", rest, status)
		}
		return
	}
	h.start(t, j, "")
	reply, body := h.answer(t)
	code, err := job.ReadCode(strings.NewReader(body))
	if reply.Outcome != job.OK || err != nil {
		t.Fatalf("got %+v, %+v, %v", reply, code, err)
	}
	h.end(t)
	entry := filepath.Join(j.Code, filepath.FromSlash(code.Entry))
	if info, err := os.Stat(entry); err != nil || info.Size() != code.Size {
		t.Errorf("got %+v, %v", code, err)
	}

	j.Do, j.ModuleSize = job.Run, 0
	h = spawn(t, fileOf(t, module)) // which it does not look at
	h.start(t, j, "hello")
	if reply, body := h.answer(t); reply.Outcome != job.OK || body != "hello" {
		t.Errorf("got %+v, %q", reply, body)
	}
	h.end(t)

	if err := os.Truncate(entry, code.Size/2); err != nil {
		t.Fatal(err)
	}
	h = spawn(t, fileOf(t, module))
	h.start(t, j, "hello")
	for range 2 {
		if reply, _ := h.answer(t); reply.Outcome != job.StaleCode {
			t.Errorf("got %+v", reply)
		}
		h.write(t, ask(""))
	}
	h.answer(t)
	h.end(t)

	if err := os.RemoveAll(j.Code); err != nil {
		t.Fatal(err)
	}
	h = spawn(t, fileOf(t, module))
	h.start(t, j, "hello")
	if reply, _ := h.answer(t); reply.Outcome != job.StaleCode {
		t.Errorf("with no folder at all: got %+v", reply)
	}
	h.end(t)
}

// TestReadyBeforeTheAsk: what a guest does before it needs a request it does while the child waits for one, but not where the
// host may find the walls too low.
func TestReadyBeforeTheAsk(t *testing.T) {
	c := wasmbuild.I32Const
	word := []byte("awake")
	poke := func(at, v int32) []byte { return slices.Concat(c(at), c(v), wasmbuild.Store()) }
	const fdWrite = 2 // as wasmbuild.Reactor imports it
	module := wasmbuild.Reactor(wasmbuild.Parts{
		Before:     func(m *wasmbuild.Builder) { m.Data(2048, word) },
		Initialize: slices.Concat(poke(16, 2048), poke(20, int32(len(word))), c(2), c(16), c(1), c(24), wasmbuild.Call(fdWrite), []byte{0x1a}), // drop
	})
	for _, tc := range []struct {
		level string
		early bool
	}{{"", true}, {string(policy.None), true}, {"higher", false}} {
		t.Run(tc.level, func(t *testing.T) {
			h := spawnWith(t, fileOf(t, module), true)
			j := jobFor(module, "")
			j.Level = tc.level
			h.write(t, j.Append(nil))
			h.hello(t)
			said := make(chan string, 1)
			go func() {
				b := make([]byte, len(word))
				_, _ = io.ReadFull(h.err, b)
				said <- string(b)
			}()
			if tc.early {
				if got := <-said; got != string(word) {
					t.Errorf("got %q before it was asked", got)
				}
			} else {
				select {
				case got := <-said:
					t.Errorf("got %q before it was asked", got)
				case <-time.After(300 * time.Millisecond):
				}
			}
			h.write(t, ask(""))
			if reply, body := h.answer(t); reply.Outcome != job.OK || body != string(wasmbuild.EmptyPlan) || reply.Written != int64(len(word)) {
				t.Errorf("got %+v, %q", reply, body)
			}
			h.write(t, ask("")) // of which the guest is a new one
			if reply, _ := h.answer(t); reply.Outcome != job.OK || reply.Written != int64(len(word)) {
				t.Errorf("got %+v", reply)
			}
			h.end(t)
		})
	}
}

// TestModuleThroughAPipe, and with the descriptor's offset elsewhere.
func TestModuleFromAnywhere(t *testing.T) {
	module := wasmbuild.Echo()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = w.Write(module)
		_ = w.Close()
	}()
	moved := fileOf(t, module)
	if _, err := moved.Seek(7, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*os.File{"pipe": r, "offset": moved} {
		h := spawn(t, f)
		h.start(t, jobFor(module, "hello"), "hello")
		if reply, body := h.answer(t); reply.Outcome != job.OK || body != "hello" {
			t.Errorf("%s: got %+v, %q", name, reply, body)
		}
		h.end(t)
	}
	_ = r.Close()
}

// TestModuleThatIsNotTheOneNamed: not one byte of it is looked at.
func TestModuleThatIsNotTheOneNamed(t *testing.T) {
	module := wasmbuild.Echo()
	j := jobFor(module, "")
	other := bytes.Clone(module)
	other[len(other)-1] ^= 1
	for name, b := range map[string][]byte{
		"another": other, "longer": append(bytes.Clone(module), 0), "shorter": module[:len(module)-1], "empty": nil,
	} {
		h := spawn(t, fileOf(t, b))
		h.start(t, j, "")
		reply, _ := h.answer(t)
		if reply.Outcome != job.BadModule || !strings.Contains(reply.Text, "digest") {
			t.Errorf("%s: got %+v", name, reply)
		}
		h.end(t)
	}
}

// TestHelloComesFirst: the level is told while the guest still spins in its start function.
func TestHelloComesFirst(t *testing.T) {
	module := wasmbuild.Reactor(wasmbuild.Parts{Start: wasmbuild.Forever()})
	h := spawn(t, fileOf(t, module))
	h.write(t, jobFor(module, "").Append(nil))
	h.hello(t)
}

// TestLifeline: the child ends when the host does, wherever it is.
func TestLifeline(t *testing.T) {
	for _, g := range wasmbuild.Endless() {
		t.Run(g.Name, func(t *testing.T) {
			h := spawn(t, fileOf(t, g.Module))
			h.start(t, jobFor(g.Module, ""), "")
			_ = h.in.Close()
			// A guest that uses up its memory or its plan may end by itself first.
			if _, status := h.finish(t); status != exitOrphan {
				t.Errorf("status %d, %s", status, &h.stderr)
			}
		})
	}
	t.Run("in the request", func(t *testing.T) {
		module := wasmbuild.Echo()
		h := spawn(t, fileOf(t, module))
		h.write(t, append(jobFor(module, "hello").Append(nil), ask("hello")[:20]...))
		h.hello(t)
		_ = h.in.Close()
		if rest, status := h.finish(t); status != exitFrame || len(rest) != 0 {
			t.Errorf("got %q, status %d", rest, status)
		}
	})
	t.Run("a byte too many", func(t *testing.T) {
		module := wasmbuild.Spin()
		h := spawn(t, fileOf(t, module))
		h.start(t, jobFor(module, "hello"), "hello")
		h.write(t, []byte("!"))
		if _, status := h.finish(t); status != exitOrphan {
			t.Errorf("status %d, %s", status, &h.stderr)
		}
	})
	t.Run("in the second request", func(t *testing.T) {
		// It spins when the request has bytes.
		module := wasmbuild.Reactor(wasmbuild.Parts{Run: bytes.Join([][]byte{wasmbuild.LocalGet(1), {0x04, 0x40}, wasmbuild.Forever(), {0x0b}, wasmbuild.I32Const(0)}, nil)})
		h := spawn(t, fileOf(t, module))
		h.start(t, jobFor(module, "hello"), "")
		if reply, _ := h.answer(t); reply.Outcome != job.OK {
			t.Fatalf("got %+v", reply)
		}
		h.write(t, ask("hello"))
		_ = h.in.Close()
		if _, status := h.finish(t); status != exitOrphan {
			t.Errorf("status %d, %s", status, &h.stderr)
		}
	})
}

func TestNoJob(t *testing.T) {
	module := wasmbuild.Echo()
	good := string(jobFor(module, "").Append(nil))
	for name, line := range map[string]string{
		"nothing": "", "text": "install\n", "another version": strings.Replace(good, "job/2", "job/1", 1), "cut off": good[:20],
		"endless": strings.Repeat("x", 1<<17),
	} {
		h := spawn(t, fileOf(t, module))
		_, _ = io.WriteString(h.in, line)
		_ = h.in.Close()
		if rest, status := h.finish(t); status != exitFrame || len(rest) != 0 || !strings.HasPrefix(h.stderr.String(), "lola: __extension-host is for the host's own use: ") {
			t.Errorf("%s: got %q, status %d, %s", name, rest, status, &h.stderr)
		}
	}
	h := spawn(t, nil)
	h.write(t, []byte(good))
	if rest, status := h.finish(t); status != exitFrame || len(rest) != 0 {
		t.Errorf("no module: got %q, status %d, %s", rest, status, &h.stderr)
	}
}

// TestDiagnosticsAreBoundedHere, in the child, whatever the host does.
func TestDiagnosticsAreBoundedHere(t *testing.T) {
	for _, g := range wasmbuild.Guests() {
		if !strings.HasPrefix(g.Name, "writes 1 GB") {
			continue
		}
		h := spawn(t, fileOf(t, g.Module))
		h.start(t, jobFor(g.Module, ""), "")
		if reply, _ := h.answer(t); reply.Outcome != job.OK || reply.Written != 1000 || reply.Dropped != 16_000*64_000-1000 {
			t.Errorf("%s: got %+v", g.Name, reply)
		}
		h.end(t)
		if h.stderr.Len() != 1000 {
			t.Errorf("%s: got %d bytes", g.Name, h.stderr.Len())
		}
	}
}

func TestInspect(t *testing.T) {
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	h := spawn(t, fileOf(t, module))
	j := jobFor(module, "")
	j.Do = job.Inspect
	h.start(t, j, "")
	reply, body := h.answer(t)
	if info, err := job.ReadInfo(strings.NewReader(body)); reply.Outcome != job.OK || err != nil || info.Form != job.FormReactor || info.ABI != 1 || info.Problem != job.OK {
		t.Errorf("got %+v, %+v, %v", reply, info, err)
	}
	h.end(t)
}

// TestNotAChild: without the argument nothing happens. That this test runs at all is the rest of the proof.
func TestNotAChild(t *testing.T) {
	args := os.Args
	defer func() { os.Args = args }()
	for _, a := range [][]string{nil, {"lola"}, {"lola", "install"}, {"lola", "install", job.Command}} {
		os.Args = a
		RunIfChild()
	}
}

func ExampleRunIfChild() {
	RunIfChild() // first in main
	fmt.Println("this is the host")
	// Output: this is the host
}
