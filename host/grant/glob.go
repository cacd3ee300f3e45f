package grant

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// maxGlob bounds a pattern, in bytes: as long as the longest path that it could match.
const maxGlob = 1024

// wildcards are the characters that do not stand for themselves in a pattern.
const wildcards = "*?["

// Glob is a pattern over paths: doublestar without braces, case counted, anchored at both ends. "*", "?" and "[...]" match
// within one component, "**" matches any number of whole components. The zero value matches nothing.
type Glob struct{ pattern string }

// ParseGlob reads a pattern. It refuses what could not match a path that a plan may name (absolute patterns, "." and ".."
// components, backslashes), braces, and what is malformed.
func ParseGlob(s string) (Glob, error) {
	bad := func(why string) (Glob, error) { return Glob{}, fmt.Errorf("glob %q: %s", s, why) }
	switch {
	case s == "":
		return bad("is empty")
	case len(s) > maxGlob:
		return bad(fmt.Sprintf("%d bytes, want at most %d", len(s), maxGlob))
	case !utf8.ValidString(s):
		return bad("is not valid UTF-8")
	case strings.ContainsFunc(s, unseen):
		return bad("holds a character that cannot be seen")
	case strings.ContainsAny(s, "{}"):
		return bad("braces are not supported; write one glob per alternative")
	case strings.ContainsRune(s, '\\'):
		return bad(`holds a backslash; components are separated by "/"`)
	}
	for c := range strings.SplitSeq(s, "/") {
		switch {
		case c == "":
			return bad("is absolute or has an empty component")
		case c == "." || c == "..":
			return bad("has a component " + c)
		case strings.Contains(c, "**") && c != "**":
			return bad(`"**" must be a whole component`)
		}
	}
	if !doublestar.ValidatePattern(s) {
		return bad("is malformed")
	}
	return Glob{pattern: s}, nil
}

// unseen holds for characters that do not show, or do not show as themselves: a person reads a pattern before granting it.
// No path that a plan may name has one.
func unseen(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case r == 0x2800 || r == 0x1d159: // drawn as nothing: the blank Braille pattern, the musical null notehead
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Match reports whether the pattern matches the whole path.
func (g Glob) Match(path string) bool {
	return g.pattern != "" && doublestar.MatchUnvalidated(g.pattern, path)
}

// Literal reports whether the pattern has no wildcard: it matches one path, itself.
func (g Glob) Literal() bool { return g.pattern != "" && !strings.ContainsAny(g.pattern, wildcards) }

// sample returns a path that the pattern matches, with an "x" for each wildcard, and for a class its first member.
func (g Glob) sample() string {
	var b strings.Builder
	for i := 0; i < len(g.pattern); i++ {
		switch c := g.pattern[i]; c {
		case '*':
			for i+1 < len(g.pattern) && g.pattern[i+1] == '*' {
				i++
			}
			b.WriteByte('x')
		case '?':
			b.WriteByte('x')
		case '[':
			end := strings.IndexByte(g.pattern[i:], ']')
			if end < 0 {
				return b.String()
			}
			member := g.pattern[i+1 : i+end]
			if member == "" || member[0] == '^' || member[0] == '!' {
				member = "x"
			}
			r, _ := utf8.DecodeRuneInString(member)
			b.WriteRune(r)
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// String returns the pattern.
func (g Glob) String() string { return g.pattern }
