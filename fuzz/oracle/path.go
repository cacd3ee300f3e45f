// Package oracle says what must hold, as plainly as it can, so that the code under test has something to be held against.
//
// An oracle is a second reading of the same requirement: it is written from the text, shares nothing with the code that it
// judges, and prefers a loop that a reader can follow to one that is fast. Where it and the code disagree, one of them has
// misread the text, or the text can be read in two ways; both are worth knowing.
//
//	if why := oracle.PathRefused("a/../b", lim); why != "" {
//		// refused, and why says by which sentence
//	}
//
// It protects nothing and is imported by tests alone. It may change with any requirement.
package oracle

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// PathRefused returns "" if a plan may name path, else one reason why it may not. It looks at the text alone: no file
// system, no other path of the plan. lim is resolved: a zero bound means zero.
//
// The rules are those of a plan's paths on every operating system alike. Where the requirement leaves room, this is the
// stricter reading, and the function concerned says so.
func PathRefused(path string, lim abi.Limits) string {
	if path == "" {
		return "it is empty"
	}
	if len(path) > lim.Path {
		return fmt.Sprintf("it has %d bytes, more than %d", len(path), lim.Path)
	}
	if !utf8.ValidString(path) {
		return "it is not UTF-8"
	}
	if path[0] == '/' {
		return "it is absolute"
	}
	for _, r := range path {
		if why := runeRefused(r); why != "" {
			return fmt.Sprintf("U+%04X %s", r, why)
		}
	}
	components := strings.Split(path, "/")
	if len(components) > lim.Components {
		return fmt.Sprintf("it has %d components, more than %d", len(components), lim.Components)
	}
	for _, c := range components {
		if why := componentRefused(c, lim); why != "" {
			return fmt.Sprintf("component %q %s", c, why)
		}
	}
	return ""
}

// runeRefused judges one character, whatever stands around it.
func runeRefused(r rune) string {
	switch {
	case r == '\\':
		return "separates components on Windows, and begins its UNC and device paths"
	case r == ':':
		return "ends a drive and begins a stream on Windows"
	case r <= 0x1F, r >= 0x7F && r <= 0x9F:
		return "is a control"
	case bidirectional(r):
		return "changes the direction of the text around it"
	case ignorable(r):
		return "is ignored by some file systems"
	case invisible(r):
		return "leaves nothing to see"
	}
	return ""
}

// componentRefused judges what stands between two slashes. Its characters are known to be acceptable each by itself.
func componentRefused(c string, lim abi.Limits) string {
	switch c {
	case "":
		return "is empty"
	case ".", "..":
		return "names a folder relative to itself"
	}
	if len(c) > lim.Component {
		return fmt.Sprintf("has %d bytes, more than %d", len(c), lim.Component)
	}
	if last, _ := utf8.DecodeLastRuneInString(c); last == '.' || unicode.Is(unicode.Zs, last) {
		return "ends in what Windows drops, or in a space that programs trim"
	}
	if isDevice(c) {
		return "is a device on Windows"
	}
	if isShortAlias(c) {
		return "has the shape of an 8.3 alias"
	}
	if name := repositoryFolder(c); name != "" {
		return fmt.Sprintf("is %q to some file system or program", name)
	}
	return ""
}

// isDevice says whether Windows may open a device by the name c. What follows the first full stop does not count, nor do
// spaces before it. COM0 and LPT0 are in because the vendor's own list has had them.
func isDevice(c string) bool {
	stem, _, _ := strings.Cut(c, ".")
	stem = asciiUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	port, numbered := strings.CutPrefix(stem, "COM")
	if !numbered {
		port, numbered = strings.CutPrefix(stem, "LPT")
	}
	if !numbered {
		return false
	}
	switch port {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
		"\u00B9", "\u00B2", "\u00B3": // what the C library of Windows takes for digits in Latin-1
		return true
	}
	return false
}

// isShortAlias says whether c could be the second name that FAT and NTFS make up for a long one: up to eight characters
// that end in a tilde and digits, and perhaps an extension of up to three. Which characters stand before the tilde does
// not matter, nor whether any does.
func isShortAlias(c string) bool {
	stem, extension, _ := strings.Cut(c, ".")
	if strings.Contains(extension, ".") || utf8.RuneCountInString(extension) > 3 || utf8.RuneCountInString(stem) > 8 {
		return false
	}
	tilde := strings.LastIndex(stem, "~")
	if tilde < 0 || tilde == len(stem)-1 {
		return false
	}
	for _, r := range stem[tilde+1:] {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}
