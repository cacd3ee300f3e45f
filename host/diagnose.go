package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// Diagnosis says what this machine enforces and how the state folder is.
type Diagnosis struct {
	Machine Machine `json:"machine"`
	// Child is what a child reached that was started for this and ran a module; nil: none could be asked.
	Child    *Confinement `json:"child,omitempty"`
	Required policy.Level `json:"required,omitempty"`
	State    State        `json:"state"`
	// Problems are all that is wrong. A level that is low is none, unless more was required.
	Problems []Problem `json:"problems"`
}

// State says how the state folder is.
type State struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"` // the first command that needs it makes it
	// Unfinished are changes that were interrupted, those set aside too.
	Unfinished []Unfinished `json:"unfinished"`
	// LogHead is the last record of the log as [audit.Head] is written; empty: there is none, or a problem.
	LogHead string `json:"log_head,omitempty"`
}

// ProblemKind says what a problem is about.
type ProblemKind string

// The kinds of problems.
const (
	ProblemChild       ProblemKind = "child"       // no child could be started and asked
	ProblemDifference  ProblemKind = "difference"  // the child reached another level than this machine seems to have
	ProblemConfinement ProblemKind = "confinement" // it is below what is required
	ProblemState       ProblemKind = "state"       // the state folder, or what is in it, cannot be used
	ProblemUnfinished  ProblemKind = "unfinished"  // changes were interrupted
	ProblemLog         ProblemKind = "log"         // the end of the log is not as it was left
)

// Problem is one thing that is wrong.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Text string      `json:"text"`
	Help string      `json:"help,omitempty"` // the next step

	Err error `json:"-"` // behind Text, if there is one
}

// Diagnose looks at the machine, has a child lock itself down and run a tiny module, and looks at the state folder as far as
// that is cheap: of the log only the end. It makes and changes nothing. Of the options, Home, Limits, Program and
// RequireConfinement count. The error is for options that cannot be.
func Diagnose(ctx context.Context, o Options) (*Diagnosis, error) {
	if _, err := o.Limits.Resolve(); err != nil {
		return nil, err
	}
	if o.RequireConfinement != "" {
		if _, err := policy.ParseLevel(string(o.RequireConfinement)); err != nil {
			return nil, err
		}
	}
	d := &Diagnosis{Machine: ThisMachine(), Required: o.RequireConfinement, State: State{Unfinished: []Unfinished{}}, Problems: []Problem{}}
	d.askChild(ctx, o)
	d.lookAtState(ctx, o)
	return d, nil
}

func (d *Diagnosis) problem(kind ProblemKind, err error, help, format string, args ...any) {
	d.Problems = append(d.Problems, Problem{Kind: kind, Text: fmt.Sprintf(format, args...), Help: help, Err: err})
}

// askChild has a real child say what it reached, and compares.
func (d *Diagnosis) askChild(ctx context.Context, o Options) {
	r, err := runner.New(runner.Options{Program: o.Program, Limits: o.Limits})
	var info *runner.Info
	if err == nil {
		info, err = r.Inspect(ctx, runner.Module{Name: "doctor", Bytes: []byte(canary)})
	}
	if err == nil && (info.Problem != "" || info.ABIVersion != 1) {
		err = fmt.Errorf("the child could not run the module that comes with this program: %s: %s", info.Problem, info.ProblemText)
	}
	if err != nil {
		d.problem(ProblemChild, err, "no extension can run here", "starting a confined child: %v", err)
		return
	}
	d.Child = &Confinement{Level: info.Level, Landlock: info.Landlock, Seccomp: info.Seccomp, Open: info.Open}
	if text := differs(d.Machine, *d.Child); text != "" {
		d.problem(ProblemDifference, nil, "report it, with what \"lola doctor --json\" prints", "%s", text)
	}
	if d.Required != "" && !d.Child.Level.AtLeast(d.Required) {
		d.problem(ProblemConfinement, nil, "no extension runs here while that is required", "extensions are confined to the level %q here, and %q is required: %s",
			d.Child.Level, d.Required, whyMissing(d.Machine.lacks(d.Required)))
	}
}

// differs says how what a child reached is not what the machine seems to have; empty: it is. Where the machine could not tell
// of every wall, or an emulator stands between, the child may have more.
func differs(m Machine, child Confinement) string {
	open := m.Emulator != ""
	for _, w := range m.Walls {
		open = open || w.Up == probe.Unknown
	}
	same := child.Level == m.Level && child.Landlock == m.Landlock && child.Seccomp == m.Seccomp
	if same || open && child.Level.AtLeast(m.Level) {
		return ""
	}
	return fmt.Sprintf("a child reached %q, and this machine seems to have what it takes for %q: something around this program, or a defect, keeps them apart",
		child.Words(), m.Words())
}

func (d *Diagnosis) lookAtState(ctx context.Context, o Options) {
	path := o.Home
	if path == "" {
		var err error
		if path, err = home.Path(os.Getenv); err != nil {
			d.problem(ProblemState, err, "", "%v", err)
			return
		}
	}
	d.State.Path = path
	if !filepath.IsAbs(path) {
		d.problem(ProblemState, nil, "", "the state folder %q is no absolute path", path)
		return
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	d.State.Exists = true
	at, err := home.Open(path, nil)
	if err != nil {
		d.problem(ProblemState, err, "", "%v", err)
		return
	}
	defer at.Close()
	h := &Host{home: at}
	if d.State.Unfinished, err = h.Unfinished(); err != nil {
		d.problem(ProblemState, err, "", "looking for unfinished changes: %v", err)
		d.State.Unfinished = []Unfinished{}
	}
	if n := len(d.State.Unfinished); n > 0 {
		projects := make([]string, 0, 3)
		for _, u := range d.State.Unfinished[:min(n, cap(projects))] {
			projects = append(projects, fmt.Sprintf("%q", u.Project))
		}
		more := ""
		if n > len(projects) {
			more = fmt.Sprintf(" and %d more", n-len(projects))
		}
		d.problem(ProblemUnfinished, nil, "run \"lola recover\", unless another lola is at work there", "%d change(s) are unfinished: in %s%s", n, strings.Join(projects, ", "), more)
	}
	log, err := audit.Open(at.Root(), auditDir, audit.Options{})
	var head audit.Head
	if err == nil {
		head, err = log.CheckEnd(ctx)
	}
	if err != nil {
		d.problem(ProblemLog, err, "\"lola log verify\" names the first record that does not hold", "%v", err)
	} else if head != (audit.Head{}) {
		d.State.LogHead = head.String()
	}
}

// canary is the module that [Diagnose] has a child look at: an extension of the reactor form that says its version and does
// nothing else.
const canary = "\x00asm\x01\x00\x00\x00" +
	"\x01\x10\x03\x60\x00\x01\x7f\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7f" + // types: () i32, (i32) i32, (i32 i32) i32
	"\x03\x06\x05\x00\x01\x02\x00\x00" + // five functions
	"\x05\x03\x01\x00\x01" + // a page of memory
	"\x07\x55\x06\x06memory\x02\x00" +
	"\x10lola_abi_version\x00\x00\x0alola_alloc\x00\x01\x08lola_run\x00\x02\x0dlola_plan_ptr\x00\x03\x0dlola_plan_len\x00\x04" +
	"\x0a\x1a\x05" + answerOne + answerOne + answerOne + answerOne + answerOne

const answerOne = "\x04\x00\x41\x01\x0b" // i32.const 1
