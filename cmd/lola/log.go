package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/cmd/lola/preview"
	"github.com/lola-ext/lola/host/audit"
)

func (a *app) logCommand() *cobra.Command {
	var (
		since  string
		filter audit.Filter
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "log [--since TIME] [--ext NAME] [--json]",
		Short: "Show what was done and what was refused",
		Long: "Show the log of this user: every change before it was made and what became of it, every refusal with its rule.\n" +
			"TIME is a duration before now (36h, 7d), a day (2026-01-31) or a time (RFC 3339).",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if filter.Since, err = parseSince(since, time.Now()); err != nil {
				return usageError{err}
			}
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			for rec, err := range h.Log().Read(cmd.Context(), filter) {
				if err != nil {
					return hinted{damaged{err}, `"lola log verify" says where it breaks`}
				}
				if asJSON {
					line, err := json.Marshal(rec)
					if err != nil {
						return err
					}
					fmt.Fprintf(a.stdout, "%s\n", preview.EscapeJSON(string(line)))
					continue
				}
				a.printRecord(rec)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&since, "since", "", "only what is not older")
	f.StringVar(&filter.Extension, "ext", "", "only what concerns this extension")
	f.BoolVar(&asJSON, "json", false, "print a record of JSON a line")
	cmd.AddCommand(a.logVerifyCommand())
	return cmd
}

// parseSince reads a time: how long ago, a day of this time zone, or RFC 3339.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days+"$", "%d$", &n); err == nil && n >= 0 && n < 1e6 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("reading the time %q: want a duration (36h, 7d), a day (2026-01-31) or a time (2026-01-31T09:00:00Z)", s)
}

// printRecord shows a record on one line, and what it lists on lines of their own.
func (a *app) printRecord(r audit.Record) {
	line := fmt.Sprintf("%d %s %s", r.Seq, r.Time.Format(time.RFC3339), r.Event)
	if r.Action != "" && r.Action != string(r.Event) {
		line += " " + r.Action
	}
	if r.Module != nil {
		line += " " + escape(strings.TrimSpace(r.Module.Name+" "+r.Module.Version))
	}
	var names []string
	for _, e := range r.Extensions {
		names = append(names, e.Name)
	}
	if len(names) > 0 {
		line += " for " + escape(strings.Join(names, ","))
	}
	if r.Root != nil {
		line += " in " + escape(r.Root.Path)
	}
	switch {
	case len(r.Intents) > 0:
		line += fmt.Sprintf(": %d change(s)", len(r.Intents))
	case r.IntentList != nil:
		line += fmt.Sprintf(": %d change(s)", r.IntentList.Count)
	}
	if r.Outcome != "" {
		line += " (" + r.Outcome + ")"
	}
	fmt.Fprintln(a.stdout, line)
	for _, c := range r.Consents {
		fmt.Fprintf(a.stdout, "  consent: %s\n", escape(strings.TrimSpace(c.Kind+" "+c.What+" "+c.How)))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(a.stdout, "  %s: %s\n", f.Rule, escape(f.Path))
	}
}

func (a *app) logVerifyCommand() *cobra.Command {
	var (
		anchor string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "verify [--anchor SEQ:HASH] [--json]",
		Short: "Check that the log is whole, and name the first broken record",
		Long: "Hold every record to its hash and to the one before it. What was cut off at the end shows only against an anchor:\n" +
			"keep the head that this command prints somewhere else, and give it back with --anchor.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var o audit.VerifyOptions
			if anchor != "" {
				var err error
				if o.Anchor, err = audit.ParseHead(anchor); err != nil {
					return usageError{err}
				}
			}
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			report, err := h.Log().Verify(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				if err := a.printJSON(report); err != nil {
					return err
				}
			} else if report.OK() {
				fmt.Fprintf(a.stdout, "%d record(s), all whole; the head is %s\n", report.Records, report.Head)
			}
			if !report.OK() {
				return damaged{fmt.Errorf("verifying the log %q: %w", h.Log().Path(), report.Broken)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&anchor, "anchor", "", "a head that was kept elsewhere: the log must hold it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
