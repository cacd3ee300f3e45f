package host

import (
	"fmt"
	"strings"

	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/host/module"
)

// ExtensionError says why an extension gave no plan: its Class, the extension, and what it printed. Text and Diagnostics
// are foreign.
type ExtensionError = runner.Error

// Errors of making a change real.
type (
	// StaleError says that something changed since it was looked at. Nothing was changed.
	StaleError = apply.StaleError
	// RollbackError says that a change failed and that taking it back was not possible everywhere.
	RollbackError = apply.RollbackError
	// UnfinishedError says that a change is made and could not be recorded. [Host.Recover] finishes it.
	UnfinishedError = apply.UnfinishedError
	// ChangedError says that an undo is refused because of what was changed since. Nothing was changed.
	ChangedError = apply.ChangedError
	// DamagedError says that undo data cannot be read. What it is of cannot be undone; everything else can.
	DamagedError = apply.DamagedError
)

// OutdatedError says that a saved plan was made for another state of the project. Nothing was changed.
type OutdatedError struct{ Path, Why string }

// Error implements error.
func (e *OutdatedError) Error() string {
	return fmt.Sprintf("the saved plan is out of date: %q: %s; nothing was changed", e.Path, e.Why)
}

// UserPlanError says that a project was named for a saved plan of user scope, which is about another folder. Nothing was
// changed.
type UserPlanError struct{ File, Target, Project string }

// Error implements error.
func (e *UserPlanError) Error() string {
	return fmt.Sprintf("the plan %q was made for the folder of %q in the user's home, so it cannot be one for the project %q", e.File, e.Target, e.Project)
}

// UnknownExtensionError says that no extension has a name.
type UnknownExtensionError struct {
	Name  string
	Known []string
}

// Error implements error.
func (e *UnknownExtensionError) Error() string {
	return fmt.Sprintf("no extension is named %q (there are: %s)", e.Name, names(e.Known))
}

// NoFolderError says that an assistant has no folder in the user's home yet. None is made: a program may take an empty one
// for its own.
type NoFolderError struct{ Target, Path string }

// Error implements error.
func (e *NoFolderError) Error() string {
	return fmt.Sprintf("target %q works in the folder %q for a user, and that is not there", e.Target, e.Path)
}

// NotInstalledError says that a module, or a module for a target, is not installed in a project.
type NotInstalledError struct {
	Module  string
	Target  string // empty: for no target at all
	Project string
	Known   []string // what is installed instead: modules, or the module's targets
}

// Error implements error.
func (e *NotInstalledError) Error() string {
	if e.Target != "" {
		return fmt.Sprintf("module %q is not installed for %q in %q (it is for: %s)", e.Module, e.Target, e.Project, names(e.Known))
	}
	return fmt.Sprintf("module %q is not installed in %q (installed: %s)", e.Module, e.Project, names(e.Known))
}

// OwnedError says that a module would overwrite, or that an extension would remove for it, what another one installed.
type OwnedError struct {
	Module string
	Clash  []OwnedPath // one or more, sorted by path
}

// OwnedPath is one path that two modules want.
type OwnedPath struct {
	Path   string
	Part   string // of an edited file, the JSON pointer or the block's id; empty: the whole file
	Module string // the owner
	Target string // the target that it was installed for
	// Removed says that the file would go, not be overwritten.
	Removed bool
}

// Error implements error.
func (e *OwnedError) Error() string {
	c := e.Clash[0]
	more := ""
	if n := len(e.Clash) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more paths)", n)
	}
	verb, out := "overwrite", ", or rename it in one of the modules"
	if c.Removed {
		verb, out = "remove", ""
	}
	what := fmt.Sprintf("%q", c.Path)
	if c.Part != "" {
		what = fmt.Sprintf("%q in %q", c.Part, c.Path)
	}
	return fmt.Sprintf("module %q would %s %s, which module %q installed for %q%s; run \"lola uninstall %s\" first%s",
		e.Module, verb, what, c.Module, c.Target, more, c.Module, out)
}

// TrustError says that a module makes something run by itself and that nobody agreed to it for this digest.
type TrustError struct {
	Trust grant.Trust // what to agree to
	Runs  []module.Run
}

// Error implements error: what runs, and the argument that would allow it.
func (e *TrustError) Error() string {
	shown := make([]string, 0, 4)
	for _, r := range e.Runs[:min(len(e.Runs), 3)] {
		shown = append(shown, fmt.Sprintf("%s (%q)", r.What, r.Path))
	}
	if n := len(e.Runs) - len(shown); n > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("module %q makes something run by itself: %s; look at it, then agree with --trust %s", e.Trust.Name, strings.Join(shown, ", "), e.Trust)
}

// ForeignError says that a change would overwrite, move or remove what this program did not install, or what was changed
// since, and that nobody consented.
type ForeignError struct {
	Paths []string
	// Stranger says that a saved plan which was not made here would do it; paths of installed modules are among them then.
	Stranger bool
}

// Error implements error.
func (e *ForeignError) Error() string {
	shown := make([]string, 0, 3)
	for _, p := range e.Paths[:min(len(e.Paths), 3)] {
		shown = append(shown, fmt.Sprintf("%q", p))
	}
	more := ""
	if n := len(e.Paths) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	if e.Stranger {
		return fmt.Sprintf("the plan was not made here, and would overwrite, move or remove %d file(s) of an installed module or of yours: %s%s", len(e.Paths), strings.Join(shown, ", "), more)
	}
	return fmt.Sprintf("%d file(s) that lola did not install, or that changed since, would be overwritten, moved or removed: %s%s", len(e.Paths), strings.Join(shown, ", "), more)
}
