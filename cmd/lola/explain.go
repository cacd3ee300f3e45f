package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host/plan"
)

func (a *app) explainCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [RULE] [--json]",
		Short: "Say what a rule refuses, why, and what can be done",
		Long: `Say what a rule refuses, why, and what can be done.

RULE is the id that stands before a finding of a refused plan. Without it, all rules are listed.`,
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, ids []string) error {
			switch {
			case len(ids) == 1:
				return a.explain(ids[0], asJSON)
			case asJSON:
				return a.printJSON(plan.Rules)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, r := range plan.Rules {
				fmt.Fprintf(w, "%s\t%s\n", r.ID, r.Summary)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (a *app) explain(id string, asJSON bool) error {
	r, ok := plan.RuleOf(id)
	if !ok {
		hint := `"lola explain" lists them all`
		if near, ok := plan.NearestRule(id); ok {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return hinted{usageError{fmt.Errorf("no rule has the id %q", id)}, hint}
	}
	if asJSON {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.stdout, "%s: %s.\n\n%s\n\nExample: %s\nAuthor:  %s\n", r.ID, r.Summary, r.Why, r.Example, r.Author)
	if r.Fix != "" {
		fmt.Fprintf(a.stdout, "You:     %s\n", r.Fix)
	}
	return nil
}
