package launch

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// child is a process that was started, with this side's ends of its pipes.
type child struct {
	proc    *os.Process
	in      *os.File // written
	out, er *os.File // read
}

// start makes the pipes and the process. When it returns an error nothing is left, or what is left is being cleared away
// in the background because starting itself hangs.
func start(ctx context.Context, spec Spec) (_ *child, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var ours, theirs [3]*os.File
	undo := func() {
		closeAll(ours[:])
		closeAll(theirs[:])
	}
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			undo()
			return nil, fmt.Errorf("making its pipes: %w", err)
		}
		if i == 0 {
			ours[i], theirs[i] = w, r
		} else {
			ours[i], theirs[i] = r, w
		}
	}
	attr := &os.ProcAttr{Dir: spec.Dir, Env: baseEnv(spec.Env), Files: theirs[:]}
	numbers, release, err := donate(attr, spec.Donate)
	if err != nil {
		undo()
		return nil, err
	}
	args := append([]string{spec.Path}, spec.Args...)
	for i, d := range spec.Donate {
		args = append(args, d.Name+"="+strconv.FormatUint(uint64(numbers[i]), 10))
	}
	if err := sealDescriptors(); err != nil {
		release()
		undo()
		return nil, fmt.Errorf("marking descriptors close-on-exec: %w", err)
	}

	type outcome struct {
		proc *os.Process
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		proc, err := os.StartProcess(spec.Path, args, attr)
		release()
		closeAll(theirs[:])
		done <- outcome{proc, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			closeAll(ours[:])
			return nil, o.err
		}
		return &child{proc: o.proc, in: ours[0], out: ours[1], er: ours[2]}, nil
	case <-ctx.Done():
		cleared := make(chan struct{})
		go func() {
			defer close(cleared)
			if o := <-done; o.err == nil {
				_ = o.proc.Kill()
				_, _ = o.proc.Wait()
			}
			closeAll(ours[:])
		}()
		// The donated files are the caller's again when this returns, and may be closed while they are still being handed on:
		// the child would get whatever has the number then. So only a start that hangs is left behind.
		select {
		case <-cleared:
		case <-time.After(reapGrace):
		}
		return nil, context.Cause(ctx)
	}
}

// closeAll closes what is there.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// environ returns env as [os.ProcAttr] wants it: nil would mean this process's own environment.
func environ(env []string) []string { return append([]string{}, env...) }
