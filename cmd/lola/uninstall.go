package main

import (
	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
)

func (a *app) uninstallCommand() *cobra.Command {
	var (
		u     host.Uninstall
		scope string
		o     settleOptions
	)
	cmd := &cobra.Command{
		Use:     "uninstall NAME [-a TARGET]... [--project DIR] [--scope user] [--dry-run]",
		Aliases: []string{"remove", "rm"},
		Short:   "Take a module out of a project",
		Long: "Remove what was installed for the module and is unchanged, with the directories that were made for it once they\n" +
			"are empty, and take back what was changed in files that others share. What was changed since stays and is named.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			u.Module = args[0]
			var err error
			if u.User, err = userScope(cmd, scope, &u.Project); err != nil {
				return err
			}
			if u.User {
				if err := oneAssistant(u.Targets); err != nil {
					return err
				}
			}
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			u.DryRun = o.dryRun
			p, err := h.Uninstall(cmd.Context(), u)
			if err != nil {
				return err
			}
			defer p.Close()
			return a.settle(cmd.Context(), p, o)
		},
	}
	cmd.Flags().StringArrayVarP(&u.Targets, "assistant", "a", nil, "target to uninstall from (repeatable; default: all)")
	a.settleFlags(cmd, &u.Project, &scope, &u.AllowRoot, &o)
	return cmd
}
