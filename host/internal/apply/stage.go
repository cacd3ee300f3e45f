package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// The staging directory lies beneath the root, because only there a rename reaches from it. Its name cannot be guessed and
// its mode is 0700. What comes lies in new/N, N being the number of the move; what goes lies in old/N, or in new/N after an
// exchange; what a rollback took out again lies in out/.
const (
	newDirName = "new"
	oldDirName = "old"
	outDirName = "out"
	// readyName is made when everything is staged. Without it no move was made, whatever lies there.
	readyName = "ready"
)

// few is up to how many files one call for each is cheaper than one for the whole file system, which waits for what other
// programs wrote as well.
const few = 16

// stage makes the staging directory and everything that comes, and makes it durable.
func (t *transaction) stage(ctx context.Context) error {
	top := t.root.Top()
	if err := top.Mkdir(t.c.Staging, 0o700); err != nil {
		return fmt.Errorf("making a staging directory in %q: %w", t.root.Path(), err)
	}
	var err error
	if t.staging, err = top.OpenDir(t.c.Staging); err != nil {
		return err
	}
	if err := writeFile(t.staging, ".gitignore", "*\n"); err != nil {
		return err
	}
	for _, sub := range []struct {
		name string
		dir  **root.Dir
	}{{newDirName, &t.fresh}, {oldDirName, &t.old}} {
		if err := t.staging.Mkdir(sub.name, 0o700); err != nil {
			return err
		}
		if *sub.dir, err = t.staging.OpenDir(sub.name); err != nil {
			return err
		}
	}
	for i := range t.c.Moves {
		m := &t.c.Moves[i]
		if m.Kind != kindSwap && m.Kind != kindPut {
			continue
		}
		if err := t.stageNode(ctx, t.fresh, strconv.Itoa(i), m.Path, m.After); err != nil {
			return err
		}
	}
	// What is staged is durable before the directory is ready, and that before anything is moved.
	if err := t.barrier(staged{t.fresh, newDirName}, staged{t.staging, ""}); err != nil {
		return err
	}
	if !t.syncAll {
		if err := t.durable(top, ""); err != nil {
			return err
		}
	}
	if err := writeFile(t.staging, readyName, ""); err != nil {
		return err
	}
	return t.durable(t.staging, t.c.Staging)
}

func writeFile(d *root.Dir, name, text string) error {
	f, err := d.Create(name, 0o644)
	if err != nil {
		return err
	}
	if text != "" {
		_, err = io.WriteString(f, text)
	}
	return errors.Join(err, f.Close())
}

// stageNode makes a node under a name. at is its path beneath the root, for messages.
func (t *transaction) stageNode(ctx context.Context, d *root.Dir, name, at string, n *node) error {
	switch {
	case n.Link != "":
		return d.Symlink(n.Link, name)
	case !n.Dir:
		return t.stageFile(ctx, d, name, at, n)
	}
	if err := mkdir(d, name, n); err != nil {
		return fmt.Errorf("staging the directory %q: %w", at, err)
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	// A directory comes before what lies in it, and that before anything else; those on the way to the entry at hand stay open.
	open := []struct {
		path string
		dir  *root.Dir
	}{{"", sub}}
	defer func() {
		for _, o := range open[1:] {
			o.dir.Close()
		}
	}()
	for _, e := range byDirectory(n.Tree) {
		for last := len(open) - 1; last > 0 && !beneath(e.Path, open[last].path); last-- {
			if err := t.leave(open[last].dir, at+"/"+open[last].path); err != nil {
				return err
			}
			open[last].dir.Close()
			open = open[:last]
		}
		dir, base := open[len(open)-1].dir, path.Base(e.Path)
		if !e.Dir {
			if err := t.stageNode(ctx, dir, base, at+"/"+e.Path, &e.node); err != nil {
				return err
			}
			continue
		}
		if err := mkdir(dir, base, &e.node); err != nil {
			return fmt.Errorf("staging the directory %q: %w", at+"/"+e.Path, err)
		}
		next, err := dir.OpenDir(base)
		if err != nil {
			return err
		}
		open = append(open, struct {
			path string
			dir  *root.Dir
		}{e.Path, next})
	}
	for _, o := range open {
		if err := t.leave(o.dir, at+"/"+o.path); err != nil {
			return err
		}
	}
	return nil
}

// byDirectory returns the entries of a tree with all that lies in a directory together. Sorted bytewise, "d!" stands between
// "d" and "d/e".
func byDirectory(tree []entry) []*entry {
	list := make([]*entry, len(tree))
	for i := range tree {
		list[i] = &tree[i]
	}
	slices.SortFunc(list, func(a, b *entry) int {
		x, y := a.Path, b.Path
		i := 0
		for i < len(x) && i < len(y) && x[i] == y[i] {
			i++
		}
		switch {
		case i == len(x) || i == len(y):
			return len(x) - len(y)
		case x[i] == '/':
			return -1
		case y[i] == '/':
			return 1
		}
		return int(x[i]) - int(y[i])
	})
	return list
}

// leave makes a staged directory durable where that is done one by one. at is the path that it is for.
func (t *transaction) leave(d *root.Dir, at string) error {
	if t.syncAll {
		return nil
	}
	return t.durable(d, at)
}

func mkdir(d *root.Dir, name string, n *node) error {
	if n.Umask {
		return d.Mkdir(name, n.Mode)
	}
	return d.MkdirExact(name, n.Mode)
}

// stageFile copies a content and holds it to its digest while it does, since a module's file may have changed since it was
// read.
func (t *transaction) stageFile(ctx context.Context, d *root.Dir, name, at string, n *node) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	src, err := n.content.Open()
	if err != nil {
		return fmt.Errorf("staging %q: %w", at, err)
	}
	defer src.Close()
	dst, err := d.Create(name, n.Mode)
	if err != nil {
		return fmt.Errorf("staging %q: %w", at, err)
	}
	got, _, err := root.DigestFile(io.TeeReader(src, dst), n.Size)
	if grown := (*abi.LimitError)(nil); errors.As(err, &grown) || err == nil && digest(got) != n.Digest {
		err = errors.New("the content changed while it was copied")
	}
	if err == nil && !t.syncAll {
		err = dst.Sync() // a renamed file whose bytes are not on disk can be empty after a power cut
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return fmt.Errorf("staging %q: %w", at, err)
	}
	return nil
}

// staged is a directory within the staging directory, or that itself.
type staged struct {
	dir  *root.Dir
	name string
}

// barrier makes what was done so far durable: everything at once, or the directories one by one.
func (t *transaction) barrier(dirs ...staged) error {
	if t.syncAll {
		return t.root.SyncAll()
	}
	for _, d := range dirs {
		if err := t.durable(d.dir, path.Join(t.c.Staging, d.name)); err != nil {
			return err
		}
	}
	return nil
}

// durable makes the entries of an open directory durable. at is its path beneath the root.
func (t *transaction) durable(d *root.Dir, at string) error {
	if err := d.Sync(); err != nil {
		return fmt.Errorf("making the directory %q durable: %w", filepath.Join(t.root.Path(), at), err)
	}
	return nil
}

// newStaging is a name for a staging directory.
func newStaging(id string) string { return plan.StagingPrefix + id }
