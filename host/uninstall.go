package host

import (
	"context"
	"maps"
	"slices"

	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/plan"
)

// Uninstall asks to take a module out of a project.
type Uninstall struct {
	Module  string   // its name
	Project string   // not in user scope
	User    bool     // as in [Install]: then one target is named
	Targets []string // empty: every target that it is installed for
	// AllowRoot and DryRun are as in [Install].
	AllowRoot, DryRun bool
}

// Uninstall returns the change that removes what was installed and is unchanged, and the directories that were made for it
// once they are empty. Files that were changed stay and stand in the report. No extension is asked. The caller closes the
// change.
// Errors: *[NotInstalledError].
func (h *Host) Uninstall(ctx context.Context, u Uninstall) (_ *Pending, err error) {
	var named []*builtin
	if u.User {
		if named, err = h.targets(u.Targets); err != nil {
			return nil, err
		}
	}
	place, err := h.place(u.Project, u.User, named)
	if err != nil {
		return nil, err
	}
	p := &Pending{host: h, folder: place.folder}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if err := p.open(ctx, place.path, openOptions{DryRun: u.DryRun, AllowRoot: u.AllowRoot}); err != nil {
		return nil, err
	}
	m := p.before.Modules[u.Module]
	if m == nil {
		return nil, &NotInstalledError{Module: u.Module, Project: p.root.Path(), Known: slices.Sorted(maps.Keys(p.before.Modules))}
	}
	targets := u.Targets
	if len(targets) == 0 {
		targets = slices.Sorted(maps.Keys(m.Targets))
	}
	p.after = p.before.Clone()
	var paths, back []string
	edits := &going{p: p, gone: map[string][]edit.Record{}}
	for _, t := range targets {
		rec := m.Targets[t]
		if rec == nil {
			return nil, &NotInstalledError{Module: u.Module, Target: t, Project: p.root.Path(), Known: slices.Sorted(maps.Keys(m.Targets))}
		}
		paths = slices.AppendSeq(paths, maps.Keys(rec.Files))
		delete(p.after.Modules[u.Module].Targets, t)
	}
	for _, t := range targets { // those that stay may need what these put there
		for _, path := range slices.Sorted(maps.Keys(m.Targets[t].Edits)) {
			edits.add(path, m.Targets[t].Edits[path])
			back = append(back, path)
		}
	}
	if len(p.after.Modules[u.Module].Targets) == 0 {
		delete(p.after.Modules, u.Module)
	}
	p.meta = meta{Action: "uninstall", Module: u.Module, Targets: targets}
	p.report.Action, p.report.Module, p.report.Scope, p.report.Project, p.report.Targets = "uninstall", u.Module, place.scope, p.root.Path(), targets
	slices.Sort(back)
	removal, err := p.removal(u.Module, targets, paths, edits, slices.Compact(back))
	if err != nil {
		return nil, err
	}
	if p.checked, err = plan.Check(p.root, p.planOptions(), removal); err != nil {
		return nil, p.refused(ctx, err)
	}
	p.describe()
	return p, nil
}
