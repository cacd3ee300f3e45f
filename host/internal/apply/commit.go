package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// commit moves files aside and in: what goes first, so that a directory can take a removed file's place, then what comes.
func (t *transaction) commit() error {
	for i := range t.steps {
		if t.steps[i].Action == plan.Remove {
			if err := t.moveAside(&t.steps[i]); err != nil {
				return err
			}
		}
	}
	for i := range t.steps {
		if t.steps[i].Action != plan.Remove {
			if err := t.moveIn(&t.steps[i]); err != nil {
				return err
			}
		}
	}
	if err := t.sync(); err != nil {
		return err
	}
	t.prune()
	if t.options.Record != nil {
		return t.options.Record(t.done)
	}
	return nil
}

// moveAside takes what lies at a step's path into staging, then looks whether it is what was checked: a swap between the
// comparison and the move shows here, and is taken back.
func (t *transaction) moveAside(s *step) error {
	dir, name := root.Split(s.Path)
	d, _, err := t.root.Walk(dir, false)
	if err != nil {
		return notAsChecked(s.Path, err)
	}
	defer d.Close()
	if err := d.Rename(name, t.old, s.name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &StaleError{Path: s.Path, Why: "it is gone"}
		}
		return fmt.Errorf("moving %q aside: %w", s.Path, err)
	}
	s.aside = true
	t.touched[dir] = true
	f, err := t.old.Open(s.name)
	if err != nil {
		return notAsChecked(s.Path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("looking at %q after moving it aside: %w", s.Path, err)
	}
	if !plan.SameMode(abi.Mode(info.Mode().Perm()), s.Before.Mode) {
		return &StaleError{Path: s.Path, Why: "its mode is another"}
	}
	digest, _, err := root.DigestFile(f, math.MaxInt64-1)
	if err != nil {
		return fmt.Errorf("reading %q after moving it aside: %w", s.Path, err)
	}
	if digest != s.Before.Digest {
		return &StaleError{Path: s.Path, Why: "its content is another"}
	}
	return nil
}

func (t *transaction) moveIn(s *step) error {
	if s.Action == plan.Update {
		if err := t.moveAside(s); err != nil {
			return err
		}
	}
	dir, name := root.Split(s.Path)
	d, made, err := t.root.Walk(dir, true)
	t.done.Made = append(t.done.Made, made...)
	for _, m := range made {
		up, _ := root.Split(m)
		t.touched[up] = true
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err := t.fresh.RenameNew(s.name, d, name); errors.Is(err, fs.ErrExist) {
		return &StaleError{Path: s.Path, Why: "something is there now"}
	} else if err != nil {
		return fmt.Errorf("moving %q into place: %w", s.Path, err)
	}
	s.in = true
	t.touched[dir] = true
	return nil
}

// sync makes the moves durable: each directory whose entries changed, once.
func (t *transaction) sync() error {
	for dir := range t.touched {
		d, _, err := t.root.Walk(dir, false)
		if err != nil {
			return err
		}
		err = d.Sync()
		d.Close()
		if err != nil {
			return fmt.Errorf("making %q durable: %w", dir, err)
		}
	}
	return nil
}

// prune removes directories that this program made and that are empty now, deepest first. One that is not empty stays: it
// holds something of somebody else's.
func (t *transaction) prune() {
	dirs := slices.Clone(t.options.Prune)
	slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(b, a) }) // what lies in a directory sorts after it
	for _, dir := range dirs {
		up, name := root.Split(dir)
		d, _, err := t.root.Walk(up, false)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				t.done.Pruned = append(t.done.Pruned, dir) // gone with its parent
			}
			continue
		}
		info, err := d.Stat(name)
		switch {
		case err != nil:
		case !info.Exists:
			t.done.Pruned = append(t.done.Pruned, dir)
		case d.Rmdir(name) == nil:
			t.done.Pruned = append(t.done.Pruned, dir)
			t.pruned = append(t.pruned, pruned{dir, info.Mode})
		}
		d.Close()
	}
}

// rollback moves everything back, the last move first, and returns what it could not undo.
func (t *transaction) rollback() (left []error) {
	keep := func(err error) {
		if err != nil {
			left = append(left, err)
		}
	}
	for _, p := range slices.Backward(t.pruned) {
		up, name := root.Split(p.path)
		d, _, err := t.root.Walk(up, false)
		if err == nil {
			err = d.MkdirExact(name, p.mode)
			d.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			keep(fmt.Errorf("making the directory %q again: %w", p.path, err))
		}
	}
	for i := len(t.steps) - 1; i >= 0; i-- {
		if s := &t.steps[i]; s.Action != plan.Remove {
			keep(t.back(s))
		}
	}
	for _, dir := range slices.Backward(t.done.Made) {
		up, name := root.Split(dir)
		d, _, err := t.root.Walk(up, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone already
		}
		if err != nil {
			keep(err)
			continue
		}
		if err := d.Rmdir(name); err != nil && !errors.Is(err, fs.ErrNotExist) && isEmpty(d, name) {
			keep(fmt.Errorf("removing the directory %q: %w", dir, err))
		}
		d.Close()
	}
	for i := len(t.steps) - 1; i >= 0; i-- {
		if s := &t.steps[i]; s.Action == plan.Remove {
			keep(t.back(s))
		}
	}
	return left
}

// isEmpty reports whether a directory is empty. One that is not holds what somebody put there meanwhile; it stays.
func isEmpty(d *root.Dir, name string) bool {
	sub, err := d.OpenDir(name)
	if err != nil {
		return false
	}
	defer sub.Close()
	names, err := sub.Names(1)
	return err == nil && len(names) == 0
}

// back undoes one step: the new file goes into staging again, the old one to its place. What took the new file's place
// meanwhile is not ours to discard: it stays in staging and is named.
func (t *transaction) back(s *step) error {
	if !s.in && !s.aside {
		return nil
	}
	dir, name := root.Split(s.Path)
	d, _, err := t.root.Walk(dir, false)
	if errors.Is(err, fs.ErrNotExist) && !s.aside {
		return nil // gone already
	}
	if err != nil {
		return fmt.Errorf("putting %q back: %w", s.Path, err)
	}
	defer d.Close()
	var foreign error
	if s.in {
		err := d.Rename(name, t.fresh, s.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("taking %q out again: %w", s.Path, err)
		}
		s.in = false
		if err == nil && !t.isOurs(s) {
			foreign = fmt.Errorf("%q was changed meanwhile; what it became lies in %q", s.Path, path.Join(t.staging, "new", s.name))
		}
	}
	if s.aside {
		if err := t.old.RenameNew(s.name, d, name); err != nil {
			return errors.Join(foreign, fmt.Errorf("putting %q back: %w", s.Path, err))
		}
		s.aside = false
	}
	return foreign
}

// isOurs reports whether the file that was taken out again is the one that was put in.
func (t *transaction) isOurs(s *step) bool {
	f, err := t.fresh.Open(s.name)
	if err != nil {
		// A mode may keep its owner from reading it; a file of ours it is all the same.
		info, serr := t.fresh.Stat(s.name)
		return errors.Is(err, fs.ErrPermission) && serr == nil && info.Regular() && info.Mode == s.Mode && info.Size == s.Content.Size()
	}
	defer f.Close()
	digest, _, err := root.DigestFile(f, s.Content.Size())
	return err == nil && digest == s.Content.Digest()
}
