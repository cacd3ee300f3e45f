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
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/module"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// self is the name under which the host's own intents stand in findings. No extension can have it.
const self = "(host)"

// Install asks to install a module.
type Install struct {
	Module  string   // folder of the module
	Project string   // folder of the project; not in user scope
	Targets []string // names of targets, at least one; installed in one transaction
	// User installs into the folder of the assistant in the user's home instead of a project. It takes one target.
	User bool
	// Follow are links of the project, by path, that are looked through from now on. They must lead to something within it.
	Follow []string
	// AllowRoot admits a project that is not the user's alone, from now on.
	AllowRoot bool
	// DryRun says that the change will not be applied: what an earlier crash left is told and not touched.
	DryRun bool
}

// Install runs the targets, judges what they propose and returns the change, which has not happened yet. The caller closes
// it. Installing what is installed already is an upgrade for the named targets alone: files that the new version lacks go,
// unless they were changed.
// Errors: *[UnknownExtensionError], *[OwnedError], *[plan.RefusedError], *[root.OwnerError], *[ConfinementError], those of a
// failed extension, which name it.
func (h *Host) Install(ctx context.Context, in Install) (_ *Pending, err error) {
	targets, err := h.targets(in.Targets)
	if err != nil {
		return nil, err
	}
	place, err := h.place(in.Project, in.User, targets)
	if err != nil {
		return nil, err
	}
	p := &Pending{host: h, folder: place.folder, targets: targets}
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
	if err := p.open(ctx, place.path, openOptions{DryRun: in.DryRun, AllowRoot: in.AllowRoot, Follow: in.Follow}); err != nil {
		return nil, err
	}
	p.meta = meta{Action: "install", Module: mod.Name, Version: mod.Version, Targets: in.Targets}
	p.describeModule(mod, place.scope, in.Targets)
	runs, err := mod.Runs()
	if err != nil {
		return nil, err
	}
	p.report.Runs = runs
	p.trust = grant.Trust{Name: mod.Name, Digest: mod.Digest}
	proposals, err := h.propose(ctx, p, mod, targets, place.scope)
	if errors.As(err, new(*ConfinementError)) {
		return nil, p.refused(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	if err := p.judge(ctx, mod.Identity, mod.Digest.String(), targets, proposals); err != nil {
		return nil, h.moduleFaults(err, mod, proposals)
	}
	// What a target makes of the module, or brings to where it runs.
	made, err := p.runsOf(runs, mod.Looked())
	p.report.Runs = append(p.report.Runs, made...)
	return p, err
}

// describeModule begins the report.
func (p *Pending) describeModule(mod *module.Package, scope abi.Scope, targets []string) {
	p.report.Action, p.report.Scope, p.report.Project, p.report.Targets = p.meta.Action, scope, p.root.Path(), targets
	p.report.Module, p.report.Version, p.report.Digest = mod.Name, mod.Version, mod.Digest.String()
	p.report.Skipped, p.report.Notices = mod.Skipped, append(p.report.Notices, hookNotices(mod)...)
}

// judge holds proposals against everything and works out the record of what will be installed.
func (p *Pending) judge(ctx context.Context, mod abi.Identity, digest string, targets []*builtin, proposals []plan.Proposal) error {
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.Name
	}
	p.after, p.proposals = p.before.Clone(), slices.Clone(proposals)
	o := p.planOptions()
	for i, q := range proposals { // what is recorded and compared below are the real paths
		followed := *q.Plan
		followed.Intents = plan.Followed(p.root, o, q.Plan.Intents)
		proposals[i].Plan = &followed
	}
	edits, kept := p.upgradeEdits(mod.Name, proposals)
	stale, err := p.stale(mod.Name, names, proposals, edits)
	if err != nil {
		return err
	}
	o.Revert, p.reverted = edits.gone, edits.gone
	if p.checked, err = plan.Check(p.root, o, append(slices.Clone(p.proposals), stale)...); err != nil {
		return p.refused(ctx, err)
	}
	if err := p.checkOwners(mod.Name); err != nil {
		return p.refused(ctx, err)
	}
	p.recordInstall(mod, digest, targets, kept)
	p.describe()
	return nil
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
func (h *Host) propose(ctx context.Context, p *Pending, mod *module.Package, targets []*builtin, scope abi.Scope) (proposals []plan.Proposal, err error) {
	children := h.children()
	defer func() {
		if cerr := children.close(); err == nil {
			err = cerr
		}
		for _, n := range children.notes {
			p.report.Messages = append(p.report.Messages, Message{Extension: self, Level: abi.LevelInfo, Text: n})
		}
	}()
	for _, t := range targets {
		shown, err := mod.Request(t.Contents)
		if err != nil {
			return nil, err
		}
		spool := wire.NewSpool(h.spools)
		p.closers = append(p.closers, spool.Close)
		read, err := gatherInputs(p.root, t.Name, t.grant(scope), h.limits)
		if err != nil {
			return nil, err
		}
		p.inputs = append(p.inputs, read)
		reply, err := children.ask(ctx, t, &abi.Request{
			Action:    "install",
			Extension: abi.Identity{Name: t.Name, Version: t.Version},
			Scope:     scope,
			Module:    shown,
			Inputs:    read.list,
		}, spool)
		if err != nil {
			return nil, err
		}
		p.report.addReply(t.Name, reply)
		proposals = append(proposals, plan.Proposal{
			Owner: t.Name, Kind: t.Kind, Action: "install", Grant: t.grant(scope), Plan: reply.Plan, Module: mod,
		})
	}
	return proposals, nil
}

// stale proposes to remove what the module's older version put there for these targets and the new one does not, and to
// take back its edits of files that the new one does not edit.
func (p *Pending) stale(name string, targets []string, proposals []plan.Proposal, edits *going) (plan.Proposal, error) {
	fresh := map[string]string{} // by folded path, as spelled
	edited := map[string]bool{}  // paths that the new version edits
	for _, q := range proposals {
		for _, in := range q.Plan.Intents {
			if w, ok := in.(abi.Write); ok {
				fresh[plan.Fold(w.Path)] = w.Path
			}
		}
		for path := range editIntents(q.Plan) {
			edited[path] = true
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
						p.stays(path, fmt.Sprintf("the new version spells it %q, which some file systems take for the same", now))
					}
				}
			}
		}
	}
	var back []string
	for path := range edits.gone {
		if !edited[path] {
			back = append(back, path)
		}
	}
	return p.removal(name, targets, old, edits, back)
}

// removal proposes to remove the paths that nobody else owns and that are as they were installed, and to take edits of other
// paths back; what was changed stays and is named in the report.
func (p *Pending) removal(name string, targets, paths []string, edits *going, back []string) (plan.Proposal, error) {
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
		state, why, err := p.compare(path, rec)
		if err != nil {
			return plan.Proposal{}, err
		}
		switch state {
		case "", "mode": // the bytes are ours
			gone = append(gone, path)
		case "missing":
		default:
			p.stays(path, why)
		}
	}
	slices.Sort(back)
	intents, err := edits.intents(back)
	if err != nil {
		return plan.Proposal{}, err
	}
	for _, path := range gone {
		intents = append(intents, abi.Delete{Path: path})
	}
	return plan.Proposal{
		Owner: self, Kind: abi.KindTarget, Action: "uninstall", Grant: grant.ForPaths(append(gone, back...)), Plan: &abi.Plan{Intents: intents},
	}, nil
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
		if s.Action == plan.Keep || slices.Contains(s.Owners, self) {
			continue
		}
		clash.Clash = append(clash.Clash, p.ownedEdits(name, s)...)
		touched := []string{s.Path}
		if s.To != "" {
			touched = append(touched, s.To)
		}
		for _, n := range s.Tree {
			touched = append(touched, s.Path+"/"+n.Path)
			if s.To != "" {
				touched = append(touched, s.To+"/"+n.Path)
			}
		}
		for _, path := range touched {
			if o, ok := owned[plan.Fold(path)]; ok {
				o.Removed = s.Action == plan.Remove || s.Action == plan.Move
				clash.Clash = append(clash.Clash, o)
			}
		}
	}
	if len(clash.Clash) > 0 {
		return clash
	}
	return nil
}

// ownedEdits returns the values and blocks of a file that a step's edits would change and that other modules put there.
func (p *Pending) ownedEdits(name string, s plan.Step) []OwnedPath {
	var owned []OwnedPath
	for _, m := range slices.Sorted(maps.Keys(p.before.Modules)) {
		if m == name {
			continue
		}
		for _, t := range slices.Sorted(maps.Keys(p.before.Modules[m].Targets)) {
			for _, theirs := range p.before.Modules[m].Targets[t].Edits[s.Path] {
				for _, e := range s.Edits {
					if slices.ContainsFunc(e.Records, func(r edit.Record) bool { return changes(r, theirs) }) {
						owned = append(owned, OwnedPath{Path: s.Path, Part: theirs.At + theirs.ID, Module: m, Target: t})
						break
					}
				}
			}
		}
	}
	return owned
}

// changes reports whether an edit changes what another one put into the same file.
func changes(r, theirs edit.Record) bool {
	beneath := strings.HasPrefix(r.At, theirs.At+"/")
	switch {
	case theirs.New == nil || r.ID != theirs.ID:
		return false
	case r.Kind == edit.Add:
		return beneath
	case r.Kind == edit.Same:
		return false
	}
	return r.At == theirs.At || beneath || strings.HasPrefix(theirs.At, r.At+"/")
}

// recordInstall writes down in the new record what the targets own once the change is made.
func (p *Pending) recordInstall(mod abi.Identity, digest string, targets []*builtin, kept map[owner]map[string][]edit.Record) {
	m := p.after.Modules[mod.Name]
	if m == nil {
		m = &home.Module{Name: mod.Name, Targets: map[string]*home.Target{}}
		p.after.Modules[mod.Name] = m
	}
	steps := p.checked.Steps()
	for _, t := range targets {
		rec := &home.Target{Version: mod.Version, Digest: digest, Extension: t.Version, Files: map[string]home.File{}}
		for _, s := range steps {
			switch {
			case s.Edits != nil:
				for _, e := range s.Edits {
					if e.Owner == t.Name {
						if rec.Edits == nil {
							rec.Edits = map[string][]edit.Record{}
						}
						rec.Edits[s.Path] = edit.Merge(kept[owner{Module: mod.Name, Target: t.Name}][s.Path], e.Records)
					}
				}
			case s.Content != nil && slices.Contains(s.Owners, t.Name):
				rec.Files[s.Path] = home.File{Digest: s.Content.Digest().String(), Mode: s.Mode}
			}
		}
		m.Targets[t.Name] = rec
	}
	// A file that another target of this module owns too has the new bytes for it as well, or is gone or elsewhere for it as
	// well.
	gone, now := map[string]*plan.Step{}, map[string]*plan.Step{} // by path
	for i := range steps {
		switch s := &steps[i]; {
		case s.Action == plan.Remove || s.Action == plan.Move:
			gone[s.Path] = s
		case s.Content != nil && s.Edits == nil:
			now[s.Path] = s
		}
	}
	for _, other := range m.Targets {
		for path, f := range maps.Clone(other.Files) {
			if s := goneWith(gone, path); s != nil && (now[path] == nil || s.Action == plan.Move) {
				delete(other.Files, path)
				if s.Action == plan.Move {
					other.Files[s.To+path[len(s.Path):]] = f
				}
			} else if s := now[path]; s != nil {
				other.Files[path] = home.File{Digest: s.Content.Digest().String(), Mode: s.Mode}
			}
		}
	}
}

// goneWith returns the step that takes a path away, by itself or with a directory around it.
func goneWith(gone map[string]*plan.Step, path string) *plan.Step {
	s := gone[path]
	for at, _ := root.Split(path); s == nil && at != ""; at, _ = root.Split(at) {
		if up := gone[at]; up != nil && up.Dir {
			s = up
		}
	}
	return s
}
