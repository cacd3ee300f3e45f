package preview

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns text on one line in which nothing is invisible and nothing is obeyed: control, bidirectional and ignorable
// characters and broken UTF-8 become escapes, and so do the marks by which CI systems take commands from a line: ##[,
// ##vso[, ##teamcity[ and their like anywhere in it; :: where it comes first, for which spaces do not count. What is escaped
// stays as it is when it is escaped again.
func Escape(text string) string {
	plain := true
	for _, r := range text {
		if r == utf8.RuneError || !printable(r) || r == '#' {
			plain = false
			break
		}
	}
	colons := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace)) // where the first character that counts is
	if !strings.HasPrefix(text[colons:], "::") {
		colons = -1
	}
	if plain && colons < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case i == colons:
			b.WriteString(`\x3a`)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '#' && beginsCommand(text[i:]):
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

// escapeContent is [Escape] for a line of contents, which stands behind a gutter: a tab is the layout of whoever wrote it and
// stays. What stands between two is escaped as if it were a line of its own, which is never less.
func escapeContent(text string) string {
	parts := strings.Split(text, "\t")
	for i, p := range parts {
		parts[i] = Escape(p)
	}
	return strings.Join(parts, "\t")
}

// beginsCommand holds for "##", letters or none, and "[".
func beginsCommand(text string) bool {
	rest, ok := strings.CutPrefix(text, "##")
	if !ok {
		return false
	}
	rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	return strings.HasPrefix(rest, "[")
}

// printable holds for what has a shape of its own at a terminal.
func printable(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// name returns foreign text as one word: as it is if it is of letters, digits and the marks that paths are made of, else in
// quotes, so that it cannot pass for what stands around it.
func name(text string) string {
	text = Escape(text)
	for _, r := range text {
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune("-._/@+", r) {
			return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
		}
	}
	if text == "" {
		return `""`
	}
	return text
}

// plainName holds for a name that may begin a line of ours.
func plainName(text string) bool {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("-._", r)) {
			return false
		}
	}
	return text != ""
}
