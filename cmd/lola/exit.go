package main

import (
	"context"
	"errors"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
)

// The exit codes. docs/CLI.md has the same table.
const (
	exitOK        = 0
	exitFailed    = 1 // something failed; nothing was changed unless the error says so
	exitUsage     = 2 // the command line is wrong
	exitRefused   = 3 // a rule refused what an extension proposed, or another module owns the files
	exitConsent   = 4 // consent is needed and was not given
	exitExtension = 5 // an extension failed, misbehaved or was stopped
)

// usageError marks an error of the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// hinted is an error with the next step.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

// exitCode maps an error to its exit code and, where the error does not say it itself, the next step.
func exitCode(err error) (code int, hint string) {
	if h := (hinted{}); errors.As(err, &h) {
		hint = h.hint
	}
	var (
		refused *plan.RefusedError
		owned   *host.OwnedError
		foreign *host.ForeignError
		unknown *host.UnknownExtensionError
		failed  *host.ExtensionError
	)
	switch {
	case err == nil:
		return exitOK, ""
	case errors.As(err, &usageError{}):
		return exitUsage, hint
	case errors.As(err, &refused):
		for _, f := range refused.Findings {
			if f.Fix != "" { // it says who can do what
				return exitRefused, or(hint, "the project was not touched")
			}
		}
		return exitRefused, or(hint, "the project was not touched; what was proposed is the extension author's to mend")
	case errors.As(err, &owned):
		return exitRefused, hint
	case errors.As(err, &foreign):
		return exitConsent, or(hint, "run it with --dry-run to see what would change, then with --yes to overwrite these files")
	case errors.Is(err, context.Canceled):
		return exitFailed, or(hint, "interrupted; nothing was changed")
	case errors.As(err, &failed):
		return exitExtension, or(hint, "the project was not touched")
	case errors.As(err, &unknown):
		return exitUsage, or(hint, `"lola ext list" shows them all`)
	}
	return exitFailed, hint
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
