package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

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
		t.done.Pruned = t.pruned
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
		return &StaleError{Path: s.Path, Why: err.Error()}
	}
	defer d.Close()
	if err := d.Rename(name, t.old, s.name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &StaleError{Path: s.Path, Why: "it is gone"}
		}
		return fmt.Errorf("moving %q aside: %w", s.Path, err)
	}
	s.aside = true
	f, err := t.old.Open(s.name)
	if err != nil {
		return &StaleError{Path: s.Path, Why: err.Error()}
	}
	defer f.Close()
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
	if err != nil {
		return err
	}
	defer d.Close()
	if info, err := d.Stat(name); err != nil || info.Exists {
		return errors.Join(&StaleError{Path: s.Path, Why: "something is there now"}, err)
	}
	if err := t.fresh.Rename(s.name, d, name); err != nil {
		return fmt.Errorf("moving %q into place: %w", s.Path, err)
	}
	s.in = true
	t.touched[dir] = true
	return nil
}

// sync makes the moves durable: each directory that took a file, once.
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
				t.pruned = append(t.pruned, dir) // gone with its parent
			}
			continue
		}
		if err := d.Rmdir(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.pruned = append(t.pruned, dir)
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
	for _, dir := range slices.Backward(t.pruned) {
		d, _, err := t.root.Walk(dir, true)
		keep(err)
		if err == nil {
			d.Close()
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

// back undoes one step: the new file goes into staging again, the old one to its place.
func (t *transaction) back(s *step) error {
	if !s.in && !s.aside {
		return nil
	}
	dir, name := root.Split(s.Path)
	d, _, err := t.root.Walk(dir, false)
	if err != nil {
		return fmt.Errorf("putting %q back: %w", s.Path, err)
	}
	defer d.Close()
	if s.in {
		if err := d.Rename(name, t.fresh, s.name); err != nil {
			return fmt.Errorf("taking %q out again: %w", s.Path, err)
		}
		s.in = false
	}
	if s.aside {
		if info, err := d.Stat(name); err != nil || info.Exists {
			return errors.Join(fmt.Errorf("putting %q back: something is there now", s.Path), err)
		}
		if err := t.old.Rename(s.name, d, name); err != nil {
			return fmt.Errorf("putting %q back: %w", s.Path, err)
		}
		s.aside = false
	}
	return nil
}
