package grant

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lola-ext/lola/host/internal/fold"
)

// row says of some patterns why they stand in a table. A pattern holds at every depth; "dir/**" takes in dir itself.
type row struct {
	why      string
	asSource bool // it does not hold within the folder of a skill
	patterns []string
}

// table is a list of rows, made ready for lookup: a pattern that has a component without wildcards is looked at only for
// paths with that component. Nearly every command makes it, so making it costs little.
type table struct {
	entries []entry
	byName  map[string]int32 // the first entry for a component; the others follow by entry.next
	loose   int32            // the first entry without one
}

type entry struct {
	Guard
	pattern  string // folded
	prefix   string // what the last component begins with ...
	suffix   string // ... and ends with, if the pattern says so: cheaper to compare than the glob
	next     int32  // entry with the same component, -1: there is none
	asSource bool
}

// glob is the pattern for any depth.
func (e *entry) glob() string { return "**/" + e.pattern }

func newTable(rows []row) *table {
	n := 0
	for _, r := range rows {
		n += len(r.patterns)
	}
	t := &table{entries: make([]entry, 0, n), byName: make(map[string]int32, n), loose: -1}
	for _, r := range rows {
		for _, p := range r.patterns {
			folded := fold.Path(p)
			e := entry{Guard: Guard{Pattern: p, Why: r.why}, pattern: folded, asSource: r.asSource}
			if last := folded[strings.LastIndexByte(folded, '/')+1:]; last != "**" {
				if i := strings.IndexAny(last, wildcards); i >= 0 {
					e.prefix, e.suffix = last[:i], last[strings.LastIndexAny(last, wildcards+"]")+1:]
				} else {
					e.prefix, e.suffix = last, last
				}
			}
			i := int32(len(t.entries))
			if name := literalComponent(folded); name == "" {
				e.next, t.loose = t.loose, i
			} else {
				first, ok := t.byName[name]
				if !ok {
					first = -1
				}
				e.next, t.byName[name] = first, i
			}
			t.entries = append(t.entries, e)
		}
	}
	return t
}

// find returns the first entry that a folded path falls under. skill says that the path lies within the folder of a skill.
func (t *table) find(folded string, skill bool) (Guard, bool) {
	base := folded[strings.LastIndexByte(folded, '/')+1:]
	first := int32(-1)
	look := func(i int32) {
		for ; i >= 0; i = t.entries[i].next {
			e := &t.entries[i]
			if first >= 0 && i > first || skill && e.asSource {
				continue
			}
			if strings.HasPrefix(base, e.prefix) && strings.HasSuffix(base, e.suffix) && doublestar.MatchUnvalidated(e.glob(), folded) {
				first = i
			}
		}
	}
	look(t.loose)
	for c := range strings.SplitSeq(folded, "/") {
		if i, ok := t.byName[c]; ok {
			look(i)
		}
	}
	if first < 0 {
		return Guard{}, false
	}
	return t.entries[first].Guard, true
}

// literalComponent returns a component of the pattern that stands for itself, the last one; "" if there is none.
func literalComponent(pattern string) string {
	for pattern != "" {
		i := strings.LastIndexByte(pattern, '/')
		if c := pattern[i+1:]; !strings.ContainsAny(c, wildcards) {
			return c
		}
		pattern = pattern[:max(i, 0)]
	}
	return ""
}
