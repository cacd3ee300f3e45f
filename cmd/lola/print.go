package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
)

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

var marks = map[plan.Action]string{plan.Create: "+", plan.Update: "~", plan.Remove: "-", plan.Keep: "="}

// printReport says what a change would do: what needs attention first, then files.
func (a *app) printReport(r host.Report, dryRun bool) {
	for _, f := range r.Files {
		if f.Foreign != "" {
			fmt.Fprintf(a.stdout, "! %s: %s\n", escape(f.Path), f.Foreign)
		}
	}
	for _, f := range r.Files {
		if f.Action != plan.Keep {
			fmt.Fprintf(a.stdout, "%s %s\n", marks[f.Action], escape(f.Path))
		}
	}
	for _, s := range r.Stays {
		fmt.Fprintf(a.stdout, "! %s stays: %s\n", escape(s.Path), escape(s.Why))
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(a.stderr, "lola: note: %s is not part of the module: %s\n", escape(s.Path), escape(s.Why))
	}
	for _, n := range r.Notices {
		fmt.Fprintf(a.stderr, "lola: note: %s\n", escape(n))
	}
	for _, m := range r.Messages {
		if m.Level != abi.LevelDebug {
			a.gutter(m.Extension, fmt.Sprintf("%s: %s", m.Level, m.Text))
		}
	}
	for _, d := range r.Diagnostics {
		a.gutter(d.Extension, d.Text)
		if d.Truncated {
			fmt.Fprintf(a.stderr, "lola: note: the rest of what %s printed was dropped\n", d.Extension)
		}
	}
}

// printSummary is the last line.
func (a *app) printSummary(r host.Report, dryRun bool) {
	name := r.Module
	if r.Version != "" {
		name += " " + r.Version
	}
	count := map[plan.Action]int{}
	for _, f := range r.Files {
		count[f.Action]++
	}
	var did []string
	for _, c := range []struct {
		action plan.Action
		word   string
	}{{plan.Create, "created"}, {plan.Update, "changed"}, {plan.Remove, "removed"}, {plan.Keep, "as they were"}} {
		if n := count[c.action]; n > 0 {
			did = append(did, fmt.Sprintf("%d %s", n, c.word))
		}
	}
	what := "no files"
	if len(did) > 0 {
		what = strings.Join(did, ", ")
	}
	state := r.Action + "ed"
	switch {
	case !r.Changed:
		state = "unchanged"
	case dryRun:
		state = "would be " + r.Action + "ed"
	}
	fmt.Fprintf(a.stdout, "%s: %s for %s (files: %s)\n", name, state, strings.Join(r.Targets, ", "), what)
}
