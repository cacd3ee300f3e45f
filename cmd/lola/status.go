package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	var (
		project, scope, target string
		asJSON                 bool
	)
	cmd := &cobra.Command{
		Use:   "status [--project DIR] [--json]",
		Short: "Show what on disk differs from what was installed",
		Long: "Compare the project with what was installed in it. Nothing is changed. The exit code is " + fmt.Sprint(exitDamaged) + " if something differs.\n" +
			"With --scope user and -a the folder of that assistant in your home is compared.",
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
			s, err := h.Status(project)
			if err != nil {
				return err
			}
			differs := len(s.Differences) + len(s.Unfinished)
			if asJSON {
				err = a.printJSON(s)
			} else {
				for _, u := range s.Unfinished {
					fmt.Fprintf(a.stdout, "! the change %s was interrupted; run \"lola recover\"\n", u.ID)
				}
				for _, d := range s.Differences {
					fmt.Fprintf(a.stdout, "%s %s (%s for %s): %s\n", d.State, escape(d.Path), escape(d.Module), d.Target, escape(d.Why))
				}
				if differs == 0 {
					fmt.Fprintf(a.stdout, "%d installed, all as it was installed\n", len(s.Modules))
				}
			}
			if err == nil && differs > 0 {
				err = damaged{fmt.Errorf("%d difference(s) from what was installed", differs)}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&project, "project", ".", "folder of the project")
	f.StringVar(&scope, "scope", "project", "\"project\" or \"user\"")
	f.StringVarP(&target, "assistant", "a", "", "with --scope user: whose folder")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// projectOf is the folder that --project, or --scope user and -a, name.
func (a *app) projectOf(cmd *cobra.Command, h userFolders, project, scope, target string) (string, error) {
	user, err := userScope(cmd, scope, &project)
	if err == nil && !user && target != "" {
		err = hinted{usageError{errors.New("-a says whose folder --scope user is about, and this is about a project, for all assistants")}, "leave -a out, or add --scope user"}
	}
	if err != nil || !user {
		return project, err
	}
	if target == "" {
		return "", oneAssistant(nil)
	}
	return h.UserFolder(target)
}

type userFolders interface {
	UserFolder(target string) (string, error)
}
