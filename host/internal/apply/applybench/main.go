// Applybench judges a plan made for the purpose and applies it: what the benchmark program in bench/ measures, one job to a
// process.
//
//	applybench apply PROJECT STATE 1000     # files of 1 KiB, 20 to a directory, that are not there
//	applybench update PROJECT STATE 1000    # other contents for all of them
//	applybench remove PROJECT STATE 1000    # deletes of all of them
//	applybench undo PROJECT STATE           # takes the last change back
//	applybench check PROJECT flat 65536     # only judges; "flat", "spread" or "deep"
//
// Contents are made when they are read and lie nowhere, as those of a large plan lie in a spool: the memory that is seen is
// the transaction's. On success one line says how many nanoseconds plan.Check and apply.Run (or the undo) took within the
// process. With -cpuprofile or -memprofile FILE before the job, a profile of it is written.
//
// It is for tests and is no part of the product: it asks nobody, takes no lock and records nothing but what undo needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run does the work of main. Exit codes: 0 done; 1 not done; 2 the command line is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("applybench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	cpu := flags.String("cpuprofile", "", "write a CPU profile of the job to `FILE`")
	mem := flags.String("memprofile", "", "write a profile of all allocations to `FILE`")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	err := profiled(*cpu, *mem, func() error { return do(flags.Args(), stdout) })
	if err != nil {
		fmt.Fprintf(stderr, "applybench: error: %v\n", err)
		if errors.Is(err, errUsage) {
			return 2
		}
		return 1
	}
	return 0
}

// profiled calls job between the beginning and the end of the profiles that have a name.
func profiled(cpu, mem string, job func() error) error {
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return fmt.Errorf("writing the CPU profile: %w", err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("writing the CPU profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	if mem == "" {
		return job()
	}
	runtime.MemProfileRate = 4 << 10
	if err := job(); err != nil {
		return err
	}
	f, err := os.Create(mem)
	if err != nil {
		return fmt.Errorf("writing the memory profile: %w", err)
	}
	defer f.Close()
	return pprof.Lookup("allocs").WriteTo(f, 0)
}

var errUsage = errors.New("want apply, update or remove with PROJECT STATE FILES; undo PROJECT STATE; or check PROJECT SHAPE INTENTS")

// do plays the job that the arguments name.
func do(args []string, stdout io.Writer) error {
	if len(args) < 3 {
		return errUsage
	}
	job, project, args := args[0], args[1], args[2:]
	r, err := root.Open(project)
	if err != nil {
		return err
	}
	defer r.Close()
	if job == "check" {
		return check(r, args, stdout)
	}
	state, err := root.Open(args[0])
	if err != nil {
		return err
	}
	defer state.Close()
	if job == "undo" && len(args) == 1 {
		return undo(r, state, stdout)
	}
	if len(args) != 2 {
		return errUsage
	}
	files, err := strconv.Atoi(args[1])
	if err != nil || files < 0 {
		return errUsage
	}
	var intent func(i int) abi.Intent
	switch job {
	case "apply":
		intent = func(i int) abi.Intent { return write(spread(i), i, 0) }
	case "update":
		intent = func(i int) abi.Intent { return write(spread(i), i, 1) }
	case "remove":
		intent = func(i int) abi.Intent { return abi.Delete{Path: spread(i)} }
	default:
		return errUsage
	}
	checked, judging, err := judge(r, files, intent)
	if err != nil {
		return err
	}
	o := apply.Options{State: state}
	for i := 0; job == "remove" && i < files; i += perDirectory {
		dir, _ := root.Split(spread(i))
		o.Prune = append(o.Prune, dir)
	}
	start := time.Now()
	done, err := apply.Run(context.Background(), checked, o)
	if err == nil && done.Litter != "" {
		err = errors.New(done.Litter)
	}
	return say(stdout, judging, time.Since(start), err)
}

func say(stdout io.Writer, judging, applying time.Duration, err error) error {
	if err == nil {
		_, err = fmt.Fprintln(stdout, "check", judging.Nanoseconds(), "apply", applying.Nanoseconds())
	}
	return err
}

// undo takes the last change back.
func undo(r, state *root.Root, stdout io.Writer) error {
	entries, err := apply.Entries(state)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return errors.New("there is nothing to undo")
	}
	start := time.Now()
	u, err := apply.NewUndo(r, state, entries[len(entries)-1].ID)
	if err != nil {
		return err
	}
	defer u.Close()
	judging := time.Since(start)
	start = time.Now()
	_, err = u.Run(context.Background(), apply.Options{State: state})
	return say(stdout, judging, time.Since(start), err)
}

func check(r *root.Root, args []string, stdout io.Writer) error {
	if len(args) != 2 {
		return errUsage
	}
	n, err := strconv.Atoi(args[1])
	path := map[string]func(int) string{"flat": flat, "spread": spread, "deep": deep}[args[0]]
	if err != nil || n < 0 || path == nil {
		return errUsage
	}
	_, judging, err := judge(r, n, func(i int) abi.Intent { return write(path(i), i, 0) })
	return say(stdout, judging, 0, err)
}

// judge makes a plan and holds it against the root.
func judge(r *root.Root, n int, intent func(i int) abi.Intent) (plan.Checked, time.Duration, error) {
	limits, err := abi.Limits{NewEntries: abi.HardLimits().NewEntries}.Resolve()
	if err != nil {
		return plan.Checked{}, 0, err
	}
	all, err := grant.New([]string{"skills/**"})
	if err != nil {
		return plan.Checked{}, 0, err
	}
	intents := make([]abi.Intent, n)
	for i := range intents {
		intents[i] = intent(i)
	}
	start := time.Now()
	checked, err := plan.Check(r, plan.Options{Limits: limits},
		plan.Proposal{Owner: "bench", Kind: abi.KindTarget, Action: "install", Grant: all, Plan: &abi.Plan{Intents: intents}})
	return checked, time.Since(start), err
}

// perDirectory is how many files lie in one directory, about as many as in that of a skill.
const perDirectory = 20

// The shapes of a plan's paths.
func spread(i int) string {
	return "skills/skill-" + strconv.Itoa(i/perDirectory) + "/file-" + strconv.Itoa(i) + ".md"
}

func flat(i int) string { return "skills/file-" + strconv.Itoa(i) + ".md" }

// deep has some thirty components, which branch at each of the last sixteen.
func deep(i int) string {
	var b strings.Builder
	b.WriteString("skills")
	for range 12 {
		b.WriteString("/folder")
	}
	for bit := 15; bit >= 0; bit-- {
		b.WriteString("/d" + strconv.Itoa(i>>bit&1))
	}
	b.WriteString("/file.md")
	return b.String()
}

func write(path string, file, generation int) abi.Intent {
	return abi.Write{Path: path, Mode: 0o644, Content: &content{file: file, generation: generation}}
}

// content is a text of 1 KiB that no other file has.
type content struct {
	file, generation int
	once             sync.Once
	digest           abi.Digest
}

const contentSize = 1 << 10

func (c *content) Size() int64 { return contentSize }

// Digest hashes at the first call, as a spool's contents do.
func (c *content) Digest() abi.Digest {
	c.once.Do(func() { c.digest = abi.DigestOf(c.text()) })
	return c.digest
}

func (c *content) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.text())), nil }

func (c *content) text() []byte {
	text := fmt.Appendf(make([]byte, 0, contentSize), "This is file %d in its version %d, and its text is of no use.\n", c.file, c.generation)
	return append(text, filling[:contentSize-len(text)]...)
}

// filling is what files hold behind their first line. Making it for each would be what is measured.
var filling = bytes.Repeat([]byte("One line is as good as another.\n"), contentSize/32)
