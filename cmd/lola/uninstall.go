package main

import (
	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
)

func (a *app) uninstallCommand() *cobra.Command {
	var u host.Uninstall
	cmd := &cobra.Command{
		Use:     "uninstall NAME [-a TARGET]... [--project DIR]",
		Aliases: []string{"remove", "rm"},
		Short:   "Take a module out of a project",
		Long: "Remove what was installed for the module and is unchanged, with the directories that were made for it once they\n" +
			"are empty. Files that were changed stay and are named.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			u.Module = args[0]
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			p, err := h.Uninstall(cmd.Context(), u)
			if err != nil {
				return err
			}
			defer p.Close()
			return a.settle(cmd.Context(), p, false, false, false)
		},
	}
	cmd.Flags().StringArrayVarP(&u.Targets, "assistant", "a", nil, "target to uninstall from (repeatable; default: all)")
	cmd.Flags().StringVar(&u.Project, "project", ".", "folder of the project")
	return cmd
}
