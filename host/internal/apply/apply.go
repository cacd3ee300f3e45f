// Package apply makes a [plan.Checked] real beneath its root, all of it or nothing.
//
//	done, err := apply.Run(ctx, checked, apply.Options{Record: store})
//
// The new files are staged in a private directory beneath the root, what was checked is compared once more, then files are
// moved in and what they replace is moved aside; a failure at any step moves everything back. Only when the record has been
// written is the staging directory discarded. Nothing is opened by path: each step goes through the descriptors of package
// host/root, and what a link would lead to is never touched.
//
// All or nothing holds within one run of the process. A process that is killed between the first move and the last leaves
// its staging directory, in which what it moved aside lies: taking that back by itself comes with the journal.
package apply

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strconv"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// Options says what goes with a change.
type Options struct {
	// Prune are directories that this program made and that go if they are empty afterwards, those inside them first.
	Prune []string
	// Record is called once all files are in place and before the old ones are discarded; an error rolls everything back.
	// Nil: nothing is recorded.
	Record func(Done) error
}

// Done says what was changed.
type Done struct {
	Made   []string // directories that were made, outermost first
	Pruned []string // directories that were removed
}

// StaleError says that something changed since it was checked. Nothing was changed.
type StaleError struct {
	Path string
	Why  string
}

// Error implements error.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%q changed since it was looked at (%s); nothing was changed, run the command again", e.Path, e.Why)
}

// RollbackError says that a change failed and that taking it back failed too.
type RollbackError struct {
	Cause   error  // why the change failed
	Staging string // the directory beneath the root in which what was moved aside lies
	Left    []error
}

// Error implements error.
func (e *RollbackError) Error() string {
	return fmt.Sprintf("%v; and taking it back was not possible everywhere: %v; what was moved aside lies in %q", e.Cause, errors.Join(e.Left...), e.Staging)
}

// Unwrap returns the cause.
func (e *RollbackError) Unwrap() error { return e.Cause }

// Run applies c. It honours ctx until the first file is moved and not after: a change that has begun is finished or taken
// back. Run does not lock; its caller does.
// Errors: *[StaleError]; *[RollbackError] if the root could not be put back as it was; else the failure, and the root is as
// before.
func Run(ctx context.Context, c plan.Checked, o Options) (Done, error) {
	r := c.Root()
	if r == nil {
		return Done{}, nil
	}
	t := &transaction{root: r, options: o, touched: map[string]bool{}}
	for _, s := range c.Steps() {
		if s.Action == plan.Keep {
			t.kept = append(t.kept, s)
		} else {
			t.steps = append(t.steps, step{Step: s})
		}
	}
	if err := t.run(ctx); err != nil {
		return Done{}, err
	}
	return t.done, nil
}

// step is a planned step and how far it has come.
type step struct {
	plan.Step
	name  string // of its files in staging
	aside bool   // what was there lies in staging now
	in    bool   // what is new lies at its path now
}

type transaction struct {
	root    *root.Root
	options Options
	steps   []step
	kept    []plan.Step // files that are as they should be; they must still be
	staging string      // its name beneath the root; empty: none
	stage   *root.Dir
	fresh   *root.Dir // staged new files
	old     *root.Dir // files moved aside
	done    Done
	pruned  []pruned
	touched map[string]bool // directories whose entries changed
}

// pruned is a directory that was removed, and its mode.
type pruned struct {
	path string
	mode abi.Mode
}

func (t *transaction) run(ctx context.Context) (err error) {
	defer t.close()
	if err := t.prepare(ctx); err != nil {
		return errors.Join(err, t.discard())
	}
	if err := t.commit(); err != nil {
		if left := t.rollback(); len(left) > 0 {
			return &RollbackError{Cause: err, Staging: t.staging, Left: left}
		}
		return errors.Join(err, t.discard())
	}
	// The change is made and recorded. What cannot be discarded now is rubbish, not a failed change.
	_ = t.discard()
	return nil
}

// prepare stages every new file and compares what was checked, before anything is moved.
func (t *transaction) prepare(ctx context.Context) error {
	if len(t.steps) > 0 {
		if err := t.makeStaging(); err != nil {
			return err
		}
	}
	for i := range t.steps {
		s := &t.steps[i]
		s.name = strconv.Itoa(i)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if s.Content != nil {
			if err := t.stageFile(s); err != nil {
				return fmt.Errorf("staging %q: %w", s.Path, err)
			}
		}
	}
	for _, s := range t.kept {
		if err := t.compare(s); err != nil {
			return err
		}
	}
	for i := range t.steps {
		if err := t.compare(t.steps[i].Step); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (t *transaction) makeStaging() error {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return err
	}
	name := plan.StagingPrefix + hex.EncodeToString(b[:])
	top := t.root.Top()
	if err := top.Mkdir(name, 0o700); err != nil {
		return fmt.Errorf("making a staging directory in %q: %w", t.root.Path(), err)
	}
	t.staging = name
	var err error
	if t.stage, err = top.OpenDir(name); err != nil {
		return err
	}
	ignore, err := t.stage.Create(".gitignore", 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(ignore, "*\n")
	if err = errors.Join(err, ignore.Close()); err != nil {
		return err
	}
	for _, sub := range []struct {
		name string
		dir  **root.Dir
	}{{"new", &t.fresh}, {"old", &t.old}} {
		if err := t.stage.Mkdir(sub.name, 0o700); err != nil {
			return err
		}
		if *sub.dir, err = t.stage.OpenDir(sub.name); err != nil {
			return err
		}
	}
	return nil
}

// stageFile copies a step's content into staging and holds it to its digest while it does, since a module's file may have
// changed since it was read.
func (t *transaction) stageFile(s *step) error {
	src, err := s.Content.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := t.fresh.Create(s.name, s.Mode)
	if err != nil {
		return err
	}
	digest, _, err := root.DigestFile(io.TeeReader(src, dst), s.Content.Size())
	if err == nil && digest != s.Content.Digest() {
		err = errors.New("the content changed while it was copied")
	}
	if err == nil {
		err = dst.Sync() // a renamed file whose bytes are not on disk can be empty after a power cut
	}
	return errors.Join(err, dst.Close())
}

// compare says whether what was seen when the plan was checked is still there.
func (t *transaction) compare(s plan.Step) error {
	info, err := t.root.Stat(s.Path)
	if link := (*root.LinkError)(nil); errors.As(err, &link) && link.Kind == "regular file" && !s.Before.Exists {
		return nil // a file that this plan removes first; checked again when its place is walked
	}
	if err != nil {
		return notAsChecked(s.Path, err)
	}
	if info.Exists != s.Before.Exists || info.Type != s.Before.Type {
		return &StaleError{Path: s.Path, Why: "it was " + s.Before.Kind() + " and is " + info.Kind()}
	}
	if !info.Exists {
		return nil
	}
	if info.Size != s.Before.Size || !plan.SameMode(info.Mode, s.Before.Mode) {
		return &StaleError{Path: s.Path, Why: "its size or mode is another"}
	}
	digest, _, err := t.root.Digest(s.Path, math.MaxInt64-1)
	if err != nil {
		return notAsChecked(s.Path, err)
	}
	if digest != s.Before.Digest {
		return &StaleError{Path: s.Path, Why: "its content is another"}
	}
	return nil
}

// notAsChecked tells a path that changed from one that cannot be looked at.
func notAsChecked(path string, err error) error {
	var link *root.LinkError
	if errors.As(err, &link) || errors.Is(err, fs.ErrNotExist) {
		return &StaleError{Path: path, Why: err.Error()}
	}
	return fmt.Errorf("looking at %q again: %w", path, err)
}

func (t *transaction) close() {
	for _, d := range []**root.Dir{&t.fresh, &t.old, &t.stage} {
		if *d != nil {
			(*d).Close()
			*d = nil
		}
	}
}

// discard removes the staging directory with what was moved aside.
func (t *transaction) discard() error {
	if t.staging == "" {
		return nil
	}
	t.close() // Windows keeps a directory as long as it is open
	if err := t.root.Top().RemoveTree(t.staging); err != nil {
		return fmt.Errorf("removing the staging directory %q: %w", path.Join(t.root.Path(), t.staging), err)
	}
	return nil
}
