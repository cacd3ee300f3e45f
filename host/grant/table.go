package grant

import (
	"slices"
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
// paths with that component.
type table struct {
	entries []entry
	byName  map[string][]int
	loose   []int
}

type entry struct {
	Guard
	glob     string // folded, for any depth
	prefix   string // what the last component begins with ...
	suffix   string // ... and ends with, if the pattern says so: cheaper to compare than the glob
	asSource bool
}

func newTable(rows []row) *table {
	t := &table{byName: map[string][]int{}}
	for _, r := range rows {
		for _, p := range r.patterns {
			folded := fold.Path(p)
			e := entry{Guard: Guard{Pattern: p, Why: r.why}, glob: "**/" + folded, asSource: r.asSource}
			if last := folded[strings.LastIndexByte(folded, '/')+1:]; last != "**" {
				e.prefix = last[:strings.IndexAny(last+"*", wildcards)]
				e.suffix = last[strings.LastIndexAny(last, wildcards+"]")+1:]
			}
			i := len(t.entries)
			t.entries = append(t.entries, e)
			if name := literalComponent(folded); name != "" {
				t.byName[name] = append(t.byName[name], i)
			} else {
				t.loose = append(t.loose, i)
			}
		}
	}
	return t
}

// find returns the first entry that a folded path falls under. skill says that the path lies within the folder of a skill.
func (t *table) find(folded string, skill bool) (Guard, bool) {
	candidates := t.loose
	for c := range strings.SplitSeq(folded, "/") {
		if more, ok := t.byName[c]; ok {
			candidates = append(slices.Clip(candidates), more...)
		}
	}
	base := folded[strings.LastIndexByte(folded, '/')+1:]
	first := -1
	for _, i := range candidates {
		e := &t.entries[i]
		if first >= 0 && i > first || skill && e.asSource {
			continue
		}
		if strings.HasPrefix(base, e.prefix) && strings.HasSuffix(base, e.suffix) && doublestar.MatchUnvalidated(e.glob, folded) {
			first = i
		}
	}
	if first < 0 {
		return Guard{}, false
	}
	return t.entries[first].Guard, true
}

// literalComponent returns a component of the pattern that stands for itself, the last one; "" if there is none.
func literalComponent(pattern string) string {
	for _, c := range slices.Backward(strings.Split(pattern, "/")) {
		if !strings.ContainsAny(c, wildcards) {
			return c
		}
	}
	return ""
}
