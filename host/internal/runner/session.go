package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/internal/launch"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
)

// Session is one child that answers one request after another, each in a new instance of its module. What a guest that got
// out of the engine does to the child it does to the requests that follow, so a session is for one extension alone.
//
// An ask that fails, in whatever way, ends the session. It is used by one goroutine at a time. Close ends it.
type Session struct {
	module   Module
	limits   abi.Limits
	required policy.Level
	bound    int64 // bytes of a body at most
	began    time.Time

	cancel context.CancelCauseFunc // kills the child, with the reason
	in     *io.PipeWriter          // what the child reads after the job line
	out    *io.PipeReader
	br     *bufio.Reader // of out
	said   *said
	done   chan struct{} // closed when the child is gone; what follows is the child's end
	result launch.Result
	runErr error

	hello  job.Hello     // with a level once the line was read
	sent   chan struct{} // closed when the request is written, or never will be; nil before the first
	told   int64         // bytes of diagnostics that the child announced so far
	closed bool          // there is no ask any more
}

// Open starts a child for asks to one module. What keeps it from starting is told by the first Ask, as is all that the
// child does wrong before.
func (r *Runner) Open(m Module) (*Session, error) { return r.open(m, job.Run, "", sessionShare) }

// open starts a child. It may use as much processor time as that many deadlines.
func (r *Runner) open(m Module, do job.Do, code string, deadlines int64) (*Session, error) {
	lim := r.limitsOf(m)
	bound := lim.Plan
	if do != job.Run {
		bound = job.MaxInfo
	} else {
		code = m.Code
	}
	j := job.Job{
		Do: do, Memory: lim.GuestMemory, Plan: lim.Plan, Diagnostics: lim.Diagnostics, Request: lim.Request, CPU: deadlines * processorTime(lim),
		Digest: m.digest(), Level: string(r.required), Code: code,
	}
	var donate []launch.Donation
	release := func() {}
	if !j.Loads() {
		file, size, done, err := r.file(m)
		if err != nil {
			return nil, &Error{Class: ClassStart, Extension: m.Name, Text: err.Error(), Err: err}
		}
		j.ModuleSize, release = size, done
		donate = []launch.Donation{{Name: job.Module, File: file}}
	}
	line := j.Append(nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	inReader, in := io.Pipe()
	out, outWriter := io.Pipe()
	s := &Session{
		module: m, limits: lim, required: r.required, bound: bound, began: time.Now(),
		cancel: cancel, in: in, out: out, br: bufio.NewReader(out), said: newSaid(lim.Diagnostics), done: make(chan struct{}),
	}
	go func() {
		defer release()
		defer cancel(nil)
		s.result, s.runErr = launch.Run(ctx, launch.Spec{
			Path: r.program, Args: []string{job.Command},
			Request: io.MultiReader(bytes.NewReader(line), inReader),
			Exited:  func() { _ = in.Close() },
			Stdout:  outWriter, MaxStdout: unbounded, Stderr: s.said,
			Deadline: unbounded, // each ask has its own
			Donate:   donate,
		})
		_ = in.Close() // when there was no process
		s.said.close()
		_ = outWriter.Close()
		close(s.done)
	}()
	return s, nil
}

// Ask has the child answer a request. Contents of the plan go to the spool, or stay in memory if it is nil. The request is
// encoded and held in memory, here and in the child. The deadline is that of the module's limits, counted from this call; of
// the first ask the start of the child is part. When ctx ends, the child is killed.
//
// Its error is always an [*Error].
func (s *Session) Ask(ctx context.Context, req *abi.Request, spool *wire.Spool) (*Reply, error) {
	return s.plan(ctx, req, spool, time.Now().Add(s.limits.Deadline), false)
}

// plan is Ask until a moment. The last ask takes the end of the child with it.
func (s *Session) plan(ctx context.Context, req *abi.Request, spool *wire.Spool, until time.Time, last bool) (*Reply, error) {
	var encoded bytes.Buffer
	if err := (wire.Options{Limits: s.limits}).EncodeRequest(&encoded, req); err != nil {
		if !s.closed {
			s.kill()
		}
		return nil, &Error{Class: ClassRequest, Extension: s.module.Name, Text: err.Error(), Err: err}
	}
	reply := &Reply{}
	err := s.ask(ctx, encoded.Bytes(), until, last, reply, func(body io.Reader, size int64) error {
		plan, err := wire.DecodePlan(body, spool, wire.Options{Limits: s.limits, Size: size})
		reply.Plan = plan
		return err
	})
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// Close ends the child, which has nothing to do any more, and waits until it is gone. The error, an [*Error], says that it
// did not end as it should; what it answered before was whole. After a failed ask, and a second time, it does nothing.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	return s.conclude(context.Background(), time.Now().Add(s.limits.Deadline), nil, job.Reply{Outcome: job.OK}, &Reply{})
}

// kill ends the child at once and waits until it is gone.
func (s *Session) kill() {
	s.closed = true
	s.cancel(errKilled)
	_ = s.out.CloseWithError(errKilled)
	<-s.done
}

var errKilled = errors.New("nobody wants its answer any more")

// ask is one request and its answer. take reads the body, whose length the child claims.
func (s *Session) ask(ctx context.Context, request []byte, until time.Time, last bool, reply *Reply, take func(io.Reader, int64) error) error {
	if s.closed {
		return &Error{Class: ClassEnded, Extension: s.module.Name, Text: "an earlier request failed, or it was closed"}
	}
	began := time.Now()
	stop := s.watch(ctx, until)
	status, err := s.exchange(request, take)
	reply.Level, reply.Landlock, reply.Seccomp = policy.Level(s.hello.Level), int(s.hello.Landlock), s.hello.Seccomp
	reply.Open = policy.Open(reply.Level, reply.Landlock)
	reply.GuestMemory, reply.Elapsed = status.Memory, time.Since(began)
	if err == nil && status.Outcome == job.OK && !last {
		reply.Diagnostics, reply.DiagnosticsTruncated = s.said.take(status.Dropped)
		if stop() {
			return nil
		}
		// It was killed, or is about to be, after its last byte.
		return s.conclude(ctx, until, nil, status, reply)
	}
	stop()
	return s.conclude(ctx, until, err, status, reply)
}

// watch kills the child when ctx ends or a moment has come. stop ends that, and reports whether it never did.
func (s *Session) watch(ctx context.Context, until time.Time) (stop func() bool) {
	ended := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	timer := time.AfterFunc(time.Until(until), func() { s.cancel(launch.ErrDeadline) })
	return func() bool {
		in, late := ended(), timer.Stop()
		return in && late
	}
}

// conclude waits for the end of the child, which is killed if something was wrong with what it answered, and decides what
// the last ask was.
func (s *Session) conclude(ctx context.Context, until time.Time, err error, status job.Reply, reply *Reply) error {
	s.closed = true
	stop := s.watch(ctx, until)
	defer stop()
	_ = s.in.Close()
	if err == nil {
		switch _, rerr := s.br.ReadByte(); {
		case rerr == nil:
			err = &frameError{errors.New("more follows its answer")}
		case rerr != io.EOF:
			err = rerr
		}
	}
	if err != nil {
		s.cancel(errKilled) // which is too late if it has ended: the end of what it writes is read after that
	}
	_ = s.out.CloseWithError(err)
	<-s.done
	reply.Diagnostics, reply.DiagnosticsTruncated = s.said.take(status.Dropped)
	reply.PeakRSS, reply.Elapsed = s.result.PeakRSS, s.result.Elapsed
	return judge(ctx, s.module.Name, s.limits, s.result, s.runErr, err, status, reply)
}

// exchange sends a request and reads the answer. Errors of the form are [*frameError], others come from take.
//
// Postconditions: without an error the answer was read whole, with an outcome; a body only if that is job.OK.
func (s *Session) exchange(request []byte, take func(io.Reader, int64) error) (status job.Reply, err error) {
	if s.hello.Level == "" {
		if s.hello, err = job.ReadHello(s.br); err != nil {
			return status, &frameError{err}
		}
		level, err := policy.ParseLevel(s.hello.Level)
		if err != nil {
			return status, &frameError{err}
		}
		if s.required != "" && !level.AtLeast(s.required) {
			return status, &LevelError{Level: level, Required: s.required}
		}
	}
	s.send(request)
	if status, err = job.ReadReply(s.br); err != nil {
		return job.Reply{}, &frameError{err}
	}
	if status.Body > s.bound {
		return status, &frameError{fmt.Errorf("it announces a body of %d bytes, the limit is %d", status.Body, s.bound)}
	}
	if status.Written > s.limits.Diagnostics {
		return status, &frameError{fmt.Errorf("it announces %d bytes of diagnostics, the limit is %d", status.Written, s.limits.Diagnostics)}
	}
	if status.Outcome == job.OK {
		body := &io.LimitedReader{R: s.br, N: status.Body}
		if err := take(body, status.Body); err != nil {
			return status, err
		}
		if body.N != 0 {
			return status, &frameError{fmt.Errorf("%d bytes are left over of the body it announced", body.N)}
		}
	}
	s.told += status.Written
	s.said.wait(s.told)
	return status, nil
}

// send writes a request, while whatever the child does is read: it may answer, or end, before it has read all of it. A
// request that follows waits for the one before. That a write fails is told by what the child answers, or does not.
func (s *Session) send(request []byte) {
	before, sent := s.sent, make(chan struct{})
	s.sent = sent
	go func() {
		defer close(sent)
		if before != nil {
			<-before
		}
		if _, err := s.in.Write(job.Ask{Request: int64(len(request))}.Append(nil)); err == nil {
			_, _ = s.in.Write(request)
		}
	}()
}

const (
	// unbounded is for what has its bounds elsewhere.
	unbounded = 1 << 62
	// sessionShare is how many deadlines of processor time a session has that may have any number of asks.
	sessionShare = 16
)

// processorTime is what a child may use for one ask, in whole seconds: the deadline, and one for its start and end.
func processorTime(l abi.Limits) int64 {
	return int64((l.Deadline+time.Second-1)/time.Second) + 1
}

// said takes what a child writes on descriptor 2, bound bytes between two calls of take.
type said struct {
	bound int64

	mu       sync.Mutex
	more     *sync.Cond // of mu: something came, or nothing comes any more
	kept     []byte     // guarded by mu
	dropped  int64      // guarded by mu
	received int64      // guarded by mu; in all
	ended    bool       // guarded by mu
}

func newSaid(bound int64) *said {
	s := &said{bound: bound}
	s.more = sync.NewCond(&s.mu)
	return s
}

// Write implements io.Writer.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	take := min(int64(len(b)), s.bound-int64(len(s.kept)))
	s.kept = append(s.kept, b[:take]...)
	s.dropped += int64(len(b)) - take
	s.received += int64(len(b))
	s.more.Broadcast()
	return len(b), nil
}

func (s *said) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.more.Broadcast()
}

// wait returns when so many bytes came in all, or none can come any more.
func (s *said) wait(received int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.received < received && !s.ended {
		s.more.Wait()
	}
}

// take returns what was kept, and whether something is missing: here, or by the child's own word.
func (s *said) take(dropped int64) (kept []byte, truncated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, truncated = s.kept, s.dropped > 0 || dropped > 0
	s.kept, s.dropped = nil, 0
	return kept, truncated
}
