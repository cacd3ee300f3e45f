package main

import (
	"fmt"
	"strings"

	"github.com/lola-ext/lola/cmd/lola/preview"
)

// gutter prints foreign text, a line at a time, behind the name of where it comes from. No line of it begins at the margin,
// so it cannot pass for one of ours or for a command to a CI system.
func (a *app) gutter(name, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		fmt.Fprintf(a.stderr, "  %s │ %s\n", name, escape(line))
	}
}

// escape returns text on one line in which nothing is invisible and nothing is obeyed.
func escape(text string) string { return preview.Escape(text) }
