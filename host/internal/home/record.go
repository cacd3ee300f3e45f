package home

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/root"
)

const (
	recordFormat = 1
	maxRecord    = 256 << 20     // bytes of one record; 65,536 files of 1 KiB names, with room
	maxFits      = maxRecord / 2 // of the same without layout, and without the directories that are not made yet
	recordDir    = "installed"
)

// Installed says what is installed in one root. It is kept under the root's canonical path and identity together: a copy of
// the root, or another directory in its place, has none.
type Installed struct {
	Format   int                `json:"format"`
	Root     string             `json:"root"`
	Identity string             `json:"identity"`
	Dirs     []string           `json:"dirs,omitempty"` // directories that were made for files, sorted; they go when they are empty
	Modules  map[string]*Module `json:"modules"`        // by name
}

// Module is one installed module.
type Module struct {
	Name    string             `json:"name"`
	Targets map[string]*Target `json:"targets"` // by the target's name
}

// Target says what one target put into the root for one module. Version and digest are here, not in [Module]: an upgrade
// for one assistant leaves the others where they are.
type Target struct {
	Version   string          `json:"version"`   // of the module
	Digest    string          `json:"digest"`    // package digest of the module
	Extension string          `json:"extension"` // version of the target
	Files     map[string]File `json:"files"`     // by path
	// Edits says what was changed in files that others share, by path, so that exactly that can be taken back.
	Edits map[string][]edit.Record `json:"edits,omitempty"`
}

// File is one file as it was written.
type File struct {
	Digest string   `json:"sha256"`
	Mode   abi.Mode `json:"mode"`
}

// Owner names who owns a path.
type Owner struct{ Module, Target string }

// Owners returns who owns the path, sorted by module, then target.
func (in *Installed) Owners(path string) []Owner {
	var owners []Owner
	for _, m := range slices.Sorted(maps.Keys(in.Modules)) {
		for _, t := range slices.Sorted(maps.Keys(in.Modules[m].Targets)) {
			if _, ok := in.Modules[m].Targets[t].Files[path]; ok {
				owners = append(owners, Owner{m, t})
			}
		}
	}
	return owners
}

// Paths returns every owned path with its owners.
func (in *Installed) Paths() map[string][]Owner {
	all := map[string][]Owner{}
	for _, m := range slices.Sorted(maps.Keys(in.Modules)) {
		for _, t := range slices.Sorted(maps.Keys(in.Modules[m].Targets)) {
			for p := range in.Modules[m].Targets[t].Files {
				all[p] = append(all[p], Owner{m, t})
			}
		}
	}
	return all
}

// Clone returns a deep copy.
func (in *Installed) Clone() *Installed {
	c := *in
	c.Dirs = slices.Clone(in.Dirs)
	c.Modules = make(map[string]*Module, len(in.Modules))
	for name, m := range in.Modules {
		n := &Module{Name: m.Name, Targets: make(map[string]*Target, len(m.Targets))}
		for tn, t := range m.Targets {
			u := *t
			u.Files = maps.Clone(t.Files)
			u.Edits = maps.Clone(t.Edits)
			n.Targets[tn] = &u
		}
		c.Modules[name] = n
	}
	return &c
}

// Equal reports whether both say the same; nil is nothing installed.
func (m *Module) Equal(other *Module) bool {
	a, errA := json.Marshal(m)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Equal reports whether both say the same.
func (in *Installed) Equal(other *Installed) bool {
	a, errA := json.Marshal(in)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Installed reads what is installed in r; nothing yet is no error.
func (h *Home) Installed(r *root.Root) (*Installed, error) {
	id, err := r.Identity()
	if err != nil {
		return nil, err
	}
	fresh := &Installed{Format: recordFormat, Root: r.Path(), Identity: id, Modules: map[string]*Module{}}
	name := recordName(fresh)
	var in Installed
	err = h.ReadJSON(recordDir, name, maxRecord, &in)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the installed record %q of %q: %w", name, r.Path(), err)
	}
	if in.Format != recordFormat {
		return nil, fmt.Errorf("reading the installed record %q of %q: format %d is not known, want %d; a newer lola wrote it", name, r.Path(), in.Format, recordFormat)
	}
	if in.Root != fresh.Root || in.Identity != fresh.Identity {
		return nil, fmt.Errorf("reading the installed record %q of %q: it is for %q (%s)", name, r.Path(), in.Root, in.Identity)
	}
	if in.Modules == nil {
		in.Modules = map[string]*Module{}
	}
	if err := in.check(); err != nil {
		return nil, fmt.Errorf("reading the installed record %q of %q: %w", name, r.Path(), err)
	}
	return &in, nil
}

// check refuses what is never written. Paths are not judged here: what is done with one goes through host/plan.
func (in *Installed) check() error {
	for name, m := range in.Modules {
		if m == nil || m.Name != name {
			return fmt.Errorf("module %q is empty or has another name", name)
		}
		for target, t := range m.Targets {
			if t == nil {
				return fmt.Errorf("module %q: target %q is empty", name, target)
			}
			if _, err := abi.ParseDigest(t.Digest); err != nil {
				return fmt.Errorf("module %q: %w", name, err)
			}
			for path, f := range t.Files {
				if _, err := abi.ParseDigest(f.Digest); err != nil {
					return fmt.Errorf("module %q: file %q: %w", name, path, err)
				}
				if f.Mode&^abi.ModeMask != 0 {
					return fmt.Errorf("module %q: file %q: mode %s has more than permission bits", name, path, f.Mode)
				}
			}
			for path, records := range t.Edits {
				if err := edit.Check(records); err != nil {
					return fmt.Errorf("module %q: edits of %q: %w", name, path, err)
				}
			}
		}
	}
	return nil
}

// Fits says whether a record can be read again once it is stored, before anything is done that it is about. The directories
// that will be made come on top: they are bounded by what a plan may make.
// Errors: *[abi.LimitError].
func (in *Installed) Fits() error {
	text, err := json.Marshal(in)
	if n := int64(len(text)); err == nil && n > maxFits {
		err = fmt.Errorf("the record of what is installed in %q: %w", in.Root, &abi.LimitError{Limit: "installed record", Bound: maxFits, Got: n})
	}
	return err
}

// Store writes the record, so that after a crash the old or the new one is there whole. An empty one is removed.
//
// Precondition: the caller holds the lock.
func (h *Home) Store(in *Installed) error {
	if err := h.store(in); err != nil {
		return fmt.Errorf("writing the installed record of %q: %w", in.Root, err)
	}
	return nil
}

func (h *Home) store(in *Installed) error {
	if len(in.Modules) == 0 && len(in.Dirs) == 0 {
		return h.Remove(recordDir, recordName(in))
	}
	return h.WriteJSON(recordDir, recordName(in), in)
}

func recordName(in *Installed) string { return rootName(in.Root, in.Identity) }

// rootName is the file name for what is kept about a root.
func rootName(path, identity string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + identity))
	return hex.EncodeToString(sum[:16]) + ".json"
}
