package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// gitMarks are the folded names by which git knows a directory for a repository, each with its bit, and those that it obeys
// in one.
var gitMarks = map[string]int{
	"head": 1, "objects": 2, "refs": 4, "commondir": 8,
	"config": 0, "config.worktree": 0, "hooks": 0,
}

// gitMark looks a name up. Folding leaves an ASCII letter at the front what it is, so most names are done with at that.
func gitMark(name string) (bit int, ok bool) {
	if name == "" {
		return 0, false
	}
	if c := name[0]; c < 0x80 && !strings.ContainsRune("cChHoOrR", rune(c)) {
		return 0, false
	}
	bit, ok = gitMarks[Fold(name)]
	return bit, ok
}

// bareRepositories refuses a result in which HEAD, objects and refs lie side by side, or HEAD and commondir, which says
// where the other two are: git reads such a directory's config wherever it stands, and its fsmonitor runs a program at the
// next "git status" (setup.c, is_git_directory). What lies there already counts, unless a step takes it away, as soon as
// a step adds to it. Directories that some file system takes for one are one.
func bareRepositories(j *judge) []Finding {
	c := comers{planned: map[string]int{}, first: map[string]int{}}
	taken := map[string]bool{} // as spelled
	for n, s := range j.steps {
		switch s.Action {
		case Remove:
			taken[s.Path] = true
		case Move:
			taken[s.Path] = true
			c.add(s.To, n)
			for _, node := range s.Tree {
				c.add(s.To+"/"+node.Path, n)
			}
		default:
			c.add(s.Path, n)
		}
	}
	var found []Finding
	for _, dir := range slices.Sorted(maps.Keys(c.first)) {
		n, have := c.first[dir], c.planned[Fold(dir)]
		for _, name := range [...]string{"HEAD", "objects", "refs", "commondir"} {
			if bit := gitMarks[Fold(name)]; have&bit == 0 && !under(taken, dir+name) {
				if info, err := j.view.stat(dir + name); err == nil && info.Exists {
					have |= bit
				}
			}
		}
		if have&1 != 0 && (have&6 == 6 || have&8 != 0) {
			s := j.steps[n]
			found = append(found, Finding{Owner: s.Owners[0], Path: cmp.Or(s.To, s.Path),
				Message: fmt.Sprintf("the directory %q would hold HEAD beside objects and refs, or beside commondir", cmp.Or(strings.TrimSuffix(dir, "/"), "."))})
		}
	}
	return found
}

// comers are the marks that steps bring.
type comers struct {
	planned map[string]int // bits, by folded directory
	first   map[string]int // the first step that brings a mark, by directory as spelled
}

func (c *comers) add(path string, step int) {
	for at := 0; at < len(path); {
		name, _, _ := strings.Cut(path[at:], "/")
		if bit, ok := gitMark(name); ok {
			dir := path[:at]
			c.planned[Fold(dir)] |= bit
			if _, ok := c.first[dir]; !ok {
				c.first[dir] = step
			}
		}
		at += len(name) + 1
	}
}

// under reports whether the path or one above it is in the set.
func under(set map[string]bool, path string) bool {
	for at := path; ; {
		if set[at] {
			return true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return false
		}
		at = at[:i]
	}
}
