package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// reportSchema changes when a key of the JSON form changes its meaning or goes.
const reportSchema = 1

// Report is what one run of this program found out.
type Report struct {
	Schema   int    `json:"schema"`
	Platform string `json:"platform"` // as in "linux/amd64"
	CPUs     int    `json:"cpus"`
	Rounds   int    `json:"rounds"`
	Module   string `json:"module"` // its name, not its path
	Rival    string `json:"rival,omitempty"`
	Rows     []Row  `json:"commands"` // the floor first

	// InstallToRival is what "lola install" takes for each unit that the rival takes, round by round; absent without a rival.
	InstallToRival *Ratio `json:"install_to_rival,omitempty"`
}

// Ratio compares two commands.
type Ratio struct {
	Wall Summary `json:"wall"`
	CPU  Summary `json:"cpu"`
}

// Row is one command. Ratios are to the floor, round by round.
type Row struct {
	Name      string   `json:"name"`
	Wall      Summary  `json:"wall_ns"`
	CPU       Summary  `json:"cpu_ns"`
	WallRatio Summary  `json:"wall_ratio"`
	CPURatio  Summary  `json:"cpu_ratio"`
	Peak      Summary  `json:"peak_bytes"`
	Faults    Summary  `json:"minor_faults"`
	Samples   []Sample `json:"samples"`
}

// newReport sums up series, which has a row of samples for each of commands, the floor first.
func newReport(o options, f found, commands []*command, series [][]Sample, platform string, cpus int) *Report {
	r := &Report{Schema: reportSchema, Platform: platform, CPUs: cpus, Rounds: o.rounds, Module: filepath.Base(f.module)}
	if f.skills != "" {
		r.Rival = "skills " + f.skillsVersion
	}
	floor := series[0]
	for i, c := range commands {
		r.Rows = append(r.Rows, newRow(c.name, series[i], floor))
	}
	install, rival := slices.IndexFunc(commands, named(installName)), slices.IndexFunc(commands, named(rivalName))
	if install >= 0 && rival >= 0 {
		ratio := newRatio(series[install], series[rival])
		r.InstallToRival = &ratio
	}
	return r
}

// newRow sums up the samples of one command, beside those of the one that it is compared with.
func newRow(name string, samples, base []Sample) Row {
	return Row{
		Name:      name,
		Wall:      summarise(figures(samples, wall)),
		CPU:       summarise(figures(samples, cpu)),
		WallRatio: summarise(ratios(figures(samples, wall), figures(base, wall))),
		CPURatio:  summarise(ratios(figures(samples, cpu), figures(base, cpu))),
		Peak:      summarise(figures(samples, peak)),
		Faults:    summarise(figures(samples, faults)),
		Samples:   samples,
	}
}

func named(name string) func(*command) bool { return func(c *command) bool { return c.name == name } }

// JSON writes the report with every sample.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Table writes the report for people.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %d rounds, module %q", r.Platform, r.CPUs, r.Rounds, r.Module)
	if r.Rival != "" {
		fmt.Fprintf(&b, ", %s", r.Rival)
	}
	b.WriteString("\n\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "command\twall min\tmedian ms\tCPU min\tmedian ms\twall × floor\tCPU × floor\tpeak MB\tminor faults\tspread\t")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%s\t%s\t%.0f %%\t\n", row.Name,
			milliseconds(row.Wall.Min), milliseconds(row.Wall.Median), milliseconds(row.CPU.Min), milliseconds(row.CPU.Median),
			row.WallRatio.Median, row.CPURatio.Median, orNone(row.Peak.Median/1e6, 1), orNone(row.Faults.Median, 0), 100*row.Wall.Spread())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if ratio := r.InstallToRival; ratio != nil {
		fmt.Fprintf(&b, "\n%q takes %.3f of the time and %.3f of the CPU of %q.\n", installName, ratio.Wall.Median, ratio.CPU.Median, rivalName)
	}
	if len(r.Rows) > 0 {
		floor := r.Rows[0]
		fmt.Fprintf(&b, "\nNoise: the floor took %s to %s ms in the same run, a spread of %.0f %%, CPU %.0f %%. Smaller differences mean nothing.\n",
			milliseconds(floor.Wall.Min), milliseconds(floor.Wall.Max), 100*floor.Wall.Spread(), 100*floor.CPU.Spread())
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func milliseconds(ns float64) string { return fmt.Sprintf("%.1f", ns/float64(time.Millisecond)) }

// orNone prints a figure that some systems do not have.
func orNone(figure float64, decimals int) string {
	if figure == 0 {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, figure)
}
