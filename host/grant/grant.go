// Package grant holds what a user lets an extension do, as values.
//
// A manifest asks, the user grants, and package host/plan holds every intent against the grant:
//
//	set, err := grant.Parse(grant.Rights{Writes: []string{".claude/skills/**"}})
//	set.MayWrite(".claude/skills/doctor/SKILL.md") // true
//	set.Lines()                                    // what a person is asked to agree to
//	set.Beyond(granted)                            // what an update asks for anew
//
// The zero [Set] allows nothing. What other programs execute or obey without being asked ([Guarded]) is granted by name only,
// never by a wildcard; what looks secret ([Secret]) is never supplied. [Record] is a grant as it is stored, bound to the digest
// of a package; [Trust] is a consent to one digest of a module.
//
// A grant says nothing about the form of a path: host/plan judges that first. It judges names and not contents, so a secret in
// a file of an ordinary name is not found. The tables of guarded and secret names grow, and the words of Lines may change.
package grant

import (
	"fmt"
	"slices"
)

// Set is what one extension may do beneath one root. The zero value allows nothing. It is immutable and may be shared.
type Set struct {
	folder string // where the root lies beneath the home; empty for a project
	writes []Glob
	reads  []Glob
	caps   []Capability
	paths  map[string]bool // exact paths, for plans that the host makes itself
}

// Rights are the rights of a [Set] as they are written in manifests and stored grants. The zero value is none.
type Rights struct {
	Folder       string   `json:"folder,omitempty"` // see [Set.In]
	Writes       []string `json:"writes,omitempty"`
	Reads        []string `json:"reads,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// Parse reads rights. Its errors name the first that is malformed or not known. What stands twice counts once.
func Parse(r Rights) (Set, error) {
	s := Set{folder: r.Folder}
	var err error
	if s.writes, err = parseAll(r.Writes, ParseGlob); err != nil {
		return Set{}, fmt.Errorf("writes: %w", err)
	}
	if s.reads, err = parseAll(r.Reads, ParseGlob); err != nil {
		return Set{}, fmt.Errorf("reads: %w", err)
	}
	if s.caps, err = parseAll(r.Capabilities, ParseCapability); err != nil {
		return Set{}, fmt.Errorf("capabilities: %w", err)
	}
	return s, nil
}

func parseAll[T comparable](texts []string, parse func(string) (T, error)) ([]T, error) {
	var all []T
	for _, text := range texts {
		v, err := parse(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all, nil
}

// New is [Parse] for a set that only writes.
func New(writes []string) (Set, error) { return Parse(Rights{Writes: writes}) }

// Rights returns what [Parse] makes the set of. A set of [ForPaths] has none: it is not for storing.
func (s Set) Rights() Rights {
	return Rights{Folder: s.folder, Writes: texts(s.writes), Reads: texts(s.reads), Capabilities: texts(s.caps)}
}

func texts[T fmt.Stringer](all []T) []string {
	var list []string
	for _, v := range all {
		list = append(list, v.String())
	}
	return list
}

// In returns the set for a root that is the folder of an assistant beneath the home, as ".claude". Paths stay relative to the
// root; whether they are guarded or secret is judged with the folder before them.
func (s Set) In(folder string) Set {
	s.folder = folder
	return s
}

// Folder is what [Set.In] was given; empty for a project.
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

// Empty reports whether the set allows nothing.
func (s Set) Empty() bool {
	return len(s.writes) == 0 && len(s.reads) == 0 && len(s.caps) == 0 && len(s.paths) == 0
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

// MayRead reports whether the file may be supplied to the extension. What looks secret never is.
func (s Set) MayRead(path string) bool {
	if !slices.ContainsFunc(s.reads, func(g Glob) bool { return g.Match(path) }) {
		return false
	}
	_, secret := Secret(s.full(path))
	return !secret
}

// Reads returns the globs of the files that may be supplied, those that look secret not yet taken out ([Set.MayRead]).
func (s Set) Reads() []Glob { return slices.Clone(s.reads) }

// MayReplaceSymlink reports whether a write may take the place of a symlink.
func (s Set) MayReplaceSymlink() bool { return s.has(SymlinkReplace) }

// MayRunUnconfined reports whether the user lets the extension run without confinement.
func (s Set) MayRunUnconfined() bool { return s.has(Unconfined) }

// MayFetch reports whether the host may be asked to fetch a path of a URL, as it stands in it, from a host. It says nothing
// about the host's address.
func (s Set) MayFetch(host, path string) bool { return s.reaches(NetHTTP, host, path) }

// MayClone is [Set.MayFetch] for cloning a repository.
func (s Set) MayClone(host, path string) bool { return s.reaches(NetGit, host, path) }

// LiteralURLsOnly reports whether the extension both reads files and reaches hosts. It may then name only URLs that stand
// literally in its manifest, its parameters or the command line: another could carry out what was read.
func (s Set) LiteralURLsOnly() bool { return len(s.reads) > 0 && (s.has(NetHTTP) || s.has(NetGit)) }

func (s Set) has(name string) bool {
	return slices.ContainsFunc(s.caps, func(c Capability) bool { return c.Name == name })
}

func (s Set) reaches(name, host, path string) bool {
	return slices.ContainsFunc(s.caps, func(c Capability) bool { return c.reaches(name, host, path) })
}

// Guarded is [Guarded] for a path that is relative to the root that the set is for.
func (s Set) Guarded(path string) (Guard, bool) { return Guarded(s.full(path)) }

// GuardedGlob reports whether the pattern names a path that is guarded beneath the set's root, or, if it has wildcards, lies
// among guarded paths so that it could match little else. The latter grants nothing. It is found by putting a letter in each
// wildcard's place.
func (s Set) GuardedGlob(g Glob) (Guard, bool) { return s.Guarded(g.sample()) }

// SecretGlob is [Set.GuardedGlob] for names that look secret.
func (s Set) SecretGlob(g Glob) (Guard, bool) { return Secret(s.full(g.sample())) }

// full returns the path as seen from the home in user scope, from the project's root else.
func (s Set) full(path string) string {
	if s.folder == "" {
		return path
	}
	return s.folder + "/" + path
}

// Beyond returns what s asks for that granted does not have: what a person is to be asked about when an extension changes. A
// glob is compared by its text, so a narrower one counts as new; so does everything in another folder.
func (s Set) Beyond(granted Set) Set {
	more := Set{folder: s.folder, paths: s.paths}
	if s.folder != granted.folder {
		granted = Set{}
	}
	for _, g := range s.writes {
		if !slices.Contains(granted.writes, g) {
			more.writes = append(more.writes, g)
		}
	}
	for _, g := range s.reads {
		if !slices.Contains(granted.reads, g) {
			more.reads = append(more.reads, g)
		}
	}
	for _, c := range s.caps {
		if !slices.ContainsFunc(granted.caps, func(had Capability) bool { return had.covers(c) }) {
			more.caps = append(more.caps, c)
		}
	}
	return more
}
