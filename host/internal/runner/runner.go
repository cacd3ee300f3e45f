// Package runner asks one extension for a plan: it starts a child, gives it module and request, and returns what comes
// back as a decoded plan that nobody has judged yet.
//
//	r, err := runner.New(runner.Options{})
//	spool := wire.NewSpool(dir)
//	defer spool.Close()
//	reply, err := r.Run(ctx, runner.Module{Name: "claude-code", Bytes: wasm}, request, spool)
//	if err != nil { ... } // a *runner.Error: whose fault, which extension, why
//	judge(reply.Plan)
//
// The program that is started is this one (or Options.Program), whose main calls shim.RunIfChild. Tier 1 only, so far.
//
// What comes from a child is hostile: it is bounded in bytes and time, read in one form only, and a plan is decoded while
// it arrives, so that memory stays flat. What this does not protect against: a plan that is well-formed and evil, which is
// for package host/plan; and what the child itself can do to the system, which its level says ([Reply].Level).
//
// What may change: a memo of answers, compiled code that is kept, a second tier. A Runner may be used concurrently.
package runner

import (
	"bytes"
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
)

// Options says how a [Runner] works. The zero value works.
type Options struct {
	// Program is the executable whose main calls shim.RunIfChild, absolute. Default: this one.
	Program string
	// Limits bound each run. Zero fields have their defaults.
	Limits abi.Limits
	// SpoolDir is where a module lies while a child reads it, on systems without sealed memory. Default: [os.TempDir].
	SpoolDir string
}

// Runner runs extensions. It holds no state and needs no closing.
type Runner struct {
	program string
	limits  abi.Limits
	dir     string
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
	return &Runner{program: o.Program, limits: limits, dir: o.SpoolDir}, nil
}

// Module is a WASM module and the name under which its errors go.
type Module struct {
	Name string
	// Bytes is the module, if File is nil.
	Bytes []byte
	// File is the module, Size bytes from its beginning on. What the child reads there must have the digest Digest, so the
	// file may be one that others can change. It must stay open, and its offset is not used.
	File   *os.File
	Size   int64
	Digest abi.Digest
	// Limits bound this module's runs instead of the runner's own, if its manifest asks for less. The zero value: those.
	Limits abi.Limits
}

// Reply is what an extension answered.
type Reply struct {
	// Plan is what it wants done: decoded, not judged.
	Plan *abi.Plan
	// Diagnostics is what it wrote to its standard error, at most Limits.Diagnostics bytes. Foreign text.
	Diagnostics          []byte
	DiagnosticsTruncated bool
	// Level is the confinement level it ran under, as the child told before it looked at the module.
	Level string
	// Elapsed is how long the child took, from start to end.
	Elapsed time.Duration
	// GuestMemory is how much linear memory the guest had at most, in bytes: the child's claim.
	GuestMemory int64
	// PeakRSS is the child's peak resident memory in bytes, an upper bound; 0: not known (launch.Result).
	PeakRSS int64
}

// Run asks an extension. Contents of the plan go to the spool, or stay in memory if it is nil. The request is encoded and
// held in memory, here and in the child.
//
// Its error is always an [*Error].
func (r *Runner) Run(ctx context.Context, m Module, req *abi.Request, spool *wire.Spool) (*Reply, error) {
	lim := r.limitsOf(m)
	var encoded bytes.Buffer
	if err := (wire.Options{Limits: lim}).EncodeRequest(&encoded, req); err != nil {
		return nil, &Error{Class: ClassRequest, Extension: m.Name, Text: err.Error(), Err: err}
	}
	reply := &Reply{}
	err := r.do(ctx, m, job.Run, encoded.Bytes(), reply, func(body io.Reader, size int64) error {
		plan, err := wire.DecodePlan(body, spool, wire.Options{Limits: lim, Size: size})
		reply.Plan = plan
		return err
	})
	if err != nil {
		return nil, err
	}
	return reply, nil
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
	Level       string // see [Reply]
}

// Inspect describes a module, in a child. If it could run, it is run as far as its ABI version. A module that is one but
// could not run is described with its Problem; the error, an [*Error], is for the rest.
func (r *Runner) Inspect(ctx context.Context, m Module) (*Info, error) {
	reply := &Reply{}
	var found job.Info
	err := r.do(ctx, m, job.Inspect, nil, reply, func(body io.Reader, _ int64) error {
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
		MemoryMin: found.MemoryMin, MemoryMax: found.MemoryMax, ProblemText: found.Text, Level: reply.Level,
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

// do has a child do one job and reads its answer. take reads the body, whose length the child claims.
func (r *Runner) do(ctx context.Context, m Module, do job.Do, request []byte, reply *Reply, take func(body io.Reader, size int64) error) error {
	file, size, digest, release, err := r.module(m)
	if err != nil {
		return &Error{Class: ClassStart, Extension: m.Name, Text: err.Error(), Err: err}
	}
	defer release()
	lim := r.limitsOf(m)
	bound := lim.Plan
	if do == job.Inspect {
		bound = job.MaxInfo
	}
	head := job.Job{
		Do: do, Memory: lim.GuestMemory, Plan: lim.Plan, Diagnostics: lim.Diagnostics,
		Request: int64(len(request)), ModuleSize: size, Digest: digest,
	}.Append(nil)

	pr, pw := io.Pipe()
	answer := &answer{bound: bound, take: take}
	read := make(chan error, 1)
	go func() {
		err := answer.read(pr)
		// Whoever is still writing then writes to nobody: the child is killed if it has not ended.
		// (A nil error would be io.ErrClosedPipe to it.)
		_ = pr.CloseWithError(err)
		read <- err
	}()
	result, runErr := launch.Run(ctx, launch.Spec{
		Path: r.program, Args: []string{job.Command},
		Request: io.MultiReader(bytes.NewReader(head), bytes.NewReader(request)), KeepStdin: true,
		Stdout: pw, MaxStdout: 2*job.MaxLine + bound, MaxStderr: lim.Diagnostics,
		Deadline: lim.Deadline,
		Donate:   []launch.Donation{{Name: job.Module, File: file}},
	})
	_ = pw.Close()
	readErr := <-read

	reply.Diagnostics = result.Stderr
	reply.DiagnosticsTruncated = result.StderrDropped > 0 || answer.status.Dropped > 0
	reply.Level, reply.Elapsed = answer.hello.Level, result.Elapsed
	reply.GuestMemory, reply.PeakRSS = answer.status.Memory, result.PeakRSS
	return judge(ctx, m.Name, lim, result, runErr, readErr, answer.status, reply)
}

// limitsOf are the limits of a module's runs.
func (r *Runner) limitsOf(m Module) abi.Limits {
	if m.Limits == (abi.Limits{}) {
		return r.limits
	}
	return m.Limits
}

// module returns the file to donate.
func (r *Runner) module(m Module) (f *os.File, size int64, digest abi.Digest, release func(), err error) {
	f, size, digest, release = m.File, m.Size, m.Digest, func() {}
	if f == nil {
		size = int64(len(m.Bytes))
	}
	if size < 1 || size > job.MaxModule {
		return nil, 0, digest, nil, fmt.Errorf("the module has %d bytes, want 1 to %d", size, job.MaxModule)
	}
	if f == nil {
		digest = sha256.Sum256(m.Bytes)
		f, release, err = launch.Sealed(r.dir, m.Bytes)
	}
	return f, size, digest, release, err
}
