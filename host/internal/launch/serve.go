package launch

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"
)

// service is the work on one child: three pumps and the end of the process.
type service struct {
	child
	stdin, stdout, stderr *pump
	ends                  chan *pump     // takes each pump once
	open                  map[*pump]bool // the pumps that have not ended
	state                 *os.ProcessState
	cause                 error // why the child is ended early, or why its answer is none; the first reason stays
	held                  bool
}

// serve moves all bytes, waits for the end of the process, or makes it end, and closes the pipes.
func (c child) serve(ctx context.Context, spec Spec) (Result, error) {
	s := &service{child: c, ends: make(chan *pump, 3)}
	s.stdin = &pump{pipe: c.in, ends: s.ends}
	s.stdout = &pump{pipe: c.out, ends: s.ends}
	s.stderr = &pump{pipe: c.er, ends: s.ends}
	s.open = map[*pump]bool{s.stdin: true, s.stdout: true, s.stderr: true}
	go s.stdin.feed(spec.Request, spec.KeepStdin)
	go s.stdout.copyTo(spec.Stdout, spec.MaxStdout)
	if spec.Stderr != nil {
		go s.stderr.copyTo(spec.Stderr, math.MaxInt64)
	} else {
		go s.stderr.keep(spec.MaxStderr, spec.StderrFatal)
	}

	s.wait(ctx)
	if spec.Exited != nil {
		spec.Exited()
	}
	s.drain(ctx)
	closeAll([]*os.File{c.in, c.out, c.er})

	result := Result{
		Started: true, ExitCode: -1,
		Stdout: s.stdout.bytes, Stderr: s.stderr.kept, StderrDropped: s.stderr.dropped,
		RequestBytes: s.stdin.bytes, RequestCut: s.stdin.cut, Held: s.held,
	}
	if s.state != nil {
		result.ExitCode, result.State, result.PeakRSS = s.state.ExitCode(), s.state.String(), peakRSS(s.state)
	}
	return result, s.cause
}

// ended notes that a pump has ended.
func (s *service) ended(p *pump) {
	delete(s.open, p)
	if s.cause == nil {
		s.cause = p.err
	}
}

// wait returns when the process is gone. It kills the process when the context ends or a pump says so.
//
// Postconditions: s.state is the end of the process, or nil and s.cause says why.
func (s *service) wait(ctx context.Context) {
	type outcome struct {
		state *os.ProcessState
		err   error
	}
	exited := make(chan outcome, 1)
	go func() {
		state, err := s.proc.Wait()
		exited <- outcome{state, err}
	}()
	over := ctx.Done()
	var overdue <-chan time.Time
	for {
		select {
		case o := <-exited:
			s.state = o.state
			if o.err != nil && s.cause == nil {
				s.cause = fmt.Errorf("waiting for it: %w", o.err)
			}
			return
		case <-over:
			s.cause = context.Cause(ctx)
		case p := <-s.ends:
			s.ended(p)
		case <-overdue:
			s.cause = fmt.Errorf("%w (%w)", ErrUnreaped, s.cause)
			return
		}
		if s.cause != nil && overdue == nil {
			over = nil
			_ = s.proc.Kill() // fails only if the process is gone, which is what is wanted
			timer := time.NewTimer(reapGrace)
			defer timer.Stop()
			overdue = timer.C
		}
	}
}

// drain ends the pumps once the process is gone: the request at once; an output when it is read to its end, or when
// nothing comes although some other process holds it open, or when the context ends, or, if what is read is no answer
// any more, after a moment in which the last words of the child can still be read.
func (s *service) drain(ctx context.Context) {
	exited := time.Now()
	if s.open[s.stdin] {
		s.stdin.stop()
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	over := ctx.Done()
	for len(s.open) > 0 {
		select {
		case p := <-s.ends:
			s.ended(p)
			continue
		case <-over:
			over = nil
			if s.cause == nil && (s.open[s.stdout] || s.open[s.stderr]) {
				s.cause = context.Cause(ctx)
			}
		case <-ticker.C:
		}
		now := time.Now()
		for p := range s.open {
			stalled := p.stalled(exited, now, heldGrace)
			if stalled {
				s.held = true
			}
			if p == s.stdin || stalled || p.stopped.Load() || s.cause != nil && now.Sub(exited) >= heldGrace {
				p.stop()
			}
		}
	}
}
