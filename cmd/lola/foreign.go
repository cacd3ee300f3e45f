package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gutter prints foreign text, a line at a time, behind the name of where it comes from. No line of it begins at the margin,
// so it cannot pass for one of ours or for a command to a CI system.
func (a *app) gutter(name, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		fmt.Fprintf(a.stderr, "  %s │ %s\n", name, escape(line))
	}
}

// escape returns text on one line in which nothing is invisible and nothing is obeyed: control, bidirectional and ignorable
// characters and broken UTF-8 become escapes, and so do the marks by which CI systems take commands from a line (##[ and
// ##vso[ anywhere in it; :: only begins a command at the start, where the gutter stands).
func escape(text string) string {
	plain := true
	for _, r := range text {
		if r == utf8.RuneError || !printable(r) || r == '#' {
			plain = false
			break
		}
	}
	if plain && !strings.HasPrefix(text, "::") {
		return text
	}
	var b strings.Builder
	if rest, ok := strings.CutPrefix(text, "::"); ok {
		b.WriteString(`\x3a:`)
		text = rest
	}
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '#' && (strings.HasPrefix(text[i:], "##[") || strings.HasPrefix(strings.ToLower(text[i:min(len(text), i+6)]), "##vso[")):
			b.WriteString(`\x23`)
		case printable(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// printable holds for what has a shape of its own at a terminal.
func printable(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
