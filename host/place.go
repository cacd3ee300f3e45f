package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/plan"
)

// place is where a change is made.
type place struct {
	path   string
	folder string // in user scope, the assistant's folder beneath the home, as in ".claude"
	scope  abi.Scope
}

// place finds the root for a change: a project, or in user scope the one folder that the target's manifest names.
func (h *Host) place(project string, user bool, targets []*builtin) (place, error) {
	if !user {
		return place{path: project, scope: abi.ScopeProject}, nil
	}
	if len(targets) != 1 || project != "" {
		return place{}, fmt.Errorf("working in user scope: want exactly one target, whose folder it is, and no project")
	}
	path, folder, err := h.userFolder(targets[0])
	return place{path: path, folder: folder, scope: abi.ScopeUser}, err
}

// UserFolder returns the folder in the user's home in which a target works in user scope.
func (h *Host) UserFolder(target string) (string, error) {
	t, err := h.target(target)
	if err != nil {
		return "", err
	}
	path, _, err := h.userFolder(t)
	return path, err
}

func (h *Host) userFolder(t *builtin) (path, folder string, err error) {
	if t.User == nil {
		return "", "", fmt.Errorf("the target %q knows no folder of the user's; it installs into projects", t.Name)
	}
	base, err := os.UserHomeDir()
	if err != nil {
		return "", "", fmt.Errorf("finding the folder of target %q: %w", t.Name, err)
	}
	if !filepath.IsAbs(base) {
		return "", "", fmt.Errorf("finding the folder of target %q: the home is %q, which is no absolute path", t.Name, base)
	}
	path = filepath.Join(base, filepath.FromSlash(t.User.Folder))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", "", &NoFolderError{Target: t.Name, Path: path}
	}
	if holds(path, base) {
		return "", "", fmt.Errorf("the folder %q of target %q is a link to your home, or to a folder above it, which no target works in", path, t.Name)
	}
	return path, t.User.Folder, nil
}

// holds reports whether dir is or holds the directory at path, whatever links lead to both.
func holds(dir, path string) bool {
	dir, derr := filepath.EvalSymlinks(dir)
	path, perr := filepath.EvalSymlinks(path)
	return derr == nil && perr == nil && within(path, dir)
}

// openOptions say how a root is opened for a change.
type openOptions struct {
	DryRun    bool
	AllowRoot bool
	Follow    []string
}

// open opens the root of a change and readies it: it must be the user's alone or admitted, and what a crash left in it is
// finished or taken back first, or only said if the change will not be applied.
func (p *Pending) open(ctx context.Context, path string, o openOptions) error {
	var err error
	if p.root, err = p.host.openProject(path); err != nil {
		return err
	}
	p.closers = append(p.closers, p.root.Close)
	agreed, err := p.host.home.Agreed(p.root)
	if err != nil {
		return err
	}
	p.agreed = agreed
	p.agreed.Follow = slices.Clone(agreed.Follow)
	for _, link := range o.Follow {
		if !slices.Contains(p.agreed.Follow, link) {
			p.agreed.Follow = append(p.agreed.Follow, link)
		}
	}
	if err := p.root.CheckOwner(); err != nil && !agreed.Allowed {
		if !o.AllowRoot {
			return err
		}
		p.agreed.Allowed = true
	}
	p.agrees = p.agreed.Allowed != agreed.Allowed || len(p.agreed.Follow) != len(agreed.Follow)
	if err := p.recover(ctx, o.DryRun); err != nil {
		return err
	}
	p.before, err = p.host.home.Installed(p.root)
	return err
}

// planOptions are what a plan for the root is judged under.
func (p *Pending) planOptions() plan.Options {
	type key = string
	known := map[key]plan.Installed{}
	for _, dir := range p.before.Dirs {
		known[dir] = plan.Installed{Dir: true}
	}
	edits := map[key][]edit.Record{}
	for _, m := range p.before.Modules {
		for _, t := range m.Targets {
			for path, f := range t.Files {
				if d, err := abi.ParseDigest(f.Digest); err == nil {
					known[path] = plan.Installed{Digest: d, Mode: f.Mode, Module: m.Name}
				}
			}
			for path, records := range t.Edits {
				edits[path] = append(edits[path], records...)
			}
		}
	}
	return plan.Options{
		Limits: p.host.limits, Folder: p.folder, Follow: p.agreed.Follow, Protected: p.host.protected(),
		Installed: func(path string) (plan.Installed, bool) {
			in, ok := known[path]
			in.Edits = edits[path]
			return in, ok
		},
	}
}

// protected are what no plan may reach by whatever name.
func (h *Host) protected() []fs.FileInfo {
	list := []fs.FileInfo{h.home.Root().Info()}
	for _, path := range []string{h.program} {
		if info, err := os.Stat(path); err == nil {
			list = append(list, info)
		}
	}
	return list
}
