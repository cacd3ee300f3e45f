package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// modeTier1 is the word on the command line for measuring what it costs to ask an extension.
const modeTier1 = "tier1"

// tier1Options is the command line of that mode.
type tier1Options struct {
	lola, tool, module string
	guests, scratch    string
	rivals             bool
	rounds, warm       int
	calls              int
	gap, limit         time.Duration
	json               bool
}

// guestsVariable names the folder of the guests for the tests of the root module too.
const guestsVariable = "LOLA_TESTWASM"

func parseTier1Options(args []string, stderr io.Writer) (tier1Options, error) {
	var o tier1Options
	flags := flag.NewFlagSet("bench tier1", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.lola, "lola", "", "the lola `binary`; default: built from this checkout with go build")
	flags.StringVar(&o.tool, "askbench", "", "the `binary` of host/internal/askbench; default: built like lola")
	flags.StringVar(&o.module, "module", "", "the module that lola previews; default: examples/git-doctor of this checkout")
	flags.StringVar(&o.guests, "guests", os.Getenv(guestsVariable), "the `folder` with rust/echo.wasm and go/echo.wasm, as \"tools/bazel run //testwasm/export -- FOLDER\" fills it; default: $"+guestsVariable)
	flags.StringVar(&o.scratch, "scratch", "", "where homes and projects are made; default: the system's folder for temporary files")
	flags.BoolVar(&o.rivals, "rivals", true, "build and measure the rivals of bench/rivals too")
	flags.IntVar(&o.rounds, "n", 10, "how many `rounds` are counted")
	flags.IntVar(&o.warm, "warm", 1, "how many `rounds` go before them uncounted")
	flags.IntVar(&o.calls, "calls", 30, "how many `requests` a warm pool is asked; 0: none is measured")
	flags.DurationVar(&o.gap, "gap", 200*time.Millisecond, "how long a warm pool is left alone between them, so that it has its child again")
	flags.DurationVar(&o.limit, "limit", time.Minute, "how long one command may take")
	flags.BoolVar(&o.json, "json", false, "print JSON, every sample included, in place of the tables")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("parse arguments: unexpected %q", flags.Arg(0))
	}
	if o.rounds < 1 || o.warm < 0 || o.calls < 0 || o.gap < 0 {
		return o, errors.New("parse arguments: -n is to be at least 1, -warm, -calls and -gap at least 0")
	}
	if o.guests == "" {
		return o, errors.New("parse arguments: no -guests; fill a folder by \"tools/bazel run //testwasm/export -- FOLDER\", then name it")
	}
	return o, nil
}

// guest is an extension that shows what it was asked, so that a request of 20 KB makes a plan of 20 KB.
type guest struct{ name, file string }

// guestsIn are the guests of testwasm that are asked: one behaviour in two languages, 57 KB and 2.9 MB.
func guestsIn(folder string) ([]guest, error) {
	all := []guest{{smallGuest, filepath.Join("rust", "echo.wasm")}, {goGuest, filepath.Join("go", "echo.wasm")}}
	for i, g := range all {
		path, err := locate(filepath.Join(folder, g.file))
		if err != nil {
			return nil, fmt.Errorf("find the %s: %w; \"tools/bazel run //testwasm/export -- FOLDER\" fills a folder for -guests", g.name, err)
		}
		all[i].file = path
	}
	return all, nil
}

// The rows that targets are about, or that others are compared with.
const (
	smallGuest   = "small guest"
	goGuest      = "Go guest"
	versionName  = "lola version"
	runName      = "tier 1 child"
	previewName  = "host, preview"
	netRPCName   = "hashicorp/go-plugin, net/rpc"
	extismName   = "extism go-sdk"
	compiling    = ", compiles"
	compiled     = ", compiled earlier"
	repeated     = ", repeated"
	inProcess    = "wazero in process"
	knqyf263Name = "knqyf263/go-plugin"
)

// benchTier1 measures commands in rounds, and then the warm pools, each beside its own floor.
func benchTier1(ctx context.Context, o tier1Options, stderr io.Writer) (_ *Tier1Report, err error) {
	scratch, err := os.MkdirTemp(o.scratch, "lola-bench-")
	if err == nil {
		scratch, err = filepath.Abs(scratch)
	}
	if err != nil {
		return nil, fmt.Errorf("make scratch folder: %w", err)
	}
	defer func() {
		if e := os.RemoveAll(scratch); e != nil && err == nil {
			err = fmt.Errorf("remove scratch folder %q: %w", scratch, e)
		}
	}()
	t, err := newTier1(ctx, o, scratch, stderr)
	if err != nil {
		return nil, err
	}
	commands, err := t.commands(ctx, stderr)
	if err != nil {
		return nil, err
	}
	report := &Tier1Report{
		Schema: tier1Schema, Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: o.rounds,
		LeftOut: t.leftOut, LoadBefore: load(),
	}
	fmt.Fprintf(stderr, "bench: measuring %d commands\n", len(commands))
	m := measurer{self: t.self, scratch: scratch, limit: o.limit}
	series, err := measureAll(ctx, commands, o.warm, o.rounds, m.measure)
	if err != nil {
		return nil, err
	}
	for i, c := range commands {
		report.Rows = append(report.Rows, newRow(c.name, series[i], series[0]))
	}
	if o.calls > 0 {
		fmt.Fprintf(stderr, "bench: measuring warm pools\n")
		for _, g := range t.guests {
			w, err := t.warm(ctx, g, o)
			if err != nil {
				return nil, err
			}
			report.Warm = append(report.Warm, w)
		}
	}
	report.LoadAfter = load()
	report.Targets = judge(report)
	return report, nil
}

// tier1 is what the commands of this mode are made of.
type tier1 struct {
	self, lola, tool, module string
	guests                   []guest
	rivals                   bool
	scratch                  string
	folders                  *scratchFolders
	leftOut                  []string // what is not measured, and why
}

func newTier1(ctx context.Context, o tier1Options, scratch string, stderr io.Writer) (_ *tier1, err error) {
	t := &tier1{rivals: o.rivals, scratch: scratch, folders: &scratchFolders{root: scratch}}
	if t.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find own binary: %w", err)
	}
	if t.guests, err = guestsIn(o.guests); err != nil {
		return nil, err
	}
	if o.module != "" {
		t.module, err = locate(o.module)
	} else {
		t.module, err = exampleModule()
	}
	if err != nil {
		return nil, fmt.Errorf("find the module to preview: %w; name one by --module", err)
	}
	for _, b := range []struct {
		to                     *string
		named, name, pkg, flag string
	}{
		{&t.lola, o.lola, "lola", "./cmd/lola", "--lola"},
		{&t.tool, o.tool, "askbench", "./host/internal/askbench", "--askbench"},
	} {
		if b.named != "" {
			*b.to, err = locate(b.named)
		} else {
			*b.to, err = build(ctx, scratch, b.name, b.pkg, stderr)
		}
		if err != nil {
			return nil, fmt.Errorf("find %s: %w; name its binary by %s", b.name, err, b.flag)
		}
	}
	return t, nil
}

// commands returns what is measured in rounds, the floor first.
func (t *tier1) commands(ctx context.Context, stderr io.Writer) ([]*command, error) {
	home, err := t.folders.fresh("home", 0o700)
	if err != nil {
		return nil, err
	}
	env := environment(home, filepath.Join(home, "lola"))
	project, err := t.folders.fresh("project", 0o755)
	if err != nil {
		return nil, err
	}
	plain := func(name string, argv ...string) *command {
		return &command{name: name, argv: argv, env: env, dir: t.scratch, prepare: fine, check: fine}
	}
	preview := func(more ...string) []string {
		return append([]string{t.lola, "install", t.module, "-a", "claude-code", "--project", project, "--dry-run"}, more...)
	}
	all := []*command{
		plain(floorName, t.self, roleFloor), plain(versionName, t.lola, "version"),
		t.first("lola install --dry-run"+compiling, preview("--no-memo")...),
		t.later("lola install --dry-run"+compiled, preview("--no-memo")...),
		t.later("lola install --dry-run"+repeated, preview()...),
	}
	for _, g := range t.guests {
		code, err := t.folders.fresh("code", 0o700)
		if err != nil {
			return nil, err
		}
		compile := exec.CommandContext(ctx, t.tool, "compile", g.file, code)
		compile.Env = env
		digest, err := compile.Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = fmt.Errorf("%w\n%s", err, exit.Stderr)
			}
			return nil, fmt.Errorf("compile the %s: %w", g.name, err)
		}
		all = append(all,
			plain(runName+", "+g.name+compiling, t.tool, "run", g.file), plain(runName+", "+g.name+compiled, t.tool, "load", strings.TrimSpace(string(digest)), code),
			t.first(previewName+", "+g.name+compiling, t.tool, "preview", "-no-memo", g.file),
			t.later(previewName+", "+g.name+compiled, t.tool, "preview", "-no-memo", g.file),
			t.later(previewName+", "+g.name+repeated, t.tool, "preview", g.file))
	}
	if !t.rivals {
		return all, nil
	}
	theirs, err := t.rivalCommands(ctx, stderr)
	return append(all, theirs...), err
}

func fine() error { return nil }

// first is a command in a home of its own each time, in which nothing was compiled.
func (t *tier1) first(name string, argv ...string) *command {
	c := &command{name: name, argv: argv, dir: t.scratch}
	home := ""
	c.prepare = func() (err error) {
		home, err = t.folders.fresh("home", 0o700)
		c.env = environment(home, filepath.Join(home, "lola"))
		return err
	}
	c.check = func() error { return os.RemoveAll(home) } // the code of a Go guest is large
	return c
}

// later is a command that was run in its home before.
func (t *tier1) later(name string, argv ...string) *command {
	c := &command{name: name, argv: argv, dir: t.scratch, check: fine}
	c.prepare = func() error {
		if c.env != nil {
			return nil
		}
		home, err := t.folders.fresh("home", 0o700)
		if err != nil {
			return err
		}
		c.env = environment(home, filepath.Join(home, "lola"))
		before := exec.Command(argv[0], argv[1:]...)
		before.Dir, before.Env = c.dir, c.env
		if out, err := before.CombinedOutput(); err != nil {
			return fmt.Errorf("run it for the first time: %w\n%s", err, out)
		}
		return nil
	}
	return c
}

// cached is a command with one more argument, a cache that it filled before.
func (t *tier1) cached(name string, argv ...string) *command {
	cache := filepath.Join(t.scratch, fmt.Sprintf("cache-%s", strings.ReplaceAll(name, "/", "-")))
	return t.later(name, append(argv, cache)...)
}

// rivalCommands builds the rivals and their guests. One that cannot be built is left out, with the reason.
func (t *tier1) rivalCommands(ctx context.Context, stderr io.Writer) ([]*command, error) {
	home, err := t.folders.fresh("home", 0o700)
	if err != nil {
		return nil, err
	}
	root, err := checkout()
	if err != nil {
		return nil, fmt.Errorf("find the rivals: %w; -rivals=false leaves them out", err)
	}
	request := filepath.Join(t.scratch, "request")
	if out, err := exec.CommandContext(ctx, t.tool, "request", request).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a request for the rivals: %w\n%s", err, out)
	}
	folder := filepath.Join(root, "bench", "rivals")
	env := environment(home, filepath.Join(home, "lola"))
	plain := func(name string, argv ...string) *command {
		return &command{name: name, argv: argv, env: env, dir: t.scratch, prepare: fine, check: fine}
	}
	var all []*command
	for _, r := range []struct {
		name     string
		ownGuest bool // there is a guest for it
		commands func(binary, guest string) []*command
	}{
		{"wazero", false, func(binary, _ string) (cs []*command) {
			for _, g := range t.guests {
				cs = append(cs, plain(inProcess+", "+g.name+compiling, binary, g.file, request),
					t.cached(inProcess+", "+g.name+compiled, binary, g.file, request))
			}
			return cs
		}},
		{"extism", true, func(binary, guest string) []*command {
			return []*command{plain(extismName+", "+goGuest+compiling, binary, guest), t.cached(extismName+", "+goGuest+compiled, binary, guest)}
		}},
		{"knqyf263", true, func(binary, guest string) []*command {
			return []*command{plain(knqyf263Name+", "+goGuest+compiling, binary, guest), t.cached(knqyf263Name+", "+goGuest+compiled, binary, guest)}
		}},
		{"hashicorp", false, func(binary, _ string) []*command {
			return []*command{plain(netRPCName, binary, "netrpc"), plain("hashicorp/go-plugin, gRPC", binary, "grpc")}
		}},
	} {
		binary, err := t.buildRival(ctx, folder, executable("rival-"+r.name), "./"+r.name, nil, stderr)
		wasm := ""
		if err == nil && r.ownGuest {
			wasm, err = t.buildRival(ctx, folder, r.name+".wasm", "./"+r.name+"/guest", []string{"GOOS=wasip1", "GOARCH=wasm"}, stderr, "-buildmode=c-shared")
		}
		if e := context.Cause(ctx); e != nil {
			return nil, e
		}
		if err != nil {
			t.leftOut = append(t.leftOut, fmt.Sprintf("%s: %v", r.name, err))
			continue
		}
		all = append(all, r.commands(binary, wasm)...)
	}
	return all, nil
}

// buildRival builds a program of the module in folder, or a guest.
func (t *tier1) buildRival(ctx context.Context, folder, name, pkg string, env []string, stderr io.Writer, flags ...string) (string, error) {
	binary := filepath.Join(t.scratch, name)
	fmt.Fprintf(stderr, "bench: building %s\n", name)
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", binary}, flags, []string{pkg})...)
	build.Dir, build.Env = folder, slices.Concat(os.Environ(), []string{"CGO_ENABLED=0", "GOWORK=off"}, env)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, strings.TrimSpace(string(out)))
	}
	return binary, nil
}

// warm has askbench ask a pool and, in between, native children.
func (t *tier1) warm(ctx context.Context, g guest, o tier1Options) (w Warm, err error) {
	home, err := t.folders.fresh("home", 0o700)
	if err != nil {
		return w, err
	}
	limit := o.limit + time.Duration(o.calls+1)*2*o.gap
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	ask := exec.CommandContext(ctx, t.tool, "warm", g.file, strconv.Itoa(o.calls), o.gap.String(), t.self, roleFloorChild)
	var errs strings.Builder
	ask.Dir, ask.Env, ask.Stderr = t.scratch, environment(home, filepath.Join(home, "lola")), &errs
	out, err := ask.Output()
	if err != nil {
		return w, fmt.Errorf("ask a warm pool of the %s: %w\n%s", g.name, err, errs.String())
	}
	return readWarm(g.name, string(out), o.calls)
}

// readWarm reads what askbench says: a line for each request, nanoseconds of the pool and of the native child, and a line with CPU
// nanoseconds and faults of both.
func readWarm(name, out string, calls int) (Warm, error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != calls+1 {
		return Warm{}, fmt.Errorf("read what the warm pool of the %s took: %d lines, want %d", name, len(lines), calls+1)
	}
	w := Warm{Name: name}
	for _, line := range lines[:calls] {
		var pool, spawn time.Duration
		if _, err := fmt.Sscan(line, &pool, &spawn); err != nil {
			return w, fmt.Errorf("read what the warm pool of the %s took: %w", name, err)
		}
		w.Pool, w.Spawn = append(w.Pool, float64(pool)), append(w.Spawn, float64(spawn))
	}
	if _, err := fmt.Sscan(lines[calls], &w.PoolCPU, &w.PoolFaults, &w.SpawnCPU, &w.SpawnFaults); err != nil {
		return w, fmt.Errorf("read what the warm pool of the %s took: %w", name, err)
	}
	w.Ratio = summarise(ratios(w.Pool, w.Spawn))
	return w, nil
}
