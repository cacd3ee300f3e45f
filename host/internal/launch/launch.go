// Package launch starts one ordinary child process, gives it a request, takes its answer, and is done with it in bounded
// time whatever the child does. It is the only place in the host that starts a process.
//
//	var answer bytes.Buffer
//	result, err := launch.Run(ctx, launch.Spec{
//		Path:      "/usr/bin/tool",
//		Args:      []string{"plan"},
//		Request:   strings.NewReader("hello"),
//		Stdout:    &answer,
//		MaxStdout: 1 << 20,
//		MaxStderr: 64 << 10,
//	})
//	if err != nil { ... }              // not started, over a bound, past the deadline, cancelled
//	if result.ExitCode != 0 { ... }    // the child's own word
//
// The child is given exactly what the [Spec] names: program, arguments, environment, directory, descriptors 0 to 2 and
// the donated files. Writing, reading and waiting go on side by side, so that no size on either side and no order of
// reading and writing in the child can block them for good; when the deadline passes or the context ends, the child is
// killed and reaped.
//
// What it does not protect against: a child runs with all rights of this process, it is not confined here. Processes
// that the child starts are neither found nor killed yet: one that holds the pipes open costs a short grace
// ([Result].Held), and lives on. Only the child itself is killed.
//
// What may change: hardening (own session, no-new-privs, parent-death signal, job objects, cleanup of descendants) is to
// come into the platform files, and with it fields of Spec. The package holds no state; all of it may be used
// concurrently.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultDeadline is the deadline of a [Spec] that names none.
const DefaultDeadline = 30 * time.Second

const (
	// heldGrace is how long an output pipe may give nothing, after the child is gone, before it counts as held by some
	// other process. What the child wrote before it ended lies in the pipe and is read without waiting, so only bytes of
	// others can be lost by a short grace.
	heldGrace = 250 * time.Millisecond
	// reapGrace is how long a killed child may take to be gone. Only a process that hangs within the kernel takes longer.
	reapGrace = 10 * time.Second
	// tick is how often a pipe that is to end is looked at.
	tick = 5 * time.Millisecond
	// copySize is the buffer of an output pipe: what a pipe holds on Linux by default (pipe(7)).
	copySize = 64 << 10
)

// Spec says what to start and what it may cost. The zero value of each field is the strictest.
type Spec struct {
	// Path is the program, absolute; nothing is searched. On Windows a batch file (.bat, .cmd) is refused, because its
	// arguments would be parsed a second time by cmd.exe.
	Path string
	// Args are the arguments after the program's name, which is Path. Each donation appends one more.
	Args []string
	// Env is the whole environment, "NAME=value" each; nothing is inherited. On Windows SYSTEMROOT is added if it is not
	// there, without which much of the system's own code does not start.
	Env []string
	// Dir is the working directory, absolute. Empty: the root directory (on Windows that of Path's drive), so that no
	// relative name in the child means a file of the user's project.
	Dir string

	// Request is what the child reads on descriptor 0; nil: nothing. Its Read must not block for good: that is not
	// interrupted. A child that closes its end early is no error, see [Result].RequestCut.
	Request io.Reader
	// KeepStdin leaves descriptor 0 open after the request until the child is gone. The child must then learn the
	// request's length from the request, and can tell that this process is gone by reading the end of file.
	KeepStdin bool

	// Exited is called once when the process is gone, while the last bytes may still be read; nil: nothing is. It is where a
	// Request ends that waits for what to write next, as it must. It must not block.
	Exited func()

	// Stdout takes what the child writes on descriptor 1; nil: dropped. An error of its Write kills the child and is
	// returned. Its Write must not block for good.
	Stdout io.Writer
	// MaxStdout is how many bytes of descriptor 1 there may be. One more kills the child, and Run returns a
	// [*BoundError]. 0: none.
	MaxStdout int64
	// MaxStderr is how many bytes of descriptor 2 are kept. What is more is counted and dropped, or kills the child if
	// StderrFatal is set. 0: none is kept.
	MaxStderr   int64
	StderrFatal bool
	// Stderr takes what the child writes on descriptor 2 as it comes, instead of MaxStderr bytes being kept. It bounds itself,
	// does not block for good, and never fails.
	Stderr io.Writer

	// Deadline covers everything from the start of the process to its last byte, writing the request included. 0:
	// [DefaultDeadline].
	Deadline time.Duration

	// Donate are the files that the child gets beside descriptors 0 to 2.
	Donate []Donation
}

// Donation is one open file given to the child. The child gets the argument "Name=N": descriptor N on Unix (3 and up, in
// order), handle N on Windows, decimal. Names are lower-case letters and digits and stand once. The file must stay open
// until Run returns, and stays the caller's.
//
// The child shares the open file description: offset and access mode with it (open(2)).
type Donation struct {
	Name string
	File *os.File
}

// Result is what became of the child. Run fills it in as far as it got, also beside an error.
type Result struct {
	// Started says that there was a process. It is gone now, except beside [ErrUnreaped].
	Started bool
	// ExitCode is the child's exit status; -1 if it did not exit by itself.
	ExitCode int
	// State is the end of the child in words, as in "exit status 1" or "signal: killed".
	State string
	// Stdout counts the bytes that were given to Spec.Stdout.
	Stdout int64
	// Stderr is what the child wrote on descriptor 2, at most Spec.MaxStderr bytes. It is foreign text.
	Stderr []byte
	// StderrDropped counts the bytes after these. More than 0: Stderr was truncated.
	StderrDropped int64
	// RequestBytes counts the bytes of the request that were written into the pipe, which is not to say read.
	RequestBytes int64
	// RequestCut says that the child closed descriptor 0 or ended before the whole request was written.
	RequestCut bool
	// Held says that some other process held descriptor 1 or 2 open after the child had ended, and was not waited for.
	Held bool
	// TimedOut says that the child was killed because of a deadline, Spec's or the context's.
	TimedOut bool
	// Elapsed is the time from the call of Run to the end of all its work.
	Elapsed time.Duration
	// PeakRSS is the most resident memory in bytes (getrusage(2)); 0 where the platform does not tell, which is Windows.
	// Linux counts what this process had resident when it started the child, so it is an upper bound.
	PeakRSS int64
}

// check refuses a Spec that cannot be meant, and fills in defaults.
func (s Spec) check() (Spec, error) {
	bad := func(format string, args ...any) (Spec, error) {
		return s, &StartError{Program: s.Path, Err: fmt.Errorf(format, args...)}
	}
	if !filepath.IsAbs(s.Path) {
		return bad("the path is not absolute")
	}
	if err := checkProgram(s.Path); err != nil {
		return bad("%w", err)
	}
	switch {
	case s.Dir == "":
		s.Dir = filepath.VolumeName(s.Path) + string(filepath.Separator)
	case !filepath.IsAbs(s.Dir):
		return bad("the working directory %q is not absolute", s.Dir)
	}
	switch {
	case s.Deadline == 0:
		s.Deadline = DefaultDeadline
	case s.Deadline < 0:
		return bad("the deadline is %v", s.Deadline)
	}
	if s.MaxStdout < 0 || s.MaxStderr < 0 {
		return bad("the bounds are %d bytes on stdout and %d on stderr", s.MaxStdout, s.MaxStderr)
	}
	if s.Request == nil {
		s.Request = strings.NewReader("")
	}
	if s.Stdout == nil {
		s.Stdout = io.Discard
	}
	seen := make(map[string]bool)
	for _, d := range s.Donate {
		if d.Name == "" || strings.Trim(d.Name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || seen[d.Name] {
			return bad("the donation %q has no name of its own of lower-case letters and digits", d.Name)
		}
		if d.File == nil {
			return bad("the donation %q is no file", d.Name)
		}
		seen[d.Name] = true
	}
	return s, nil
}

// Run starts a process, serves it and returns when it is gone. An exit status other than 0 is no error.
//
// Errors: a [*StartError] if there was no process; a [*RunError] otherwise, which wraps [ErrDeadline], the cause of the
// context's end, a [*BoundError], what Spec.Request or Spec.Stdout returned, or [ErrUnreaped].
//
// Postconditions: no goroutine, descriptor or process of this call is left, except beside ErrUnreaped and when starting
// itself outlasts the deadline (a program on a file system that hangs): what is left then ends as soon as the system lets
// it.
//
// On Unix Run marks all descriptors of this process from 3 up close-on-exec, because those that were opened without that
// mark would be inherited. A descriptor that another thread opens without the mark while Run starts the process can still
// slip through: what is opened by Go's own packages always has it.
func Run(ctx context.Context, spec Spec) (Result, error) {
	began := time.Now()
	spec, err := spec.check()
	if err != nil {
		return Result{ExitCode: -1, Elapsed: time.Since(began)}, err
	}
	ctx, cancel := context.WithDeadlineCause(ctx, began.Add(spec.Deadline), ErrDeadline)
	defer cancel()
	c, err := start(ctx, spec)
	if err != nil {
		result := Result{ExitCode: -1, TimedOut: timedOut(err), Elapsed: time.Since(began)}
		return result, &StartError{Program: spec.Path, Err: err}
	}
	result, err := c.serve(ctx, spec)
	result.Elapsed = time.Since(began)
	if err != nil {
		result.TimedOut = timedOut(err)
		return result, &RunError{Program: spec.Path, Err: err}
	}
	return result, nil
}

// timedOut reports whether err is the end of a deadline.
func timedOut(err error) bool {
	return errors.Is(err, ErrDeadline) || errors.Is(err, context.DeadlineExceeded)
}
