package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// Undo asks to take back a change that was made.
type Undo struct {
	ID      string // as in [Undoable]; empty: the last one of the project
	Project string
	// AllowRoot and DryRun are as in [Install].
	AllowRoot, DryRun bool
}

// Undoable is a change that can be undone.
type Undoable struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Project string    `json:"project"`
	Action  string    `json:"action"`
	Module  string    `json:"module"`
	Version string    `json:"version,omitempty"`
	Targets []string  `json:"targets,omitempty"`
	Paths   int       `json:"paths"` // how many it changed
}

// Undoable lists what can be undone, oldest first, of one project or, if it is empty, of all.
// Errors: *[DamagedError], with what can be undone all the same.
func (h *Host) Undoable(project string) ([]Undoable, error) {
	path := ""
	if project != "" {
		r, err := h.openProject(project)
		if err != nil {
			return nil, err
		}
		path = r.Path()
		r.Close()
	}
	entries, err := apply.Entries(h.home.Root())
	damaged := &DamagedError{}
	if err != nil && !errors.As(err, &damaged) {
		return nil, err
	}
	list := []Undoable{}
	for _, e := range entries {
		if path != "" && e.Root != path {
			continue
		}
		m, err := decodeMeta(e.Meta)
		if err != nil {
			damaged.Damaged = append(damaged.Damaged, apply.Damaged{ID: e.ID, Path: apply.UndoPath(h.home.Root(), e.ID), Err: err})
			continue
		}
		list = append(list, Undoable{
			ID: e.ID, Time: e.Time, Project: e.Root, Action: m.Action, Module: m.Module, Version: m.Version, Targets: m.Targets, Paths: len(e.Paths),
		})
	}
	if len(damaged.Damaged) > 0 {
		slices.SortFunc(damaged.Damaged, func(a, b apply.Damaged) int { return strings.Compare(a.ID, b.ID) })
		return list, damaged
	}
	return list, nil
}

// last is the change of a project that was made last. One whose undo data cannot be read may be of this project too, and it
// is not passed over in silence.
func (h *Host) last(p *Pending) (string, error) {
	all, err := h.Undoable(p.root.Path())
	damaged := (*DamagedError)(nil)
	if err != nil && !errors.As(err, &damaged) {
		return "", err
	}
	if len(all) == 0 {
		return "", errors.Join(fmt.Errorf("undoing: no change of %q can be undone", p.root.Path()), err)
	}
	id := all[len(all)-1].ID
	if damaged != nil && damaged.Damaged[len(damaged.Damaged)-1].ID > id { // ids sort by time
		return "", fmt.Errorf("undoing: whether %q is the last change of %q is not known, name it to undo it all the same: %w", id, p.root.Path(), err)
	}
	return id, nil
}

// Undo returns the change that takes another one back: the files become what they were, and so does the record of what is
// installed. If anything that the change made was changed since, it is refused and nothing happens. The caller closes it.
// Errors: *[ChangedError]; *[DamagedError] if which change was the last cannot be told.
func (h *Host) Undo(ctx context.Context, u Undo) (_ *Pending, err error) {
	p := &Pending{host: h}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if err := p.open(ctx, u.Project, openOptions{DryRun: u.DryRun, AllowRoot: u.AllowRoot}); err != nil {
		return nil, err
	}
	if u.ID == "" {
		if u.ID, err = h.last(p); err != nil {
			return nil, err
		}
	}
	if p.undoing, err = apply.NewUndo(p.root, h.home.Root(), u.ID); err != nil {
		return nil, errors.Join(err, h.laterThan(u, err))
	}
	p.closers = append(p.closers, p.undoing.Close)
	m, err := decodeMeta(p.undoing.Meta)
	if err != nil {
		return nil, err
	}
	p.after = p.before.Clone()
	for _, name := range slices.Sorted(maps.Keys(m.Records)) {
		c := m.Records[name]
		if !p.before.Modules[name].Equal(c.After) {
			return nil, fmt.Errorf("undoing %q: module %q was installed or removed again since; undo that first (\"lola undo --list\")", u.ID, name)
		}
		if c.Before == nil {
			delete(p.after.Modules, name)
		} else {
			p.after.Modules[name] = c.Before
		}
	}
	if err := p.usedSince(u.ID, m.Records); err != nil {
		return nil, err
	}
	p.meta = meta{Action: "undo", Module: m.Module, Version: m.Version, Targets: m.Targets}
	p.report.Action, p.report.Module, p.report.Version, p.report.Targets, p.report.Project = "undo", m.Module, m.Version, m.Targets, p.root.Path()
	p.describeUndo()
	return p, nil
}

// usedSince refuses to take away what a module that is not about the change came to use since: it was there as that one wants
// it, so that installing it changed nothing which would show.
func (p *Pending) usedSince(id string, changed map[string]recordChange) error {
	taken := map[string]bool{} // paths, and whether all that lies beneath goes along
	for _, s := range p.undoing.Steps {
		if s.Kind != "mkdir" {
			taken[s.Path] = s.Dir
		}
	}
	takes := func(path string) bool {
		_, ok := taken[path]
		for at, _ := root.Split(path); at != "" && !ok; at, _ = root.Split(at) {
			ok = taken[at]
		}
		return ok
	}
	for _, name := range slices.Sorted(maps.Keys(p.before.Modules)) {
		if _, ok := changed[name]; ok {
			continue
		}
		for _, t := range slices.Sorted(maps.Keys(p.before.Modules[name].Targets)) {
			rec := p.before.Modules[name].Targets[t]
			used := slices.Collect(maps.Keys(rec.Files))
			for path, theirs := range rec.Edits {
				if slices.ContainsFunc(theirs, func(r edit.Record) bool { return putBy(changed, path, r) }) {
					used = append(used, path)
				}
			}
			slices.Sort(used)
			if at := slices.IndexFunc(used, takes); at >= 0 {
				return fmt.Errorf("undoing %q: module %q, installed for %q since, needs what this change put at %q; run \"lola uninstall %s\" first", id, name, t, used[at], name)
			}
		}
	}
	return nil
}

// putBy reports whether a change put into a file what the record is about.
func putBy(changed map[string]recordChange, path string, theirs edit.Record) bool {
	same := func(r edit.Record) bool {
		return r.ID == theirs.ID && (r.At == theirs.At || strings.HasPrefix(r.At, theirs.At+"/") || strings.HasPrefix(theirs.At, r.At+"/"))
	}
	for _, c := range changed {
		if c.After == nil || theirs.New == nil {
			continue
		}
		for name, t := range c.After.Targets {
			var old []edit.Record
			if c.Before != nil && c.Before.Targets[name] != nil {
				old = c.Before.Targets[name].Edits[path]
			}
			for _, r := range t.Edits[path] {
				was := func(o edit.Record) bool { return o.At == r.At && o.ID == r.ID && o.New != nil && *o.New == *r.New }
				if r.New != nil && r.Kind != edit.Same && same(r) && !slices.ContainsFunc(old, was) {
					return true
				}
			}
		}
	}
	return false
}

// laterThan says which changes came after one that cannot be undone for what was changed since: they may be why.
func (h *Host) laterThan(u Undo, refused error) error {
	if changed := (*ChangedError)(nil); !errors.As(refused, &changed) {
		return nil
	}
	all, err := h.Undoable(u.Project)
	if err != nil && !errors.As(err, new(*DamagedError)) {
		return err
	}
	at := slices.IndexFunc(all, func(e Undoable) bool { return e.ID == u.ID })
	if later := len(all) - at - 1; at >= 0 && later > 0 {
		return fmt.Errorf("%d change(s) were made after it, the last is %q; undo those first (\"lola undo --list\")", later, all[len(all)-1].ID)
	}
	return nil
}

// describeUndo fills in the report's files. All of them are the user's again: no content is the module's own.
func (p *Pending) describeUndo() {
	for _, s := range p.undoing.Steps {
		f := FileChange{
			Path: s.Path, To: s.To, Dir: s.Dir, Entries: s.Entries, Size: s.Size, OldSize: s.OldSize,
			Action: plan.Action(s.Kind), NewSecret: true,
		}
		switch s.Kind {
		case "mkdir":
			continue
		case "remove":
			f.OldMode = s.OldMode.String()
		case "create":
			f.Mode = s.Mode.String()
		case "update":
			f.Mode, f.OldMode = s.Mode.String(), s.OldMode.String()
		}
		if s.Digest != (abi.Digest{}) {
			f.Digest = s.Digest.String()
		}
		if s.OldDigest != (abi.Digest{}) {
			f.OldDigest = s.OldDigest.String()
		}
		if g, ok := grant.Guarded(s.Path); ok {
			f.Guarded = []Mark{{s.Path, g.Why}}
		}
		_, f.OldSecret = grant.Secret(s.Path)
		p.report.Files = append(p.report.Files, f)
	}
	p.report.Changed = len(p.undoing.Steps) > 0 || !p.after.Equal(p.before)
}
