package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/targets"
)

// app is what every verb works with.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	hook           root.Hook      // see host.Options; only tests have one
	builtins       []host.Builtin // beside the targets; only tests have some
	require        policy.Level   // see confinementFlag
	noMemo         bool           // see host.Options; a flag of verbs that ask extensions
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&app{stdin: stdin, stdout: stdout, stderr: stderr}).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	cmd := a.command(args)
	cmd.SetArgs(args)
	cmd.SetIn(a.stdin)
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	err := cmd.ExecuteContext(ctx)
	code, hint := exitCode(err)
	if err != nil && code != exitChanged {
		for i, line := range strings.Split(strings.TrimSpace(err.Error()), "\n") {
			if i == 0 {
				fmt.Fprintf(a.stderr, "lola: error: %s\n", escape(line))
			} else {
				fmt.Fprintf(a.stderr, "  │ %s\n", escape(line))
			}
		}
		a.findings(err)
		if hint != "" {
			fmt.Fprintf(a.stderr, "lola: hint: %s\n", escape(hint))
		}
	}
	return code
}

// findings prints every finding of a refused plan behind the error that summed them up. One alone is that error, and its fix
// the hint.
func (a *app) findings(err error) {
	var refused *plan.RefusedError
	if !errors.As(err, &refused) || len(refused.Findings) == 1 && !refused.Truncated {
		return
	}
	for _, f := range refused.Findings {
		fmt.Fprintf(a.stderr, "  %s: %s", f.Rule, escape(f.Message))
		if f.Fix != "" {
			fmt.Fprintf(a.stderr, "; %s", escape(f.Fix))
		}
		fmt.Fprintln(a.stderr)
	}
	if refused.Truncated {
		fmt.Fprintln(a.stderr, "  and more, which are not listed")
	}
}

// verbs make the commands under their names, in the order of the documentation.
var verbs = []struct {
	name string
	make func(*app) *cobra.Command
}{
	{"install", (*app).installCommand}, {"uninstall", (*app).uninstallCommand}, {"list", (*app).listCommand},
	{"status", (*app).statusCommand}, {"plan", (*app).planCommand}, {"undo", (*app).undoCommand}, {"recover", (*app).recoverCommand},
	{"log", (*app).logCommand}, {"ext", (*app).extCommand}, {"cache", (*app).cacheCommand}, {"doctor", (*app).doctorCommand},
	{"explain", (*app).explainCommand}, {"version", (*app).versionCommand},
}

// command makes what a command line is for: the verb that it begins with, or all of them if it begins with none. Making all
// takes a short command as long as its own work.
func (a *app) command(line []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:           "lola",
		Short:         "Install AI-assistant modules; extensions propose, lola decides",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          args(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	for _, v := range verbs {
		if len(line) > 0 && line[0] == v.name {
			cmd.CompletionOptions.DisableDefaultCmd = true
			cmd.AddCommand(v.make(a))
			return cmd
		}
	}
	for _, v := range verbs {
		cmd.AddCommand(v.make(a))
	}
	return cmd
}

// args wraps cobra's check of positional arguments so that its errors count as usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return hinted{usageError{err}, "usage: " + cmd.UseLine()}
		}
		return nil
	}
}

// host opens the host with the built-in targets.
func (a *app) host() (*host.Host, error) {
	o := host.Options{Hook: a.hook, NoMemo: a.noMemo, Builtins: slices.Clone(a.builtins), RequireConfinement: a.require}
	for _, m := range targets.Manifests() {
		o.Builtins = append(o.Builtins, host.Builtin{Manifest: m.YAML, Artifact: targets.Wasm()})
	}
	return host.New(o)
}

// terminal reports whether the user can be asked: both ends of the conversation are terminals.
func (a *app) terminal() bool {
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	out, ok := a.stderr.(*os.File)
	return ok && term.IsTerminal(int(out.Fd()))
}
