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

// rollback takes back every move that happened, the last one first, and returns what it could not take back. Which moves
// happened is read from the tree and the staging directory alone, so that it does not matter who asks, this process or the
// one after a crash, nor how often. Only what still is what was put there is touched; the rest stays and is named.
func (t *transaction) rollback() (left []error) {
	t.forget()
	clear(t.touched)
	ready, err := t.root.Stat(t.c.Staging + "/" + readyName)
	if err != nil {
		return []error{fmt.Errorf("looking into the staging directory: %w", err)}
	}
	if !ready.Exists && t.ready {
		return []error{errors.New("somebody took the staging directory away, and what was moved aside with it; put it back, then run \"lola recover\"")}
	}
	if !ready.Exists {
		return t.bereft() // nothing was moved, unless it shows
	}
	// Opened once: if somebody moves the staging directory, what happened is not to look as if it had not.
	if err := t.openStaging(); err != nil {
		return []error{fmt.Errorf("looking into the staging directory: %w", err)}
	}
	defer t.close()
	covers := map[string]int{}
	for i := range t.c.Moves {
		if m := &t.c.Moves[i]; m.Kind == kindRemove || m.Kind == kindRmdir || m.Kind == kindRename {
			covers[m.Path] = i
		}
	}
	var stays []string // what could not be taken back: no earlier move there is, or what it was and what it became would mix
	for i := len(t.c.Moves) - 1; i >= 0; i-- {
		m := &t.c.Moves[i]
		if at := overlap(stays, m.Path, m.To); at != "" {
			left = append(left, fmt.Errorf("%q is not put back as long as %q is not", m.Path, at))
			continue
		}
		if err := t.back(i, covers); err != nil {
			left = append(left, err)
			stays = append(stays, m.Path)
			if m.To != "" {
				stays = append(stays, m.To)
			}
		}
	}
	if err := t.syncBack(); err != nil {
		left = append(left, err)
	}
	return left
}

// bereft says what shows that moves were made although there is no staging directory: somebody took it away after a crash,
// and with it what was moved aside.
func (t *transaction) bereft() (left []error) {
	staging, err := t.root.Stat(t.c.Staging)
	if err != nil {
		return []error{fmt.Errorf("looking for the staging directory: %w", err)}
	}
	if staging.Exists {
		return nil
	}
	leaves, comes := map[string]bool{}, map[string]bool{} // paths that something leaves, and those that something comes to or beneath
	for i := range t.c.Moves {
		switch m := &t.c.Moves[i]; m.Kind {
		case kindRemove, kindRmdir:
			leaves[m.Path] = true
		case kindRename:
			leaves[m.Path] = true
			addUp(comes, m.To)
		case kindPut, kindMkdir:
			addUp(comes, m.Path)
		}
	}
	for i := range t.c.Moves {
		m := &t.c.Moves[i]
		made, err := false, error(nil)
		switch {
		case m.Kind == kindMkdir || m.Kind == kindRmdir:
		case m.Kind == kindRemove && !comes[m.Path]:
			made, err = t.missing(m.Path)
		case m.Kind == kindRemove || m.Kind == kindRename && covers(leaves, m.To):
			made, err = isNode(t.root, m.Path, m.Before)
			made = !made
		case m.Kind == kindRename:
			made, err = isNode(t.root, m.To, m.Before)
		case !covers(leaves, m.Path): // else it may be what was there before
			made, err = isNode(t.root, m.Path, m.After)
		}
		if err != nil {
			left = append(left, err)
		} else if made {
			left = append(left, fmt.Errorf("%q was changed, and somebody removed the staging directory with what it was before", m.Path))
		}
	}
	return left
}

// addUp adds a path and those above it to a set.
func addUp(set map[string]bool, path string) {
	for ; path != "" && !set[path]; path, _ = root.Split(path) {
		set[path] = true
	}
}

// missing reports whether nothing lies at a path.
func (t *transaction) missing(path string) (bool, error) {
	info, err := t.root.Stat(path)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		return true, nil
	}
	return !info.Exists, err
}

// syncBack makes what was taken back durable before the journal goes.
func (t *transaction) syncBack() error {
	err := t.root.SyncAll()
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	for i := range t.c.Moves {
		for _, path := range []string{t.c.Moves[i].Path, t.c.Moves[i].To} {
			dir, _ := root.Split(path)
			if d, _, err := t.root.Walk(dir, false); err == nil {
				err = t.durable(d, dir)
				d.Close()
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// overlap returns the first of the places that is one of the paths, or above or beneath one; "" if none is.
func overlap(places []string, paths ...string) string {
	for _, at := range places {
		for _, p := range paths {
			if p != "" && (p == at || beneath(p, at) || beneath(at, p)) {
				return at
			}
		}
	}
	return ""
}

// openStaging opens the staging directory and what is always in it.
func (t *transaction) openStaging() (err error) {
	if t.staging, err = t.root.Top().OpenDir(t.c.Staging); err != nil {
		return err
	}
	if t.fresh, err = t.staging.OpenDir(newDirName); err != nil {
		return err
	}
	t.old, err = t.staging.OpenDir(oldDirName)
	return err
}

// back takes one move back. covers are the moves that take something away, by path.
func (t *transaction) back(i int, covers map[string]int) error {
	m, slot := &t.c.Moves[i], strconv.Itoa(i)
	staged, err := exists(t.fresh, slot)
	if err != nil {
		return err
	}
	aside, err := exists(t.old, slot)
	if err != nil {
		return err
	}
	switch m.Kind {
	case kindPut:
		if staged {
			return nil
		}
		if covered, err := t.covered(m.Path, covers); covered || err != nil {
			return err
		}
		return t.takeOut(m.Path, slot, m.After)
	case kindMkdir:
		if t.ready && (i > t.tried || i == t.tried && t.theirs) {
			return nil // what is there is somebody else's, however empty
		}
		if covered, err := t.covered(m.Path, covers); covered || err != nil {
			return err
		}
		if err := t.settle(); err != nil {
			return err
		}
		return t.rmdir(m.Path)
	case kindRemove, kindRmdir:
		if !aside {
			return nil
		}
		return t.putBack(t.at(oldDirName, slot), m.Path)
	case kindRename:
		return t.renameBack(m, covers)
	}
	switch {
	case aside: // a swap in two steps
		before := t.at(oldDirName, slot)
		if !staged {
			if err := t.takeOut(m.Path, slot, m.After); err != nil {
				return fmt.Errorf("%w; what it was before lies in %q", err, before)
			}
		}
		return t.putBack(before, m.Path)
	case staged:
		return t.exchangeBack(m, slot)
	}
	return nil
}

// covered reports whether at a path, or above it, still or again lies what was there before: then nothing was put there,
// however much it looks like that.
func (t *transaction) covered(path string, covers map[string]int) (bool, error) {
	for ; path != ""; path, _ = root.Split(path) {
		i, ok := covers[path]
		if !ok {
			continue
		}
		away, err := false, error(nil)
		if m := &t.c.Moves[i]; m.Kind == kindRename {
			away, err = isNode(t.root, m.To, m.Before)
		} else {
			away, err = exists(t.old, strconv.Itoa(i))
		}
		if !away || err != nil {
			return true, err
		}
	}
	return false, nil
}

// exists reports whether something has a name in a part of staging.
func exists(d *root.Dir, name string) (bool, error) {
	info, err := d.Stat(name)
	if err != nil {
		return false, fmt.Errorf("looking into the staging directory: %w", err)
	}
	return info.Exists, nil
}

// exchangeBack undoes an exchange if it happened: then what lies in staging is not what was staged.
func (t *transaction) exchangeBack(m *move, slot string) error {
	at := t.at(newDirName, slot)
	if is, err := isNode(t.root, at, m.After); is || err != nil {
		return err
	}
	there, err := t.root.Stat(m.Path)
	if err != nil {
		return fmt.Errorf("putting %q back, which lies in %q: %w", m.Path, at, err)
	}
	if !there.Exists {
		return t.putBack(at, m.Path)
	}
	is, err := isNode(t.root, m.Path, m.After)
	if err != nil {
		return err
	}
	if !is {
		return fmt.Errorf("%q was changed meanwhile and stays; what it was before lies in %q", m.Path, at)
	}
	from, a, err := t.open(at)
	if err != nil {
		return err
	}
	defer from.Close()
	to, b, err := t.open(m.Path)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := from.Exchange(a, to, b); err != nil {
		return fmt.Errorf("putting %q back: %w", m.Path, err)
	}
	// What came out must be ours; if somebody was quicker, it is put where they expect it.
	if is, err := isNode(t.root, at, m.After); err != nil || !is {
		return errors.Join(err, fmt.Errorf("%q was changed meanwhile and stays; what it was before lies in %q", m.Path, at), from.Exchange(a, to, b))
	}
	return nil
}

// renameBack undoes a rename if it happened.
func (t *transaction) renameBack(m *move, covers map[string]int) error {
	there, err := t.root.Stat(m.Path)
	if err != nil {
		return fmt.Errorf("putting %q back: %w", m.Path, err)
	}
	is, err := isNode(t.root, m.To, m.Before)
	if err != nil {
		return err
	}
	if is && there.Exists { // a like one may have been there before
		covered, err := t.covered(m.To, covers)
		if err != nil {
			return err
		}
		is = !covered
	}
	switch {
	case there.Exists && is:
		return fmt.Errorf("%q was made anew meanwhile and stays; what it was before lies in %q", m.Path, m.To)
	case there.Exists:
		return nil // not moved
	case !is:
		return fmt.Errorf("%q is not there, nor as it was at %q, to where it goes; what is there stays", m.Path, m.To)
	}
	if err := t.putBack(m.To, m.Path); err != nil {
		return err
	}
	if is, err := isNode(t.root, m.Path, m.Before); err != nil || !is { // changed at the last instant: theirs
		return errors.Join(err, fmt.Errorf("%q was moved to %q and changed there; it stays", m.Path, m.To), t.putBack(m.Path, m.To))
	}
	dir, _ := root.Split(m.Path)
	t.touched[dir] = true
	return nil
}

// settle makes durable that renames were taken back, before the directories go that they went into.
func (t *transaction) settle() error {
	for _, dir := range slices.Sorted(maps.Keys(t.touched)) {
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
	clear(t.touched)
	return nil
}

// putBack moves what was there before to its path again, if nothing is there now.
func (t *transaction) putBack(from, path string) error {
	f, a, err := t.open(from)
	if err != nil {
		return fmt.Errorf("putting %q back: %w", path, err)
	}
	defer f.Close()
	d, b, err := t.open(path)
	if err != nil {
		return fmt.Errorf("putting %q back, which lies in %q: %w", path, from, err)
	}
	defer d.Close()
	if err := f.RenameNew(a, d, b); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%q was made anew meanwhile and stays; what it was before lies in %q", path, from)
	} else if err != nil {
		return fmt.Errorf("putting %q back, which lies in %q: %w", path, from, err)
	}
	return nil
}

// takeOut takes what was put at a path out again: each file that is still what it was, then the directories that are empty.
func (t *transaction) takeOut(path, slot string, n *node) error {
	if !n.Dir {
		return t.takeFile(path, slot, n)
	}
	var left []error
	for i := range n.Tree {
		if e := &n.Tree[i]; !e.Dir {
			if err := t.takeFile(path+"/"+e.Path, slot+"-"+strconv.Itoa(i), &e.node); err != nil {
				left = append(left, err)
			}
		}
	}
	for _, e := range slices.Backward(n.Tree) {
		if e.Dir {
			left = append(left, t.rmdir(path+"/"+e.Path))
		}
	}
	return errors.Join(append(left, t.rmdir(path))...)
}

// takeFile takes one file into staging. What is not the file that was put there is somebody else's and stays.
func (t *transaction) takeFile(path, slot string, n *node) error {
	out, err := t.outDir()
	if err != nil {
		return err
	}
	defer out.Close()
	if there, err := exists(out, slot); there || err != nil {
		return err // an earlier try took it out
	}
	info, err := t.root.Stat(path)
	if err != nil {
		return fmt.Errorf("taking %q out again: %w", path, err)
	}
	if !info.Exists {
		return t.gone(path)
	}
	if is, err := isNode(t.root, path, n); err != nil {
		return err
	} else if !is {
		return fmt.Errorf("%q was changed meanwhile and stays", path)
	}
	d, name, err := t.open(path)
	if err != nil {
		return fmt.Errorf("taking %q out again: %w", path, err)
	}
	defer d.Close()
	if err := d.RenameNew(name, out, slot); err != nil {
		return fmt.Errorf("taking %q out again: %w", path, err)
	}
	at := t.at(outDirName, slot)
	if is, err := isNode(t.root, at, n); err == nil && !is { // changed at the last instant: theirs
		return errors.Join(fmt.Errorf("%q was changed meanwhile and stays", path), out.RenameNew(slot, d, name))
	}
	return nil
}

// gone is about a file that was put at a path and is not there any more. Somebody removed it, and all is as before; or its
// directory is gone too, and it may be in it, wherever that is. After a crash neither may ever have come to the disk.
func (t *transaction) gone(path string) error {
	if !t.ready {
		return nil
	}
	d, _, err := t.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q is not to be found, nor is its directory, which somebody moved or removed", path)
	}
	if err == nil {
		d.Close()
	}
	return err
}

func (t *transaction) outDir() (*root.Dir, error) {
	if err := t.staging.Mkdir(outDirName, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return t.staging.OpenDir(outDirName)
}

// rmdir removes a directory that was made, if it is empty. One that is not holds what somebody put there; it stays.
func (t *transaction) rmdir(path string) error {
	d, name, err := t.open(path)
	if link := (*root.LinkError)(nil); errors.Is(err, fs.ErrNotExist) || errors.As(err, &link) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	sub, err := d.OpenDir(name)
	if err != nil {
		return nil // gone, or something else now
	}
	names, err := sub.Names(1)
	sub.Close()
	if err != nil || len(names) > 0 {
		return nil
	}
	if err := d.Rmdir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the directory %q: %w", path, err)
	}
	return nil
}

// open opens the directory of a path.
func (t *transaction) open(path string) (*root.Dir, string, error) {
	dir, name := root.Split(path)
	d, _, err := t.root.Walk(dir, false)
	return d, name, err
}
