package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"github.com/lola-ext/lola/host/root"
)

// commit makes the moves, in order.
func (t *transaction) commit() error {
	for i := range t.c.Moves {
		if err := t.move(i); err != nil {
			return err
		}
	}
	// The moves are durable before the journal says so.
	if t.syncAll {
		return t.root.SyncAll()
	}
	gone := t.went()
	for _, dir := range slices.Sorted(maps.Keys(t.touched)) {
		if gone[dir] {
			continue
		}
		d, _, err := t.root.Walk(dir, false)
		if err != nil {
			return notAsChecked(dir, err)
		}
		err = t.durable(d, dir)
		d.Close()
		if err != nil {
			return err
		}
	}
	return t.barrier(staged{t.fresh, newDirName}, staged{t.old, oldDirName})
}

// went returns the directories that go with the moves themselves, after what was done in them.
func (t *transaction) went() map[string]bool {
	gone := map[string]bool{}
	for i := range t.c.Moves {
		if m := &t.c.Moves[i]; m.Kind == kindRmdir {
			gone[m.Path] = true
		}
	}
	return gone
}

// move makes one move. What was moved is then looked at: a swap by somebody else between the comparison and the move shows
// here, and everything is taken back.
func (t *transaction) move(i int) error {
	m, slot := &t.c.Moves[i], strconv.Itoa(i)
	t.tried, t.theirs = i, false
	d, name, err := t.parent(m.Path)
	if err != nil {
		return err
	}
	at, staged := place{d, name}, place{t.fresh, slot}
	switch m.Kind {
	case kindRemove, kindRmdir:
		if err := d.RenameNew(name, t.old, slot); err != nil {
			return moving(m.Path, "aside", err)
		}
		return t.check(m, t.old, slot, t.at(oldDirName, slot))
	case kindSwap:
		is, err := staged.stat()
		if err != nil {
			return err
		}
		err = exchange(staged, at)
		if errors.Is(err, errors.ErrUnsupported) {
			return t.swapByTwo(m, at, slot)
		}
		if err != nil {
			return moving(m.Path, "aside", err)
		}
		if err := t.check(m, t.fresh, slot, t.at(newDirName, slot)); err != nil {
			return err
		}
		return t.landed(m.Path, at, func() error { return t.recall(at, staged, is, exchange) })
	case kindMkdir:
		if err := mkdir(d, name, m.After); err != nil {
			t.theirs = errors.Is(err, fs.ErrExist)
			return moving(m.Path, "into place", err)
		}
		if err := t.landed(m.Path, at, func() error { return d.Rmdir(name) }); err != nil {
			return err
		}
		return t.mkdirDurable(d, m.Path)
	case kindRename:
		to, newName, err := t.other(m.To)
		if err != nil {
			return err
		}
		defer to.Close()
		is, err := at.stat()
		if err != nil {
			return err
		}
		there := place{to, newName}
		if err := rename(at, there); err != nil {
			return moving(m.Path, fmt.Sprintf("to %q", m.To), err)
		}
		back := func() error { return t.recall(there, at, is, rename) }
		if err := t.landed(m.To, there, back); err != nil {
			return err
		}
		if err := t.check(m, to, newName, m.To); err != nil {
			return errors.Join(err, back()) // it is somebody else's, and goes where they put it
		}
		return nil
	}
	return t.put(m, at, staged)
}

// place is a name in an opened directory.
type place struct {
	dir  *root.Dir
	name string
}

func (p place) stat() (root.Info, error) { return p.dir.Stat(p.name) }

func rename(from, to place) error   { return from.dir.RenameNew(from.name, to.dir, to.name) }
func exchange(from, to place) error { return from.dir.Exchange(from.name, to.dir, to.name) }

// put moves what is staged to where nothing is.
func (t *transaction) put(m *move, at, staged place) error {
	is, err := staged.stat()
	if err != nil {
		return err
	}
	if err := rename(staged, at); err != nil {
		return moving(m.Path, "into place", err)
	}
	return t.landed(m.Path, at, func() error { return t.recall(at, staged, is, rename) })
}

// recall moves something that was moved to at back to where it was. If something else came along, which took its name at that
// instant, that goes where it was found; if it cannot, it is a stray, and the change is not over.
func (t *transaction) recall(at, from place, is root.Info, move func(from, to place) error) error {
	if err := move(at, from); err != nil {
		return err
	}
	got, err := from.stat()
	if err == nil && got.Is(is) {
		return nil
	}
	if err := move(from, at); err != nil {
		t.strays = append(t.strays, fmt.Errorf("%q was changed meanwhile, and what took its place cannot be put back: %w", at.name, err))
	}
	return err
}

// mkdirDurable makes a directory that was made durable, d being the one it lies in: what is moved into it must not be lost
// with it.
func (t *transaction) mkdirDurable(d *root.Dir, path string) error {
	up, name := root.Split(path)
	sub, err := d.OpenDir(name)
	if err != nil {
		return notAsChecked(path, err)
	}
	err = t.durable(sub, path) // its mode
	sub.Close()
	if err != nil {
		return err
	}
	return t.durable(d, up) // its name
}

// swapByTwo is a swap where there is no exchange: for an instant nothing is at the path.
func (t *transaction) swapByTwo(m *move, at place, slot string) error {
	if err := rename(at, place{t.old, slot}); err != nil {
		return moving(m.Path, "aside", err)
	}
	if err := t.check(m, t.old, slot, t.at(oldDirName, slot)); err != nil {
		return err
	}
	return t.put(m, at, place{t.fresh, slot})
}

// moving turns an error of a rename into words: something that came or went meanwhile, or a failure.
func moving(path, where string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return &StaleError{Path: path, Why: "something is there now"}
	case errors.Is(err, fs.ErrNotExist):
		return &StaleError{Path: path, Why: "it is gone"}
	}
	return fmt.Errorf("moving %q %s: %w", path, where, err)
}

// check holds what was moved, which is now the entry name of d, to what was checked. at is its path.
func (t *transaction) check(m *move, d *root.Dir, name, at string) error {
	err := compareEntry(t.root, d, name, at, m.Before, nil)
	if stale := (*StaleError)(nil); errors.As(err, &stale) {
		return &StaleError{Path: m.Path, Why: stale.Why}
	}
	return err
}

// landed makes sure that a path now leads to what was put under a name in an opened directory: the directory itself may
// have been moved away meanwhile, out of the root even. Then it is taken back from where it is.
func (t *transaction) landed(path string, at place, back func() error) error {
	is, err := at.stat()
	if err == nil {
		var found root.Info
		if found, err = t.root.Stat(path); err == nil && found.Is(is) {
			return nil
		}
	}
	why := "a directory above it was moved"
	if err != nil {
		why = err.Error()
	}
	err = errors.Join(&StaleError{Path: path, Why: why}, back())
	t.forget() // it is where nothing more is to go
	return err
}

// parent opens the directory of a path. The last one stays open, since moves come sorted.
func (t *transaction) parent(path string) (*root.Dir, string, error) {
	dir, name := root.Split(path)
	t.touched[dir] = true
	if t.near != nil && t.nearPath == dir {
		return t.near, name, nil
	}
	t.forget()
	d, _, err := t.root.Walk(dir, false)
	if err != nil {
		return nil, "", notAsChecked(path, err)
	}
	t.near, t.nearPath = d, dir
	return d, name, nil
}

func (t *transaction) other(path string) (*root.Dir, string, error) {
	dir, name := root.Split(path)
	t.touched[dir] = true
	d, _, err := t.root.Walk(dir, false)
	if err != nil {
		return nil, "", notAsChecked(path, err)
	}
	return d, name, nil
}

// forget closes the directory that was kept open.
func (t *transaction) forget() {
	if t.near != nil {
		t.near.Close()
		t.near = nil
	}
}

// at is the path of a slot in staging, beneath the root.
func (t *transaction) at(dir, slot string) string { return t.c.Staging + "/" + dir + "/" + slot }
