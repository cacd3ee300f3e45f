// Package engine runs a guest: a WebAssembly module that answers a request with a plan. It is the only importer of wazero.
//
//	m, err := engine.Compile(ctx, module, engine.Config{Memory: 256 << 20, Plan: 64 << 20})
//	if err != nil { ... } // a *engine.Failure: whose outcome it is, and why
//	defer m.Close()
//	answer, err := m.Run(ctx, request) // the first code of the guest that runs, in a new instance
//	defer answer.Close()
//	use(answer.Plan)
//
// A guest gets WASI preview 1 without anything in it: no directories, environment or arguments, no sockets, a clock that
// starts at one fixed moment and advances by fixed steps, and random numbers that are the same in each run. So a plan is
// a function of module and request; nothing of one run is there in the next.
//
// Compiled code can be kept in a folder ([Store]) and be loaded from it (Config.Code). Whoever can write that folder decides
// what the next process executes: what is loaded is held to its form here, and no more.
//
// What it does not protect against: time. A guest that does not end is ended by who can kill the process; nothing here
// stops it, because wazero's own way costs a loop nine times its speed and misses code without loops. Memory that is not
// the guest's: compiling takes many times the size of the module, bounded only by how many entries its sections may have.
// An error in wazero's compiled code can end the process, or give it to the guest: it takes a confined process around it
// (package shim).
//
// Calls share nothing but what they are given, and may be concurrent, but for [Module.Ready].
package engine

import (
	"context"
	"crypto/sha256"
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
	// Code is an absolute folder with the module's compiled code, one entry as [Store] left it, which is loaded instead of
	// compiling; the module itself is not looked at then. What is not there, damaged or another module's is a failure,
	// job.StaleCode. Empty: the module is compiled.
	Code string
	// Digest is the SHA-256 of the module, by which its code is known. It is not made out here, and used for nothing else.
	Digest [sha256.Size]byte
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

// Module is a module that is compiled, and that may be one that no run is possible of.
type Module struct {
	cfg      Config
	layout   layout
	form     job.Form
	refused  error                   // why it is not run; nil: it is
	cache    wazero.CompilationCache // nil: none
	loads    bool                    // the code comes from the cache
	runtime  wazero.Runtime
	wasi     map[string]api.FunctionDefinition
	compiled wazero.CompiledModule
	ready    *guest // see Ready; nil: there is none
}

// guest is one instance of a module.
type guest struct {
	*Module
	mod    api.Module // nil until it is instantiated
	memory *memory
	failed error // what the guest that is ready failed of
}

// Compile reads, compiles and checks a module, or loads its code. None of its code runs. Its error is always a [*Failure].
// Why a module that could be compiled is no extension is told by Run and Inspect.
func Compile(ctx context.Context, module []byte, cfg Config) (*Module, error) {
	if cfg.Code != "" {
		return load(ctx, cfg)
	}
	m, err := read(module, job.MaxModule, cfg)
	if err != nil {
		return nil, err
	}
	if err := m.compile(ctx, m.layout.boundTables(module), nil, false); err != nil {
		return nil, err
	}
	return m, nil
}

// Close drops the compiled code. The answers of its runs must be closed before.
func (m *Module) Close() {
	if m.ready != nil {
		m.ready.close(context.Background())
		m.ready = nil
	}
	if m.runtime != nil {
		_ = m.runtime.Close(context.Background())
	}
	if m.cache != nil {
		_ = m.cache.Close(context.Background())
	}
}

// Ready makes the instance of the next Run, ahead of it and as far as that needs no request: a module in reactor form is
// initialized and asked for its version. What fails is told by that Run. It must not be called beside Run.
func (m *Module) Ready(ctx context.Context) {
	if m.refused != nil || m.form != job.FormReactor || m.ready != nil {
		return
	}
	g := &guest{Module: m}
	m.ready = g
	defer func() {
		if r := recover(); r != nil {
			g.failed = m.panicked(r)
		}
	}()
	_, g.failed = g.prepareReactor(ctx)
}

// Run has a new instance of the module answer the request. Its error is always a [*Failure].
func (m *Module) Run(ctx context.Context, request []byte) (answer Answer, err error) {
	if m.refused != nil {
		return Answer{}, m.refused
	}
	g := m.ready
	m.ready = nil
	defer func() {
		if r := recover(); r != nil {
			err = m.panicked(r)
		}
		answer.Memory = g.memorySize()
		if err != nil {
			answer.Plan = nil
			g.close(ctx)
			return
		}
		answer.close = func() { g.close(ctx) }
	}()
	switch {
	case g != nil:
		if err = g.failed; err == nil {
			answer.Plan, err = g.runReactor(ctx, request)
		}
	case m.form == job.FormReactor:
		g = &guest{Module: m}
		if _, err = g.prepareReactor(ctx); err == nil {
			answer.Plan, err = g.runReactor(ctx, request)
		}
	default:
		g = &guest{Module: m}
		answer.Plan, err = g.runCommand(ctx, request)
	}
	return answer, err
}

// Inspect says what the module is. If it could run, it is run as far as its ABI version. What would keep it from running
// stands in the Info.
func (m *Module) Inspect(ctx context.Context) (info job.Info) {
	g := &guest{Module: m}
	err := m.refused
	defer func() {
		if r := recover(); r != nil {
			err = m.panicked(r)
		}
		g.close(ctx)
		info.Problem = job.OK
		var f *Failure
		if errors.As(err, &f) {
			info.Problem, info.Text = f.Outcome, f.Text
		}
	}()
	info = m.describe()
	if err == nil && m.form == job.FormReactor {
		info.ABI, err = g.prepareReactor(ctx)
	}
	return info
}

// read reads the layout of a module, or of a skeleton, and refuses what must not be instantiated.
func read(module []byte, most int, cfg Config) (*Module, error) {
	m := &Module{cfg: cfg, form: job.FormNone}
	if m.cfg.Diagnostics == nil {
		m.cfg.Diagnostics = io.Discard
	}
	pages := cfg.Memory / pageSize
	if pages < 1 || pages > maxPages {
		return nil, fail(job.Internal, "a memory ceiling of %d pages is not offered, want 1 to %d", pages, maxPages)
	}
	if len(module) > most {
		return nil, fail(job.BadModule, "it has %d bytes, want at most %d", len(module), most)
	}
	var err error
	if m.layout, err = readLayout(module); err != nil {
		return nil, fail(job.BadModule, "%v", err)
	}
	if m.layout.memoryMin > uint64(pages) {
		return nil, fail(job.Memory, "it begins with %d bytes of memory and may have %d", m.layout.memoryMin*pageSize, pages*pageSize)
	}
	if m.layout.tableMin > maxTable {
		return nil, fail(job.Memory, "its tables begin with %d entries and may have %d", m.layout.tableMin, maxTable)
	}
	return m, nil
}

// compile has wazero compile the module with its bounds, or its skeleton, and checks what it exports and imports. With a cache
// the compiled code goes there, or comes from there. After an error m is closed.
func (m *Module) compile(ctx context.Context, binary []byte, cache wazero.CompilationCache, loads bool) (err error) {
	m.cache, m.loads = cache, loads
	defer func() {
		if r := recover(); r != nil {
			if err = fail(job.StaleCode, "%s", firstLine(fmt.Sprint(r))); !loads { // what is loaded is foreign too
				err = m.panicked(r)
			}
		}
		if err != nil {
			m.Close()
		}
	}()
	config := wazero.NewRuntimeConfig().
		WithMemoryLimitPages(uint32(m.cfg.Memory / pageSize)).
		WithCloseOnContextDone(false).
		WithDebugInfoEnabled(false). // DWARF is one more foreign format to read
		WithCustomSections(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	wasi, err := wasi_snapshot_preview1.NewBuilder(m.runtime).Compile(ctx)
	if err != nil {
		return fail(job.Internal, "compiling WASI: %v", err)
	}
	if _, err = m.runtime.InstantiateModule(ctx, wasi, wazero.NewModuleConfig()); err != nil {
		return fail(job.Internal, "instantiating WASI: %v", err)
	}
	m.wasi = wasi.ExportedFunctions()
	if m.compiled, err = m.runtime.CompileModule(ctx, binary); err != nil {
		return fail(m.blame(), "%s", firstLine(err.Error()))
	}
	m.refused = m.check()
	return nil
}

// blame is whose fault it is that the module is not compiled. A module of which there is code was compiled before, so then it
// is the code.
func (m *Module) blame() job.Outcome {
	if m.loads {
		return job.StaleCode
	}
	return job.BadModule
}

// instantiate makes the instance, without running what it exports. Its start function does run.
func (g *guest) instantiate(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	config := wazero.NewModuleConfig().
		WithName(""). // the module's own name could be that of another
		WithStartFunctions().
		WithStdin(stdin).WithStdout(stdout).WithStderr(g.cfg.Diagnostics)
	if err := g.reserve(); err != nil {
		return err
	}
	mod, err := g.runtime.InstantiateModule(withMemory(ctx, g.memory), g.compiled, config)
	if err != nil {
		return g.ended("its start", err)
	}
	g.mod = mod
	return nil
}

// reserve takes address space for all memory that the guest may come to, and makes usable what it begins with, which wazero
// takes for granted.
func (g *guest) reserve() error {
	most := uint64(g.cfg.Memory) / pageSize
	if g.layout.memoryBounded {
		most = min(most, g.layout.memoryMax)
	}
	most = max(most, 1) * pageSize // no mapping has no bytes
	var err error
	if g.memory, err = reserveMemory(most); err != nil {
		return fail(job.Internal, "reserving %d bytes of address space for its memory: %v", most, err)
	}
	if g.memory.Reallocate(g.layout.memoryMin*pageSize) == nil {
		return fail(job.Internal, "the system does not give the %d bytes of memory that it begins with", g.layout.memoryMin*pageSize)
	}
	return nil
}

// close ends the instance and gives its memory back.
func (g *guest) close(ctx context.Context) {
	if g.mod != nil {
		_ = g.mod.Close(ctx)
		g.mod = nil
	}
	g.memory.release()
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
func (m *Module) panicked(r any) *Failure {
	fmt.Fprintf(m.cfg.Diagnostics, "panic: %v\n%s", r, debug.Stack())
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
