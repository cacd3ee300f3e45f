// Askbench is the small embedding program that the benchmark program in bench/ measures, one job to a process.
//
//	askbench request FILE                    # writes the request of all other jobs, for who asks a guest in another way
//	askbench compile GUEST FOLDER            # has a child compile and leave the code in FOLDER, which is empty; prints the digest
//	askbench run GUEST                       # asks a child, which compiles
//	askbench load DIGEST FOLDER              # asks a child, which loads the code of the guest with that digest from FOLDER
//	askbench preview [-no-memo] GUEST        # by the host: a module is loaded, the guest asked, its plan judged; LOLA_HOME is used
//	askbench warm GUEST N GAP PROGRAM [ARG]...  # N requests to a warm pool, each followed by one to PROGRAM, started for it
//
// "run" and "load" are the child and nothing else: what an extension in a process of its own costs. "preview" is what an embedder pays for
// a change up to the question whether it shall be made; module and project are made when they are missing, beside LOLA_HOME.
//
// "warm" waits GAP before each request, so that the pool has its child again; a line for each says what the request took, then
// PROGRAM (which gets a request of its own as JSON and answers a plan): nanoseconds. A last line says what all of each took in
// CPU nanoseconds and minor faults, for one request, what replaces the child included.
//
// It is for tests and is no part of the product.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/shim"
)

func main() {
	shim.RunIfChild()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run does the work of main. Exit codes: 0 done; 1 not done; 2 the command line is wrong.
func run(args []string, stdout, stderr io.Writer) int {
	err := do(args, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "askbench: error: %v\n", err)
		if errors.Is(err, errUsage) {
			return 2
		}
		return 1
	}
	return 0
}

var errUsage = errors.New("the arguments are those of no job")

func do(args []string, stdout io.Writer) error {
	if len(args) < 2 {
		return errUsage
	}
	job, args := args[0], args[1:]
	switch {
	case job == "request" && len(args) == 1:
		var b bytes.Buffer
		if err := (wire.Options{}).EncodeRequest(&b, request()); err != nil {
			return err
		}
		return os.WriteFile(args[0], b.Bytes(), 0o644)
	case job == "compile" && len(args) == 2:
		return compile(args[0], args[1], stdout)
	case job == "run" && len(args) == 1:
		wasm, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		return ask(runner.Module{Name: "echo", Bytes: wasm})
	case job == "load" && len(args) == 2:
		digest, err := abi.ParseDigest(args[0])
		if err != nil {
			return err
		}
		return ask(runner.Module{Name: "echo", Digest: digest, Code: args[1]})
	case job == "preview":
		flags := flag.NewFlagSet("preview", flag.ContinueOnError)
		noMemo := flags.Bool("no-memo", false, "")
		if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
			return errUsage
		}
		return preview(flags.Arg(0), *noMemo)
	case job == "warm" && len(args) >= 4:
		n, err := strconv.Atoi(args[1])
		gap, gerr := time.ParseDuration(args[2])
		if err != nil || gerr != nil || n < 1 {
			return errUsage
		}
		return warm(args[0], n, gap, args[3:], stdout)
	}
	return errUsage
}

// The plan that is asked for has as many files, and as many bytes, as that of the floor in bench/.
const (
	files     = 10
	fileBytes = 2 << 10
)

var text = []byte(strings.Repeat("All work and no play makes a plan.\n", fileBytes/35+1))

func fileName(i int) string { return fmt.Sprintf("commands/file-%d.md", i) }

func request() *abi.Request {
	r := &abi.Request{
		Action: "install", Extension: abi.Identity{Name: "echo", Version: "1.0.0"}, Scope: abi.ScopeProject,
		Module: &abi.Module{Identity: abi.Identity{Name: "m", Version: "0.1.0"}, Digest: abi.DigestOf(nil)},
	}
	for i := range files {
		r.Module.Files = append(r.Module.Files, abi.File{
			Path: fileName(i), Mode: 0o644, Size: int64(len(text)), Digest: abi.DigestOf(text), Content: text,
		})
	}
	return r
}

// check: a guest that did not do its work must not look fast.
func check(plan *abi.Plan) error {
	if len(plan.Intents) != files {
		return fmt.Errorf("looking at the plan: %d intents, want %d", len(plan.Intents), files)
	}
	return nil
}

func compile(guest, folder string, stdout io.Writer) error {
	wasm, err := os.ReadFile(guest)
	if err != nil {
		return err
	}
	r, err := runner.New(runner.Options{})
	if err != nil {
		return err
	}
	if _, _, err = r.Compile(context.Background(), runner.Module{Name: "echo", Bytes: wasm}, folder); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, abi.DigestOf(wasm))
	return err
}

func ask(m runner.Module) error {
	r, err := runner.New(runner.Options{})
	if err != nil {
		return err
	}
	reply, err := r.Run(context.Background(), m, request(), nil)
	if err != nil {
		return err
	}
	return check(reply.Plan)
}

const manifest = `name: echo
version: 1.0.0
kind: target
description: Shows what it was asked
abi: 1
artifact: echo.wasm
tier: wasm
actions: [install, uninstall]
writes: ["echo/**"]
contents: ["commands/*.md"]
license: Apache-2.0
`

func open(guest string, noMemo bool) (*host.Host, error) {
	wasm, err := os.ReadFile(guest)
	if err != nil {
		return nil, err
	}
	return host.New(host.Options{Builtins: []host.Builtin{{Manifest: []byte(manifest), Artifact: wasm}}, NoMemo: noMemo})
}

func preview(guest string, noMemo bool) error {
	beside := filepath.Dir(os.Getenv("LOLA_HOME"))
	module, project := filepath.Join(beside, "m"), filepath.Join(beside, "project")
	if _, err := os.Stat(project); err != nil {
		for i := range files {
			path := filepath.Join(module, fileName(i))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
		}
		if err := os.Mkdir(project, 0o755); err != nil {
			return err
		}
	}
	h, err := open(guest, noMemo)
	if err != nil {
		return err
	}
	defer h.Close()
	p, err := h.Install(context.Background(), host.Install{Module: module, Project: project, Targets: []string{"echo"}, DryRun: true})
	if err != nil {
		return err
	}
	defer p.Close()
	if n := len(p.Report().Files); n != files {
		return fmt.Errorf("looking at the report: %d files, want %d", n, files)
	}
	return nil
}

func warm(guest string, n int, gap time.Duration, native []string, stdout io.Writer) error {
	h, err := open(guest, true)
	if err != nil {
		return err
	}
	defer h.Close()
	w, err := h.Warm("echo", 2)
	if err != nil {
		return err
	}
	defer w.Close()
	ctx := context.Background()
	var used [2]usage // by the pool, by the native children
	for i := range n + 1 {
		before := spent()
		time.Sleep(gap)
		start := time.Now()
		plan, err := w.Ask(ctx, *request())
		took := time.Since(start)
		if err == nil {
			err = check(plan)
		}
		if err != nil {
			return err
		}
		time.Sleep(gap) // what replaces the child is the pool's
		between := spent()
		start = time.Now()
		if err := askNative(native); err != nil {
			return err
		}
		spawned := time.Since(start)
		after := spent()
		if i == 0 {
			continue // the pool was not full, nothing was read from the disk
		}
		fmt.Fprintln(stdout, int64(took), int64(spawned))
		used[0] = used[0].plus(between.minus(before))
		used[1] = used[1].plus(after.minus(between))
	}
	for _, u := range used {
		fmt.Fprint(stdout, int64(u.cpu)/int64(n), " ", u.faults/int64(n), " ")
	}
	fmt.Fprintln(stdout)
	return nil
}

// usage is what this process and the children that it waited for took.
type usage struct {
	cpu    time.Duration
	faults int64
}

func (u usage) plus(v usage) usage  { return usage{u.cpu + v.cpu, u.faults + v.faults} }
func (u usage) minus(v usage) usage { return usage{u.cpu - v.cpu, u.faults - v.faults} }

// askNative is the floor of bench/, but that this program is the command.
func askNative(argv []string) error {
	child := exec.Command(argv[0], argv[1:]...)
	child.Stdin = strings.NewReader(`{"abi":1,"action":"install","params":{"name":"m"}}`)
	child.Stderr = os.Stderr
	reply, err := child.Output()
	if err != nil {
		return fmt.Errorf("running %q: %w", argv[0], err)
	}
	var plan struct {
		Intents []struct{ Op, Path, Mode, Content string }
	}
	if err := json.Unmarshal(reply, &plan); err != nil || len(plan.Intents) != files {
		return fmt.Errorf("reading the plan of %q: %d intents, want %d: %w", argv[0], len(plan.Intents), files, err)
	}
	return nil
}
