package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/shim/policy"
)

const (
	confinementFlag     = "require-confinement"
	confinementVariable = "LOLA_REQUIRE_CONFINEMENT"
)

// confinementFlag gives a command that runs extensions the flag that says how they must be confined. Where it is not given,
// the variable of the environment counts.
func (a *app) confinementFlag(cmd *cobra.Command) {
	var level string
	cmd.Flags().StringVar(&level, confinementFlag, "", "run no extension that is confined less than `LEVEL`: none, process, landlock, seccomp or full")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		from := "--" + confinementFlag
		if !cmd.Flags().Changed(confinementFlag) {
			if level = os.Getenv(confinementVariable); level == "" {
				return nil
			}
			from = confinementVariable
		}
		var err error
		if a.require, err = policy.ParseLevel(level); err != nil {
			return usageError{fmt.Errorf("%s: %w", from, err)}
		}
		return nil
	}
}
