package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
)

func (a *app) undoCommand() *cobra.Command {
	var (
		u             host.Undo
		o             settleOptions
		list, all     bool
		scope, target string
	)
	cmd := &cobra.Command{
		Use:   "undo [ID] [--list [--all]] [--project DIR] [--scope user -a TARGET] [--dry-run]",
		Short: "Take back a change that was made to a project",
		Long: "Take back the last change of the project, or the one with the ID: files and what is recorded become what they were.\n" +
			"If anything that the change made was changed since, nothing happens and the files are named.\n" +
			"With --scope user and -a it is a change of the folder of that assistant in your home.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			if all {
				for _, flag := range []string{"project", "scope", "assistant"} {
					if cmd.Flags().Changed(flag) {
						return usageError{fmt.Errorf("--all lists the changes of all projects, and --%s names one", flag)}
					}
				}
				return a.undoable(h, "", o.json)
			}
			if u.Project, err = a.projectOf(cmd, h, u.Project, scope, target); err != nil {
				return err
			}
			if list {
				return a.undoable(h, u.Project, o.json)
			}
			if len(args) > 0 {
				u.ID = args[0]
			}
			u.DryRun = o.dryRun
			p, err := h.Undo(cmd.Context(), u)
			if err != nil {
				return err
			}
			defer p.Close()
			return a.settle(cmd.Context(), p, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list what can be undone, the newest last")
	f.BoolVar(&all, "all", false, "list the changes of all projects")
	f.StringVarP(&target, "assistant", "a", "", "with --scope user: whose folder")
	a.settleFlags(cmd, &u.Project, &scope, &u.AllowRoot, &o)
	return cmd
}

func (a *app) undoable(h *host.Host, project string, asJSON bool) error {
	entries, err := h.Undoable(project)
	if err != nil && !errors.As(err, new(*host.DamagedError)) {
		return err
	}
	return errors.Join(a.printUndoable(entries, asJSON), err)
}

func (a *app) printUndoable(entries []host.Undoable, asJSON bool) error {
	if asJSON {
		return a.printJSON(entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(a.stdout, "nothing can be undone here")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tTIME\tACTION\tMODULE\tTARGETS\tPATHS\tPROJECT")
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", e.ID, e.Time.Format(time.RFC3339), e.Action,
			escape(strings.TrimSpace(e.Module+" "+e.Version)), escape(strings.Join(e.Targets, ",")), e.Paths, escape(e.Project))
	}
	return w.Flush()
}
