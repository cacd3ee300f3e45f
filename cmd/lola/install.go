package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/targets"
)

func (a *app) installCommand() *cobra.Command {
	var (
		in     host.Install
		dryRun bool
		yes    bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "install DIR [-a TARGET]... [--project DIR] [--dry-run] [--yes] [--json]",
		Aliases: []string{"i", "add"},
		Short:   "Install a module into a project",
		Long: "Install the module in DIR into a project for one or more assistants, in one transaction.\n" +
			"Without -a the assistants whose folders are in the project are taken.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Module = args[0]
			for i, t := range in.Targets {
				if slices.Contains(in.Targets[:i], t) {
					return usageError{fmt.Errorf("target %q is named twice", t)}
				}
			}
			return a.install(cmd.Context(), in, dryRun, yes, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&in.Targets, "assistant", "a", nil, "target to install for (repeatable)")
	f.StringVar(&in.Project, "project", ".", "folder of the project")
	f.BoolVar(&dryRun, "dry-run", false, "show what would change and change nothing")
	f.BoolVarP(&yes, "yes", "y", false, "overwrite files that lola did not install")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *app) install(ctx context.Context, in host.Install, dryRun, yes, asJSON bool) error {
	if len(in.Targets) == 0 {
		found, err := detect(in.Project)
		if err != nil {
			return err
		}
		in.Targets = found
	}
	h, err := a.host()
	if err != nil {
		return err
	}
	defer h.Close()
	p, err := h.Install(ctx, in)
	if err != nil {
		return err
	}
	defer p.Close()
	return a.settle(ctx, p, dryRun, yes, asJSON)
}

// settle shows a change, asks what must be asked and makes it.
func (a *app) settle(ctx context.Context, p *host.Pending, dryRun, yes, asJSON bool) error {
	r := p.Report()
	if !asJSON {
		a.printReport(r, dryRun)
	}
	if !dryRun {
		consent := host.Consent{Foreign: yes}
		err := p.Apply(ctx, consent)
		if foreign := (*host.ForeignError)(nil); errors.As(err, &foreign) && a.terminal() {
			yes, asked := a.ask(ctx, fmt.Sprintf("Overwrite or remove %d file(s) that lola did not install?", len(foreign.Paths)))
			if asked != nil {
				return asked
			}
			if !yes {
				return hinted{err, "nothing was changed"}
			}
			consent.Foreign = true
			err = p.Apply(ctx, consent)
		}
		if err != nil {
			return err
		}
	}
	if asJSON {
		err := a.printJSON(struct {
			host.Report
			DryRun bool `json:"dry_run"`
		}{r, dryRun})
		if err != nil && r.Changed && !dryRun {
			err = fmt.Errorf("printing the report of a change that is made: %w", err)
		}
		return err
	}
	a.printSummary(r, dryRun)
	return nil
}

// ask puts a yes-or-no question at the terminal; anything but yes is no. The error says that the user interrupted it: reading
// goes on in the background then, for it cannot be ended, and the process ends soon.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		lines <- line
	}()
	select {
	case line := <-lines:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return false, fmt.Errorf("asking for consent: %w", context.Cause(ctx))
	}
}

// detect finds the assistants whose folders are in the project.
func detect(project string) ([]string, error) {
	if _, err := os.Stat(project); err != nil {
		return nil, fmt.Errorf("looking for assistants in the project: %w", err)
	}
	var found, all []string
	for _, t := range targets.Manifests() {
		all = append(all, t.Name)
		for _, path := range t.Detect {
			if _, err := os.Lstat(filepath.Join(project, filepath.FromSlash(path))); err == nil {
				found = append(found, t.Name)
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, hinted{
			usageError{fmt.Errorf("no assistant's folder is in the project %q, and none is named", project)},
			"name one with -a: " + strings.Join(all, ", "),
		}
	}
	return found, nil
}
