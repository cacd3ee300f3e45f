// Package engine runs one guest once: a WebAssembly module, one request, one plan. It is the only importer of wazero.
//
//	answer, err := engine.Run(ctx, module, request, engine.Config{Memory: 256 << 20, Plan: 64 << 20})
//	if err != nil { ... } // a *engine.Failure: whose outcome it is, and why
//	defer answer.Close()
//	use(answer.Plan)
//
// A guest gets WASI preview 1 without anything in it: no directories, environment or arguments, no sockets, a clock that
// starts at one fixed moment and advances by fixed steps, and random numbers that are the same in each run. So a plan is
// a function of module and request.
//
// What it does not protect against: time. A guest that does not end is ended by who can kill the process; nothing here
// stops it, because wazero's own way costs a loop nine times its speed and misses code without loops. Memory that is not
// the guest's: compiling takes many times the size of the module, bounded only by how many entries its sections may have.
// An error in wazero's compiled code can end the process, or give it to the guest: it takes a confined process around it
// (package shim).
//
// What may change: a cache of compiled code, and an allocator for memory. Calls share nothing and may be concurrent.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/lola-ext/lola/shim/job"
)

const pageSize = 64 << 10

// maxPages is the highest memory ceiling that is offered. At 65,536 pages wazero 1.12.0 panics when a guest reads the last
// word (wazero issues 2172, 2506).
const maxPages = 65535

// Config bounds a run.
type Config struct {
	// Memory is the most bytes of linear memory; what is no whole page of 64 KiB is not given. 1 to 65,535 pages.
	Memory int64
	// Plan is the most bytes of a plan.
	Plan int64
	// Diagnostics takes what the guest writes on descriptor 2, in reactor form also on descriptor 1, and the stack of a
	// trap. It bounds itself and never blocks for good. nil: dropped.
	Diagnostics io.Writer
	// Compiled is called when the module is compiled and checked, before any of its code runs. An error of it ends the
	// run as job.Internal. nil: nothing.
	Compiled func() error
}

// Failure says that there is no plan.
type Failure struct {
	Outcome job.Outcome
	Text    string // may hold the guest's words
}

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Outcome, f.Text) }

func fail(o job.Outcome, format string, args ...any) *Failure {
	return &Failure{Outcome: o, Text: fmt.Sprintf(format, args...)}
}

// Answer is what came of a run.
type Answer struct {
	Plan   []byte // lies in the guest's memory until Close
	Memory int64  // bytes of linear memory that the guest had in the end, which is the most it had; also beside a failure
	close  func()
}

// Close ends the guest. Plan must not be used any more.
func (a Answer) Close() {
	if a.close != nil {
		a.close()
	}
}

// guest is a module on its way through a run.
type guest struct {
	cfg      Config
	layout   layout
	form     job.Form
	runtime  wazero.Runtime
	wasi     map[string]api.FunctionDefinition
	compiled wazero.CompiledModule
	mod      api.Module // nil until it is instantiated
}

// Run compiles the module, instantiates it and has it answer the request. Its error is always a [*Failure].
func Run(ctx context.Context, module, request []byte, cfg Config) (answer Answer, err error) {
	g, err := compile(ctx, module, cfg)
	if err != nil {
		return Answer{}, err
	}
	done := func() { _ = g.runtime.Close(ctx) }
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(r)
		}
		answer.Memory = g.memorySize()
		if err != nil {
			answer.Plan = nil
			done()
			return
		}
		answer.close = done
	}()
	if err := g.check(); err != nil {
		return answer, err
	}
	if cfg.Compiled != nil {
		if err := cfg.Compiled(); err != nil {
			return answer, fail(job.Internal, "%v", err)
		}
	}
	switch g.form {
	case job.FormReactor:
		answer.Plan, err = g.runReactor(ctx, request)
	default:
		answer.Plan, err = g.runCommand(ctx, request)
	}
	return answer, err
}

// Inspect compiles the module and says what it is. If it could run, it is run as far as its ABI version. What would keep it
// from running stands in the Info; the error, a [*Failure], is for what is no module at all.
func Inspect(ctx context.Context, module []byte, cfg Config) (info job.Info, err error) {
	g, err := compile(ctx, module, cfg)
	if err != nil {
		return job.Info{}, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(r)
		}
		_ = g.runtime.Close(ctx)
	}()
	info = g.describe()
	err = g.check()
	info.Form = g.form
	if err == nil && cfg.Compiled != nil {
		if err := cfg.Compiled(); err != nil {
			return info, fail(job.Internal, "%v", err)
		}
	}
	if err == nil && g.form == job.FormReactor {
		info.ABI, err = g.prepareReactor(ctx)
	}
	info.Problem = job.OK
	var f *Failure
	if errors.As(err, &f) {
		info.Problem, info.Text = f.Outcome, f.Text
	}
	return info, nil
}

// compile reads the module's layout, refuses what must not be instantiated, and compiles it.
func compile(ctx context.Context, module []byte, cfg Config) (_ *guest, err error) {
	g := &guest{cfg: cfg, form: job.FormNone}
	if g.cfg.Diagnostics == nil {
		g.cfg.Diagnostics = io.Discard
	}
	defer func() {
		if r := recover(); r != nil {
			err = g.panicked(r)
		}
		if err != nil && g.runtime != nil {
			_ = g.runtime.Close(ctx)
		}
	}()
	pages := cfg.Memory / pageSize
	if pages < 1 || pages > maxPages {
		return nil, fail(job.Internal, "a memory ceiling of %d pages is not offered, want 1 to %d", pages, maxPages)
	}
	if len(module) > job.MaxModule {
		return nil, fail(job.BadModule, "it has %d bytes, want at most %d", len(module), job.MaxModule)
	}
	if g.layout, err = readLayout(module); err != nil {
		return nil, fail(job.BadModule, "%v", err)
	}
	if g.layout.memoryMin > uint64(pages) {
		return nil, fail(job.Memory, "it begins with %d bytes of memory and may have %d", g.layout.memoryMin*pageSize, pages*pageSize)
	}
	if g.layout.tableMin > maxTable {
		return nil, fail(job.Memory, "its tables begin with %d entries and may have %d", g.layout.tableMin, maxTable)
	}
	config := wazero.NewRuntimeConfig().
		WithMemoryLimitPages(uint32(pages)).
		WithCloseOnContextDone(false).
		WithDebugInfoEnabled(false). // DWARF is one more foreign format to read
		WithCustomSections(false)
	g.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	wasi, err := wasi_snapshot_preview1.NewBuilder(g.runtime).Compile(ctx)
	if err != nil {
		return nil, fail(job.Internal, "compiling WASI: %v", err)
	}
	if _, err = g.runtime.InstantiateModule(ctx, wasi, wazero.NewModuleConfig()); err != nil {
		return nil, fail(job.Internal, "instantiating WASI: %v", err)
	}
	g.wasi = wasi.ExportedFunctions()
	if g.compiled, err = g.runtime.CompileModule(ctx, g.layout.boundTables(module)); err != nil {
		return nil, fail(job.BadModule, "%s", firstLine(err.Error()))
	}
	return g, nil
}

// instantiate makes the instance, without running what it exports. Its start function does run.
func (g *guest) instantiate(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	config := wazero.NewModuleConfig().
		WithName(""). // the module's own name could be that of another
		WithStartFunctions().
		WithStdin(stdin).WithStdout(stdout).WithStderr(g.cfg.Diagnostics)
	mod, err := g.runtime.InstantiateModule(ctx, g.compiled, config)
	if err != nil {
		return g.ended("its start", err)
	}
	g.mod = mod
	return nil
}

// call calls an exported function, which has been checked to be there with its type, and returns its result if it has one.
func (g *guest) call(ctx context.Context, name string, args ...uint64) (uint32, error) {
	results, err := g.mod.ExportedFunction(name).Call(ctx, args...)
	if err != nil {
		return 0, g.ended(name, err)
	}
	if len(results) == 0 {
		return 0, nil
	}
	return api.DecodeU32(results[0]), nil
}

// ended says how the guest's code ended when it did not return.
func (g *guest) ended(where string, err error) *Failure {
	var exit *sys.ExitError
	var bug runtime.Error
	text := firstLine(err.Error())
	switch {
	case errors.As(err, &exit):
		return fail(job.Exit, "it exited with status %d in %s", exit.ExitCode(), where)
	case errors.As(err, &bug): // not of the guest: of wazero, which recovered it
		fmt.Fprintln(g.cfg.Diagnostics, err)
		return fail(job.Internal, "%s: %s", where, text)
	default:
		fmt.Fprintln(g.cfg.Diagnostics, err)
		return fail(job.Trap, "%s: %s, with %d bytes of memory of %d", where, text, g.memorySize(), g.cfg.Memory/pageSize*pageSize)
	}
}

// panicked says that wazero panicked, or this package.
func (g *guest) panicked(r any) *Failure {
	fmt.Fprintf(g.cfg.Diagnostics, "panic: %v\n%s", r, debug.Stack())
	return fail(job.Internal, "the engine panicked: %s", firstLine(fmt.Sprint(r)))
}

// memorySize returns how much linear memory the guest has.
func (g *guest) memorySize() int64 {
	if g.mod == nil || g.layout.memories == 0 { // without one, mod.Memory is no nil interface and panics when asked
		return 0
	}
	return int64(g.mod.Memory().Size())
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
