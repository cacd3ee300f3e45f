package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
)

// meta is what goes with a change into its journal, so that a crash cannot part the files from the record of them, and what
// an undo needs to know.
type meta struct {
	Action  string   `json:"action"`
	Module  string   `json:"module"`
	Version string   `json:"version,omitempty"`
	Targets []string `json:"targets,omitempty"`
	// Records are the records of modules that change, by name.
	Records map[string]recordChange `json:"records,omitempty"`
}

// recordChange is the record of a module before and after a change; nil: it has none.
type recordChange struct {
	Before *home.Module `json:"before,omitempty"`
	After  *home.Module `json:"after,omitempty"`
}

// recordChanges compares two records, module by module.
func recordChanges(before, after *home.Installed) map[string]recordChange {
	all := map[string]recordChange{}
	for _, in := range []*home.Installed{before, after} {
		for name := range in.Modules {
			if c := (recordChange{before.Modules[name], after.Modules[name]}); !c.Before.Equal(c.After) {
				all[name] = c
			}
		}
	}
	return all
}

func (m meta) encode() (json.RawMessage, error) { return json.Marshal(m) }

func decodeMeta(raw json.RawMessage) (m meta, err error) {
	if err = json.Unmarshal(raw, &m); err != nil {
		err = fmt.Errorf("reading what goes with a change: %w", err)
	}
	return m, err
}

// finish writes down what is installed in r after a change. It can be done twice: the module's record is set, and what was
// made and pruned is added and taken away.
func (h *Host) finish(r *root.Root, raw json.RawMessage, done apply.Done) error {
	m, err := decodeMeta(raw)
	if err != nil {
		return err
	}
	now, err := h.home.Installed(r)
	if err != nil {
		return err
	}
	next := now.Clone()
	for name, c := range m.Records {
		if c.After == nil {
			delete(next.Modules, name)
		} else {
			next.Modules[name] = c.After
		}
	}
	next.Dirs = mergeDirs(now.Dirs, done)
	if next.Equal(now) {
		return nil
	}
	return h.home.Store(next)
}

// mergeDirs returns the directories that this program has made in the root after a change, sorted.
func mergeDirs(before []string, done apply.Done) []string {
	dirs := map[string]bool{}
	for _, d := range before {
		dirs[d] = true
	}
	for _, d := range done.Made {
		dirs[d] = true
	}
	for _, d := range done.Pruned {
		delete(dirs, d)
	}
	return slices.Sorted(maps.Keys(dirs))
}
