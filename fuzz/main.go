// Command fuzz runs every fuzz target with coverage guidance, one after another:
//
//	tools/bazel run //fuzz -- --time 60s
//	tools/bazel run //fuzz -- --target FuzzPath --time 10m
//
// It prints what each one did and exits with status 1 if any of them crashed.
// The input that crashed a target lies then in testdata/fuzz beside its source,
// where go test -fuzz puts it too; give it a number in fuzz/regress.
//
// Without Bazel: go test -fuzz FuzzPath ./fuzz/target.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bazelbuild/rules_go/go/runfiles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options say what to fuzz and where.
type options struct {
	time     time.Duration // for each target
	target   *regexp.Regexp
	parallel int
	corpus   string // folder for the inputs that were found to be interesting
	source   string // root of the checkout; empty: crashing inputs stay in a temporary folder
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opt := options{source: os.Getenv("BUILD_WORKSPACE_DIRECTORY")}
	var target string
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&opt.time, "time", time.Minute, "how long to run each target")
	flags.StringVar(&target, "target", "", "run only the targets whose name matches this expression as a whole")
	flags.IntVar(&opt.parallel, "parallel", 0, "how many processes fuzz at once (0: one a processor)")
	flags.StringVar(&opt.corpus, "corpus", "", "folder that keeps interesting inputs from run to run (default: in the user's cache folder)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fail := func(err error) int {
		fmt.Fprintf(stderr, "fuzz: error: %v\n", err)
		return 2
	}
	var err error
	if opt.target, err = regexp.Compile("^(?:" + target + ")$"); err != nil {
		return fail(fmt.Errorf("read --target %q: %w", target, err))
	}
	if target == "" {
		opt.target = regexp.MustCompile("")
	}
	if opt.corpus == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fail(fmt.Errorf("find a folder for the corpus: %w; name one with --corpus", err))
		}
		opt.corpus = filepath.Join(cache, "lola-fuzz")
	}
	programs, err := instrumented()
	if err != nil {
		return fail(err)
	}

	var done []outcome
	for _, p := range programs {
		names, err := p.targets(ctx)
		if err != nil {
			return fail(err)
		}
		for _, name := range names {
			if !opt.target.MatchString(name) || ctx.Err() != nil {
				continue
			}
			fmt.Fprintf(stdout, "=== %s in //%s\n", name, p.pkg)
			o := p.fuzz(ctx, name, opt, stdout)
			if o.err != nil {
				fmt.Fprintf(stdout, "--- %s: %v\n", name, o.err)
			}
			done = append(done, o)
		}
	}
	if len(done) == 0 {
		return fail(fmt.Errorf("no fuzz target matches %q", target))
	}
	return summary(stdout, done)
}

// summary prints a line for each target and says with which status to exit.
func summary(w io.Writer, done []outcome) int {
	status := 0
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\ntarget\texecutions\tnew interesting\tcorpus\tresult")
	for _, o := range done {
		result := "ok"
		if o.err != nil {
			result, status = "CRASHED", 1
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", o.name, o.execs, o.interesting, o.total, result)
	}
	tab.Flush()
	return status
}

// program is an instrumented test program.
type program struct {
	pkg  string // folder of its source, from the root of the checkout
	path string
}

// instrumented gives the programs that //fuzz was built with.
func instrumented() ([]program, error) {
	const hint = "fuzzing needs programs that Bazel instruments: tools/bazel run //fuzz"
	listing, err := runfiles.Rlocation("_main/fuzz/programs.txt")
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, hint)
	}
	text, err := os.ReadFile(listing)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, hint)
	}
	var all []program
	for line := range strings.Lines(string(text)) {
		pkg, place, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			return nil, fmt.Errorf("list of programs: line %q has no place", line)
		}
		path, err := runfiles.Rlocation(place)
		if err != nil {
			return nil, fmt.Errorf("find the program of //%s: %w", pkg, err)
		}
		all = append(all, program{pkg: pkg, path: path})
	}
	return all, nil
}

// targets lists the fuzz targets of a program.
func (p program) targets(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, p.path, "-test.list=^Fuzz")
	cmd.Env = environ()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the targets of //%s: %w", p.pkg, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Fuzz") {
			names = append(names, name)
		}
	}
	return names, nil
}

// outcome is what a target did. Counts are as the fuzzer printed them.
type outcome struct {
	name                      string
	execs, interesting, total string
	err                       error
	late, saved               bool // it was stopped because its time was over; it saved an input that crashed the target
}

// progress matches "fuzz: elapsed: 3s, execs: 1234 (411/sec), new interesting: 5 (total: 17)".
var progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)`)

func (p program) fuzz(ctx context.Context, name string, opt options, w io.Writer) outcome {
	o := outcome{name: name, execs: "0", interesting: "0", total: "0"}
	corpus := filepath.Join(opt.corpus, filepath.FromSlash(p.pkg))
	if o.err = os.MkdirAll(corpus, 0o777); o.err != nil {
		return o
	}
	args := []string{
		"-test.run=^$",
		"-test.fuzz=^" + name + "$",
		"-test.fuzztime=" + opt.time.String(),
		"-test.fuzzcachedir=" + corpus,
	}
	if opt.parallel > 0 {
		args = append(args, fmt.Sprintf("-test.parallel=%d", opt.parallel))
	}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = environ()
	// Seeds are read from the package's folder, and a crash is written there.
	if opt.source != "" {
		cmd.Dir = filepath.Join(opt.source, filepath.FromSlash(p.pkg))
	} else if cmd.Dir, o.err = os.MkdirTemp("", "lola-fuzz-"); o.err != nil {
		return o
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.err = err
		return o
	}
	cmd.Stderr = cmd.Stdout
	if o.err = cmd.Start(); o.err != nil {
		return o
	}
	o.read(io.TeeReader(out, w))
	o.err = cmd.Wait()
	switch {
	case o.err != nil && ctx.Err() != nil:
		o.err = errors.New("stopped")
	case o.late && !o.saved:
		o.err = nil
	}
	return o
}

// read keeps the last counts of what the fuzzer prints. On a busy machine package testing sometimes fails a target for no more
// than that its time was over while an input was tried; what really crashes a target is saved.
func (o *outcome) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if m := progress.FindSubmatch(bytes.TrimSpace(line)); m != nil {
			o.execs, o.interesting, o.total = string(m[1]), string(m[2]), string(m[3])
		}
		o.late = o.late || string(bytes.TrimSpace(line)) == "context deadline exceeded"
		o.saved = o.saved || bytes.Contains(line, []byte("Failing input written to "))
		if err != nil {
			return
		}
	}
}

// environ is ours without what tells a test program that Bazel tests with it:
// it would leave the folder that we choose.
func environ() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "TEST_") || name == "GO_TEST_RUN_FROM_BAZEL" || name == "XML_OUTPUT_FILE" {
			continue
		}
		env = append(env, v)
	}
	return env
}
