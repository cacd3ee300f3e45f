package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/launch"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
)

// Class is why there is no plan. The outcomes of package shim/job are classes, as the child claims them; these are the
// host's own.
type Class string

// The classes that are not outcomes.
const (
	ClassStart    Class = "start"    // no child was started: the program, or the module's file
	ClassRequest  Class = "request"  // the request cannot be encoded: a mistake of the host
	ClassDeadline Class = "deadline" // it was killed at its deadline
	ClassCanceled Class = "canceled" // it was killed because the caller's context ended
	ClassDied     Class = "died"     // the child ended without an answer
	ClassReply    Class = "reply"    // what it answered is no answer
	ClassPlan     Class = "plan"     // what it answered is no plan: Err is an *abi.FormError
	ClassLevel    Class = "level"    // it is less confined than was required: Err is a *[LevelError], no request was sent to it
	ClassEnded    Class = "ended"    // its session had ended before
	ClassHost     Class = "host"     // reading the answer failed on this side: the spool, the disk
)

// Error says why there is no plan.
type Error struct {
	Class     Class
	Extension string // Module.Name
	// Text is the rest of the sentence. With an outcome of shim/job it is the child's, so foreign text, as it came.
	Text string
	// Diagnostics is what the child wrote to its standard error. Foreign text.
	Diagnostics          []byte
	DiagnosticsTruncated bool
	Err                  error // the cause, if it is one of this side
}

// phrases are the words for classes.
var phrases = map[Class]string{
	ClassStart:    "starting it",
	ClassRequest:  "encoding the request for it",
	ClassDeadline: "it was ended at its deadline",
	ClassCanceled: "it was ended",
	ClassDied:     "its process ended without an answer",
	ClassReply:    "its answer is malformed",
	ClassPlan:     "its plan is malformed",
	ClassLevel:    "it was not run",
	ClassEnded:    "its process is gone",
	ClassHost:     "keeping its plan",

	Class(job.BadModule):       "it is not a usable WebAssembly module",
	Class(job.ForbiddenImport): "it imports what an extension cannot have",
	Class(job.BadExport):       "its exports are not those of an extension",
	Class(job.ABIVersion):      "it is made for another version of lola",
	Class(job.AllocFailed):     "it has no room for the request",
	Class(job.Trap):            "it crashed",
	Class(job.Exit):            "it exited instead of answering",
	Class(job.Status):          "it reported an error",
	Class(job.BadPlanPointer):  "its plan lies outside its memory",
	Class(job.PlanTooLarge):    "its plan is too large",
	Class(job.EmptyPlan):       "it answered nothing",
	Class(job.Memory):          "it needs more memory than it may have",
	Class(job.StaleCode):       "its compiled code cannot be used",
	Class(job.Internal):        "the engine failed",
}

// Error implements error. It is one line: foreign text is quoted.
func (e *Error) Error() string {
	text := e.Text
	if slices.Contains(job.Outcomes, job.Outcome(e.Class)) {
		text = fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("running extension %q: %s: %s", e.Extension, phrases[e.Class], text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Stale reports whether a child could not use the code that it was given: it is to be compiled again.
func (e *Error) Stale() bool { return e.Class == Class(job.StaleCode) }

// Verdict reports whether what [Runner.Compile] failed of is what a run would fail of too, before any code of the module runs:
// the module itself, the deadline, the caller, the level. The rest is of the folder or the machine.
func (e *Error) Verdict() bool {
	switch e.Class {
	case ClassDeadline, ClassCanceled, ClassLevel, Class(job.BadModule), Class(job.ForbiddenImport), Class(job.BadExport), Class(job.Memory):
		return true
	}
	return false
}

// frameError says that a child's answer is not of the form that shim/job describes.
type frameError struct{ err error }

func (e *frameError) Error() string { return e.err.Error() }
func (e *frameError) Unwrap() error { return e.err }

// LevelError says that a child is less confined than was required.
type LevelError struct{ Level, Required policy.Level }

// Error implements error.
func (e *LevelError) Error() string {
	return fmt.Sprintf("this system confines it to the level %q, and %q is required", e.Level, e.Required)
}

// judge decides what a run was: nil if there is an answer, else an *Error. What this side did to the child comes first,
// then what the child said, then how it ended.
func judge(ctx context.Context, name string, limits abi.Limits, result launch.Result, runErr, readErr error, status job.Reply, reply *Reply) error {
	fail := func(c Class, err error, format string, args ...any) error {
		return &Error{
			Class: c, Extension: name, Text: fmt.Sprintf(format, args...), Err: err,
			Diagnostics: reply.Diagnostics, DiagnosticsTruncated: reply.DiagnosticsTruncated,
		}
	}
	var start *launch.StartError
	var bound *launch.BoundError
	var frame *frameError
	var level *LevelError
	var form *abi.FormError
	switch {
	case result.TimedOut:
		return fail(ClassDeadline, runErr, "it had %v", min(limits.Deadline, result.Elapsed.Round(time.Millisecond)))
	case runErr != nil && ctx.Err() != nil && errors.Is(runErr, context.Cause(ctx)):
		return fail(ClassCanceled, runErr, "%v", context.Cause(ctx))
	case errors.As(runErr, &start):
		return fail(ClassStart, runErr, "%v", runErr)
	case errors.As(runErr, &bound):
		return fail(ClassReply, runErr, "%v", bound)
	case errors.As(readErr, &level):
		return fail(ClassLevel, level, "%v", level)
	case errors.As(readErr, &frame) && runErr == nil && result.ExitCode != 0:
		return fail(ClassDied, readErr, "%s", result.State)
	case errors.As(readErr, &frame):
		return fail(ClassReply, readErr, "%v", frame)
	case errors.As(readErr, &form):
		return fail(ClassPlan, readErr, "%v", readErr)
	case readErr != nil:
		return fail(ClassHost, readErr, "%v", readErr)
	case runErr != nil:
		return fail(ClassReply, runErr, "%v", runErr)
	case status.Outcome != job.OK:
		text := status.Text
		if status.Cut {
			text += " [cut]"
		}
		return fail(Class(status.Outcome), nil, "%s", text)
	case result.ExitCode != 0:
		return fail(ClassDied, nil, "%s", result.State)
	}
	return nil
}
