package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/term"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/cmd/lola/preview"
)

// printJSON prints a value as JSON in which, as in all that is printed, nothing is invisible and nothing is obeyed.
func (a *app) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", preview.EscapeJSON(string(text)))
	return err
}

var signs = map[string]string{"create": "+", "update": "~", "remove": "-", "move": ">", "fetch": "?", "clone": "?"}

// list says in a line each what a change does: what needs attention first, then files; notes go to the standard error.
func (a *app) list(v *preview.Preview) {
	if v.Stranger {
		fmt.Fprintln(a.stdout, "! "+preview.StrangerWarning)
	}
	for _, r := range v.Runs {
		fmt.Fprintf(a.stdout, "! %s: %s\n", escape(r.Path), escape(r.What))
	}
	for _, c := range v.Changes {
		for _, m := range c.Guarded {
			fmt.Fprintf(a.stdout, "! %s: %s\n", escape(m.Path), escape(m.Why))
		}
		for _, m := range c.Foreign {
			fmt.Fprintf(a.stdout, "! %s: %s\n", escape(m.Path), escape(m.Why))
		}
	}
	for _, c := range v.Changes {
		switch sign := signs[c.Action]; {
		case sign == "":
		case c.To != "":
			fmt.Fprintf(a.stdout, "%s %s to %s\n", sign, escape(c.Path), escape(c.To))
		case c.Dir:
			fmt.Fprintf(a.stdout, "%s %s/ (%d entries)\n", sign, escape(c.Path), c.Entries)
		default:
			fmt.Fprintf(a.stdout, "%s %s\n", sign, escape(c.Path))
		}
	}
	for _, s := range v.Stays {
		fmt.Fprintf(a.stdout, "! %s stays: %s\n", escape(s.Path), escape(s.Why))
	}
	for _, s := range v.Skipped {
		fmt.Fprintf(a.stderr, "lola: note: %s is not part of the module: %s\n", escape(s.Path), escape(s.Why))
	}
	for _, n := range v.Notices {
		fmt.Fprintf(a.stderr, "lola: note: %s\n", escape(n))
	}
	// On Linux there can be more, so less is never silent. Elsewhere the preview and "lola doctor" say what the system has.
	if runtime.GOOS == "linux" && slices.ContainsFunc(v.Confined, func(c preview.Confined) bool { return !c.Full }) {
		for _, line := range v.Confinement() {
			fmt.Fprintf(a.stderr, "lola: note: %s\n", escape(line))
		}
		fmt.Fprintln(a.stderr, "lola: note: \"lola doctor\" says why it is not more")
	}
	for _, m := range v.Messages {
		if m.Level != string(abi.LevelDebug) {
			a.gutter(m.Extension, m.Level+": "+m.Text)
		}
	}
	for _, d := range v.Diagnostics {
		a.gutter(d.Extension, d.Text)
		if d.Truncated {
			fmt.Fprintf(a.stderr, "lola: note: the rest of what %s printed was dropped\n", d.Extension)
		}
	}
}

// width is how many columns the terminal has, 0 if that is not known.
func width(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}
