// Bench measures what a user of lola waits for, beside what it should be compared with, all in one run.
//
//	go -C bench run . -n 30
//	tools/bazel run //bench -- -n 30
//
// What is measured, each from the start of the process to its end, in rounds that run every command once:
//
//	floor              a Go command that starts a native Go child, sends it a request and reads a plan of 20 KB back as
//	                   JSON over pipes: the least that any extension in a process of its own costs. This program plays both.
//	lola version       what the binary costs before it does anything
//	lola install       the module into a fresh project, for Claude Code, the state folder in use already
//	lola install, first     the same with a fresh state folder: what a new user meets once
//	lola install, again     the same project and module once more: nothing changes
//	skills add         the npm package "skills" doing the same copy: what a user would type instead. Only where it is at
//	                   hand; get it by `npm install skills@1.5.7` in any folder and name node_modules/.bin/skills by
//	                   --skills-bin. Node.js must be on PATH. Its telemetry is switched off, so that no network is timed.
//
// With the word "apply" first it measures how files come onto the disk instead:
//
//	go -C bench run . apply -n 5
//
// Many files are written by plain os.WriteFile, the same with everything synced at the end and with an fsync for each, by
// git checkout, tar x, cp -r, and by the host's own transaction (plan.Check and apply.Run, crash-safe with undo data); a
// whole "lola install" of a module of as many files is beside it. Ratios are to os.WriteFile. Before each run everything is
// synced, so that no command pays for another's files, and nothing is removed before the end: that takes some gigabytes. Then
// come the growth from 6,000 to 60,000 files; the transactions that change, take back and remove the files; and judging plans
// of 65,536 intents alone.
//
// With the word "tier1" first it measures what it costs to ask an extension in WASM:
//
//	go -C bench run . tier1 -n 10 -guests FOLDER     # tools/bazel run //testwasm/export -- FOLDER
//
// The same behaviour as a small guest (Rust) and as a Go guest is asked for a plan as large as the floor's, by a small embedding
// program (host/internal/askbench): by a child alone, and by the host as far as the question whether the change shall be made;
// compiling, compiled earlier, and asked before. Beside that stand the real command, and the rivals of bench/rivals, a Go module of
// its own that only this mode builds: wazero in the process, Extism, knqyf263/go-plugin, hashicorp/go-plugin. Warm pools come
// last, each beside native children that are started for each request.
//
// How to read the tables: milliseconds belong to the machine; ratios to the floor can be carried to another one. A ratio
// is the median of the ratios within each round, so that what disturbs a whole round cancels out. "spread" is how far the
// slowest run lies above the fastest; where that of the floor is 30 %, a difference of 10 % between two commands means
// nothing, and the minimum says more than the median. CPU, peak memory and faults count the command and all children that
// it waited for; the peak is that of the largest process, not a sum, and cannot be told below that of the small process
// which takes the measurement (about 3 MB). Minor faults are steady where milliseconds are not, and explain most of the
// cost of a start on a virtual machine. Windows tells neither memory nor faults.
//
// What it does not measure: a cold page cache, a network, an extension of one's own. HOME and LOLA_HOME are scratch folders
// and no command sees more of the environment than PATH and what the system needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		if code, ok := playRole(os.Args[1], os.Args[2:]); ok {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// playRole answers for the processes that this program starts of itself. They come before everything else, flags
// included: what they cost is measured, or is the measure.
func playRole(role string, args []string) (code int, ok bool) {
	switch role {
	case roleMeasure:
		return measureRole(args), true
	case roleFloor:
		return floorRole(), true
	case roleFloorChild:
		return floorChildRole(), true
	case roleWrite:
		return writeRole(args), true
	}
	return 0, false
}

// options is the command line.
type options struct {
	lola    string
	module  string
	skills  string
	scratch string
	rounds  int
	warm    int
	limit   time.Duration
	json    bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.lola, "lola", "", "the lola `binary`; default: built from this checkout with go build")
	flags.StringVar(&o.module, "module", "", "the module to install; default: examples/git-doctor of this checkout")
	flags.StringVar(&o.skills, "skills-bin", "", "the rival's `binary`; default: skills on PATH or in npx's cache, if it is there")
	flags.StringVar(&o.scratch, "scratch", "", "where projects and homes are made; default: the system's folder for temporary files")
	flags.IntVar(&o.rounds, "n", 20, "how many `rounds` are counted")
	flags.IntVar(&o.warm, "warm", 2, "how many `rounds` go before them uncounted")
	flags.DurationVar(&o.limit, "limit", time.Minute, "how long one command may take")
	flags.BoolVar(&o.json, "json", false, "print JSON, every sample included, in place of the table")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("parse arguments: unexpected %q", flags.Arg(0))
	}
	if o.rounds < 1 || o.warm < 0 {
		return o, fmt.Errorf("parse arguments: -n is %d and -warm is %d, want at least 1 and 0", o.rounds, o.warm)
	}
	return o, nil
}

// reporter is what a mode found out.
type reporter interface {
	JSON(io.Writer) error
	Table(io.Writer) error
}

// run does the work of main. Exit codes: 0 measured; 1 a command failed, or could not be found; 2 the command line is wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var (
		asJSON  bool
		measure func() (reporter, error)
		err     error
	)
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	switch mode {
	case modeApply:
		var o applyOptions
		o, err = parseApplyOptions(args[1:], stderr)
		asJSON, measure = o.json, func() (reporter, error) { return benchApply(ctx, o, stderr) }
	case modeTier1:
		var o tier1Options
		o, err = parseTier1Options(args[1:], stderr)
		asJSON, measure = o.json, func() (reporter, error) { return benchTier1(ctx, o, stderr) }
	default:
		var o options
		o, err = parseOptions(args, stderr)
		asJSON, measure = o.json, func() (reporter, error) { return bench(ctx, o, stderr) }
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "bench: error: %v\n", err)
		return 2
	}
	report, err := measure()
	switch {
	case err != nil:
	case asJSON:
		err = report.JSON(stdout)
	default:
		err = report.Table(stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: error: %v\n", err)
		return 1
	}
	return 0
}

// bench makes the scratch folder, finds the commands, measures them and takes the scratch folder away.
func bench(ctx context.Context, o options, stderr io.Writer) (_ *Report, err error) {
	scratch, err := os.MkdirTemp(o.scratch, "lola-bench-")
	if err != nil {
		return nil, fmt.Errorf("make scratch folder: %w", err)
	}
	defer func() {
		if e := os.RemoveAll(scratch); e != nil && err == nil {
			err = fmt.Errorf("remove scratch folder %q: %w", scratch, e)
		}
	}()
	found, err := find(ctx, o, scratch, stderr)
	if err != nil {
		return nil, err
	}
	commands, err := newCommands(found, scratch)
	if err != nil {
		return nil, err
	}
	m := measurer{self: found.self, scratch: scratch, limit: o.limit}
	series, err := measureAll(ctx, commands, o.warm, o.rounds, m.measure)
	if err != nil {
		return nil, err
	}
	return newReport(o, found, commands, series, runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU()), nil
}
