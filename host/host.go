// Package host runs extensions for another program and makes real what they propose.
//
// An embedder opens a [Host], asks it for a change, looks at what the change would do and applies it:
//
//	func main() {
//		shim.RunIfChild() // the host runs untrusted code in a child of this very program
//		h, err := host.New(host.Options{Builtins: builtins})
//		...
//		defer h.Close()
//		p, err := h.Install(ctx, host.Install{Module: "git-doctor", Project: ".", Targets: []string{"claude-code"}})
//		...
//		defer p.Close()
//		show(p.Report())
//		err = p.Apply(ctx, host.Consent{})
//	}
//
// Extensions perform nothing. A tier-1 extension is a WASM module that runs in a child process without files, network,
// environment or arguments; it answers a request with a plan, which package host/plan judges. How the system confines the
// child beside that is told by [Report].Level, and can be required ([Options].RequireConfinement).
//
// A Host may be used concurrently. Commits of all hosts of one LOLA_HOME exclude each other, across processes too.
// The package does not protect the user from consenting to a bad change: what a change would overwrite stands in the
// report. Until version 1 its types may gain fields.
package host

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/internal/code"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/internal/memo"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/host/root"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// Options says how a [Host] works. The zero value is the strictest setting and works, with no extension to run.
type Options struct {
	// Home is the folder for state, an absolute path. Default: $LOLA_HOME, else the platform's folder for user data.
	Home string
	// Builtins are extensions that ship with the embedding program. What their manifests ask for is granted.
	Builtins []Builtin
	// Limits bound each run; zero fields have their defaults.
	Limits abi.Limits
	// Program is the executable whose main calls shim.RunIfChild. Default: this one.
	Program string
	// RequireConfinement is the level that a child must have before it is given anything: below it an extension is not run,
	// and the error is a *[ConfinementError]. "": none is required, and the report tells the level.
	RequireConfinement policy.Level
	// NoMemo has extensions asked each time. Else the answer to a request that was asked before, of the same extension by the
	// same program at the same level of confinement, is taken from the state folder, and judged like any other.
	NoMemo bool
	// Hook is told of every change to the disk, in the project and in the state folder, before it is made; an error of it is
	// that change's. It is for tests of crashes and faults. Nil: nobody is told.
	Hook root.Hook
}

// auditDir is where the log is in the state folder.
const auditDir = "audit"

// Builtin is an extension that ships with a program.
type Builtin struct {
	Manifest []byte // extension.yaml
	Artifact []byte // the WASM module
}

// Host runs extensions and applies what they propose. See the package comment.
type Host struct {
	home    *home.Home
	limits  abi.Limits
	runner  *runner.Runner
	spools  string // where spools lie
	hook    root.Hook
	program string // the executable of the children
	codes   *code.Store
	memo    *memo.Memo
	noMemo  bool
	log     *audit.Log
	builtin []*builtin // sorted by name

	required policy.Level        // of every child; "": none
	machine  func() probe.Report // what this machine can put around a child; it does not change
}

// New opens a host. It makes the state folder if it is missing. The caller closes the host.
func New(o Options) (*Host, error) {
	limits, err := o.Limits.Resolve()
	if err != nil {
		return nil, err
	}
	builtins, err := readBuiltins(o.Builtins)
	if err != nil {
		return nil, err
	}
	path := o.Home
	if path == "" {
		if path, err = home.Path(os.Getenv); err != nil {
			return nil, err
		}
	}
	h := &Host{limits: limits, builtin: builtins, hook: o.Hook, program: o.Program, noMemo: o.NoMemo, required: o.RequireConfinement, machine: sync.OnceValue(probe.System)}
	if h.program == "" {
		if h.program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding this program's own file: %w", err)
		}
	}
	if h.home, err = home.Open(path, o.Hook); err != nil {
		return nil, err
	}
	h.memo = memo.Open(h.home)
	h.codes = code.Open(code.Options{Home: h.home, Program: h.program, Private: runtime.GOOS != "linux"})
	if h.log, err = audit.Open(h.home.Root(), auditDir, audit.Options{}); err != nil {
		h.home.Close()
		return nil, err
	}
	if h.spools, err = h.home.TempDir(); err == nil {
		h.runner, err = runner.New(runner.Options{Program: o.Program, Limits: limits, SpoolDir: h.spools, RequireLevel: o.RequireConfinement})
	}
	if err != nil {
		h.home.Close()
		return nil, err
	}
	return h, nil
}

// Close releases the host. Pending changes must be closed before.
func (h *Host) Close() error { return h.home.Close() }

// Home is the path of the state folder.
func (h *Host) Home() string { return h.home.Path() }

// openProject opens the root of a project, which must lie apart from the state folder.
func (h *Host) openProject(path string) (*root.Root, error) {
	r, err := root.OpenHooked(path, h.hook)
	if err != nil {
		return nil, fmt.Errorf("opening the project %q: %w", path, err)
	}
	overlaps, err := h.home.Overlaps(r.Path(), r.Info())
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("opening the project %q: %w", path, err)
	}
	if overlaps {
		r.Close()
		return nil, fmt.Errorf("the project %q is the state folder %q, holds it or lies in it: a plan for it could reach that state", path, h.home.Path())
	}
	return r, nil
}

// Inspect describes a WASM module. It is parsed in a child process, never here.
func (h *Host) Inspect(ctx context.Context, artifact []byte) (*Inspection, error) {
	info, err := h.runner.Inspect(ctx, runner.Module{Name: "module", Bytes: artifact})
	if err != nil {
		return nil, confinementError(err)
	}
	return newInspection(artifact, info), nil
}

// names joins names for a message.
func names(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
