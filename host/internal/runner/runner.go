// Package runner asks extensions for plans: it starts a child, gives it module and request, and returns what comes back as a
// decoded plan that nobody has judged yet. A child is for one request ([Runner.Run]), or for one after another of the same
// extension ([Session]), or waits to be used once ([Pool]).
//
//	r, err := runner.New(runner.Options{})
//	spool := wire.NewSpool(dir)
//	defer spool.Close()
//	reply, err := r.Run(ctx, runner.Module{Name: "claude-code", Bytes: wasm}, request, spool)
//	if err != nil { ... } // a *runner.Error: whose fault, which extension, why
//	judge(reply.Plan)
//
// [Runner.Compile] has a child compile a module and leave the code in a folder; Module.Code has others load it. What is in the
// folder is executed by them: whoever calls sees to it that nobody else writes there.
//
// The program that is started is this one (or Options.Program), whose main calls shim.RunIfChild. Tier 1 only, so far.
//
// What comes from a child is hostile: it is bounded in bytes and time, read in one form only, and a plan is decoded while
// it arrives, so that memory stays flat. What this does not protect against: a plan that is well-formed and evil, which is
// for package host/plan; and what the child itself can do to the system, which its level says ([Reply].Level).
//
// What may change: a second tier. A Runner may be used concurrently.
package runner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/internal/launch"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
)

// Options says how a [Runner] works. The zero value works.
type Options struct {
	// Program is the executable whose main calls shim.RunIfChild, absolute. Default: this one.
	Program string
	// Limits bound each run. Zero fields have their defaults.
	Limits abi.Limits
	// SpoolDir is where a module lies while a child reads it, on systems without sealed memory. Default: [os.TempDir].
	SpoolDir string
	// RequireLevel is the confinement that a child must have before it is given a request. "": none.
	RequireLevel policy.Level
}

// Runner runs extensions. It holds no state and needs no closing.
type Runner struct {
	program string
	limits  abi.Limits
	dir     string

	required policy.Level // "": none
}

// New checks the options. It starts nothing.
func New(o Options) (*Runner, error) {
	limits, err := o.Limits.Resolve()
	if err != nil {
		return nil, fmt.Errorf("making a runner: %w", err)
	}
	if o.Program == "" {
		if o.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding this program's own file: %w", err)
		}
	}
	if !filepath.IsAbs(o.Program) {
		return nil, fmt.Errorf("making a runner: the program %q is not absolute", o.Program)
	}
	if o.RequireLevel != "" {
		if _, err := policy.ParseLevel(string(o.RequireLevel)); err != nil {
			return nil, fmt.Errorf("making a runner: %w", err)
		}
	}
	return &Runner{program: o.Program, limits: limits, dir: o.SpoolDir, required: o.RequireLevel}, nil
}

// Module is a WASM module and the name under which its errors go.
type Module struct {
	Name string
	// Bytes is the module, if File is nil.
	Bytes []byte
	// File is the module, Size bytes from its beginning on. It must stay open, and its offset is not used.
	File *os.File
	Size int64
	// Digest is what the child's bytes must have, so the file may be one that others can change. With Bytes it may be left
	// zero: it is made out then.
	Digest abi.Digest
	// Limits bound this module's runs instead of the runner's own, if its manifest asks for less. The zero value: those.
	Limits abi.Limits
	// Code is a folder with the module's code as [Runner.Compile] left it, absolute, and nothing else. It stays as it is until
	// the child has loaded it, which it has when an answer is there. The child then gets nothing else of the module. If the code
	// cannot be used the error is of the class job.StaleCode: it is to be compiled again. "": the child compiles the module.
	Code string
}

// Reply is what an extension answered.
type Reply struct {
	// Plan is what it wants done: decoded, not judged.
	Plan *abi.Plan
	// Diagnostics is what it wrote to its standard error, at most Limits.Diagnostics bytes. Foreign text.
	Diagnostics          []byte
	DiagnosticsTruncated bool
	// Level is the confinement level it ran under, as the child told before it looked at the module.
	Level policy.Level
	// Landlock is the version of Landlock's ABI that was in force, 0: none; Seccomp whether a list of system calls was.
	Landlock int
	Seccomp  bool
	// Open says in words what stays open at that level.
	Open []string
	// Elapsed is how long the answer took. Of [Runner.Run] the start and the end of the child are part.
	Elapsed time.Duration
	// GuestMemory is how much linear memory the guest had at most, in bytes: the child's claim.
	GuestMemory int64
	// PeakRSS is the child's peak resident memory in bytes, an upper bound; 0: not known, as where the child lives on
	// (launch.Result).
	PeakRSS int64
}

// Run asks an extension. Contents of the plan go to the spool, or stay in memory if it is nil. The request is encoded and
// held in memory, here and in the child.
//
// Its error is always an [*Error].
func (r *Runner) Run(ctx context.Context, m Module, req *abi.Request, spool *wire.Spool) (*Reply, error) {
	s, err := r.open(m, job.Run, "", 1)
	if err != nil {
		return nil, err
	}
	return s.plan(ctx, req, spool, s.began.Add(s.limits.Deadline), true)
}

// Info is what a module says about itself. Names are foreign text, at most job.MaxName bytes each.
type Info struct {
	Form       string // "reactor", "command" or "none"
	ABIVersion int    // 0: the command form, which says none, or a module that cannot run
	// Exports are names, functions and memories; Imports are "module.name". At most job.MaxNames each.
	Exports, Imports         []string
	MoreExports, MoreImports int // how many more there are
	// MemoryMin and MemoryMax are bytes of linear memory at the beginning and, if it says so, at most.
	MemoryMin, MemoryMax int64
	// Problem is how a run would fail: empty if nothing is known against it.
	Problem     Class
	ProblemText string
	// Level, Landlock, Seccomp and Open are those of the child that looked: see [Reply].
	Level    policy.Level
	Landlock int
	Seccomp  bool
	Open     []string
}

// Inspect describes a module, in a child. If it could run, it is run as far as its ABI version. A module that is one but
// could not run is described with its Problem; the error, an [*Error], is for the rest.
func (r *Runner) Inspect(ctx context.Context, m Module) (*Info, error) {
	var found job.Info
	reply, err := r.once(ctx, m, job.Inspect, "", func(body io.Reader, _ int64) error {
		var err error
		if found, err = job.ReadInfo(body); err != nil {
			return &frameError{err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	info := &Info{
		Form: string(found.Form), ABIVersion: int(found.ABI), MoreExports: int(found.MoreExports), MoreImports: int(found.MoreImports),
		MemoryMin: found.MemoryMin, MemoryMax: found.MemoryMax, ProblemText: found.Text,
		Level: reply.Level, Landlock: reply.Landlock, Seccomp: reply.Seccomp, Open: reply.Open,
	}
	for _, n := range found.Exports {
		info.Exports = append(info.Exports, n.Name)
	}
	for _, n := range found.Imports {
		info.Imports = append(info.Imports, n.Module+"."+n.Name)
	}
	if found.Problem != job.OK {
		info.Problem = Class(found.Problem)
	}
	return info, nil
}

// Compile has a child compile a module and leave the code in a folder that is there, absolute, empty and nobody else's. None
// of the module's code runs. It answers where the code lies in the folder; the claim is of the right form, and what lies there
// is for the caller to look at. A module that no run is possible of is an error, an [*Error], with what a run would fail of;
// then something may be left in the folder.
func (r *Runner) Compile(ctx context.Context, m Module, folder string) (entry string, size int64, err error) {
	var code job.Code
	_, err = r.once(ctx, m, job.Compile, folder, func(body io.Reader, _ int64) error {
		var err error
		if code, err = job.ReadCode(body); err != nil {
			return &frameError{err}
		}
		return nil
	})
	return code.Entry, code.Size, err
}

// once has a child do one thing other than to run a guest.
func (r *Runner) once(ctx context.Context, m Module, do job.Do, folder string, take func(body io.Reader, size int64) error) (*Reply, error) {
	s, err := r.open(m, do, folder, 1)
	if err != nil {
		return nil, err
	}
	reply := &Reply{}
	return reply, s.ask(ctx, nil, s.began.Add(s.limits.Deadline), true, reply, take)
}

// limitsOf are the limits of a module's runs.
func (r *Runner) limitsOf(m Module) abi.Limits {
	if m.Limits == (abi.Limits{}) {
		return r.limits
	}
	return m.Limits
}

// digest returns the digest of a module.
func (m Module) digest() abi.Digest {
	if m.File == nil && m.Digest == (abi.Digest{}) {
		return sha256.Sum256(m.Bytes)
	}
	return m.Digest
}

// file returns the file to donate, and its size.
func (r *Runner) file(m Module) (f *os.File, size int64, release func(), err error) {
	f, size, release = m.File, m.Size, func() {}
	if f == nil {
		size = int64(len(m.Bytes))
	}
	if size < 1 || size > job.MaxModule {
		return nil, 0, nil, fmt.Errorf("the module has %d bytes, want 1 to %d", size, job.MaxModule)
	}
	if f == nil {
		f, release, err = launch.Sealed(r.dir, m.Bytes)
	}
	return f, size, release, err
}
