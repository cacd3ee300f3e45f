package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/root"
)

// removal is a file or directory that a delete takes away.
type removal struct {
	dir    bool
	step   int                  // the step that removes it
	leaves map[string]root.Node // files and empty directories beneath a directory
	same   []int                // the steps that put back what is there
	other  bool                 // some step puts something else
}

// put notes that a step puts a file beneath the directory.
func (r *removal) put(path string, digest abi.Digest, mode abi.Mode, step int) {
	if n, ok := r.leaves[path]; ok && n.Regular() && n.Digest == digest && SameMode(n.Mode, mode) {
		r.same = append(r.same, step)
	} else {
		r.other = true
	}
}

// remove adds the step that removes what lies at a path, unless a file is put in the place of that very file.
func (j *judge) remove(s *sight, step Step) {
	r := &removal{dir: s.Type.IsDir(), step: -1}
	j.gone[s.path] = r
	if !r.dir {
		if s.rewritten {
			return
		}
		step.Foreign = j.foreign(s.path, s.Before)
	} else {
		step.Dir = true
		if !j.tree(s.touch, &step) {
			return
		}
		r.leaves = map[string]root.Node{}
		for _, n := range leavesOf(step.Tree) {
			r.leaves[n.Path] = n
		}
	}
	r.step = len(j.steps)
	j.steps = append(j.steps, step)
}

// unchanged drops the removal of a directory that the same plans fill with what it holds already. Where they put back a part
// of it, that part is not foreign: the same bytes are adopted.
func (j *judge) unchanged() {
	drop := map[int]bool{}
	for at, r := range j.gone {
		if r.step < 0 || len(r.same) == 0 {
			continue
		}
		if r.other || len(r.same) != len(r.leaves) {
			back := map[string]bool{}
			for _, i := range r.same {
				back[j.steps[i].Path] = true
			}
			s := &j.steps[r.step]
			s.Foreign = slices.DeleteFunc(s.Foreign, func(f Foreign) bool { return back[f.Path] })
			continue
		}
		drop[r.step] = true
		for _, i := range r.same {
			s := &j.steps[i]
			n := r.leaves[s.Path[len(at)+1:]]
			s.Action, s.Before, s.Guarded = Keep, Before{Info: n.Info, Digest: n.Digest}, nil
		}
	}
	if len(drop) == 0 {
		return
	}
	kept := j.steps[:0]
	for i, s := range j.steps {
		if !drop[i] {
			kept = append(kept, s)
		}
	}
	j.steps = kept
}

// leavesOf returns the files and the empty directories of a tree.
func leavesOf(nodes []root.Node) []root.Node {
	parents := map[string]bool{}
	for _, n := range nodes {
		dir, _ := root.Split(n.Path)
		parents[dir] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n root.Node) bool { return parents[n.Path] })
}

// entry is one file or directory beneath a directory that goes or moves, as the rules about trees see it.
type entry struct {
	root.Node
	grant grant.Set
	leaf  bool     // a file or an empty directory
	name  string   // its last component
	paths []string // where it lies, and where it comes to lie
	named []string // the same, and what these are called through admitted links
}

// treeRules are the rules about each file and directory beneath a directory that is deleted or renamed.
var treeRules = []row[func(*judge, *entry) string]{
	{RulePathVCS, func(_ *judge, e *entry) string {
		if isVCSFolder(e.name) {
			return fmt.Sprintf("%q is the folder of a version control system, or is taken for one somewhere", e.paths[0])
		}
		return ""
	}},
	{RulePathStaging, func(_ *judge, e *entry) string {
		if isStaging(e.name) {
			return fmt.Sprintf("%q has the form of a staging folder", e.paths[0])
		}
		return ""
	}},
	{RuleProtected, func(j *judge, e *entry) string {
		if j.isProtected(e.Info) {
			return fmt.Sprintf("%q is, under another name, the folder for state or the running program", e.paths[0])
		}
		return ""
	}},
	{RuleGuarded, func(_ *judge, e *entry) string {
		for _, path := range e.named {
			if g, ok := e.grant.Guarded(path); e.leaf && ok && !e.grant.MayWrite(path) {
				return fmt.Sprintf("%q is guarded and not granted by name: %s", path, g.Why)
			}
		}
		return ""
	}},
	{RuleNotGranted, func(_ *judge, e *entry) string {
		for _, path := range e.paths {
			if _, ok := e.grant.Guarded(path); e.leaf && !ok && !e.grant.MayWrite(path) {
				return fmt.Sprintf("%q is not covered by the grant", path)
			}
		}
		return ""
	}},
	{RuleTreePath, func(j *judge, e *entry) string {
		for _, path := range e.paths[1:] {
			for _, f := range CheckPath(path, j.Limits) {
				if f.Rule != RulePathVCS && f.Rule != RulePathStaging { // said already
					return f.Message
				}
			}
		}
		return ""
	}},
}

// tree fills in what lies beneath the directory of a step and judges each file and directory of it, at its old path and at its
// new one. One finding for each rule is enough to refuse a tree.
func (j *judge) tree(t *touch, step *Step) bool {
	nodes, err := j.root.Tree(t.path, j.entries)
	if err != nil {
		var (
			link  *root.LinkError
			limit *abi.LimitError
			id    = RuleUnreadable
		)
		f := t.finding(fmt.Sprintf("%q cannot go or move as a whole: %v", t.path, err))
		switch {
		case errors.As(err, &link):
			id, f.Fix = RuleLink, "take that out of the directory first"
		case errors.As(err, &limit):
			id = RuleTreeSize
		}
		j.find(t.proposal, row[struct{}]{id: id}.finding(f))
		return false
	}
	j.entries -= len(nodes)
	step.Tree = nodes
	if len(nodes) == 0 {
		step.Foreign = j.foreign(t.path, step.Before)
	}
	leaves := map[string]bool{}
	for _, n := range leavesOf(nodes) {
		leaves[n.Path] = true
	}
	broken := map[string]int{}
	first := map[string]string{}
	g := j.grant(t.proposal)
	for _, n := range nodes {
		_, name := root.Split(n.Path)
		e := entry{Node: n, grant: g, leaf: leaves[n.Path], name: name, paths: []string{t.path + "/" + n.Path}}
		if step.To != "" {
			e.paths = append(e.paths, step.To+"/"+n.Path)
		}
		e.named = j.names(e.paths)
		for _, r := range treeRules {
			if why := r.broken(j, &e); why != "" {
				if broken[r.id]++; broken[r.id] == 1 {
					first[r.id] = why
				}
			}
		}
		if e.leaf {
			step.Guarded = append(step.Guarded, shown(g, e.named...)...)
			step.Foreign = append(step.Foreign, j.foreign(e.paths[0], Before{Info: n.Info, Digest: n.Digest})...)
		}
	}
	for _, r := range treeRules {
		if n := broken[r.id]; n > 0 {
			verb := "deletes"
			if step.To != "" {
				verb = "renames"
			}
			why := fmt.Sprintf("%s, and the plan %s %q with it", first[r.id], verb, t.path)
			if n > 1 {
				why += fmt.Sprintf(" (and %d more)", n-1)
			}
			j.find(t.proposal, r.finding(t.finding(why)))
		}
	}
	return len(broken) == 0
}
