package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [--require-confinement LEVEL] [--json]",
		Short: "Show what this machine can enforce, and whether lola's own state is well",
		Long: "Show what this machine can put around an extension, and why not more. Then a child is started that locks itself down as\n" +
			"for an extension, and says what it reached. The state folder is looked at too; of the log only the end (\"lola log verify\"\n" +
			"reads all of it). Nothing is changed.\n" +
			"The exit code is 0 if all is well; a level that is low is no error unless more is required. Otherwise, whichever of\n" +
			"these is found first: " + fmt.Sprintf("%d if no child could be started; %d if it is confined less than is required, or otherwise than this\n", exitExtension, exitLevel) +
			fmt.Sprintf("machine seems to be able to; %d if changes are unfinished, or the state folder or the log is not as it should be.", exitDamaged),
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := host.Diagnose(cmd.Context(), host.Options{RequireConfinement: a.require})
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(struct {
					Version  string `json:"version"`
					ABI      int    `json:"abi"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
					OK       bool   `json:"ok"`
					*host.Diagnosis
				}{version, abi.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, len(d.Problems) == 0, d})
			} else {
				err = a.printDiagnosis(d)
			}
			if err != nil || len(d.Problems) == 0 {
				return err
			}
			return diagnosed{d.Problems}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	a.confinementFlag(cmd)
	return cmd
}

func (a *app) printDiagnosis(d *host.Diagnosis) error {
	on := ""
	if d.Machine.Release != "" {
		on += ", kernel " + d.Machine.Release
	}
	if d.Machine.Emulator != "" {
		on += ", emulated by " + d.Machine.Emulator
	}
	fmt.Fprintf(a.stdout, "lola %s (abi %d, %s, %s/%s%s)\n\n", version, abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, escape(on))
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WALL\tUP\tVERSION\tWHY")
	for _, wall := range d.Machine.Walls {
		number, why := "-", "-"
		if wall.Version > 0 {
			number = fmt.Sprint(wall.Version)
		}
		if wall.Why != "" {
			why = escape(wall.Why)
		}
		if wall.Help != "" {
			why += "; what helps: " + escape(wall.Help)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", wall.Name, wall.Up, number, why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nlevel of this machine: %s\n", d.Machine.Words())
	open := d.Machine.Open
	if d.Child != nil {
		fmt.Fprintf(a.stdout, "level that a child reached: %s\n", d.Child.Words())
		open = d.Child.Open
	}
	fmt.Fprintln(a.stdout, "what stays open to an extension that breaks out of the WASM runtime:")
	for _, o := range open {
		fmt.Fprintf(a.stdout, "  - %s\n", escape(o))
	}
	if d.State.Path != "" {
		state := "yours, mode 0700"
		if runtime.GOOS == "windows" {
			state = "there"
		}
		if !d.State.Exists {
			state = "not there yet; the first command that needs it makes it"
		}
		for _, p := range d.Problems {
			if p.Kind == host.ProblemState {
				state = "not usable"
			}
		}
		fmt.Fprintf(a.stdout, "\nstate folder: %s (%s)\n", escape(d.State.Path), state)
	}
	for _, u := range d.State.Unfinished {
		fmt.Fprintf(a.stdout, "! the change %s in %s was interrupted\n", escape(u.ID), escape(u.Project))
	}
	if d.State.LogHead != "" {
		fmt.Fprintf(a.stdout, "the end of the log: %s\n", d.State.LogHead)
	}
	if len(d.Problems) == 0 {
		fmt.Fprintln(a.stdout, "no problem was found")
	}
	return nil
}

// diagnosed are the problems that the doctor found, one or more.
type diagnosed struct{ problems []host.Problem }

// Error implements error: a line for each problem, with its next step.
func (d diagnosed) Error() string {
	lines := make([]string, len(d.problems))
	for i, p := range d.problems {
		lines[i] = strings.ReplaceAll(p.Text, "\n", " ")
		if p.Help != "" {
			lines[i] += "; " + p.Help
		}
	}
	return strings.Join(lines, "\n")
}

// diagnosisCode is the exit code of the gravest problem.
func diagnosisCode(err error) int {
	var d diagnosed
	if !errors.As(err, &d) {
		return exitFailed
	}
	found := map[host.ProblemKind]bool{}
	for _, p := range d.problems {
		found[p.Kind] = true
	}
	switch {
	case found[host.ProblemChild]:
		return exitExtension
	case found[host.ProblemConfinement] || found[host.ProblemDifference]:
		return exitLevel
	}
	return exitDamaged
}
