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
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/shim/job"
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
	stderr bytes.Buffer
}

// spawn starts a child with the file as its module. It is killed at the end of the test, or when patience ends.
func spawn(t *testing.T, module *os.File) *host {
	t.Helper()
	h := &host{cmd: exec.Command(os.Args[0], job.Command)}
	h.cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // the lifeline must not need a second processor
	h.cmd.Stderr = &h.stderr
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
		Do: job.Run, Memory: 16 << 20, Plan: 1 << 20, Diagnostics: 1000, Request: int64(len(request)),
		ModuleSize: int64(len(module)), Digest: sha256.Sum256(module),
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
	if hello, err := job.ReadHello(h.out); err != nil || hello.Level != job.LevelNone {
		t.Fatalf("got %+v, %v", hello, err)
	}
}

func TestRun(t *testing.T) {
	module := wasmbuild.Echo()
	h := spawn(t, fileOf(t, module))
	request := strings.Repeat("what now? ", 30_000)
	h.write(t, append(jobFor(module, request).Append(nil), request...))
	h.hello(t)
	reply, err := job.ReadReply(h.out)
	if err != nil || reply.Outcome != job.OK || reply.Body != int64(len(request)) || reply.Memory < 1<<16 {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if rest, status := h.finish(t); string(rest) != request || status != exitAnswered || h.stderr.Len() != 0 {
		t.Errorf("got %d bytes, status %d, %s", len(rest), status, &h.stderr)
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
		h.write(t, append(jobFor(module, "hello").Append(nil), "hello"...))
		h.hello(t)
		if reply, err := job.ReadReply(h.out); err != nil || reply.Outcome != job.OK {
			t.Errorf("%s: got %+v, %v", name, reply, err)
		}
		if rest, status := h.finish(t); string(rest) != "hello" || status != exitAnswered {
			t.Errorf("%s: got %q, status %d", name, rest, status)
		}
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
		h.write(t, j.Append(nil))
		h.hello(t)
		reply, err := job.ReadReply(h.out)
		if err != nil || reply.Outcome != job.BadModule || !strings.Contains(reply.Text, "digest") {
			t.Errorf("%s: got %+v, %v", name, reply, err)
		}
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
			h.write(t, jobFor(g.Module, "").Append(nil))
			h.hello(t)
			_ = h.in.Close()
			// A guest that uses up its memory or its plan may end by itself first.
			if _, status := h.finish(t); status != exitOrphan {
				t.Errorf("status %d, %s", status, &h.stderr)
			}
		})
	}
	t.Run("before the request", func(t *testing.T) {
		module := wasmbuild.Echo()
		h := spawn(t, fileOf(t, module))
		h.write(t, append(jobFor(module, "hello").Append(nil), "hel"...))
		_ = h.in.Close()
		if rest, status := h.finish(t); status != exitFrame || len(rest) != 0 {
			t.Errorf("got %q, status %d", rest, status)
		}
	})
	t.Run("a byte too many", func(t *testing.T) {
		module := wasmbuild.Spin()
		h := spawn(t, fileOf(t, module))
		h.write(t, append(jobFor(module, "hello").Append(nil), "hello!"...))
		if _, status := h.finish(t); status != exitOrphan {
			t.Errorf("status %d, %s", status, &h.stderr)
		}
	})
}

func TestNoJob(t *testing.T) {
	module := wasmbuild.Echo()
	good := string(jobFor(module, "").Append(nil))
	for name, line := range map[string]string{
		"nothing": "", "text": "install\n", "another version": strings.Replace(good, "job/1", "job/2", 1), "cut off": good[:20],
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
		h.write(t, jobFor(g.Module, "").Append(nil))
		h.hello(t)
		reply, err := job.ReadReply(h.out)
		if err != nil || reply.Outcome != job.OK || reply.Dropped != 16_000*64_000-1000 {
			t.Errorf("%s: got %+v, %v", g.Name, reply, err)
		}
		if _, status := h.finish(t); status != exitAnswered || h.stderr.Len() != 1000 {
			t.Errorf("%s: got %d bytes, status %d", g.Name, h.stderr.Len(), status)
		}
	}
}

func TestInspect(t *testing.T) {
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	h := spawn(t, fileOf(t, module))
	j := jobFor(module, "")
	j.Do = job.Inspect
	h.write(t, j.Append(nil))
	h.hello(t)
	if reply, err := job.ReadReply(h.out); err != nil || reply.Outcome != job.OK {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if info, err := job.ReadInfo(h.out); err != nil || info.Form != job.FormReactor || info.ABI != 1 || info.Problem != job.OK {
		t.Errorf("got %+v, %v", info, err)
	}
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
