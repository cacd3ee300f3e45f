// Package code keeps what a child compiled, so that a module is compiled once.
//
//	s := code.Open(code.Options{Home: h, Program: path})
//	c, err := s.Use(ctx, code.Module{Name: "cursor", Digest: digest}, compile)
//	...
//	defer c.Close()
//	run(c.Folder) // the code of this module alone; "": there is none, and the child compiles
//
// Whoever can write an entry decides what the next child executes. So a child compiles into an empty folder of its own; the
// host takes the one file from there, moves it into the state folder, and writes its SHA-256 down apart from it:
//
//	code/KEY/SET/FILE   the entry; SET/FILE are the engine's names, and there is nothing beside them
//	codes/KEY.json      what it is, its size and digest
//
// Before each use the whole entry is read. One that is missing or damaged, that somebody else owns or may write to, that is
// reached by a link or has another name, or whose record cannot be read or is another's, is dropped and made again. KEY is
// the digest of all that the code depends on ([Key]), so what another program file, engine or processor made is never met.
//
// What it does not protect against: another process of the same user, which can change the entry after it was read, the
// record with it, or this program. A child that has Landlock can only read the folder that it is given; where there is none
// it gets a copy that is for one run ([Options].Private).
//
// What may change: the layout in the state folder; whatever is not understood there is dropped. A Store may be used
// concurrently, by several processes too: they compile at once, and one of them is kept.
package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
)

// Where the code is kept, and what is known of it.
const (
	codeDir  = "code"
	codesDir = "codes"
)

// The bounds, unless Options says others.
const (
	defaultBytes   = 1 << 30 // some sixty of the largest guests that are in sight
	defaultEntries = 256
)

// lockWait is how long the lock is waited for. Who does not get it uses what it compiled, once.
const lockWait = 10 * time.Second

// Options says where code is kept and how much. Home and Program are needed.
type Options struct {
	Home    *home.Home
	Program string // the executable that children are started from, absolute
	// Private has [Store.Use] give a copy of the entry that is removed after the run, for children that could change it.
	Private bool
	Bytes   int64 // of all entries at most; default 1 GiB
	Entries int   // at most; default 256
}

// Store is the code that is kept. It holds nothing open.
type Store struct {
	o      Options
	builds *builds
}

// Open returns the store of a state folder. It looks at nothing yet.
func Open(o Options) *Store {
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	if o.Entries == 0 {
		o.Entries = defaultEntries
	}
	return &Store{o: o, builds: &builds{home: o.Home, program: o.Program, settled: settled}}
}

// Build is the SHA-256 of the program file that children are started from. The file is read once and again when it is
// another.
func (s *Store) Build(ctx context.Context) (abi.Digest, error) { return s.builds.current(ctx) }

// Module says whose code is wanted.
type Module struct {
	Name   string // of the extension, for messages and lists
	Digest abi.Digest
}

// Compile has a child compile into folder, which is empty, and says what the child says that it left there: a path of two
// names, and its size. ErrNone: no child can do that here.
type Compile func(ctx context.Context, folder string) (entry string, size int64, err error)

// ErrNone says that there will be no code, for no fault of the module.
var ErrNone = errors.New("code is not kept here")

// Code is one module's code for one run, or for several of one child.
type Code struct {
	// Folder is where it lies, absolute, and nothing else; "": there is none. It stays until Close; an entry that is not a
	// copy can also go when another process drops it.
	Folder string
	// Fresh says that it was compiled just now.
	Fresh bool
	// Notes are for a person: what was dropped and why, or why nothing is kept.
	Notes []string

	store   *Store
	id      string
	scratch string // what Close removes
}

// Close removes the copy, if it is one. It does nothing the second time.
func (c *Code) Close() {
	if c.scratch != "" {
		_ = c.store.o.Home.RemoveScratch(c.scratch) // else it goes like a spool
		c.scratch = ""
	}
}

// Drop removes the entry that this code came from: a child found that it cannot be used.
func (c *Code) Drop(ctx context.Context) error {
	if c.id == "" {
		return nil
	}
	unlock, err := c.store.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return c.store.drop(c.id)
}

// Use returns the code of a module, which is compiled if it is not there. Its error is that of compile, for which nothing
// was kept. What keeps the code from being kept is no error: it stands in the notes.
func (s *Store) Use(ctx context.Context, m Module, compile Compile) (*Code, error) {
	c := &Code{store: s}
	build, err := s.builds.current(ctx)
	if err != nil {
		return c.none("%v", err), nil
	}
	key := keyOf(m.Digest, build)
	err = s.load(key, c)
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, errMissing) {
		c.note("the compiled code of %q was dropped and made again: %v", m.Name, err)
	}
	scratch, name, err := s.o.Home.Scratch()
	if err != nil {
		return c.none("no folder to compile in: %v", err), nil
	}
	c.scratch = name
	defer scratch.Close()
	entry, size, err := compile(ctx, s.o.Home.ScratchPath(name))
	if err != nil {
		c.Close()
		if errors.Is(err, ErrNone) {
			return c, nil
		}
		return nil, err
	}
	rec, err := take(scratch, entry, size)
	scratch.Close() // elsewhere than on Unix a folder that is open does not move
	if err != nil {
		c.Close()
		return c.none("what was compiled for %q is not as it should be: %v", m.Name, err), nil
	}
	rec.Key, rec.Name, rec.Made = key, m.Name, time.Now().UTC()
	c.Fresh = true
	if err := s.publish(ctx, rec, c); err != nil {
		if c.scratch == "" {
			return c.none("the compiled code of %q could not be kept: %v", m.Name, err), nil
		}
		c.note("the compiled code of %q could not be kept and serves this once: %v", m.Name, err)
		c.Folder = s.o.Home.ScratchPath(name)
		return c, nil
	}
	if err := s.load(key, c); err != nil {
		return c.none("the compiled code of %q went as soon as it was there: %v", m.Name, err), nil
	}
	return c, nil
}

func (c *Code) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// none makes it no code, and says why.
func (c *Code) none(format string, args ...any) *Code {
	c.note(format, args...)
	c.Folder, c.Fresh = "", false
	return c
}

// Key is all that compiled code depends on.
type Key struct {
	Module string `json:"module"` // SHA-256 of the module
	Engine string `json:"engine"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu"`   // what the engine asks of the processor, "a,b"
	Build  string `json:"build"` // SHA-256 of the program that compiles and runs
}

// errMissing says that nothing is kept for a module.
var errMissing = errors.New("there is none")

// load reads the entry of a key whole. A copy is made if one is wanted. errMissing is for what was never there.
func (s *Store) load(key Key, c *Code) error {
	id := key.id()
	rec, err := s.record(id)
	if err != nil {
		return err
	}
	if rec.Key != key {
		return errors.New("its record is another's")
	}
	c.id = id
	if !s.o.Private {
		if err := s.verify(id, rec, nil); err != nil {
			return err
		}
		c.Folder = filepath.Join(s.o.Home.Root().Path(), codeDir, id)
		s.used(id)
		return nil
	}
	scratch, name, err := s.o.Home.Scratch()
	if err != nil {
		return fmt.Errorf("no folder to copy it to: %w", err)
	}
	defer scratch.Close()
	if err := s.copy(id, rec, scratch); err != nil {
		_ = s.o.Home.RemoveScratch(name)
		return err
	}
	c.scratch, c.Folder = name, s.o.Home.ScratchPath(name)
	s.used(id)
	return nil
}

// copy makes a copy of an entry while it is verified.
func (s *Store) copy(id string, rec record, to *root.Dir) error {
	set, file, _ := strings.Cut(rec.Entry, "/")
	if err := to.MkdirExact(set, 0o700); err != nil {
		return err
	}
	d, err := to.OpenDir(set)
	if err != nil {
		return err
	}
	defer d.Close()
	f, err := d.Create(file, 0o600)
	if err != nil {
		return err
	}
	err = s.verify(id, rec, f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// publish puts what was compiled in its place, unless another process was quicker.
func (s *Store) publish(ctx context.Context, rec record, c *Code) error {
	text, err := json.MarshalIndent(rec, "", "\t")
	if err != nil || len(text) >= maxRecord {
		return fmt.Errorf("its record has %d bytes, want at most %d: %w", len(text), maxRecord, err)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	id := rec.Key.id()
	if there, err := s.record(id); err == nil && there.Key == rec.Key && s.verify(id, there, nil) == nil {
		c.Close()
		return nil
	}
	dir, err := s.folders()
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := s.drop(id); err != nil {
		return err
	}
	if err := s.o.Home.MoveScratch(c.scratch, dir, id); err != nil {
		return err
	}
	c.scratch = ""
	// The record comes last: without one there is no entry.
	if err := s.o.Home.WriteJSON(codesDir, id+".json", rec); err != nil {
		return err
	}
	_, _ = s.prune(rec.Key.Build, id, false) // what is over the bounds goes the next time then
	return nil
}

// folders makes the two folders that everything lies in, and opens that of the code. One that is not ours alone goes, with
// all in it; a link goes and what it leads to stays.
func (s *Store) folders() (*root.Dir, error) {
	top := s.o.Home.Root().Top()
	for _, name := range []string{codeDir, codesDir} {
		d, err := s.o.Home.PrivateDir(name)
		if err == nil {
			d.Close()
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			if err := top.RemoveTree(name); err != nil {
				return nil, err
			}
		}
		if err := top.MkdirExact(name, 0o700); err != nil {
			return nil, err
		}
	}
	return s.o.Home.PrivateDir(codeDir)
}

// drop removes an entry and its record, the record first.
//
// Precondition: the caller holds the lock.
func (s *Store) drop(id string) error {
	for _, at := range [...][2]string{{codesDir, id + ".json"}, {codesDir, id}, {codeDir, id}} {
		d, err := s.o.Home.Root().Top().OpenDir(at[0])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = d.RemoveTree(at[1])
			d.Close()
		}
		if err != nil {
			return fmt.Errorf("dropping the compiled code %s: %w", id, err)
		}
	}
	return nil
}

// lock takes the lock of the state folder, for a moment.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return s.o.Home.Lock(ctx)
}
