package root

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// Node is one file or directory beneath a directory that [Root.Tree] read.
type Node struct {
	Path string // relative to that directory
	Info
	Digest abi.Digest // of a regular file
}

// maxTreeDepth bounds how deep a tree may be: no plan can name what lies deeper.
const maxTreeDepth = 64

// Tree reads everything beneath the directory dir, at most max nodes, sorted bytewise by path. Files are read whole for
// their digests. What is neither a file nor a directory is a *[LinkError]: it can be neither read nor vouched for. More
// nodes, or deeper ones than 64 components, are a *[abi.LimitError].
func (r *Root) Tree(dir string, max int) ([]Node, error) { return r.nodes(dir, max, true) }

// List is [Root.Tree] without reading files: digests are zero.
func (r *Root) List(dir string, max int) ([]Node, error) { return r.nodes(dir, max, false) }

func (r *Root) nodes(dir string, max int, read bool) ([]Node, error) {
	d, _, err := r.Walk(dir, false)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	nodes, err := d.nodes("", 1, max, read, nil)
	if err != nil {
		if le, ok := err.(*LinkError); ok {
			return nil, &LinkError{Path: join(dir, le.Path), Kind: le.Kind}
		}
		return nil, fmt.Errorf("reading the directory %q: %w", dir, err)
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Path, b.Path) })
	return nodes, nil
}

func (d *Dir) nodes(at string, depth, max int, read bool, nodes []Node) ([]Node, error) {
	if depth > maxTreeDepth {
		return nil, &abi.LimitError{Limit: "directory depth", Bound: maxTreeDepth, Got: int64(depth)}
	}
	names, err := d.Names(max - len(nodes))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		info, err := d.Stat(name)
		if err != nil {
			return nil, err
		}
		n := Node{Path: join(at, name), Info: info}
		switch {
		case info.Regular() && !read:
		case info.Regular():
			if n.Digest, _, err = d.Copy(name, nil, math.MaxInt64-1); err != nil {
				return nil, err
			}
		case !info.Exists || !info.Type.IsDir():
			return nil, &LinkError{Path: n.Path, Kind: info.Kind()}
		}
		if len(nodes) >= max {
			return nil, &abi.LimitError{Limit: "directory entries", Bound: int64(max), Got: int64(len(nodes) + 1)}
		}
		nodes = append(nodes, n)
		if info.Type.IsDir() {
			sub, err := d.OpenDir(name)
			if err != nil {
				return nil, err
			}
			nodes, err = sub.nodes(n.Path, depth+1, max, read, nodes)
			sub.Close()
			if err != nil {
				return nil, err
			}
		}
	}
	return nodes, nil
}
