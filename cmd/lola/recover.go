package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) recoverCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "recover [--json]",
		Short: "Finish or take back what a crash interrupted",
		Long: "Finish or take back every change that was interrupted, in whatever project. Only what still is as the change left it\n" +
			"is touched; what somebody changed since stays and is named.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			list, err := h.Recover(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				if err := a.printJSON(list); err != nil {
					return err
				}
			} else if len(list) == 0 {
				fmt.Fprintln(a.stdout, "nothing was interrupted")
			}
			var problems []error
			for _, r := range list {
				if r.Litter != "" {
					fmt.Fprintf(a.stderr, "lola: note: the change %s is made, but: %s\n", r.ID, escape(r.Litter))
				}
				switch {
				case r.Problem != "":
					problems = append(problems, r.Err)
				case asJSON:
				case r.Finished:
					fmt.Fprintf(a.stdout, "%s: finished the change of %s\n", r.ID, escape(r.Project))
				default:
					fmt.Fprintf(a.stdout, "%s: took the change of %s back\n", r.ID, escape(r.Project))
				}
			}
			return errors.Join(problems...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
