package apply

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// A change lies in one file of the state folder, "changes/ID.STATE". The state is the end of the name, so that going from
// one to the next is one rename and never half done:
//
//	.journal    begun: a crash is answered by taking back what happened
//	.commit     committed: a crash is answered by finishing
//	.undo       over; it is the undo data now
//	.aside      could not be taken back or finished wholly; for the user to look at
//	.over       the same, and other changes were made since: it is not tried again
//
// The file is a line of JSON (the change), a line with the SHA-256 of that line, then the old contents one after the other.
// One that breaks off in the second line was never begun: nothing is moved before it is durable.
const (
	changesDir   = "changes"
	stateJournal = ".journal"
	stateCommit  = ".commit"
	stateUndo    = ".undo"
	stateAside   = ".aside"
	stateOver    = ".over"
)

// maxJournal bounds the line of JSON, in bytes: more than a plan of the most intents with the longest paths takes.
const maxJournal = 512 << 20

// errTorn says that a journal breaks off: its change never began.
var errTorn = errors.New("it breaks off")

// book is the folder of changes.
type book struct{ dir *root.Dir }

func openBook(state *root.Root, make bool) (*book, error) {
	d, made, err := state.Walk(changesDir, make)
	if err == nil && len(made) > 0 {
		if err = state.Top().Sync(); err != nil { // a journal is as durable as the folder that it lies in
			d.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening the folder %q of the state folder %q: %w", changesDir, state.Path(), err)
	}
	return &book{d}, nil
}

func (b *book) close() { b.dir.Close() }

// names lists the changes in a state, by id.
func (b *book) ids(state string) ([]string, error) {
	all, err := b.dir.Names(maxChanges)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range all {
		if id, ok := strings.CutSuffix(name, state); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

const maxChanges = 100_000 // names in the folder of changes; a few hundred are kept

// isID holds for what newID makes: it becomes a file name.
func isID(s string) bool {
	if len(s) < 8 || len(s) > 64 {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return true
}

// begin writes the journal, with the contents that the change replaces if they are kept, and makes it durable. While the
// old contents are copied they are held to what was checked.
func (b *book) begin(r *root.Root, c *change) (err error) {
	if c.Undo {
		at := int64(1)
		for i := range c.Moves {
			_ = c.Moves[i].Before.files(func(_ string, n *node) error {
				if n.Link == "" && c.Moves[i].Kind != kindRename {
					n.At = at
					at += n.Size
				}
				return nil
			})
		}
	}
	b.dropTorn()
	name := c.ID + stateJournal
	f, err := b.dir.Create(name, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = b.dir.Remove(name) // a torn one is nothing; the next change drops it
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	sum := sha256.New()
	line := &bounded{w: io.MultiWriter(w, sum), left: maxJournal}
	if err := c.write(line); err != nil {
		return err
	}
	_, _ = w.WriteString("\n" + hex.EncodeToString(sum.Sum(nil)) + "\n")
	for i := range c.Moves {
		m := &c.Moves[i]
		if m.Before == nil || m.Kind == kindRmdir { // what makes it empty comes first
			continue
		}
		if err := compareNode(r, m.Path, m.Before, w); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return b.dir.Sync()
}

// bounded is a writer that refuses more than so many bytes.
type bounded struct {
	w    io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, &abi.LimitError{Limit: "journal", Bound: maxJournal, Got: maxJournal - b.left}
	}
	return b.w.Write(p)
}

// dropTorn removes journals that break off. They stand for nothing, so what cannot be removed now is removed another time.
func (b *book) dropTorn() {
	ids, err := b.ids(stateJournal)
	if err != nil {
		return
	}
	for _, id := range ids {
		_, p, err := b.read(id, stateJournal)
		p.close()
		if errors.Is(err, errTorn) {
			_ = b.dir.Remove(id + stateJournal)
		}
	}
}

// compareNode holds what lies at a path to what was checked there, and copies the contents that are kept.
func compareNode(r *root.Root, path string, n *node, keep io.Writer) error {
	dir, name := root.Split(path)
	d, _, err := r.Walk(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return &StaleError{Path: path, Why: differs(root.Info{}, n)}
	}
	if err != nil {
		return notAsChecked(path, err)
	}
	defer d.Close()
	return compareEntry(r, d, name, path, n, keep)
}

// compareEntry is compareNode for the entry of a directory that is open already.
func compareEntry(r *root.Root, d *root.Dir, name, path string, n *node, keep io.Writer) error {
	info, err := d.Stat(name)
	if err != nil {
		return notAsChecked(path, err)
	}
	if why := differs(info, n); why != "" {
		return &StaleError{Path: path, Why: why}
	}
	if n.Link != "" {
		return compareLink(d, name, path, n)
	}
	if n.Dir {
		return compareTree(r, path, n, keep)
	}
	return compareFile(d, name, path, n, keep)
}

// differs says how what is there differs from a node as far as it shows without reading; "" if it does not.
func differs(info root.Info, n *node) string {
	is, want := info.Kind(), n.kind()
	switch {
	case n.Link != "" && info.Type == fs.ModeSymlink, n.Dir && info.Exists && info.Type == fs.ModeDir:
		if n.Dir && !n.Umask && !plan.SameMode(info.Mode, n.Mode) {
			return "its mode is another"
		}
		return ""
	case n.Link != "" || n.Dir || !info.Regular():
		return fmt.Sprintf("it was %s and is %s", want, is)
	case info.Size != n.Size || !plan.SameMode(info.Mode, n.Mode):
		return "its size or mode is another"
	}
	return ""
}

func compareLink(d *root.Dir, name, path string, n *node) error {
	says, err := d.Readlink(name)
	if err != nil {
		return notAsChecked(path, err)
	}
	if says != n.Link {
		return &StaleError{Path: path, Why: "the link leads elsewhere"}
	}
	return nil
}

func compareFile(d *root.Dir, name, path string, n *node, keep io.Writer) error {
	to := keep
	if n.At == 0 {
		to = nil
	}
	got, _, err := d.Copy(name, to, n.Size)
	if errors.Is(err, fs.ErrPermission) && keep == nil {
		return nil // its owner may not read it either: size and mode have to do
	}
	if grown := (*abi.LimitError)(nil); errors.As(err, &grown) {
		return &StaleError{Path: path, Why: "it has grown"}
	}
	if err != nil {
		return notAsChecked(path, err)
	}
	if digest(got) != n.Digest {
		return &StaleError{Path: path, Why: "its content is another"}
	}
	return nil
}

// compareTree holds a directory to what was checked: the same names, and the same beneath each.
func compareTree(r *root.Root, path string, n *node, keep io.Writer) error {
	got, err := r.List(path, len(n.Tree)+1)
	if limit := (*abi.LimitError)(nil); errors.As(err, &limit) {
		return &StaleError{Path: path, Why: "it holds more than it did"}
	}
	if err != nil {
		return notAsChecked(path, err)
	}
	if len(got) != len(n.Tree) {
		return &StaleError{Path: path, Why: "it holds other entries than it did"}
	}
	var d *root.Dir // of the last file
	last := ""
	defer func() {
		if d != nil {
			d.Close()
		}
	}()
	for i := range n.Tree {
		e := &n.Tree[i]
		at := path + "/" + e.Path
		if got[i].Path != e.Path {
			return &StaleError{Path: at, Why: "it holds other entries than it did"}
		}
		if why := differs(got[i].Info, &e.node); why != "" {
			return &StaleError{Path: at, Why: why}
		}
		if e.Dir {
			continue
		}
		up, name := root.Split(at)
		if d == nil || up != last {
			if d != nil {
				d.Close()
			}
			if d, _, err = r.Walk(up, false); err != nil {
				return notAsChecked(at, err)
			}
			last = up
		}
		if err := compareFile(d, name, at, &e.node, keep); err != nil {
			return err
		}
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

// isNode reports whether what lies at a path is a node. What cannot be read is compared by size and mode.
func isNode(r *root.Root, path string, n *node) (bool, error) {
	err := compareNode(r, path, n, nil)
	if stale := (*StaleError)(nil); errors.As(err, &stale) {
		return false, nil
	}
	return err == nil, err
}

// read reads a change in a state. The pack is the file behind the two lines; the caller closes it.
func (b *book) read(id, state string) (_ *change, _ *pack, err error) {
	f, err := b.dir.Open(id + state)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
			err = fmt.Errorf("reading the change %q: %w", id, err)
		}
	}()
	c, size, err := readChange(f)
	if err != nil {
		return nil, nil, err
	}
	if c.ID != id {
		return nil, nil, fmt.Errorf("it says that it is %q", c.ID)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	return c, &pack{f: f, at: size, size: info.Size() - size}, nil
}

// readChange reads the two lines and returns how many bytes they are. Errors: errTorn.
func readChange(r io.Reader) (*change, int64, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxJournal+1+2*sha256.Size+1), 64<<10)
	if first, err := in.Peek(1); err == nil && first[0] != '{' { // as of a file that grew and was never written
		return nil, 0, errTorn
	}
	line, err := in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		if len(line) > maxJournal {
			return nil, 0, &abi.LimitError{Limit: "journal", Bound: maxJournal, Got: int64(len(line))}
		}
		return nil, 0, errTorn
	}
	if err != nil {
		return nil, 0, err
	}
	tail := make([]byte, 2*sha256.Size+1)
	if _, err := io.ReadFull(in, tail); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, errTorn
	} else if err != nil {
		return nil, 0, err
	}
	text := line[:len(line)-1]
	if sum := sha256.Sum256(text); string(tail) != hex.EncodeToString(sum[:])+"\n" {
		return nil, 0, errTorn
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	c := &change{}
	if err := dec.Decode(c); err != nil {
		return nil, 0, err
	}
	if err := c.check(); err != nil {
		return nil, 0, err
	}
	return c, int64(len(line) + len(tail)), nil
}

// check refuses what is never written, so that nobody has to think of it later: host/root refuses a path that could leave the
// root in any case, and here none is left that has no end upwards.
func (c *change) check() error {
	if c.Format != changeFormat {
		return fmt.Errorf("format %d is not known, want %d; a newer lola wrote it", c.Format, changeFormat)
	}
	if !isID(c.ID) || !strings.HasPrefix(c.Staging, plan.StagingPrefix) || strings.ContainsRune(c.Staging, '/') {
		return errors.New("its id or staging directory is none")
	}
	if c.Undoes != "" && !isID(c.Undoes) {
		return fmt.Errorf("it undoes %q, which is no id of a change", c.Undoes)
	}
	if p := c.badPath(); p != "" {
		return fmt.Errorf("%q is no path beneath its root", p)
	}
	at := int64(1)
	for i, m := range c.Moves {
		wantBefore := m.Kind == kindRemove || m.Kind == kindSwap || m.Kind == kindRename || m.Kind == kindRmdir
		wantAfter := m.Kind == kindSwap || m.Kind == kindMkdir || m.Kind == kindPut
		if !wantBefore && !wantAfter || wantBefore != (m.Before != nil) || wantAfter != (m.After != nil) || (m.To != "") != (m.Kind == kindRename) || m.Path == "" {
			return fmt.Errorf("move %d has no meaning", i)
		}
		err := m.Before.files(func(path string, n *node) error {
			if n.Size < 0 || n.At != 0 && (!c.Undo || n.At != at) || n.At > math.MaxInt64-n.Size {
				return fmt.Errorf("move %d: the old content of %q lies nowhere", i, path)
			}
			if n.At != 0 {
				at += n.Size
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// badPath returns the first path that is none beneath the root, or beneath the directory that it is for; "" if all are.
func (c *change) badPath() string {
	all := slices.Concat(c.Made, c.Gone, paths(c.Prune))
	for _, m := range c.Moves {
		if m.Path != "" {
			all = append(all, m.Path)
		}
		if m.To != "" {
			all = append(all, m.To)
		}
		for _, n := range []*node{m.Before, m.After} {
			if n != nil {
				all = append(all, paths(n.Tree)...)
			}
		}
	}
	for _, p := range all {
		if p == "." || !fs.ValidPath(p) {
			return p
		}
	}
	return ""
}

// pack is where old contents lie behind a journal.
type pack struct {
	f    *os.File
	at   int64 // where it begins
	size int64
}

func (p *pack) close() {
	if p != nil {
		p.f.Close()
	}
}

// content returns the old bytes of a file.
func (p *pack) content(n *node) (abi.Content, error) {
	if n.At == 0 || n.At-1+n.Size > p.size {
		return nil, errors.New("its old content was not kept whole")
	}
	return packed{p, n}, nil
}

type packed struct {
	p *pack
	n *node
}

func (c packed) Size() int64        { return c.n.Size }
func (c packed) Digest() abi.Digest { return abi.Digest(c.n.Digest) }
func (c packed) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(c.p.f, c.p.at+c.n.At-1, c.n.Size)), nil
}

// to takes a change from one state to the next, durably. An error that is a [notDurable] came after the rename.
func (b *book) to(id, from, to string) error {
	if err := b.dir.Rename(id+from, b.dir, id+to); err != nil {
		return err
	}
	if err := b.dir.Sync(); err != nil {
		return &notDurable{err}
	}
	return nil
}

// overtake marks changes that are set aside and whose roots another change touches that is made now. To take them back later
// would be to take back what came after them: where that is what they put there themselves, nobody could tell.
func (b *book) overtake(by *change) error {
	ids, err := b.ids(stateAside)
	if err != nil {
		return err
	}
	any := false
	for _, id := range ids {
		c, p, err := b.read(id, stateAside)
		if err != nil {
			continue // it cannot be tried either
		}
		p.close()
		if c.Root != by.Root && !within(c.Root, by.Root) && !within(by.Root, c.Root) {
			continue
		}
		if err := b.dir.Rename(id+stateAside, b.dir, id+stateOver); err != nil {
			return err
		}
		any = true
	}
	if !any {
		return nil
	}
	return b.dir.Sync()
}

// within reports whether a path lies beneath a directory, both as they are called by the system.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(os.PathSeparator)))
	return ok && strings.HasPrefix(rest, string(os.PathSeparator))
}

// notDurable says that a rename happened and may be lost in a power cut.
type notDurable struct{ error }

func (e *notDurable) Unwrap() error { return e.error }
