// Package plan judges what extensions propose, before anything happens.
//
// A plan is a set, accepted whole or refused whole. [Check] holds every intent against the rules of paths, against what the
// kind of extension may do, against its grant and against what lies in the root now:
//
//	checked, err := plan.Check(root, plan.Options{Limits: limits}, proposals...)
//	var refused *plan.RefusedError
//	if errors.As(err, &refused) { /* every finding, in a fixed order */ }
//
// [Checked] is the only thing that host/internal/apply takes, and Check is its only maker. What was seen in the root while
// checking is part of it and is compared again when it is applied.
//
// A fetch or a clone is judged by what it names; what it brings is judged when it is there, and no version applies one
// yet. What a plan would do to files that are the user's own is no ground to refuse it: it stands in [Step.Foreign], and
// whoever applies the plan asks. Check does not see what changes after it: that is compared again when the plan is applied.
//
// The rule ids are stable ([Rules], docs/RULES.md); the set of them grows.
package plan

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/root"
)

// Proposal is what one extension proposes, with all that is needed to judge it.
type Proposal struct {
	Owner  string // the extension's name
	Kind   abi.Kind
	Action string
	Grant  grant.Set
	Plan   *abi.Plan
	// Module resolves the module files that writes name; nil if the request had no module.
	Module ModuleFiles
	// Destination is the folder that the request asked a source to fill; it touches nothing else.
	Destination string
	// URLs are those that stand literally in the manifest, in the parameters as the user gave them, or on the command line:
	// an extension that reads files may name no others.
	URLs []string
}

// ModuleFiles finds a file of the module by the path that the request named it by.
type ModuleFiles interface {
	File(path string) (abi.Content, bool)
}

// Finding is one reason to refuse a plan.
type Finding struct {
	Rule    string `json:"rule"` // stable id, a Rule… constant
	Owner   string `json:"extension,omitempty"`
	Intents []int  `json:"intents,omitempty"` // positions in the owner's plan, from 0
	Path    string `json:"path,omitempty"`    // foreign text: escape it before printing
	Message string `json:"message"`           // foreign text in it is quoted
	Fix     string `json:"fix,omitempty"`     // the next step, empty if there is none but another plan
}

// RefusedError says why a set of plans is refused, with every finding, up to [MaxFindings].
type RefusedError struct {
	Findings  []Finding
	Truncated bool // there are more findings than these
}

// Error implements error: the first finding, and how many more there are.
func (e *RefusedError) Error() string {
	if len(e.Findings) == 0 {
		return "plan refused"
	}
	f := e.Findings[0]
	var b strings.Builder
	b.WriteString("plan refused")
	if f.Owner != "" {
		fmt.Fprintf(&b, " (extension %q)", f.Owner)
	}
	fmt.Fprintf(&b, ": %s: %s", f.Rule, f.Message)
	switch n := len(e.Findings) - 1; {
	case e.Truncated:
		fmt.Fprintf(&b, " (and more than %d more)", n)
	case n > 0:
		fmt.Fprintf(&b, " (and %d more)", n)
	}
	return b.String()
}

// Options is what Check is told beside the proposals. The zero value, with resolved limits, is the strictest: nothing in the
// root counts as installed, no link is followed.
type Options struct {
	Limits abi.Limits // resolved
	// Installed tells what lola put at a path of this root, directories that it made included. Nil: nothing anywhere.
	Installed func(path string) (Installed, bool)
	// Folder is the name of the assistant's folder that is the root in user scope, as ".claude": what is guarded beneath a
	// project is guarded there too. Empty: the root is a project.
	Folder string
	// Follow are links that the user admitted by name: what lies at or beneath one is judged, shown and done at the path that
	// the link stands for, if that lies inside the root and passes no further link.
	Follow []string
	// Revert is what goes from a file before the edits of the plans are made in it, by path: what an older version put there
	// and the plans do not ask for any more. It counts only for files that a plan edits.
	Revert map[string][]edit.Record
	// Protected are files and directories that no plan may reach by whatever name: LOLA_HOME, the running program.
	Protected []fs.FileInfo
}

// Installed is what lola put at a path, as it put it.
type Installed struct {
	Dir    bool // a directory that was made; the other fields say nothing
	Digest abi.Digest
	Mode   abi.Mode
	Module string
	Edits  []edit.Record // what lola's edits of the file put there
}

// Action is what is done at one path.
type Action string

// The actions.
const (
	Create Action = "create" // nothing was there, or it goes with a directory that the same plan removes
	Update Action = "update" // a file was there, with other bytes or another mode
	Keep   Action = "keep"   // the same file is there: nothing to do
	Remove Action = "remove" // a file or a directory was there and goes
	Move   Action = "move"   // a file or a directory goes from Path to To
	Fetch  Action = "fetch"  // a file is to come from elsewhere
	Clone  Action = "clone"  // a directory is to come from elsewhere
)

// Step is one judged effect. A write of what is there already is a step too ([Keep]), so that its path has an owner.
//
// Steps are done in the order of [Action]s Remove, Move, then the others; a path can have a Remove and, behind it, a step that
// puts something else there.
type Step struct {
	Action  Action
	Path    string
	To      string      // of Move: the new path
	Dir     bool        // of Remove and Move: it is a directory
	Mode    abi.Mode    // the mode after the step; of Create, Update and Keep
	Content abi.Content // the bytes after the step; of Create, Update and Keep
	Owners  []string    // the extensions that asked for it, in the order of the proposals
	Before  Before      // what Check saw at Path; of a Create beneath a removed directory: nothing
	Tree    []root.Node // what Check saw beneath Path, of a directory
	Remote  *Remote     // of Fetch and Clone
	Edits   []Edited    // of a Create, Update or Keep that edits came to, by extension
	Left    []edit.Left // what [Options.Revert] says of the file and could not be taken back: the user's now
	// Guarded are the paths that appear, move or vanish with the step and that other programs obey without being asked.
	Guarded []Guarded
	// Foreign are the reasons for which the step needs consent.
	Foreign []Foreign
}

// Guarded is a path that other programs obey without being asked.
type Guarded struct{ Path, Why string }

// Foreign is a change of something that lola did not put there, or that was changed since.
type Foreign struct{ Path, Why string }

// Remote is what comes from elsewhere.
type Remote struct {
	URL    string     // of the file or the repository
	Ref    string     // of a repository
	Intent abi.Intent // the [abi.Fetch] or [abi.Clone] that asks for it
}

// Before is what lay at a path when it was checked.
type Before struct {
	root.Info
	Digest abi.Digest // of a regular file
	Link   string     // what a symlink says, where the step replaces one
}

// Checked is a set of plans that was judged and accepted. The zero value does nothing. It is bound to the root that it was
// checked in.
type Checked struct{ c *checked }

type checked struct {
	root  *root.Root
	steps []Step
}

// Root is the root that the plans were checked in; nil for the zero value.
func (c Checked) Root() *root.Root {
	if c.c == nil {
		return nil
	}
	return c.c.root
}

// Steps returns the steps, sorted bytewise by path. The slice is the caller's.
func (c Checked) Steps() []Step {
	if c.c == nil {
		return nil
	}
	return append([]Step(nil), c.c.steps...)
}

// Changes counts the steps that change something.
func (c Checked) Changes() int {
	n := 0
	for _, s := range c.Steps() {
		if s.Action != Keep {
			n++
		}
	}
	return n
}

// Unsupported returns a *[RefusedError] if there are steps that this version cannot apply (fetches and clones), else nil.
func (c Checked) Unsupported() error {
	r := row[struct{}]{id: RuleOpUnsupported}
	var found []Finding
	for _, s := range c.Steps() {
		if s.Remote != nil && len(found) < MaxFindings {
			found = append(found, r.finding(Finding{Owner: s.Owners[0], Path: s.Path, Message: fmt.Sprintf("this version of the host cannot %s %q yet", s.Action, s.Remote.URL)}))
		}
	}
	if found == nil {
		return nil
	}
	return &RefusedError{Findings: found}
}
