// Package memo remembers what an extension answered: a plan is a function of module and request, so the same question need
// not be asked twice.
//
//	m := memo.Open(h)
//	key := memo.Key{Module: digest, Request: abi.DigestOf(encoded), ABI: abi.Version, Build: build, Level: level}
//	if a, ok := m.Get(key); ok { ... } // the bytes of the plan as they were, to be decoded and judged like any other
//	m.Put(key, answer)
//
// An answer is one file of the state folder, memo/KEY, in which the key and a digest of the rest stand too. One that is not
// whole, that is another's, that somebody else may write to or that is reached by a link is not used, and replaced when the
// extension was asked.
//
// What it does not protect against: another process of the same user. It does not matter much: what comes from here is as
// little believed as what comes from a child.
//
// What may change: the form of the files; what is not understood is not used. It may be used concurrently, by several
// processes too. Nothing here is made durable: what a crash damages is not used.
package memo

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
)

const dir = "memo"

// The bounds.
const (
	MaxAnswer  = 4 << 20  // bytes of one file
	MaxBytes   = 64 << 20 // of all files
	MaxAnswers = 1000
)

// magic begins a file, with the version of its form.
const magic = "lola-memo/1"

// Key is all that an answer depends on.
type Key struct {
	Module  abi.Digest
	Request abi.Digest // of the encoded request
	ABI     int
	Build   abi.Digest // of the program that asks
	Level   string     // confinement that the extension had
}

// id is the key as a name: SHA-256 over its parts, each on a line of its own.
func (k Key) id() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"lola memo 1", k.Module.String(), k.Request.String(), strconv.Itoa(k.ABI), k.Build.String(), k.Level}, "\n")))
	return hex.EncodeToString(sum[:])
}

// Answer is what an extension answered.
type Answer struct {
	Plan        []byte // encoded
	Diagnostics []byte
	Truncated   bool // of the diagnostics something is missing
	// Open says what stayed open to it at its level, which these walls made: the version of Landlock, 0 for none, and whether
	// there was a list of system calls.
	Open     []string
	Landlock int
	Seccomp  bool
	// GuestMemory is how much memory the guest had, in bytes.
	GuestMemory int64
}

// head is what stands before the plan.
type head struct {
	Key         string   `json:"key"`
	Plan        int64    `json:"plan"` // bytes
	Diagnostics []byte   `json:"diagnostics,omitempty"`
	Truncated   bool     `json:"truncated,omitempty"`
	Open        []string `json:"open,omitempty"`
	Landlock    int      `json:"landlock,omitempty"`
	Seccomp     bool     `json:"seccomp,omitempty"`
	GuestMemory int64    `json:"guest_memory,omitempty"`
}

// Memo is the answers of a state folder. It holds nothing open.
type Memo struct{ home *home.Home }

// Open returns the memo of a state folder. It looks at nothing yet.
func Open(h *home.Home) *Memo { return &Memo{home: h} }

// Get returns what was answered, if that is whole.
func (m *Memo) Get(k Key) (Answer, bool) {
	a, err := m.get(k.id())
	return a, err == nil
}

func (m *Memo) get(id string) (Answer, error) {
	f, info, err := m.home.OpenPrivate(dir, id)
	if err != nil {
		return Answer{}, err
	}
	defer f.Close()
	if info.Size() > MaxAnswer {
		return Answer{}, &abi.LimitError{Limit: "memo", Bound: MaxAnswer, Got: info.Size()}
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxAnswer+1))
	if err != nil {
		return Answer{}, err
	}
	return decode(text, id)
}

// encode makes a file: a line with the digest of all that follows, a line of JSON, the plan.
func encode(id string, a Answer) ([]byte, error) {
	line, err := json.Marshal(head{
		Key: id, Plan: int64(len(a.Plan)), Diagnostics: a.Diagnostics, Truncated: a.Truncated, Open: a.Open,
		Landlock: a.Landlock, Seccomp: a.Seccomp, GuestMemory: a.GuestMemory,
	})
	if err != nil {
		return nil, err
	}
	rest := slices.Concat(line, []byte("\n"), a.Plan)
	return append(fmt.Appendf(nil, "%s %s\n", magic, abi.DigestOf(rest)), rest...), nil
}

func decode(text []byte, id string) (Answer, error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if want := magic + " " + abi.DigestOf(rest).String(); string(first) != want {
		return Answer{}, errors.New("its bytes are not those that were written")
	}
	in := bufio.NewReader(bytes.NewReader(rest))
	line, err := in.ReadBytes('\n')
	if err != nil {
		return Answer{}, err
	}
	var h head
	if err := home.DecodeJSON(bytes.NewReader(line), int64(len(line)), &h); err != nil {
		return Answer{}, err
	}
	if h.Key != id {
		return Answer{}, errors.New("it is another's")
	}
	plan := rest[len(line):]
	if int64(len(plan)) != h.Plan {
		return Answer{}, fmt.Errorf("its plan has %d bytes, want %d", len(plan), h.Plan)
	}
	return Answer{Plan: plan, Diagnostics: h.Diagnostics, Truncated: h.Truncated, Open: h.Open, Landlock: h.Landlock, Seccomp: h.Seccomp, GuestMemory: h.GuestMemory}, nil
}

// Put remembers an answer, if it is not too large. The error says why it is not remembered, which is nobody's fault.
func (m *Memo) Put(k Key, a Answer) error {
	id := k.id()
	text, err := encode(id, a)
	if err != nil {
		return err
	}
	if len(text) > MaxAnswer {
		return &abi.LimitError{Limit: "memo", Bound: MaxAnswer, Got: int64(len(text))}
	}
	d, err := m.folder()
	if err != nil {
		return err
	}
	defer d.Close()
	// Whoever reads sees a whole file; two that write at once write the same.
	fresh := newPrefix + rand.Text()
	f, err := d.Create(fresh, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		if err = home.Replace(d, fresh, id); err != nil && d.RemoveTree(id) == nil { // a folder is in its place
			err = home.Replace(d, fresh, id)
		}
	}
	if err != nil {
		_ = d.Remove(fresh)
		return err
	}
	return m.prune(d)
}

// newPrefix is of the names of files that are being written.
const newPrefix = "new-"

// folder opens the folder of the answers and makes it. One that is not ours alone goes with what is in it; a link goes and what
// it leads to stays.
func (m *Memo) folder() (*root.Dir, error) {
	d, err := m.home.PrivateDir(dir)
	if err == nil {
		return d, nil
	}
	top := m.home.Root().Top()
	if !errors.Is(err, fs.ErrNotExist) {
		if err := top.RemoveTree(dir); err != nil {
			return nil, err
		}
	}
	if err := top.MkdirExact(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return m.home.PrivateDir(dir)
}

// writing is how long a file may be there that is being written.
const writing = time.Hour

// prune removes what was written longest ago, as long as there is too much.
func (m *Memo) prune(d *root.Dir) error {
	names, err := d.Names(64 * MaxAnswers)
	if err != nil {
		return err
	}
	type file struct {
		name string
		size int64
		when time.Time
	}
	var files []file
	now := time.Now()
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(m.home.Root().Path(), dir, name))
		switch {
		case err != nil: // another process was quicker
		case strings.HasPrefix(name, newPrefix) && now.Sub(info.ModTime()) < writing:
		default:
			files = append(files, file{name, info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.when.Compare(a.when) })
	var bytes int64
	for i, f := range files {
		bytes += f.size
		if i < MaxAnswers && bytes <= MaxBytes && !strings.HasPrefix(f.name, newPrefix) {
			continue
		}
		if err := d.RemoveTree(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Clear forgets everything, and returns how many answers that were.
func (m *Memo) Clear() (int, error) {
	d, err := m.home.Root().Top().OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	names, err := d.Names(64 * MaxAnswers)
	d.Close()
	if err != nil {
		return 0, err
	}
	return len(names), m.home.Root().Top().RemoveTree(dir)
}

// Size says how many answers are remembered, and how many bytes they take.
func (m *Memo) Size() (answers int, bytes int64, err error) {
	d, err := m.home.Root().Top().OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	names, err := d.Names(64 * MaxAnswers)
	for _, name := range names {
		if info, serr := d.Stat(name); serr == nil && info.Exists {
			answers++
			bytes += info.Size
		}
	}
	return answers, bytes, err
}
