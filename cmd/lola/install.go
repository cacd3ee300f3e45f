package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/targets"
)

func (a *app) installCommand() *cobra.Command {
	var (
		in    host.Install
		scope string
		o     settleOptions
		trust []string
	)
	cmd := &cobra.Command{
		Use:     "install DIR [-a TARGET]... [--project DIR] [--scope user] [--dry-run] [--out FILE] [--yes] [--trust NAME@sha256:HEX]",
		Aliases: []string{"i", "add"},
		Short:   "Install a module into a project",
		Long: "Install the module in DIR into a project for one or more assistants, in one transaction.\n" +
			"Without -a the assistants whose folders are in the project are taken. With --scope user it goes into the\n" +
			"folder of one assistant in your home.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Module = args[0]
			for i, t := range in.Targets {
				if slices.Contains(in.Targets[:i], t) {
					return usageError{fmt.Errorf("target %q is named twice", t)}
				}
			}
			var err error
			if in.User, err = userScope(cmd, scope, &in.Project); err != nil {
				return err
			}
			for _, t := range trust {
				parsed, err := grant.ParseTrust(t)
				if err != nil {
					return usageError{err}
				}
				o.consent.Trust = append(o.consent.Trust, parsed)
			}
			return a.install(cmd.Context(), in, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&in.Targets, "assistant", "a", nil, "target to install for (repeatable)")
	f.StringArrayVar(&trust, "trust", nil, "agree that the module of this digest makes something run by itself (repeatable)")
	f.StringArrayVar(&in.Follow, "follow", nil, "link of the project to look through, from now on (repeatable)")
	f.BoolVar(&a.noMemo, "no-memo", false, "ask extensions, also what they were asked before")
	f.StringVar(&o.out, "out", "", "save the plan to a file instead of applying it; see \"lola plan\"")
	a.settleFlags(cmd, &in.Project, &scope, &in.AllowRoot, &o)
	a.confinementFlag(cmd)
	return cmd
}

// settleFlags are the flags of every verb that changes a project.
func (a *app) settleFlags(cmd *cobra.Command, project, scope *string, allowRoot *bool, o *settleOptions) {
	f := cmd.Flags()
	f.StringVar(project, "project", ".", "folder of the project")
	if scope != nil {
		f.StringVar(scope, "scope", "project", "\"project\", or \"user\" for the folder of one assistant in your home")
	}
	f.BoolVar(allowRoot, "allow-root", false, "admit a project that is not yours alone, from now on")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change and change nothing")
	f.BoolVarP(&o.consent.Foreign, "yes", "y", false, "overwrite, move and remove what lola did not install")
	f.BoolVar(&o.json, "json", false, "print the report as JSON (docs/report.schema.json)")
	f.BoolVar(&o.full, "full", false, "cut nothing in the preview")
	f.BoolVar(&o.detailed, "detailed-exitcode", false, fmt.Sprintf("exit with %d if something changed, or would", exitChanged))
}

// oneAssistant holds --scope user to the folder of one assistant.
func oneAssistant(targets []string) error {
	switch {
	case len(targets) == 0:
		return hinted{usageError{errors.New("--scope user needs to know for which assistant")}, "name one with -a"}
	case len(targets) > 1:
		return hinted{usageError{errors.New("--scope user is the folder of one assistant, and more are named")}, "run it once for each of them"}
	}
	return nil
}

// userScope reads --scope.
func userScope(cmd *cobra.Command, scope string, project *string) (bool, error) {
	switch scope {
	case "project":
		return false, nil
	case "user":
		if cmd.Flags().Changed("project") {
			return false, usageError{errors.New("--scope user is the folder of an assistant in your home, and --project names another")}
		}
		*project = ""
		return true, nil
	}
	return false, usageError{fmt.Errorf("--scope is %q: want \"project\" or \"user\"", scope)}
}

func (a *app) install(ctx context.Context, in host.Install, o settleOptions) error {
	if in.User {
		if err := oneAssistant(in.Targets); err != nil {
			return err
		}
	}
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
	in.DryRun = o.dryRun || o.out != ""
	p, err := h.Install(ctx, in)
	if err != nil {
		return err
	}
	defer p.Close()
	return a.settle(ctx, p, o)
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
