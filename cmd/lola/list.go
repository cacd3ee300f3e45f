package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (a *app) listCommand() *cobra.Command {
	var (
		project, scope, target string
		asJSON                 bool
	)
	cmd := &cobra.Command{
		Use:                   "list [--project DIR] [--json]",
		Aliases:               []string{"ls"},
		Short:                 "List what is installed in a project",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			if project, err = a.projectOf(cmd, h, project, scope, target); err != nil {
				return err
			}
			list, err := h.List(project)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.stdout, "nothing is installed here")
				return nil
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "MODULE\tVERSION\tTARGET\tFILES\tDIGEST")
			for _, m := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.12s\n", m.Module, m.Version, m.Target, m.Files, m.Digest)
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&project, "project", ".", "folder of the project")
	cmd.Flags().StringVar(&scope, "scope", "project", "\"project\" or \"user\"")
	cmd.Flags().StringVarP(&target, "assistant", "a", "", "with --scope user: whose folder")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
