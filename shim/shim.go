// Package shim makes a program able to run extensions: one call at the top of main, and the program can be started again
// as the child in which a guest runs.
//
//	func main() {
//		shim.RunIfChild()
//		...
//	}
//
// The child takes one job, in which everything is in: a module and a request; it answers one plan and ends. Package
// shim/job has the frame. The order within the child: job, module and request are taken; the environment is dropped; the
// walls go up (lockdown); the host is told how high they are; only then is the module looked at. The guest itself gets
// nothing but its request (package shim/internal/engine). When the host is gone, the child ends.
//
// What it does not protect against: there are no walls yet, the level is "none": a guest that gets out of the WebAssembly
// engine has the rights of the user. A guest that never ends is ended by the host, or by the lifeline when the host is
// gone, which an evil guest may be able to keep from working (see watch).
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
	"os"

	"github.com/lola-ext/lola/shim/internal/engine"
	"github.com/lola-ext/lola/shim/job"
)

// The exit statuses of a child.
const (
	exitAnswered = 0 // a reply was written whole, be it that of a failure
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
		fmt.Fprintf(os.Stderr, "lola: %s is for the host's own use: %v\n", job.Command, err)
		os.Exit(exitFrame)
	}
	os.Exit(exitAnswered)
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
	module, changed, err := takeModule(args, j)
	if err != nil {
		return err
	}
	// The request is read before the guest begins, so that from then on only the end of the host comes on descriptor 0.
	request := make([]byte, j.Request)
	if _, err := io.ReadFull(in, request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	level, err := lockdown(j)
	if err != nil {
		return fmt.Errorf("locking down: %w", err)
	}
	if _, err := os.Stdout.Write(job.Hello{Level: level}.Append(nil)); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	watch(in)

	said := &diagnostics{to: os.Stderr, left: j.Diagnostics}
	body, reply := perform(j, module, changed, request, said)
	reply.Body, reply.Dropped = int64(len(body)), said.dropped
	if _, err := os.Stdout.Write(reply.Append(nil)); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	if _, err := os.Stdout.Write(body); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// perform does what the job says to the module. The body lies in the guest's memory, which stays until the process ends.
func perform(j job.Job, module []byte, changed bool, request []byte, said io.Writer) ([]byte, job.Reply) {
	if changed {
		return nil, job.Reply{Outcome: job.BadModule, Text: "it is not the module that was named: its digest is another"}
	}
	cfg := engine.Config{Memory: j.Memory, Plan: j.Plan, Diagnostics: said}
	var body []byte
	var reply job.Reply
	m, err := engine.Compile(context.Background(), module, cfg)
	if err == nil {
		if err := enterGuest(j); err != nil {
			return nil, job.Reply{Outcome: job.Internal, Text: err.Error()}
		}
		if j.Do == job.Inspect {
			body = m.Inspect(context.Background()).Append(nil)
		} else {
			var answer engine.Answer
			answer, err = m.Run(context.Background(), request)
			body, reply.Memory = answer.Plan, answer.Memory
		}
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
	return body, reply
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
	to            io.Writer
	left, dropped int64
}

// Write implements io.Writer. It never fails.
func (d *diagnostics) Write(b []byte) (int, error) {
	take := min(int64(len(b)), d.left)
	d.left -= take
	d.dropped += int64(len(b)) - take
	if take > 0 {
		_, _ = d.to.Write(b[:take])
	}
	return len(b), nil
}
