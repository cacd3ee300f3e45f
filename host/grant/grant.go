// Package grant holds what a user lets an extension do, as values.
//
// A manifest asks, the user grants, and package host/plan holds every intent against the grant:
//
//	set, err := grant.New([]string{".claude/skills/**"})
//	set.MayWrite(".claude/skills/doctor/SKILL.md") // true
//
// The zero [Set] allows nothing. What other programs execute or obey without being asked ([Guarded]) is granted by name only,
// never by a wildcard. A grant says nothing about the form of a path: host/plan judges that first. The table of guarded paths
// grows.
package grant

import (
	"fmt"
	"strings"
)

// Set is what one extension may do. The zero value allows nothing. It is immutable and may be shared.
type Set struct {
	folder string // where the root lies beneath the home; empty for a project
	writes []Glob
	paths  map[string]bool // exact paths, for plans that the host makes itself
}

// New returns a set that allows file intents on what the globs match.
func New(writes []string) (Set, error) {
	s := Set{writes: make([]Glob, 0, len(writes))}
	for _, w := range writes {
		g, err := ParseGlob(w)
		if err != nil {
			return Set{}, err
		}
		s.writes = append(s.writes, g)
	}
	return s, nil
}

// In returns the set for a root that is the folder of an assistant beneath the home, as ".claude". Paths stay relative to the
// root; whether they are guarded is judged with the folder before them.
func (s Set) In(folder string) Set {
	s.folder = folder
	return s
}

// Folder is what [Set.In] was given.
func (s Set) Folder() string { return s.folder }

// ForPaths returns a set that allows file intents on exactly these paths, in which no character is special. A host grants it
// to plans that it makes itself, as when it takes back what it installed.
func ForPaths(paths []string) Set {
	s := Set{paths: make(map[string]bool, len(paths))}
	for _, p := range paths {
		s.paths[p] = true
	}
	return s
}

// MayWrite reports whether the set allows a file intent on path, a clean path relative to the root with slashes. A guarded
// path must be in the set literally; for any other a matching glob is enough.
func (s Set) MayWrite(path string) bool {
	if s.paths[path] {
		return true
	}
	covered := false
	for _, g := range s.writes {
		if g.pattern == path && g.Literal() {
			return true
		}
		covered = covered || g.Match(path)
	}
	if !covered {
		return false
	}
	_, guarded := s.Guarded(path)
	return !guarded
}

// Guarded is [Guarded] for a path that is relative to the root that the set is for.
func (s Set) Guarded(path string) (Guard, bool) {
	if s.folder == "" {
		return Guarded(path)
	}
	return Guarded(s.folder + "/" + path)
}

// String lists the grants as a person reads them, one sentence.
func (s Set) String() string {
	switch {
	case len(s.paths) > 0:
		return fmt.Sprintf("write %d files by name", len(s.paths))
	case len(s.writes) == 0:
		return "nothing"
	}
	names := make([]string, len(s.writes))
	for i, g := range s.writes {
		names[i] = g.String()
	}
	return "write " + strings.Join(names, ", ")
}

// Strings returns the grants as lines "writes: GLOB", in the order given.
func (s Set) Strings() []string {
	lines := make([]string, len(s.writes))
	for i, g := range s.writes {
		lines[i] = "writes: " + g.String()
	}
	return lines
}

// GuardedGlob reports whether the pattern names a path that is guarded beneath the set's root, or, if it has wildcards, lies
// among guarded paths so that it could match little else. The latter grants nothing. It is found by putting a letter in each
// wildcard's place.
func (s Set) GuardedGlob(g Glob) (Guard, bool) { return s.Guarded(g.sample()) }
