package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// tier1Schema changes when a key of the JSON form changes its meaning or goes.
const tier1Schema = 1

// Tier1Report is what one run of the mode "tier1" found out.
type Tier1Report struct {
	Schema     int      `json:"schema"`
	Platform   string   `json:"platform"` // as in "linux/amd64"
	CPUs       int      `json:"cpus"`
	Rounds     int      `json:"rounds"`
	LoadBefore string   `json:"load_before,omitempty"`
	LoadAfter  string   `json:"load_after,omitempty"`
	Rows       []Row    `json:"commands"` // the floor first
	Warm       []Warm   `json:"warm,omitempty"`
	Targets    []Target `json:"targets"`
	LeftOut    []string `json:"left_out,omitempty"` // rivals, with the reason
}

// Warm is a pool of children that wait, beside a native child that is started for each request.
type Warm struct {
	Name  string    `json:"guest"`
	Pool  []float64 `json:"pool_ns"` // from the request to the plan
	Spawn []float64 `json:"spawn_ns"`
	Ratio Summary   `json:"ratio"`
	// What a request takes with all that comes of it, such as the child that replaces the one that answered. Zero: not known.
	PoolCPU     int64 `json:"pool_cpu_ns"`
	SpawnCPU    int64 `json:"spawn_cpu_ns"`
	PoolFaults  int64 `json:"pool_faults"`
	SpawnFaults int64 `json:"spawn_faults"`
}

// Target is something that is aimed at. CPU is zero where it is not a part of it.
type Target struct {
	What  string  `json:"what"`
	Bound float64 `json:"bound"`
	Wall  float64 `json:"wall,omitempty"` // median of the ratios, or the figure itself
	CPU   float64 `json:"cpu,omitempty"`
	Met   string  `json:"met"` // "met", "missed", or by which of the two it is met
}

// judge compares a report with what is aimed at, as far as it has the rows.
func judge(r *Tier1Report) []Target {
	var all []Target
	row := func(name string) *Row {
		if i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == name }); i >= 0 {
			return &r.Rows[i]
		}
		return nil
	}
	ratio := func(of, to string, bound float64) {
		ours, theirs := row(of), row(to)
		if ours == nil || theirs == nil {
			return
		}
		got := newRatio(ours.Samples, theirs.Samples)
		all = append(all, newTarget(fmt.Sprintf("%s ≤ %g × %s", of, bound, to), bound, got.Wall.Median, got.CPU.Median))
	}
	small, large := runName+", "+smallGuest+compiled, runName+", "+goGuest+compiled
	ratio(small, floorName, 1.4)
	ratio(small, netRPCName, 0.6)
	if ours := row(small); ours != nil && ours.Faults.Median > 0 {
		all = append(all, newTarget(small+" ≤ 850 faults", 850, ours.Faults.Median, 0))
	}
	ratio(large, floorName, 5)
	ratio(large, extismName+", "+goGuest+compiled, 0.6)
	for _, g := range []string{smallGuest, goGuest} {
		ratio(previewName+", "+g+repeated, floorName, 0.7)
	}
	for _, w := range r.Warm {
		bound := 0.15
		if w.Name == goGuest {
			bound = 0.25
		}
		all = append(all, newTarget(fmt.Sprintf("warm pool, %s ≤ %g × spawn", w.Name, bound), bound, w.Ratio.Median, 0))
	}
	ratio(versionName, floorName, 0.55)
	return all
}

func newTarget(what string, bound, wall, cpu float64) Target {
	t := Target{What: what, Bound: bound, Wall: wall, CPU: cpu, Met: "missed"}
	switch byWall, byCPU := wall <= bound, cpu <= bound; {
	case byWall && byCPU:
		t.Met = "met"
	case byWall:
		t.Met = "by time only"
	case byCPU && cpu > 0:
		t.Met = "by CPU only"
	}
	return t
}

// JSON writes the report with every sample.
func (r *Tier1Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Table writes the report for people, in Markdown.
func (r *Tier1Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %d rounds", r.Platform, r.CPUs, r.Rounds)
	if r.LoadBefore != "" {
		fmt.Fprintf(&b, ", load %s before, %s after", r.LoadBefore, r.LoadAfter)
	}
	b.WriteString("\n\n| command | wall ms, min | median | CPU ms, min | median | wall × floor | CPU × floor | peak MB | faults, min | median |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.2f | %.2f | %s | %s | %s |\n", row.Name,
			milliseconds(row.Wall.Min), milliseconds(row.Wall.Median), milliseconds(row.CPU.Min), milliseconds(row.CPU.Median),
			row.WallRatio.Median, row.CPURatio.Median, orNone(row.Peak.Median/1e6, 1), orNone(row.Faults.Min, 0), orNone(row.Faults.Median, 0))
	}
	if len(r.Warm) > 0 {
		b.WriteString("\n| warm pool | ms, min | median | spawn ms, min | median | × spawn | CPU ms | spawn CPU ms | faults | spawn faults |\n|---|---|---|---|---|---|---|---|---|---|\n")
		for _, w := range r.Warm {
			pool, spawn := summarise(w.Pool), summarise(w.Spawn)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.2f | %s | %s | %s | %s |\n", w.Name,
				milliseconds(pool.Min), milliseconds(pool.Median), milliseconds(spawn.Min), milliseconds(spawn.Median), w.Ratio.Median,
				milliseconds(float64(w.PoolCPU)), milliseconds(float64(w.SpawnCPU)), orNone(float64(w.PoolFaults), 0), orNone(float64(w.SpawnFaults), 0))
		}
	}
	b.WriteString("\n| target | by time | by CPU | |\n|---|---|---|---|\n")
	for _, t := range r.Targets {
		decimals := 2
		if t.Bound > 100 {
			decimals = 0
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.What, orNone(t.Wall, decimals), orNone(t.CPU, decimals), t.Met)
	}
	for _, why := range r.LeftOut {
		fmt.Fprintf(&b, "\nLeft out: %s\n", why)
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
