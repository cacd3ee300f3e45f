package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/abi"
)

// version is the release. It stands in the source and is not stamped, so that the same commit gives the same bytes anywhere.
const version = "0.1.0-dev"

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "version [--json]",
		Short:                 "Print the version",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(struct {
					Version  string `json:"version"`
					ABI      int    `json:"abi"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
				}{version, abi.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			fmt.Fprintf(a.stdout, "lola %s (abi %d, %s, %s/%s)\n", version, abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
