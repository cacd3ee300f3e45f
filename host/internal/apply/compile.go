package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// compile turns judged steps into moves: deletes first, then renames, then what comes. It looks at the root only to see
// which directories are missing.
//
// What takes the place of something that goes is one exchange, so that a reader sees the old or the new: a file for a file,
// and for a deleted directory the whole of what is written beneath it. What comes into a directory that is missing comes
// with it, as one tree.
func compile(r *root.Root, steps []plan.Step, prune []string) (*change, []*plan.Step, error) {
	b := &builder{root: r, c: &change{Format: changeFormat}, missing: map[string]bool{}, gone: map[string]bool{}}
	var kept, creates, renames []*plan.Step // a step is large, and there can be many
	removed := []*plan.Step{}               // sorted by path, none beneath another
	for i := range steps {
		switch s := &steps[i]; s.Action {
		case plan.Keep:
			kept = append(kept, s)
		case plan.Remove:
			if n := len(removed); n > 0 && removed[n-1].Dir && beneath(s.Path, removed[n-1].Path) {
				continue // it goes with the directory
			}
			removed = append(removed, s)
		case plan.Move:
			renames = append(renames, s)
		case plan.Create, plan.Update:
			creates = append(creates, s)
		default:
			return nil, nil, fmt.Errorf("applying %q: this version of the host cannot %s yet", s.Path, s.Action)
		}
	}
	into := map[string]bool{} // directories beneath which a rename brings something
	for _, s := range renames {
		for dir, _ := root.Split(s.To); dir != "" && !into[dir]; dir, _ = root.Split(dir) {
			into[dir] = true
		}
	}
	taken := make([]bool, len(creates))
	for _, s := range removed {
		m := move{Kind: kindRemove, Path: s.Path, Before: before(s)}
		if into[s.Path] {
			b.gone[s.Path] = true // a rename brings what no staged tree can hold: what comes is made piece by piece
		} else if comes := take(creates, taken, s.Path); len(comes) > 0 {
			m.Kind, m.After = kindSwap, tree(s.Path, comes)
			keepModes(m.After, m.Before)
			b.madeBy(m)
		} else {
			b.gone[s.Path] = true
		}
		b.c.Moves = append(b.c.Moves, m)
	}
	for i, s := range creates {
		if s.Action == plan.Update && !taken[i] {
			taken[i] = true
			b.c.Moves = append(b.c.Moves, move{Kind: kindSwap, Path: s.Path, Before: before(s), After: after(s)})
		}
	}
	for _, s := range renames {
		up, _ := root.Split(s.To)
		if err := b.mkdirs(up); err != nil {
			return nil, nil, err
		}
		b.c.Moves = append(b.c.Moves, move{Kind: kindRename, Path: s.Path, To: s.To, Before: before(s)})
	}
	if err := b.puts(creates, taken); err != nil {
		return nil, nil, err
	}
	return b.c, kept, b.prune(prune)
}

// take returns the steps at and beneath a path that nothing took yet. The steps are sorted by path.
func take(steps []*plan.Step, taken []bool, path string) []*plan.Step {
	at := func(path string) int {
		i, _ := slices.BinarySearchFunc(steps, path, func(s *plan.Step, path string) int { return strings.Compare(s.Path, path) })
		return i
	}
	from, end := at(path+"/"), at(path+"0") // "0" follows "/"
	found := make([]*plan.Step, 0, end-from+1)
	add := func(i int) {
		if !taken[i] {
			found, taken[i] = append(found, steps[i]), true
		}
	}
	if i := at(path); i < len(steps) && steps[i].Path == path {
		add(i)
	}
	for i := from; i < end; i++ {
		add(i)
	}
	return found
}

// keepModes gives directories that a tree replaces their modes again.
func keepModes(after, before *node) {
	if !after.Dir || !before.Dir {
		return
	}
	after.Mode, after.Umask = before.Mode, false
	for i := range after.Tree {
		e := &after.Tree[i]
		k, ok := slices.BinarySearchFunc(before.Tree, e.Path, func(b entry, path string) int { return strings.Compare(b.Path, path) })
		if ok && e.Dir && before.Tree[k].Dir {
			e.Mode, e.Umask = before.Tree[k].Mode, false
		}
	}
}

func beneath(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == '/' && strings.HasPrefix(path, dir)
}

// builder carries one call of compile.
type builder struct {
	root    *root.Root
	c       *change
	missing map[string]bool // by directory: whether it is not there before the puts
	gone    map[string]bool // paths at which nothing is after the removals
}

// isMissing reports whether a directory is not there, or is in the way and goes.
func (b *builder) isMissing(dir string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	if m, ok := b.missing[dir]; ok {
		return m, nil
	}
	info, err := b.root.Stat(dir)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		err, info = nil, root.Info{} // what is in the way is told by the move
	}
	if err != nil {
		return false, notAsChecked(dir, err)
	}
	m := !info.Exists || b.goes(dir)
	if up, _ := root.Split(dir); !m {
		if m, err = b.isMissing(up); err != nil {
			return false, err
		}
	}
	b.missing[dir] = m
	return m, nil
}

// goes reports whether a path goes with a removal, its own or one above it.
func (b *builder) goes(path string) bool { return covers(b.gone, path) }

// covers reports whether a set of paths has a path or one above it.
func covers(set map[string]bool, path string) bool {
	for path != "" && path != "/" {
		if set[path] {
			return true
		}
		path, _ = root.Split(path)
	}
	return false
}

// mkdirs makes the directories that are missing for a rename.
func (b *builder) mkdirs(dir string) error {
	m, err := b.isMissing(dir)
	if err != nil || !m {
		return err
	}
	up, _ := root.Split(dir)
	if err := b.mkdirs(up); err != nil {
		return err
	}
	b.c.Moves = append(b.c.Moves, move{Kind: kindMkdir, Path: dir, After: newDir()})
	b.c.Made = append(b.c.Made, dir)
	b.missing[dir] = false
	return nil
}

// puts groups what comes by the outermost directory that is missing for it.
func (b *builder) puts(creates []*plan.Step, taken []bool) error {
	for i := 0; i < len(creates); i++ {
		if taken[i] {
			continue
		}
		s := creates[i]
		top := s.Path
		for dir, _ := root.Split(s.Path); dir != ""; dir, _ = root.Split(dir) {
			m, err := b.isMissing(dir)
			if err != nil {
				return err
			}
			if !m {
				break
			}
			top = dir
		}
		m := move{Kind: kindPut, Path: top, After: after(s)}
		if top != s.Path {
			m.After = tree(top, take(creates, taken, top))
			b.madeBy(m)
		}
		b.c.Moves = append(b.c.Moves, m)
	}
	return nil
}

// madeBy notes the directories that come into being with a tree.
func (b *builder) madeBy(m move) {
	had := map[string]bool{}
	if m.Before != nil && m.Before.Dir {
		had[""] = true
		for _, e := range m.Before.Tree {
			had[e.Path] = e.Dir
		}
	}
	if m.After.Dir && !had[""] {
		b.c.Made = append(b.c.Made, m.Path)
	}
	for _, e := range m.After.Tree {
		if e.Dir && !had[e.Path] {
			b.c.Made = append(b.c.Made, m.Path+"/"+e.Path)
		}
	}
}

// prune notes which directories may go, those inside others first.
func (b *builder) prune(dirs []string) error {
	away := map[string]bool{}
	for i := range b.c.Moves {
		if m := &b.c.Moves[i]; m.Before != nil {
			away[m.Path] = true
		}
	}
	dirs = slices.Clone(dirs)
	slices.SortFunc(dirs, func(x, y string) int { return strings.Compare(y, x) })
	dirs = slices.Compact(dirs)
	for _, dir := range dirs {
		info, err := b.root.Stat(dir)
		if err != nil || info.Exists && !info.Type.IsDir() {
			continue // something else is there now: not ours to remove
		}
		if !info.Exists || covers(away, dir) { // or it goes with what lies around it, and comes back with that
			b.c.Gone = append(b.c.Gone, dir)
			continue
		}
		b.c.Prune = append(b.c.Prune, entry{Path: dir, node: node{Dir: true, Mode: info.Mode}})
	}
	return nil
}

func newDir() *node { return &node{Dir: true, Mode: 0o755, Umask: true} }

// before is what a step's path holds.
func before(s *plan.Step) *node {
	n := nodeOf(s.Before.Info, s.Before.Digest)
	n.Link = s.Before.Link
	for _, t := range s.Tree {
		n.Tree = append(n.Tree, entry{Path: t.Path, node: *nodeOf(t.Info, t.Digest)})
	}
	return n
}

func nodeOf(info root.Info, d abi.Digest) *node {
	n := &node{Dir: info.Type.IsDir(), Mode: info.Mode}
	if info.Type&fs.ModeType == 0 {
		n.Size, n.Digest = info.Size, digest(d)
	}
	return n
}

// after is the file that a step makes.
func after(s *plan.Step) *node {
	return &node{Mode: s.Mode, Size: s.Content.Size(), Digest: digest(s.Content.Digest()), content: s.Content}
}

// tree is what the steps make at and beneath top. One step at top itself is a file.
func tree(top string, steps []*plan.Step) *node {
	if len(steps) == 1 && steps[0].Path == top {
		return after(steps[0])
	}
	n := newDir()
	dirs := map[string]bool{}
	n.Tree = make([]entry, 0, len(steps)+len(steps)/8)
	for _, s := range steps {
		rel := s.Path[len(top)+1:]
		for dir, _ := root.Split(rel); dir != "" && !dirs[dir]; dir, _ = root.Split(dir) {
			dirs[dir] = true
			n.Tree = append(n.Tree, entry{Path: dir, node: *newDir()})
		}
		n.Tree = append(n.Tree, entry{Path: rel, node: *after(s)})
	}
	slices.SortFunc(n.Tree, func(a, b entry) int { return strings.Compare(a.Path, b.Path) })
	return n
}
