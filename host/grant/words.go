package grant

import (
	"fmt"
	"strings"
)

// Lines says what the set allows, a sentence each, for the person who is to grant it: what is dangerous first, then in the
// order written. There is no line for nothing.
func (s Set) Lines() []string {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, "may "+fmt.Sprintf(format, args...)) }
	where := ""
	if s.folder != "" {
		where = " in " + shown("~/"+s.folder)
	}
	for _, c := range s.caps {
		if c.Name == Unconfined {
			line("%s", c.words())
		}
	}
	for _, g := range s.writes {
		if guard, ok := s.Guarded(g.pattern); ok && g.Literal() {
			line("create, change and delete %s%s, a guarded file: %s", shown(g.pattern), where, guard.Why)
		}
	}
	for _, g := range s.writes {
		switch _, guarded := s.Guarded(g.pattern); {
		case !g.Literal():
			line("create, change and delete files matching %s%s", shown(g.pattern), where)
		case !guarded:
			line("create, change and delete %s%s", shown(g.pattern), where)
		}
	}
	if len(s.paths) > 0 {
		line("create, change and delete %d files by name", len(s.paths))
	}
	for _, g := range s.reads {
		if g.Literal() {
			line("read %s%s", shown(g.pattern), where)
		} else {
			line("read files matching %s%s, those left out whose names look secret", shown(g.pattern), where)
		}
	}
	for _, c := range s.caps {
		switch {
		case c.Name == Unconfined:
		case c.Name != SymlinkReplace && len(s.reads) > 0:
			line("%s, only by addresses that stand in its manifest or that you give, since it reads files", c.words())
		default:
			line("%s", c.words())
		}
	}
	return lines
}

// shown quotes what would run into the words around it.
func shown(pattern string) string {
	if strings.ContainsAny(pattern, " ,\"'`") {
		return fmt.Sprintf("%q", pattern)
	}
	return pattern
}

// String says what the set allows in one short sentence.
func (s Set) String() string {
	var parts []string
	if len(s.paths) > 0 {
		parts = append(parts, fmt.Sprintf("write %d files by name", len(s.paths)))
	}
	if len(s.writes) > 0 {
		parts = append(parts, "write "+strings.Join(texts(s.writes), ", "))
	}
	if len(s.reads) > 0 {
		parts = append(parts, "read "+strings.Join(texts(s.reads), ", "))
	}
	parts = append(parts, texts(s.caps)...)
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// Strings returns the grants as a manifest writes them, a line "FIELD: VALUE" each, in the order given.
func (s Set) Strings() []string {
	lines := []string{}
	for _, g := range s.writes {
		lines = append(lines, "writes: "+g.String())
	}
	for _, g := range s.reads {
		lines = append(lines, "reads: "+g.String())
	}
	for _, c := range s.caps {
		lines = append(lines, "capabilities: "+c.String())
	}
	return lines
}
