package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// applySchema changes when a key of the JSON form changes its meaning or goes.
const applySchema = 1

// ApplyReport is what one run of the mode "apply" found out.
type ApplyReport struct {
	Schema     int     `json:"schema"`
	Platform   string  `json:"platform"` // as in "linux/amd64"
	CPUs       int     `json:"cpus"`
	Rounds     int     `json:"rounds"`
	FileSystem string  `json:"file_system,omitempty"`
	Groups     []Group `json:"groups"`
}

// Group is what was measured together. Ratios are to its base, round by round.
type Group struct {
	Title string `json:"title"`
	Base  string `json:"base"`
	// LoadBefore and LoadAfter say how busy the machine was, this program included.
	LoadBefore string `json:"load_before,omitempty"`
	LoadAfter  string `json:"load_after,omitempty"`
	Rows       []Row  `json:"rows"`
	// ToGit is what applying takes for each unit that git checkout takes; absent where not both were measured.
	ToGit *Ratio `json:"apply_to_git_checkout,omitempty"`
	// Growth is what ten times as many files take for each unit that the fewer take, by way; absent elsewhere.
	Growth map[string]Ratio `json:"growth,omitempty"`
}

func newGroup(title, base string, commands []*command, series [][]Sample, before, after string) Group {
	g := Group{Title: title, Base: base, LoadBefore: before, LoadAfter: after}
	to := series[index(commands, base)]
	for i, c := range commands {
		g.Rows = append(g.Rows, newRow(c.name, series[i], to))
	}
	if ours, theirs := index(commands, applyName), index(commands, gitName); ours >= 0 && theirs >= 0 {
		ratio := newRatio(series[ours], series[theirs])
		g.ToGit = &ratio
	}
	for i, c := range commands {
		few, files, ok := strings.Cut(c.name, ", ")
		if n := index(commands, few+", "+strings.Replace(files, " files", "0 files", 1)); ok && n >= 0 && n != i {
			if g.Growth == nil {
				g.Growth = map[string]Ratio{}
			}
			g.Growth[few] = newRatio(series[n], series[i])
		}
	}
	return g
}

func newRatio(of, to []Sample) Ratio {
	return Ratio{
		Wall: summarise(ratios(figures(of, wall), figures(to, wall))),
		CPU:  summarise(ratios(figures(of, cpu), figures(to, cpu))),
	}
}

// JSON writes the report with every sample.
func (r *ApplyReport) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Table writes the report for people.
func (r *ApplyReport) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %d rounds", r.Platform, r.CPUs, r.Rounds)
	if r.FileSystem != "" {
		fmt.Fprintf(&b, ", on %s", r.FileSystem)
	}
	b.WriteString("\n")
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n%s; ratios to %q", g.Title, g.Base)
		if g.LoadBefore != "" {
			fmt.Fprintf(&b, "; load %s before, %s after", g.LoadBefore, g.LoadAfter)
		}
		b.WriteString("\n")
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "\twall min\tmedian ms\tCPU min\tmedian ms\twall ratio\tCPU ratio\tcheck ms\tapply ms\tpeak MB\tminor faults\tspread\t")
		for _, row := range g.Rows {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%s\t%s\t%s\t%s\t%.0f %%\t\n", row.Name,
				milliseconds(row.Wall.Min), milliseconds(row.Wall.Median), milliseconds(row.CPU.Min), milliseconds(row.CPU.Median),
				row.WallRatio.Median, row.CPURatio.Median, orNone(median(row.Samples, checking), 1), orNone(median(row.Samples, applies), 1),
				orNone(row.Peak.Median/1e6, 1), orNone(row.Faults.Median, 0), 100*row.Wall.Spread())
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		if g.ToGit != nil {
			fmt.Fprintf(&b, "%q takes %.2f of the time and %.2f of the CPU of %q.\n", applyName, g.ToGit.Wall.Median, g.ToGit.CPU.Median, gitName)
		}
		for _, name := range []string{writeName, applyName} {
			if ratio, ok := g.Growth[name]; ok {
				fmt.Fprintf(&b, "Ten times as many files take %q %.1f times the time and %.1f times the CPU.\n", name, ratio.Wall.Median, ratio.CPU.Median)
			}
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func median(samples []Sample, pick func(Sample) float64) float64 {
	return summarise(figures(samples, pick)).Median / float64(time.Millisecond)
}

func checking(s Sample) float64 { return float64(s.Check) }
func applies(s Sample) float64  { return float64(s.Apply) }
