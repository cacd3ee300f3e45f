package code

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxNames bounds how many names of a folder are looked at: far more than a store has.
const maxNames = 1 << 16

// usedEvery is how exactly it is kept when an entry was used.
const usedEvery = time.Hour

// Entry is one module's code, as it is listed. It was not read.
type Entry struct {
	ID     string    `json:"id"`
	Name   string    `json:"name,omitempty"` // of the extension that it was compiled for first
	Key    Key       `json:"key"`
	Size   int64     `json:"size"` // bytes
	Made   time.Time `json:"made"`
	Used   time.Time `json:"used"` // within an hour
	Stale  bool      `json:"stale,omitempty"`
	Damage string    `json:"damage,omitempty"` // why it will be dropped, if that is known
}

// List lists what is kept, what was used last first. Entries that cannot be told are listed with their damage.
func (s *Store) List(ctx context.Context) ([]Entry, error) {
	build, _ := s.builds.current(ctx) // the zero digest is nobody's
	return s.list(build.String())
}

func (s *Store) list(build string) ([]Entry, error) {
	ids := map[string]bool{}
	for _, dir := range []string{codeDir, codesDir} {
		d, err := s.o.Home.Root().Top().OpenDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		names, err := d.Names(maxNames)
		d.Close()
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			ids[strings.TrimSuffix(n, ".json")] = true
		}
	}
	known := s.builds.read()
	list := make([]Entry, 0, len(ids))
	for id := range ids {
		list = append(list, s.entry(id, build, known))
	}
	slices.SortFunc(list, func(a, b Entry) int {
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// entry describes what lies under an id.
func (s *Store) entry(id, build string, known buildList) Entry {
	e := Entry{ID: id}
	rec, err := s.record(id)
	if err == nil {
		e.Name, e.Key, e.Size, e.Made = rec.Name, rec.Key, rec.Size, rec.Made
		e.Stale = rec.Key.Build != build && known.gone(rec.Key.Build)
		if info, err := os.Lstat(s.recordPath(id)); err == nil {
			e.Used = info.ModTime().UTC()
		}
		d, derr := s.o.Home.PrivateDir(codeDir + "/" + id)
		if derr == nil {
			d.Close()
		}
		err = derr
	}
	if err != nil {
		e.Damage = err.Error()
	}
	return e
}

func (s *Store) recordPath(id string) string {
	return filepath.Join(s.o.Home.Root().Path(), codesDir, id+".json")
}

// used keeps when an entry was used: the time of its record. It was read just before, so it is a file of ours.
func (s *Store) used(id string) {
	path, now := s.recordPath(id), time.Now()
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > usedEvery {
		_ = os.Chtimes(path, now, now)
	}
}

// Prune drops what can serve nobody any more and then, what was used longest ago first, what is over the bounds; all means
// everything. It returns what it dropped.
func (s *Store) Prune(ctx context.Context, all bool) ([]Entry, error) {
	build, _ := s.builds.current(ctx)
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.prune(build.String(), "", all)
}

// prune is Prune for the program of that digest. keep is an entry that stays.
//
// Precondition: the caller holds the lock.
func (s *Store) prune(build, keep string, all bool) ([]Entry, error) {
	list, err := s.list(build)
	if err != nil {
		return nil, err
	}
	var dropped []Entry
	var bytes int64
	n := 0
	for _, e := range list {
		over := n+1 > s.o.Entries || bytes+e.Size > s.o.Bytes
		if e.ID == keep || !all && !over && !e.Stale && e.Damage == "" && isID(e.ID) {
			n++
			bytes += e.Size
			continue
		}
		if err := s.drop(e.ID); err != nil {
			return dropped, err
		}
		dropped = append(dropped, e)
	}
	return dropped, nil
}

func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}
