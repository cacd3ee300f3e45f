package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/host/module"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// self is the name under which the host's own intents stand in findings. No extension can have it.
const self = "(host)"

// Install asks to install a module into a project.
type Install struct {
	Module  string   // folder of the module
	Project string   // folder of the project
	Targets []string // names of targets, at least one; installed in one transaction
	// DryRun says that the change will not be applied: what an earlier crash left is told and not touched.
	DryRun bool
}

// Install runs the targets, judges what they propose and returns the change, which has not happened yet. The caller closes
// it. Installing what is installed already is an upgrade for the named targets alone: files that the new version lacks go,
// unless they were changed.
// Errors: *[UnknownExtensionError], *[OwnedError], *[plan.RefusedError], those of a failed extension, which name it.
func (h *Host) Install(ctx context.Context, in Install) (_ *Pending, err error) {
	targets, err := h.targets(in.Targets)
	if err != nil {
		return nil, err
	}
	p := &Pending{host: h}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	mod, err := module.Load(in.Module, h.limits)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, mod.Close)
	if p.root, err = h.openProject(in.Project); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, p.root.Close)
	if err := p.begin(ctx, in.DryRun); err != nil {
		return nil, err
	}
	p.report = Report{
		Action: "install", Module: mod.Name, Version: mod.Version, Digest: mod.Digest.String(), Project: p.root.Path(),
		Targets: in.Targets, Skipped: mod.Skipped, Notices: append(p.report.Notices, hookNotices(mod)...), Files: []FileChange{},
	}
	p.meta = meta{Action: "install", Module: mod.Name, Version: mod.Version, Targets: in.Targets}
	proposals, err := h.propose(ctx, p, mod, targets)
	if err != nil {
		return nil, err
	}
	stale, err := p.stale(mod.Name, in.Targets, proposals)
	if err != nil {
		return nil, err
	}
	if p.checked, err = plan.Check(p.root, plan.Options{Limits: h.limits}, append(proposals, stale)...); err != nil {
		return nil, err
	}
	if err := p.checkOwners(mod.Name); err != nil {
		return nil, err
	}
	p.after = p.before.Clone()
	p.recordInstall(mod, targets)
	p.describe(mod.Name)
	return p, nil
}

func (h *Host) targets(wanted []string) ([]*builtin, error) {
	if len(wanted) == 0 {
		return nil, fmt.Errorf("installing: no target is named")
	}
	list := make([]*builtin, len(wanted))
	for i, name := range wanted {
		t, err := h.target(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(list[:i], t) {
			return nil, fmt.Errorf("installing: target %q is named twice", name)
		}
		list[i] = t
	}
	return list, nil
}

func hookNotices(mod *module.Package) []string {
	var notices []string
	for _, h := range [][2]string{{"pre-install", mod.Hooks.PreInstall}, {"post-install", mod.Hooks.PostInstall}} {
		if h[1] != "" {
			notices = append(notices, fmt.Sprintf("the module's %s hook %q is not handled yet and was not run", h[0], h[1]))
		}
	}
	return notices
}

// propose asks every target for its plan.
func (h *Host) propose(ctx context.Context, p *Pending, mod *module.Package, targets []*builtin) ([]plan.Proposal, error) {
	var proposals []plan.Proposal
	for _, t := range targets {
		shown, err := mod.Request(t.Contents)
		if err != nil {
			return nil, err
		}
		spool := wire.NewSpool(h.spools)
		p.closers = append(p.closers, spool.Close)
		reply, err := h.runner.Run(ctx, runner.Module{Name: t.Name, Bytes: t.artifact}, &abi.Request{
			Action:    "install",
			Extension: abi.Identity{Name: t.Name, Version: t.Version},
			Scope:     abi.ScopeProject,
			Module:    shown,
		}, spool)
		if err != nil {
			return nil, err
		}
		p.report.addReply(t.Name, reply)
		proposals = append(proposals, plan.Proposal{
			Owner: t.Name, Kind: t.Kind, Action: "install", Grant: t.Grant(), Plan: reply.Plan, Module: mod,
		})
	}
	return proposals, nil
}

// stale proposes to remove what the module's older version put there for these targets and the new one does not.
func (p *Pending) stale(name string, targets []string, proposals []plan.Proposal) (plan.Proposal, error) {
	fresh := map[string]string{} // by folded path, as spelled
	for _, q := range proposals {
		for _, in := range q.Plan.Intents {
			if w, ok := in.(abi.Write); ok {
				fresh[plan.Fold(w.Path)] = w.Path
			}
		}
	}
	var old []string
	if m := p.before.Modules[name]; m != nil {
		for _, t := range targets {
			if rec := m.Targets[t]; rec != nil {
				for path := range rec.Files {
					switch now, ok := fresh[plan.Fold(path)]; {
					case !ok:
						old = append(old, path)
					case now != path:
						// To remove the one may be to remove the other.
						p.report.Stays = append(p.report.Stays, Stay{Path: path, Why: fmt.Sprintf("the new version spells it %q, which some file systems take for the same", now)})
					}
				}
			}
		}
	}
	return p.removal(name, targets, old)
}

// removal proposes to remove the paths that nobody else owns and that are as they were installed; the others stay and are
// named in the report.
func (p *Pending) removal(name string, targets []string, paths []string) (plan.Proposal, error) {
	var gone []string
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		var rec home.File
		others := false
		for _, o := range p.before.Owners(path) {
			if o.Module == name && slices.Contains(targets, o.Target) {
				rec = p.before.Modules[name].Targets[o.Target].Files[path]
			} else {
				others = true
			}
		}
		if others {
			continue // it goes with its last owner
		}
		why, err := p.changed(path, rec)
		if err != nil {
			return plan.Proposal{}, err
		}
		switch why {
		case "":
			gone = append(gone, path)
		case absent:
		default:
			p.report.Stays = append(p.report.Stays, Stay{Path: path, Why: why})
		}
	}
	intents := make([]abi.Intent, len(gone))
	for i, path := range gone {
		intents[i] = abi.Delete{Path: path}
	}
	return plan.Proposal{
		Owner: self, Kind: abi.KindTarget, Action: "uninstall", Grant: grant.ForPaths(gone), Plan: &abi.Plan{Intents: intents},
	}, nil
}

const absent = "it is not there"

// changed says how what lies at path differs from what was installed there; "" if it does not.
func (p *Pending) changed(path string, rec home.File) (string, error) {
	info, err := p.root.Stat(path)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		return err.Error(), nil
	}
	switch {
	case err != nil: // whether it changed is not known, and the record would forget it
		return "", fmt.Errorf("looking at %q: %w", path, err)
	case !info.Exists:
		return absent, nil
	case !info.Regular():
		return "it is a " + info.Kind() + " now", nil
	}
	digest, _, err := p.root.Digest(path, info.Size)
	grown := (*abi.LimitError)(nil)
	if err != nil && !errors.As(err, &grown) {
		return "", fmt.Errorf("reading %q: %w", path, err)
	}
	if err != nil || digest.String() != rec.Digest {
		return "it was changed since it was installed", nil
	}
	return "", nil
}

// checkOwners refuses to overwrite, to put in place of, or to have an extension remove what another module installed.
func (p *Pending) checkOwners(name string) error {
	owned := map[string]OwnedPath{}
	for path, owners := range p.before.Paths() {
		for _, o := range owners {
			if o.Module != name {
				owned[plan.Fold(path)] = OwnedPath{Path: path, Module: o.Module, Target: o.Target}
			}
		}
	}
	clash := &OwnedError{Module: name}
	for _, s := range p.checked.Steps() {
		if s.Action == plan.Keep || s.Action == plan.Remove && slices.Contains(s.Owners, self) {
			continue
		}
		if o, ok := owned[plan.Fold(s.Path)]; ok {
			o.Removed = s.Action == plan.Remove
			clash.Clash = append(clash.Clash, o)
		}
	}
	if len(clash.Clash) > 0 {
		return clash
	}
	return nil
}

// recordInstall writes down in the new record what the targets own once the change is made.
func (p *Pending) recordInstall(mod *module.Package, targets []*builtin) {
	m := p.after.Modules[mod.Name]
	if m == nil {
		m = &home.Module{Name: mod.Name, Targets: map[string]*home.Target{}}
		p.after.Modules[mod.Name] = m
	}
	for _, t := range targets {
		rec := &home.Target{Version: mod.Version, Digest: mod.Digest.String(), Extension: t.Version, Files: map[string]home.File{}}
		for _, s := range p.checked.Steps() {
			if s.Action != plan.Remove && slices.Contains(s.Owners, t.Name) {
				rec.Files[s.Path] = home.File{Digest: s.Content.Digest().String(), Mode: s.Mode}
			}
		}
		m.Targets[t.Name] = rec
	}
	// A file that another target of this module owns too has the new bytes for it as well, or is gone for it as well.
	for _, other := range m.Targets {
		for _, s := range p.checked.Steps() {
			if _, ok := other.Files[s.Path]; ok && s.Action == plan.Remove {
				delete(other.Files, s.Path)
			} else if ok {
				other.Files[s.Path] = home.File{Digest: s.Content.Digest().String(), Mode: s.Mode}
			}
		}
	}
}

// describe fills in the report's files and marks those that need consent.
func (p *Pending) describe(name string) {
	for _, s := range p.checked.Steps() {
		f := FileChange{Path: s.Path, Action: s.Action, Targets: s.Owners}
		if s.Content != nil {
			f.Size, f.Mode = s.Content.Size(), s.Mode.String()
		}
		if s.Action == plan.Remove {
			f.Targets = nil
		}
		if s.Action == plan.Update || s.Action == plan.Remove {
			f.Foreign = p.foreign(name, s)
		}
		p.report.Files = append(p.report.Files, f)
	}
	slices.SortFunc(p.report.Stays, func(a, b Stay) int { return strings.Compare(a.Path, b.Path) })
	p.report.Changed = p.checked.Changes() > 0 || !p.after.Equal(p.before)
}

// foreign says why replacing or removing the file at a step's path needs consent; "" if it does not.
func (p *Pending) foreign(name string, s plan.Step) string {
	m := p.before.Modules[name]
	if m == nil {
		return "it was not installed by lola"
	}
	for _, t := range slices.Sorted(maps.Keys(m.Targets)) {
		rec, ok := m.Targets[t].Files[s.Path]
		if ok && rec.Digest == s.Before.Digest.String() {
			return ""
		}
		if ok {
			return "it was changed since lola installed it"
		}
	}
	return "it was not installed by lola"
}
