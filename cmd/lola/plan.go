package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/cmd/lola/preview"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/grant"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Look at saved plans and apply them",
		Long: "Look at plans that \"lola install --out FILE\" saved, and apply them.\n" +
			"A saved plan is believed nothing, whoever it is from: it is judged under what is granted on this machine, asks the\n" +
			"same questions again, and applies only to the state that it was made for. Whether it is for a project or for the\n" +
			"folder of an assistant in your home stands in it. If it was not saved here, what it removes or replaces of an\n" +
			"installed module takes --yes.",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.planShowCommand(), a.planApplyCommand())
	return cmd
}

func (a *app) planShowCommand() *cobra.Command {
	var (
		in host.OpenPlan
		o  settleOptions
	)
	cmd := &cobra.Command{
		Use:                   "show FILE [--project DIR] [--json] [--full]",
		Short:                 "Show what a saved plan would do to a project now",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.File, in.DryRun, o.dryRun = args[0], true, true
			return a.openPlan(cmd, in, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Project, "project", ".", "folder of the project")
	f.StringArrayVar(&in.Follow, "follow", nil, "link of the project to look through (repeatable)")
	f.BoolVar(&o.json, "json", false, "print the report as JSON (docs/report.schema.json)")
	f.BoolVar(&o.full, "full", false, "cut nothing")
	f.BoolVar(&o.detailed, "detailed-exitcode", false, fmt.Sprintf("exit with %d if something would change", exitChanged))
	return cmd
}

func (a *app) planApplyCommand() *cobra.Command {
	var (
		in    host.OpenPlan
		o     settleOptions
		trust []string
	)
	cmd := &cobra.Command{
		Use:                   "apply FILE [--project DIR] [--yes] [--trust NAME@sha256:HEX]",
		Short:                 "Apply a saved plan",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.File, in.DryRun = args[0], o.dryRun
			for _, t := range trust {
				parsed, err := grant.ParseTrust(t)
				if err != nil {
					return usageError{err}
				}
				o.consent.Trust = append(o.consent.Trust, parsed)
			}
			return a.openPlan(cmd, in, o)
		},
	}
	cmd.Flags().StringArrayVar(&trust, "trust", nil, "agree that the plan of this digest makes something run by itself (repeatable)")
	cmd.Flags().StringArrayVar(&in.Follow, "follow", nil, "link of the project to look through, from now on (repeatable)")
	a.settleFlags(cmd, &in.Project, nil, &in.AllowRoot, &o)
	return cmd
}

func (a *app) openPlan(cmd *cobra.Command, in host.OpenPlan, o settleOptions) error {
	if !cmd.Flags().Changed("project") {
		in.Project = "" // the plan says whether it is for one
	}
	h, err := a.host()
	if err != nil {
		return err
	}
	defer h.Close()
	p, err := h.OpenPlan(cmd.Context(), in)
	if err != nil {
		return err
	}
	defer p.Close()
	return a.settle(cmd.Context(), p, o)
}

// save writes the plan to a new file.
func (a *app) save(ctx context.Context, p *host.Pending, view *preview.Preview, o settleOptions) (err error) {
	f, err := os.OpenFile(o.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return hinted{fmt.Errorf("saving the plan: %w", err), "name a file that is not there yet"}
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil && !errors.Is(err, errChanged) {
			os.Remove(o.out)
		}
	}()
	if err := p.Save(ctx, f); err != nil {
		return err
	}
	if o.json {
		err = view.WriteJSON(a.stdout)
	} else {
		a.list(view)
		fmt.Fprintf(a.stdout, "saved to %s: look at it with \"lola plan show\", apply it with \"lola plan apply\"\n", escape(o.out))
	}
	return errors.Join(err, a.end(view, o))
}
