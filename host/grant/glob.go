package grant

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxGlob bounds a pattern, in bytes: as long as the longest path that it could match.
const maxGlob = 1024

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

// Match reports whether the pattern matches the whole path.
func (g Glob) Match(path string) bool {
	return g.pattern != "" && doublestar.MatchUnvalidated(g.pattern, path)
}

// String returns the pattern.
func (g Glob) String() string { return g.pattern }
