// Package apply makes a [plan.Checked] real beneath its root, all of it or nothing, whatever happens meanwhile.
//
//	done, err := apply.Run(ctx, checked, apply.Options{State: home, Meta: meta, Finish: store})
//
// What comes is staged in a private directory beneath the root, what was checked is compared once more, then each move is
// one rename or exchange. Before anything is moved a journal in the state folder says what will be; when all moves are
// durable, one rename makes the journal a commit. A crash before that is taken back, a crash after it is finished
// ([Recover]), from what the journal says and the tree shows. Afterwards the same file is the undo data ([Undo]).
//
// Nothing is opened by path: each step goes through the descriptors of package host/root, and what a link would lead to is
// never touched. What somebody else changed meanwhile is not touched either: it stays and is named.
//
// It does not lock: its caller holds the one lock of the state folder. It does not protect against a process of the same
// user that changes staging. The form of the journal may change with its number.
package apply

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// Options says what goes with a change.
type Options struct {
	// State is the state folder: journals and undo data lie in it.
	State *root.Root
	// Meta goes with the change: it is given to Finish, also after a crash, and to whoever undoes it.
	Meta json.RawMessage
	// Finish is called when all is in place and cannot be taken back any more, and again after a crash until it has
	// returned nil: what it does must be safe to do twice. Nil: nothing.
	Finish func(r *root.Root, meta json.RawMessage, done Done) error
	// Prune are directories that this program made and that go if they are empty afterwards, those inside them first.
	Prune []string
	// Limits bound it: free space and directory entries. The zero value: the defaults.
	Limits abi.Limits
	// ID is the id of the change, as [NewID] makes it. Empty: a new one.
	ID string
}

// Done says what was changed.
type Done struct {
	ID     string   // of the change; empty: nothing was moved, and nothing was to be pruned
	Made   []string // directories that were made, outermost first
	Pruned []string // directories that were removed, or were gone already
	// Undo says whether the change can be undone: what it replaced was not too large to keep.
	Undo bool
	// Litter says what could not be cleaned up although the change is made; empty: nothing.
	Litter string
}

// RollbackError says that a change failed and that taking it back was not possible everywhere. What it was before lies in
// the staging directory, which stays.
type RollbackError struct {
	Cause   error  // why the change failed; nil: a crash
	Staging string // path of the staging directory
	Left    []error
}

// Error implements error.
func (e *RollbackError) Error() string {
	cause := "the change was interrupted"
	if e.Cause != nil {
		cause = e.Cause.Error()
	}
	return fmt.Sprintf("%s; and taking it back was not possible everywhere: %v; what was moved aside lies in %q", cause, errors.Join(e.Left...), e.Staging)
}

// Unwrap returns the cause.
func (e *RollbackError) Unwrap() error { return e.Cause }

// UnfinishedError says that a change is made and could not be finished: the record of it, or making it durable.
// [Recover] finishes it.
type UnfinishedError struct{ Cause error }

// Error implements error.
func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("the change is made and could not be recorded: %v; mend that, then run \"lola recover\"", e.Cause)
}

// Unwrap returns the cause.
func (e *UnfinishedError) Unwrap() error { return e.Cause }

// NewID returns an id that sorts by time, two of one second too, and cannot be guessed.
func NewID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // it never fails
	return strings.Replace(time.Now().UTC().Format("20060102-150405.000000000-"), ".", "-", 1) + hex.EncodeToString(b[:])
}

// Run applies c. It honours ctx until the first move and not after: a change that has begun is finished or taken back.
// Precondition: the caller holds the lock of the state folder, and no change of this root is unfinished.
// Errors: *[StaleError] and others, and the root is as before; *[RollbackError] if it could not be put back as it was;
// *[UnfinishedError] if the change is made all the same.
func Run(ctx context.Context, c plan.Checked, o Options) (Done, error) {
	r := c.Root()
	if r == nil {
		return Done{}, nil
	}
	ch, kept, err := compile(r, c.Steps(), o.Prune)
	if err != nil {
		return Done{}, err
	}
	t, err := newTransaction(r, ch, o)
	if err != nil {
		return Done{}, err
	}
	t.kept = kept
	return t.run(ctx)
}

// transaction is one change under way, here or taken up after a crash.
type transaction struct {
	root    *root.Root
	c       *change
	options Options
	book    *book
	kept    []*plan.Step // files that are as they should be; they must still be
	syncAll bool         // barriers are one call for the file system
	ready   bool         // everything is staged, by this process, and moves may have been made
	tried   int          // if ready: the move that was tried last; -1: none was
	theirs  bool         // if ready: that one found something in its place and made nothing

	staging, fresh, old *root.Dir // opened while it is made
	near                *root.Dir // the directory of the last path
	nearPath            string
	strays              []error         // what somebody put in the way and could not be put back
	touched             map[string]bool // directories whose entries changed
}

// newTransaction fills in what a change needs to be made.
func newTransaction(r *root.Root, c *change, o Options) (*transaction, error) {
	id, err := r.Identity()
	if err != nil {
		return nil, err
	}
	c.ID = o.ID
	if c.ID == "" {
		c.ID = NewID()
	}
	c.Format, c.Time, c.Root, c.Identity, c.Staging, c.Meta = changeFormat, time.Now().UTC().Truncate(time.Second), r.Path(), id, newStaging(c.ID), o.Meta
	t := &transaction{root: r, c: c, options: o, touched: map[string]bool{}}
	return t, nil
}

func (t *transaction) run(ctx context.Context) (Done, error) {
	defer t.close()
	defer func() {
		if t.book != nil {
			t.book.close()
		}
	}()
	if len(t.c.Moves) == 0 && len(t.c.Prune) == 0 { // only what is recorded changes
		if err := t.compareKept(); err != nil {
			return Done{}, err
		}
		done := Done{Pruned: t.prune()}
		if t.options.Finish != nil {
			if err := t.options.Finish(t.root, t.options.Meta, done); err != nil {
				return Done{}, err
			}
		}
		return done, nil
	}
	if err := context.Cause(ctx); err != nil {
		return Done{}, err
	}
	if err := t.measure(); err != nil {
		return Done{}, err
	}
	var err error
	if t.book, err = openBook(t.options.State, true); err != nil {
		return Done{}, err
	}
	if err := t.book.begin(t.root, t.c); err != nil {
		return Done{}, journaling(err)
	}
	if err := t.make(ctx); err != nil {
		return Done{}, t.takeBack(err)
	}
	err = t.book.to(t.c.ID, stateJournal, stateCommit)
	if unknown := (*notDurable)(nil); errors.As(err, &unknown) {
		return Done{}, &UnfinishedError{err} // neither way may be gone before it is durable
	}
	if err != nil {
		return Done{}, t.takeBack(fmt.Errorf("committing the journal: %w", err))
	}
	return t.finish()
}

func journaling(err error) error {
	if stale := (*StaleError)(nil); errors.As(err, &stale) {
		return err
	}
	return fmt.Errorf("writing the journal: %w", err)
}

// make stages, compares and moves.
func (t *transaction) make(ctx context.Context) error {
	if len(t.c.Moves) == 0 {
		return t.compareKept()
	}
	if err := t.stage(ctx); err != nil {
		return err
	}
	if err := t.compareKept(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t.ready, t.tried = true, -1
	return t.commit()
}

func (t *transaction) compareKept() error {
	for _, s := range t.kept {
		if err := compareNode(t.root, s.Path, before(s), nil); err != nil {
			return err
		}
	}
	return nil
}

// takeBack answers a failure: the root is as before, or it is said where it is not.
func (t *transaction) takeBack(cause error) error {
	t.close()
	left := t.rollback()
	return t.drop(cause, append(left, t.strays...))
}

// drop ends a change that was taken back.
func (t *transaction) drop(cause error, left []error) error {
	if len(left) > 0 {
		err := &RollbackError{Cause: cause, Staging: filepath.Join(t.root.Path(), t.c.Staging), Left: left}
		if aerr := t.book.to(t.c.ID, stateJournal, stateAside); aerr != nil {
			err.Left = append(err.Left, aerr)
		}
		return err
	}
	if err := t.unready(); err != nil {
		return errors.Join(cause, err)
	}
	if err := t.discard(); err != nil {
		return errors.Join(cause, err) // the journal stays, and the next command tries again
	}
	if err := t.book.dir.Remove(t.c.ID + stateJournal); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(cause, fmt.Errorf("removing the journal: %w", err))
	}
	return cause
}

// unready says in the staging directory that nothing is moved any more: what is missing there from now on was discarded,
// and is not in its place.
func (t *transaction) unready() error {
	d, err := t.root.Top().OpenDir(t.c.Staging)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer d.Close()
		if err = d.Remove(readyName); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		return fmt.Errorf("preparing to remove the staging directory %q: %w", filepath.Join(t.root.Path(), t.c.Staging), err)
	}
	return nil
}

// finish does what is left after the commit. It can be done again from the start.
func (t *transaction) finish() (Done, error) {
	done := Done{ID: t.c.ID, Made: t.c.Made, Undo: t.c.Undo}
	t.close()
	done.Pruned = t.prune()
	if t.options.Finish != nil {
		if err := t.options.Finish(t.root, t.c.Meta, done); err != nil {
			return done, &UnfinishedError{err}
		}
	}
	if err := t.discard(); err != nil {
		// The change is made and recorded: this is rubbish, not a failure.
		done.Litter = err.Error() + "; remove that directory yourself if it is still there, nothing needs it any more"
	}
	if err := t.book.overtake(t.c); err != nil {
		return done, &UnfinishedError{err}
	}
	if t.c.Undoes != "" { // what lies before it is what the next undo is for
		if err := t.book.dir.Remove(t.c.Undoes + stateUndo); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, &UnfinishedError{err}
		}
	}
	if !t.c.Undo {
		if err := t.book.dir.Remove(t.c.ID + stateCommit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, &UnfinishedError{err}
		}
		return done, nil
	}
	if err := t.book.dir.Rename(t.c.ID+stateCommit, t.book.dir, t.c.ID+stateUndo); err != nil {
		return done, &UnfinishedError{err}
	}
	t.book.trim(time.Now())
	return done, nil
}

// prune removes directories that this program made and that are empty now, deepest first. One that is not empty stays: it
// holds something of somebody else's.
func (t *transaction) prune() []string {
	var pruned []string
	up := map[string]bool{}
	for _, e := range t.c.Prune {
		_ = t.rmdir(e.Path) // what cannot go stays, and is looked for again with the next change
		dir, _ := root.Split(e.Path)
		up[dir] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(up)) {
		if d, _, err := t.root.Walk(dir, false); err == nil {
			_ = d.Sync()
			d.Close()
		}
	}
	for _, dir := range slices.Concat(t.c.Gone, paths(t.c.Prune)) {
		if info, err := t.root.Stat(dir); err == nil && !info.Exists {
			pruned = append(pruned, dir)
		}
	}
	return pruned
}

func paths(entries []entry) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Path
	}
	return list
}

// measure decides how what is made becomes durable and whether what goes can be kept, and refuses what would fill the disk.
func (t *transaction) measure() error {
	var bytes, files, old int64
	for i := range t.c.Moves {
		m := &t.c.Moves[i]
		_ = m.After.files(func(_ string, n *node) error {
			bytes, files = bytes+n.Size, files+1
			return nil
		})
		if m.Kind == kindRename {
			continue
		}
		_ = m.Before.files(func(_ string, n *node) error {
			old += n.Size
			return nil
		})
	}
	t.syncAll = canSyncAll && (files > few || len(t.c.Moves) > few)
	t.c.Undo = old <= maxUndoBytes && t.c.Undoes == ""
	lim, err := t.options.Limits.Resolve()
	if err != nil {
		return err
	}
	free, total, inodes, err := t.root.Free()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	keep := min(total/100*int64(lim.FreeSpaceShare), lim.FreeSpace)
	if bytes > 0 && free-bytes < keep {
		return fmt.Errorf("the file system of %q has %d bytes free, the change takes %d and %d are to stay free: %w",
			t.root.Path(), free, bytes, keep, &abi.LimitError{Limit: "free space", Bound: max(free-keep, 0), Got: bytes})
	}
	if inodes >= 0 && inodes < files {
		return fmt.Errorf("the file system of %q can take %d more files and the change makes %d: %w",
			t.root.Path(), inodes, files, &abi.LimitError{Limit: "free files", Bound: inodes, Got: files})
	}
	return nil
}

func (t *transaction) close() {
	t.forget()
	for _, d := range []**root.Dir{&t.fresh, &t.old, &t.staging} {
		if *d != nil {
			(*d).Close()
			*d = nil
		}
	}
}

// discard removes the staging directory with what was moved aside, durably: nobody looks for it once the change is over.
func (t *transaction) discard() error {
	t.close() // Windows keeps a directory as long as it is open
	if err := t.root.Top().RemoveTree(t.c.Staging); err != nil {
		return fmt.Errorf("removing the staging directory %q: %w", filepath.Join(t.root.Path(), t.c.Staging), err)
	}
	if err := t.root.Top().Sync(); err != nil {
		return fmt.Errorf("making durable that the staging directory %q is removed: %w", filepath.Join(t.root.Path(), t.c.Staging), err)
	}
	return nil
}
