package host

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// maxLooked bounds the directory entries that are looked at for inputs: a large source tree with its dependencies.
const maxLooked = 1 << 20

// inputs are files of a root that a grant lets an extension read.
type inputs struct {
	owner string
	grant grant.Set
	list  []abi.Input // sorted by path
}

// gatherInputs reads what the grant's globs match beneath r: regular files, what looks secret left out. A glob without
// wildcards that nothing matches gives an input that says so. A match that is a link or no file is an error: what it stands
// for was not asked for.
func gatherInputs(r *root.Root, owner string, g grant.Set, lim abi.Limits) (inputs, error) {
	in := inputs{owner: owner, grant: g}
	globs := g.Reads()
	if len(globs) == 0 {
		return in, nil
	}
	w := inputWalk{root: r, grant: g, lim: lim, left: lim.Request}
	var trees []string
	for _, glob := range globs {
		if !glob.Literal() {
			trees = append(trees, literalDir(glob.String()))
			continue
		}
		if err := w.literal(glob.String()); err != nil {
			return in, fmt.Errorf("reading %q for extension %q: %w", glob, owner, err)
		}
	}
	slices.Sort(trees)
	for i, dir := range trees {
		if slices.ContainsFunc(trees[:i], func(above string) bool { return above == "" || above == dir || strings.HasPrefix(dir, above+"/") }) {
			continue // walked already
		}
		if err := w.walk(dir, 1); err != nil {
			return in, fmt.Errorf("reading files for extension %q: %w", owner, err)
		}
	}
	slices.SortFunc(w.found, func(a, b abi.Input) int { return strings.Compare(a.Path, b.Path) })
	in.list = slices.CompactFunc(w.found, func(a, b abi.Input) bool { return a.Path == b.Path })
	return in, nil
}

// same reports whether two gatherings found the same.
func (in inputs) same(other inputs) (path string, ok bool) {
	for i := range max(len(in.list), len(other.list)) {
		switch {
		case i >= len(in.list):
			return other.list[i].Path, false
		case i >= len(other.list):
			return in.list[i].Path, false
		}
		a, b := in.list[i], other.list[i]
		if a.Path != b.Path || a.State != b.State || (a.Digest == nil) != (b.Digest == nil) || a.Digest != nil && *a.Digest != *b.Digest {
			return min(a.Path, b.Path), false
		}
	}
	return "", true
}

// literalDir is the directory that everything a glob matches lies beneath.
func literalDir(glob string) string {
	i := strings.IndexAny(glob, "*?[")
	return strings.TrimSuffix(glob[:strings.LastIndexByte(glob[:i], '/')+1], "/")
}

// inputWalk carries one gathering.
type inputWalk struct {
	root   *root.Root
	grant  grant.Set
	lim    abi.Limits
	left   int64 // bytes that still fit into a request
	looked int
	found  []abi.Input
}

func (w *inputWalk) literal(path string) error {
	if !w.grant.MayRead(path) {
		return nil
	}
	info, err := w.root.Stat(path)
	if err != nil {
		return err
	}
	if !info.Exists {
		w.found = append(w.found, abi.Input{Path: path, State: abi.InputAbsent})
		return nil
	}
	return w.read(path)
}

func (w *inputWalk) walk(dir string, depth int) error {
	d, _, err := w.root.Walk(dir, false)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		return err
	}
	if err != nil {
		return nil // not there
	}
	defer d.Close()
	names, err := d.Names(maxLooked - w.looked)
	if err != nil {
		return err
	}
	w.looked += len(names)
	for _, name := range names {
		path := name
		if dir != "" {
			path = dir + "/" + name
		}
		info, err := d.Stat(name)
		if err != nil {
			return err
		}
		switch {
		case info.Exists && info.Type.IsDir():
			// What no plan could name is not supplied either: version control, staging, names that are no paths elsewhere.
			if depth < w.lim.Components && plan.CheckPath(path, w.lim) == nil {
				if err := w.walk(path, depth+1); err != nil {
					return err
				}
			}
		case !w.grant.MayRead(path) || plan.CheckPath(path, w.lim) != nil:
		default:
			if err := w.read(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *inputWalk) read(path string) error {
	f, err := w.root.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	bound := min(w.lim.Content, w.left)
	text, err := io.ReadAll(io.LimitReader(f, bound+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > bound {
		return &abi.LimitError{Limit: "inputs", Bound: bound, Got: int64(len(text))}
	}
	w.left -= int64(len(text))
	digest, mode := abi.DigestOf(text), abi.Mode(info.Mode().Perm())
	w.found = append(w.found, abi.Input{Path: path, State: abi.InputFile, Mode: &mode, Content: text, Digest: &digest})
	return nil
}

// unchangedInputs makes sure that what extensions read is still what they would read now.
func (p *Pending) unchangedInputs() error {
	for _, was := range p.inputs {
		now, err := gatherInputs(p.root, was.owner, was.grant, p.host.limits)
		if err != nil {
			return err
		}
		if path, ok := was.same(now); !ok {
			return &StaleError{Path: path, Why: fmt.Sprintf("extension %q read it, or would now", was.owner)}
		}
	}
	return nil
}
