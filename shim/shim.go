// Package shim makes a program able to run extensions: one call at the top of main, and the program can be started again
// as the child in which a guest runs.
//
//	func main() {
//		shim.RunIfChild()
//		...
//	}
//
// The child takes one job, which names a module and what is to be done with it, and then requests, one at a time, each of
// which gets an answer from a new instance of the module. Package shim/job has the frame. The order within the child: job and
// module are taken, if it is not code that will be loaded; the environment is dropped; the walls go up (lockdown); the host is
// told how high they are; the module is compiled, or its compiled code is loaded; walls that are no more needed open are
// closed; and only then does any code of the guest run. The guest itself gets nothing but its request (package
// shim/internal/engine). When the host is gone, the child ends.
//
// What it does not protect against: what the walls of this system leave open to a guest that gets out of the WebAssembly
// engine (package shim/policy says it for each level; on some systems it is everything that the user may do), and such a
// guest sees the requests that come after. A guest that never ends is ended by the host, by the lifeline when the host is
// gone, which an evil guest may be able to keep from working (see asks), or by a bound on processor time where there is one.
//
// What may change: the level, as walls are added. RunIfChild stays as it is.
package shim

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/lola-ext/lola/shim/internal/engine"
	"github.com/lola-ext/lola/shim/job"
)

// The exit statuses of a child.
const (
	exitAnswered = 0 // every ask was answered whole, be it by a failure
	exitFrame    = 2 // what it was given is no job
	exitOrphan   = 3 // the host is gone
)

// RunIfChild does a child's job and exits, if the program was started as one: if its first argument is [job.Command].
// Otherwise it returns at once. Call it first in main: what runs before it runs in every child too.
func RunIfChild() {
	if len(os.Args) < 2 || os.Args[1] != job.Command {
		return
	}
	if err := runChild(os.Args[2:]); err != nil {
		quit(err)
	}
	os.Exit(exitAnswered)
}

// quit ends this process because of what it was given.
func quit(err error) {
	fmt.Fprintf(os.Stderr, "lola: %s is for the host's own use: %v\n", job.Command, err)
	os.Exit(exitFrame)
}

// runChild does the job. The error is for what is not due to module or guest: those have an outcome.
func runChild(args []string) error {
	os.Clearenv()
	deafen()
	in := bufio.NewReader(os.Stdin)
	j, err := job.ReadJob(in)
	if err != nil {
		return err
	}
	var module []byte
	var changed bool
	if j.Loads() {
		collectNothing(j) // loading makes little garbage, and collecting it would take as long as the rest
	} else if module, changed, err = takeModule(args, j); err != nil {
		return err
	}
	gone := codeGone(j)
	if gone != nil {
		j.Code = "" // there is nothing to leave open
	}
	hello, err := confine(j)
	if err != nil {
		return fmt.Errorf("locking down: %w", err)
	}
	if _, err := os.Stdout.Write(hello.Append(nil)); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	asks := listen(in, j.Request)
	w := &work{job: j, said: diagnostics{to: os.Stderr, left: j.Diagnostics}, failed: gone, early: reaches(hello.Level, j.Level)}
	if gone == nil {
		w.prepare(module, changed)
	}
	asks.prepared()
	for request := range asks.next {
		body, reply, end := w.do(request)
		reply.Body, reply.Written, reply.Dropped = int64(len(body)), w.said.written, w.said.dropped
		asks.answered()
		if _, err := os.Stdout.Write(reply.Append(nil)); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
		if _, err := os.Stdout.Write(body); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
		end()
		w.said = diagnostics{to: os.Stderr, left: j.Diagnostics}
	}
	return nil
}

// codeGone says that the folder of the code that is to be loaded is not there. Another process may have dropped it.
func codeGone(j job.Job) error {
	if !j.Loads() {
		return nil
	}
	if _, err := os.Lstat(j.Code); errors.Is(err, fs.ErrNotExist) {
		return &engine.Failure{Outcome: job.StaleCode, Text: "its folder is gone"}
	}
	return nil
}

// work is what the job says to do with a module.
type work struct {
	job    job.Job
	said   diagnostics
	module *engine.Module
	code   job.Code
	failed error // why there is no answer to any request
	early  bool  // code of the guest may run before the host has seen how high the walls are
	litter int64 // bytes of requests and plans that were not collected
}

// prepare does what comes before the first request. What fails is told as an answer.
func (w *work) prepare(module []byte, changed bool) {
	if changed {
		w.failed = &engine.Failure{Outcome: job.BadModule, Text: "it is not the module that was named: its digest is another"}
		return
	}
	cfg := engine.Config{Memory: w.job.Memory, Plan: w.job.Plan, Diagnostics: &w.said, Code: w.job.Code, Digest: w.job.Digest}
	if w.job.Do == job.Compile {
		w.code, w.failed = engine.Store(context.Background(), module, cfg)
		return
	}
	w.module, w.failed = engine.Compile(context.Background(), module, cfg)
	if w.failed == nil {
		w.failed = enterGuest(w.job)
	}
	if w.failed == nil && w.early && w.job.Do == job.Run {
		w.module.Ready(context.Background()) // the request may come later: a child of a pool waits for it
	}
}

// do answers one request. The body may lie in the guest's memory: end is called when it is no more needed.
func (w *work) do(request []byte) (body []byte, reply job.Reply, end func()) {
	end = func() {}
	err := w.failed
	switch {
	case err != nil:
	case w.job.Do == job.Compile:
		body = w.code.Append(nil)
	case w.job.Do == job.Inspect:
		body = w.module.Inspect(context.Background()).Append(nil)
	default:
		if w.litter > tidyAfter { // no guest runs now, so nothing waits for one to stop
			runtime.GC()
			w.litter = 0
		}
		var answer engine.Answer
		answer, err = w.module.Run(context.Background(), request)
		body, reply.Memory, end = answer.Plan, answer.Memory, answer.Close
		w.litter += int64(len(request)) + planCopies*int64(len(body))
	}
	reply.Outcome = job.OK
	if err != nil {
		body = nil
		reply.Outcome, reply.Text = job.Internal, err.Error()
		var f *engine.Failure
		if errors.As(err, &f) {
			reply.Outcome, reply.Text = f.Outcome, f.Text
		}
	}
	return body, reply, end
}

// takeModule reads the donated module. A regular file is read at its own offsets, because the descriptor's offset is
// shared with whoever else has it. It reports whether the bytes are others than the job names.
func takeModule(args []string, j job.Job) (module []byte, changed bool, err error) {
	n, err := job.Donated(args, job.Module)
	if err != nil {
		return nil, false, err
	}
	f := os.NewFile(n, job.Module)
	if f == nil {
		return nil, false, fmt.Errorf("there is no descriptor %d for the module", n)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("reading the module: %w", err)
	}
	var r io.Reader = f
	if info.Mode().IsRegular() {
		r = io.NewSectionReader(f, 0, j.ModuleSize+1)
	}
	module = make([]byte, j.ModuleSize)
	if _, err := io.ReadFull(r, module); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, true, nil
		}
		return nil, false, fmt.Errorf("reading the module: %w", err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return nil, true, nil
	}
	return module, sha256.Sum256(module) != j.Digest, nil
}

// diagnostics writes up to a bound and counts the rest. The guest cannot tell.
type diagnostics struct {
	to                     io.Writer
	left, written, dropped int64
}

// Write implements io.Writer. It never fails.
func (d *diagnostics) Write(b []byte) (int, error) {
	take := min(int64(len(b)), d.left)
	d.left -= take
	d.written += take
	d.dropped += int64(len(b)) - take
	if take > 0 {
		_, _ = d.to.Write(b[:take])
	}
	return len(b), nil
}
