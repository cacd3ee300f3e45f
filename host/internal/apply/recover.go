package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/lola-ext/lola/host/root"
)

// Unfinished is a change that was interrupted.
type Unfinished struct {
	ID   string
	Time time.Time
	Root string // path of its root
	// Committed says that it will be finished; else it will be taken back.
	Committed bool
	// Aside says that it was tried and was not possible wholly.
	Aside bool
	// Over says of such a one that other changes were made since, so that it is not tried again.
	Over bool
}

// Pending lists what was interrupted, oldest first. It changes nothing; one that is being made at this moment by another
// process is listed too, unless the caller holds the lock.
func Pending(state *root.Root) ([]Unfinished, error) {
	b, err := openBook(state, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.close()
	var list []Unfinished
	for _, s := range []string{stateJournal, stateCommit, stateAside, stateOver} {
		ids, err := b.ids(s)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			c, p, err := b.read(id, s)
			if errors.Is(err, errTorn) && s == stateJournal {
				continue // never begun
			}
			if errors.Is(err, fs.ErrNotExist) {
				continue // over meanwhile
			}
			if err != nil {
				return nil, err
			}
			p.close()
			list = append(list, Unfinished{ID: id, Time: c.Time, Root: c.Root, Committed: s == stateCommit, Aside: s == stateAside || s == stateOver, Over: s == stateOver})
		}
	}
	return list, nil
}

// Recovered says what became of an interrupted change.
type Recovered struct {
	ID       string
	Root     string
	Finished bool // it is made; else it was taken back
	Done     Done // if it is made
}

// MissingRootError says that the root of an interrupted change is gone, or another directory is in its place.
type MissingRootError struct {
	ID, Root string
	Why      string
}

// Error implements error.
func (e *MissingRootError) Error() string {
	return fmt.Sprintf("the change %q of %q was interrupted and its root is not there: %s; the journal is kept, run \"lola recover\" when it is back", e.ID, e.Root, e.Why)
}

// Recover finishes or takes back one interrupted change. It can be interrupted itself and called again. open opens a root
// by path, the caller of Recover does not close it; o.Finish is called for a change that is finished.
// Precondition: the caller holds the lock of the state folder.
// Errors: *[MissingRootError]; *[RollbackError] if something was changed since and stays; *[UnfinishedError].
func Recover(id string, o Options, open func(string) (*root.Root, error)) (Recovered, error) {
	b, err := openBook(o.State, false)
	if err != nil {
		return Recovered{}, err
	}
	defer b.close()
	c, p, state, err := b.find(id)
	if errors.Is(err, errTorn) {
		return Recovered{ID: id}, b.dir.Remove(id + stateJournal) // nothing was done
	}
	if err != nil {
		return Recovered{}, err
	}
	p.close()
	rec := Recovered{ID: id, Root: c.Root, Finished: state == stateCommit}
	missing := func(why string) (Recovered, error) {
		if state == stateJournal {
			if err := b.to(id, state, stateAside); err != nil {
				return rec, err
			}
		}
		return rec, &MissingRootError{ID: id, Root: c.Root, Why: why}
	}
	r, err := open(c.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(err.Error())
	}
	if err != nil {
		return rec, err
	}
	defer r.Close()
	if now, err := r.Identity(); err != nil || now != c.Identity || r.Path() != c.Root {
		return missing("another directory is in its place")
	}
	if state == stateOver {
		if at, err := r.Stat(c.Staging); err != nil || !at.Exists {
			return rec, errors.Join(err, b.dir.Remove(id+stateOver)) // the user is done with it
		}
		over := errors.New("other changes were made since, so it is not tried again; take what you need and remove that directory")
		return rec, &RollbackError{Staging: filepath.Join(r.Path(), c.Staging), Left: []error{over}}
	}
	t := &transaction{root: r, c: c, options: o, book: b, touched: map[string]bool{}}
	if rec.Finished {
		if err := b.dir.Sync(); err != nil { // its rename may not have been durable yet
			return rec, err
		}
		rec.Done, err = t.finish()
		return rec, err
	}
	if state == stateAside { // try again
		if err := b.to(id, stateAside, stateJournal); err != nil {
			return rec, err
		}
	}
	return rec, t.drop(nil, t.rollback())
}

// find reads a change that is not over.
func (b *book) find(id string) (*change, *pack, string, error) {
	if !isID(id) {
		return nil, nil, "", fmt.Errorf("%q is no id of a change", id)
	}
	for _, s := range []string{stateCommit, stateJournal, stateAside, stateOver} {
		c, p, err := b.read(id, s)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, p, s, err
		}
	}
	return nil, nil, "", fmt.Errorf("no change %q is unfinished", id)
}
