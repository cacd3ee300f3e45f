package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// The exit codes. docs/CLI.md has the same table.
const (
	exitOK        = 0
	exitFailed    = 1 // something failed; nothing was changed unless the error says so
	exitUsage     = 2 // the command line is wrong
	exitRefused   = 3 // a rule refused what an extension proposed, or another module owns the files
	exitConsent   = 4 // consent is needed and was not given
	exitExtension = 5 // an extension failed, misbehaved or was stopped
	exitChanged   = 6 // with --detailed-exitcode: all went well, and something changed or would
	exitDamaged   = 7 // something that was recorded does not hold: the log, what is installed, or what was kept to undo
	exitLevel     = 8 // extensions are confined less than is required, or otherwise than this machine seems to be able to
)

// errChanged is no failure: it carries [exitChanged].
var errChanged = errors.New("something changed")

// usageError marks an error of the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// damaged marks an error that says that something which was recorded does not hold.
type damaged struct{ error }

func (e damaged) Unwrap() error { return e.error }

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
		trust   *host.TrustError
		owner   *root.OwnerError
		changed *host.ChangedError
		stale   *host.OutdatedError
		folder  *host.NoFolderError
		data    *host.DamagedError
		user    *host.UserPlanError
		level   *host.ConfinementError
	)
	switch {
	case err == nil:
		return exitOK, ""
	case errors.Is(err, errChanged):
		return exitChanged, ""
	case errors.As(err, &diagnosed{}):
		return diagnosisCode(err), hint
	case errors.As(err, &level):
		return exitLevel, or(hint, `"lola doctor" shows what this machine can enforce; the project was not touched`)
	case errors.As(err, &damaged{}):
		return exitDamaged, hint
	case errors.As(err, &data):
		return exitDamaged, or(hint, "remove these files, unless a newer lola wrote them: what they are of cannot be undone")
	case errors.As(err, &usageError{}):
		return exitUsage, hint
	case errors.As(err, &user):
		return exitUsage, or(hint, "leave --project out; to install into a project, make a plan for it with \"lola install --project DIR --out FILE\"")
	case errors.As(err, &refused):
		for _, f := range refused.Findings {
			if f.Fix == "" {
				continue
			}
			if len(refused.Findings) == 1 && !refused.Truncated {
				return exitRefused, or(hint, f.Fix+"; the project was not touched")
			}
			return exitRefused, or(hint, "the project was not touched") // each finding says who can do what
		}
		return exitRefused, or(hint, "the project was not touched; what was proposed is the extension author's to mend")
	case errors.As(err, &owned):
		return exitRefused, hint
	case errors.As(err, &trust):
		return exitConsent, or(hint, "run it with --dry-run to see what it would run, then with --trust "+trust.Trust.String())
	case errors.As(err, &owner):
		return exitConsent, or(hint, fmt.Sprintf("if that is as you want it, run it with --allow-root; it is remembered for %q", owner.Path))
	case errors.As(err, &changed):
		return exitRefused, or(hint, "put those files back as they were, or change them by hand")
	case errors.As(err, &stale):
		return exitRefused, or(hint, "make the plan anew with \"lola install --out\"")
	case errors.As(err, &folder):
		return exitFailed, or(hint, "start the assistant once, which makes it, or make the folder yourself")
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
