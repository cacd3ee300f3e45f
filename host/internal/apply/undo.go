package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// How much undo data is kept.
const (
	maxUndoBytes = 64 << 20            // old contents of one change; one that replaces more cannot be undone
	maxUndoTotal = 256 << 20           // of all changes; the oldest go first
	maxUndoCount = 200                 // changes
	maxUndoAge   = 30 * 24 * time.Hour // since it was made
)

// Entry is a change that can be undone.
type Entry struct {
	ID   string
	Time time.Time
	Root string
	Meta json.RawMessage
	// Paths are what it changed, in the order of the moves.
	Paths []string
}

// DamagedError says that undo data cannot be read. What it is of cannot be undone; everything else can.
type DamagedError struct {
	Damaged []Damaged // one or more, sorted by ID
}

// Damaged is one change whose undo data cannot be read.
type Damaged struct {
	ID   string
	Path string // of the file
	Err  error
}

// maxDamaged bounds how many a message names.
const maxDamaged = 10

// Error implements error: a line for each.
func (e *DamagedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the undo data of %d change(s) cannot be read, and which project it is of is not known", len(e.Damaged))
	for i, d := range e.Damaged {
		if i == maxDamaged {
			fmt.Fprintf(&b, "\nand %d more", len(e.Damaged)-i)
			break
		}
		fmt.Fprintf(&b, "\n%q: %v", d.Path, d.Err)
	}
	return b.String()
}

// Entries lists what can be undone, oldest first.
// Errors: *[DamagedError], with the entries that can be read all the same.
func Entries(state *root.Root) ([]Entry, error) {
	b, err := openBook(state, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.close()
	ids, err := b.ids(stateUndo)
	if err != nil {
		return nil, err
	}
	var (
		list    []Entry
		damaged []Damaged
	)
	for _, id := range ids {
		c, p, err := b.read(id, stateUndo)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			damaged = append(damaged, Damaged{ID: id, Path: UndoPath(state, id), Err: err})
			continue
		}
		p.close()
		e := Entry{ID: id, Time: c.Time, Root: c.Root, Meta: c.Meta}
		for _, m := range c.Moves {
			e.Paths = append(e.Paths, m.Path)
			if m.To != "" {
				e.Paths = append(e.Paths, m.To)
			}
		}
		list = append(list, e)
	}
	if damaged != nil {
		return list, &DamagedError{Damaged: damaged}
	}
	return list, nil
}

// UndoPath is where the undo data of a change lies.
func UndoPath(state *root.Root, id string) string {
	return filepath.Join(state.Path(), changesDir, id+stateUndo)
}

// trim drops undo data beyond its bounds, the oldest first. What cannot be dropped now is dropped later.
func (b *book) trim(now time.Time) {
	ids, err := b.ids(stateUndo)
	if err != nil {
		return
	}
	var total int64
	for n, id := range slices.Backward(ids) { // ids sort by time
		info, err := b.dir.Stat(id + stateUndo)
		if err != nil {
			continue
		}
		total += info.Size
		made, terr := time.Parse("20060102-150405", id[:min(len(id), 15)])
		if n < len(ids)-1 && (total > maxUndoTotal || len(ids)-n > maxUndoCount) || terr == nil && now.Sub(made) > maxUndoAge {
			_ = b.dir.Remove(id + stateUndo)
		}
	}
}

// ChangedError says that an undo is refused because of what was changed since. Nothing was changed.
type ChangedError struct {
	ID   string
	Left []StaleError // one or more
}

// Error implements error.
func (e *ChangedError) Error() string {
	shown := make([]string, 0, 4)
	for _, s := range e.Left[:min(len(e.Left), 3)] {
		shown = append(shown, fmt.Sprintf("%q (%s)", s.Path, s.Why))
	}
	if n := len(e.Left) - len(shown); n > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("undoing %q: %d path(s) were changed since: %s; nothing was changed", e.ID, len(e.Left), strings.Join(shown, ", "))
}

// Undoing is an undo that was worked out and has not happened.
type Undoing struct {
	root *root.Root
	c    *change
	pack *pack
	// Meta is what went with the change that is undone.
	Meta  json.RawMessage
	Steps []UndoStep // sorted by path
}

// UndoStep is what an undo does at one path.
type UndoStep struct {
	Kind              string // "create", "update", "remove", "move" or "mkdir"
	Path, To          string // To of a move
	Dir               bool
	Entries           int // of a directory that comes, goes or moves
	Mode, OldMode     abi.Mode
	Size, OldSize     int64
	Digest, OldDigest abi.Digest // of files; zero where there is none
}

// NewUndo works out how a change that was made is taken back, as a change of its own, all or nothing. If anything that it made
// was changed since, nothing happens. Files that somebody put into directories it made stay, and so do those directories.
// The caller closes it, before the root.
// Errors: *[ChangedError], *[MissingRootError].
func NewUndo(r *root.Root, state *root.Root, id string) (*Undoing, error) {
	b, err := openBook(state, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if !isID(id) {
		return nil, fmt.Errorf("%q is no id of a change", id)
	}
	c, p, err := b.read(id, stateUndo)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no change %q can be undone", id)
	}
	if err != nil {
		return nil, err
	}
	if now, err := r.Identity(); err != nil || now != c.Identity || r.Path() != c.Root {
		p.close()
		return nil, &MissingRootError{ID: id, Root: c.Root, Why: "another directory is in its place"}
	}
	inverse, err := invert(r, c, p)
	if err != nil {
		p.close()
		return nil, err
	}
	u := &Undoing{root: r, c: inverse, pack: p, Meta: c.Meta}
	for _, m := range inverse.Moves {
		u.Steps = append(u.Steps, m.undoStep())
	}
	slices.SortStableFunc(u.Steps, func(a, b UndoStep) int { return strings.Compare(a.Path, b.Path) })
	return u, nil
}

func (m *move) undoStep() UndoStep {
	s := UndoStep{Path: m.Path, To: m.To, Kind: map[kind]string{
		kindPut: "create", kindSwap: "update", kindRemove: "remove", kindRmdir: "remove", kindRename: "move", kindMkdir: "mkdir",
	}[m.Kind]}
	if n := m.Before; n != nil {
		s.Dir, s.Entries, s.OldMode, s.OldSize, s.OldDigest = n.Dir, len(n.Tree), n.Mode, n.Size, abi.Digest(n.Digest)
	}
	if n := m.After; n != nil {
		s.Dir, s.Entries, s.Mode, s.Size, s.Digest = n.Dir, len(n.Tree), n.Mode, n.Size, abi.Digest(n.Digest)
	}
	return s
}

// Close releases what the undo holds.
func (u *Undoing) Close() error {
	u.pack.close()
	return nil
}

// Open opens what will lie at the path of a step again.
func (u *Undoing) Open(path string) (io.ReadCloser, error) {
	for _, m := range u.c.Moves {
		if m.Path == path && m.After != nil && m.After.content != nil {
			return m.After.content.Open()
		}
	}
	return nil, fmt.Errorf("opening %q: no file comes there", path)
}

// Run makes the undo. It looks again at everything it was worked out from.
// Preconditions and errors: as for the function [Run].
func (u *Undoing) Run(ctx context.Context, o Options) (Done, error) {
	if err := u.prune(o.Prune); err != nil {
		return Done{}, err
	}
	t, err := newTransaction(u.root, u.c, o)
	if err != nil {
		return Done{}, err
	}
	return t.run(ctx)
}

// prune adds directories that other changes made to those that go if they are empty: an undo of the one that made a directory
// left it to another change's files, which may be what is undone now.
func (u *Undoing) prune(dirs []string) error {
	known := map[string]bool{}
	for _, dir := range slices.Concat(u.c.Made, paths(u.c.Prune)) {
		known[dir] = true
	}
	for _, m := range u.c.Moves {
		known[m.Path] = true
	}
	b := &builder{root: u.root, c: u.c}
	if err := b.prune(slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return known[dir] })); err != nil {
		return err
	}
	slices.SortFunc(u.c.Prune, func(a, b entry) int { return strings.Compare(b.Path, a.Path) }) // those inside others first
	return nil
}

// Undo is [NewUndo] and [Undoing.Run] at once.
func Undo(ctx context.Context, r *root.Root, id string, o Options) (Done, error) {
	u, err := NewUndo(r, o.State, id)
	if err != nil {
		return Done{}, err
	}
	defer u.Close()
	return u.Run(ctx, o)
}

// invert is the change that takes c back, or a *ChangedError.
func invert(r *root.Root, c *change, p *pack) (*change, error) {
	v := &inverter{root: r, pack: p, out: &change{Undoes: c.ID}, comes: map[string]kind{}, again: map[string]bool{}}
	for _, m := range c.Moves {
		switch m.Kind {
		case kindMkdir, kindPut:
			v.again[m.Path] = true
		case kindRename:
			v.again[m.To] = true
		}
	}
	for _, e := range slices.Backward(c.Prune) { // outermost first
		if err := v.mkdir(e); err != nil {
			return nil, err
		}
	}
	for _, m := range slices.Backward(c.Moves) {
		if err := v.move(m); err != nil {
			return nil, err
		}
	}
	if len(v.changed) > 0 {
		return nil, &ChangedError{ID: c.ID, Left: v.changed}
	}
	for _, dir := range slices.Backward(c.Made) { // innermost first
		if err := v.rmdir(dir); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(v.out.Moves, func(a, b move) int { return order(a.Kind) - order(b.Kind) })
	return v.out, nil
}

// order is that of an undo: what was put goes, what was renamed goes back, and the place is free for what was there.
func order(k kind) int {
	return slices.Index([]kind{kindRemove, kindMkdir, kindRename, kindRmdir, kindSwap, kindPut}, k)
}

type inverter struct {
	root    *root.Root
	pack    *pack
	out     *change
	comes   map[string]kind // paths at which something comes back, by a swap or a put
	again   map[string]bool // paths at which the change put something, be it where it removed something else
	changed []StaleError
}

// want notes a path that is not what the change made of it.
func (v *inverter) want(path string, n *node) (bool, error) {
	var err error
	if n == nil {
		var info root.Info
		info, err = v.root.Stat(path)
		if link := (*root.LinkError)(nil); errors.As(err, &link) {
			err = &StaleError{Path: path, Why: err.Error()}
		} else if err == nil && info.Exists {
			err = &StaleError{Path: path, Why: "something is there now"}
		}
	} else {
		err = compareNode(v.root, path, n, nil)
	}
	if stale := (*StaleError)(nil); errors.As(err, &stale) {
		v.changed = append(v.changed, *stale)
		return false, nil
	}
	return err == nil, err
}

func (v *inverter) add(m move) {
	v.out.Moves = append(v.out.Moves, m)
	if m.Kind == kindSwap || m.Kind == kindPut {
		v.comes[m.Path] = m.Kind
	}
}

func (v *inverter) move(m move) error {
	switch m.Kind {
	case kindMkdir:
		return nil // it goes when it is empty
	case kindRename:
		if ok, err := v.want(m.To, m.Before); !ok {
			return err
		}
		if ok, err := v.want(m.Path, nil); !ok {
			return err
		}
		v.add(move{Kind: kindRename, Path: m.To, To: m.Path, Before: m.Before})
		return nil
	case kindRemove:
		if !v.again[m.Path] { // what it put there goes before
			if ok, err := v.want(m.Path, nil); !ok {
				return err
			}
		}
		n, err := v.kept(m.Before)
		if err != nil {
			return err
		}
		v.add(move{Kind: kindPut, Path: m.Path, After: n})
		return nil
	case kindSwap:
		if ok, err := v.want(m.Path, m.After); !ok {
			return err
		}
		n, err := v.kept(m.Before)
		if err != nil {
			return err
		}
		v.add(move{Kind: kindSwap, Path: m.Path, Before: m.After, After: n})
		return nil
	}
	// What was put goes file by file, so that what somebody put beside it stays.
	return m.After.files(func(path string, n *node) error {
		at := m.Path
		if path != "" {
			at += "/" + path
		}
		if ok, err := v.want(at, n); !ok {
			return err
		}
		v.add(move{Kind: kindRemove, Path: at, Before: n})
		return nil
	})
}

// mkdir brings a directory back that was removed when it was empty.
func (v *inverter) mkdir(e entry) error {
	info, err := v.root.Stat(e.Path)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		v.changed = append(v.changed, StaleError{Path: e.Path, Why: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case info.Type.IsDir():
		return nil // somebody was quicker
	case info.Exists:
		v.changed = append(v.changed, StaleError{Path: e.Path, Why: "something is there now"})
		return nil
	}
	v.add(move{Kind: kindMkdir, Path: e.Path, After: &node{Dir: true, Mode: e.Mode}})
	v.out.Made = append(v.out.Made, e.Path)
	return nil
}

// rmdir takes a directory away that was made: it must go if something comes back in its place, else it goes if it is empty.
func (v *inverter) rmdir(dir string) error {
	for at := dir; at != ""; at, _ = root.Split(at) {
		switch v.comes[at] {
		case kindSwap:
			return nil // it goes with the exchange
		case kindPut:
			info, err := v.root.Stat(dir)
			if err != nil || !info.Exists {
				return err
			}
			v.add(move{Kind: kindRmdir, Path: dir, Before: nodeOf(info, abi.Digest{})})
			return nil
		}
	}
	v.out.Prune = append(v.out.Prune, entry{Path: dir, node: *newDir()})
	return nil
}

// kept is a node with the contents that were kept of it.
func (v *inverter) kept(n *node) (*node, error) {
	out := *n
	out.At = 0
	out.Tree = slices.Clone(n.Tree)
	fill := func(from, to *node) (err error) {
		if from.Dir || from.Link != "" {
			return nil
		}
		to.At = 0
		to.content, err = v.pack.content(from)
		return err
	}
	if err := fill(n, &out); err != nil {
		return nil, err
	}
	for i := range out.Tree {
		if err := fill(&n.Tree[i].node, &out.Tree[i].node); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
