package launch

import (
	"errors"
	"fmt"
)

// ErrDeadline says that the child was killed because Spec.Deadline had passed. The end of the context's own deadline is
// [context.DeadlineExceeded] instead.
var ErrDeadline = errors.New("the deadline has passed")

// ErrUnreaped says that the child was killed and the system had not ended it seconds later. It may still be there.
var ErrUnreaped = errors.New("the killed process is not gone yet")

// StartError says that no process was started.
type StartError struct {
	Program string // Spec.Path
	Err     error
}

// Error implements error.
func (e *StartError) Error() string { return fmt.Sprintf("starting %q: %v", e.Program, e.Err) }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// RunError says that a process was started and ended early by this package.
type RunError struct {
	Program string // Spec.Path
	Err     error
}

// Error implements error.
func (e *RunError) Error() string { return fmt.Sprintf("running %q: %v", e.Program, e.Err) }

// Unwrap returns the cause.
func (e *RunError) Unwrap() error { return e.Err }

// BoundError says that the child wrote more than it may.
type BoundError struct {
	Stream string // "stdout" or "stderr"
	Bound  int64  // bytes
}

// Error implements error.
func (e *BoundError) Error() string {
	return fmt.Sprintf("it wrote more than %d bytes to %s", e.Bound, e.Stream)
}
