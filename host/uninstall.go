package host

import (
	"context"
	"maps"
	"slices"

	"github.com/lola-ext/lola/host/plan"
)

// Uninstall asks to take a module out of a project.
type Uninstall struct {
	Module  string // its name
	Project string
	Targets []string // empty: every target that it is installed for
	DryRun  bool     // as in [Install]
}

// Uninstall returns the change that removes what was installed and is unchanged, and the directories that were made for it
// once they are empty. Files that were changed stay and stand in the report. No extension is asked. The caller closes the
// change.
// Errors: *[NotInstalledError].
func (h *Host) Uninstall(ctx context.Context, u Uninstall) (_ *Pending, err error) {
	p := &Pending{host: h}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.root, err = h.openProject(u.Project); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, p.root.Close)
	if err := p.begin(ctx, u.DryRun); err != nil {
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
	var paths []string
	for _, t := range targets {
		rec := m.Targets[t]
		if rec == nil {
			return nil, &NotInstalledError{Module: u.Module, Target: t, Project: p.root.Path(), Known: slices.Sorted(maps.Keys(m.Targets))}
		}
		paths = slices.AppendSeq(paths, maps.Keys(rec.Files))
		delete(p.after.Modules[u.Module].Targets, t)
	}
	if len(p.after.Modules[u.Module].Targets) == 0 {
		delete(p.after.Modules, u.Module)
	}
	p.meta = meta{Action: "uninstall", Module: u.Module, Targets: targets}
	p.report = Report{Notices: p.report.Notices, Action: "uninstall", Module: u.Module, Project: p.root.Path(), Targets: targets, Files: []FileChange{}}
	removal, err := p.removal(u.Module, targets, paths)
	if err != nil {
		return nil, err
	}
	if p.checked, err = plan.Check(p.root, plan.Options{Limits: h.limits}, removal); err != nil {
		return nil, err
	}
	p.describe(u.Module)
	return p, nil
}
