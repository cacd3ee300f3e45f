package host

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// Difference is one thing on disk that is not as it was installed.
type Difference struct {
	Path   string `json:"path"`
	Module string `json:"module"`
	Target string `json:"target"`
	// State is "missing", "changed", "mode" (only the mode changed) or "replaced" (it is no file any more).
	State string `json:"state"`
	Why   string `json:"why"`
}

// Status is how a project is compared to what was installed in it.
type Status struct {
	Project     string       `json:"project"`
	Modules     []Installed  `json:"modules"`
	Differences []Difference `json:"differences"` // sorted by path, module, target
	Unfinished  []Unfinished `json:"unfinished,omitempty"`
}

// Status compares what lies in a project with what was installed. It changes nothing.
func (h *Host) Status(project string) (*Status, error) {
	r, err := h.openProject(project)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	in, err := h.home.Installed(r)
	if err != nil {
		return nil, err
	}
	s := &Status{Project: r.Path(), Modules: list(in), Differences: []Difference{}}
	pending, err := h.Unfinished()
	if err != nil {
		return nil, err
	}
	for _, u := range pending {
		if u.Project == s.Project {
			s.Unfinished = append(s.Unfinished, u)
		}
	}
	p := &Pending{host: h, root: r, before: in}
	for _, m := range slices.Sorted(maps.Keys(in.Modules)) {
		for _, t := range slices.Sorted(maps.Keys(in.Modules[m].Targets)) {
			rec := in.Modules[m].Targets[t]
			add := func(path, state, why string) {
				s.Differences = append(s.Differences, Difference{Path: path, Module: m, Target: t, State: state, Why: why})
			}
			for _, path := range slices.Sorted(maps.Keys(rec.Files)) {
				state, why, err := p.compare(path, rec.Files[path])
				if err != nil {
					return nil, err
				}
				if state != "" {
					add(path, state, why)
				}
			}
			for _, path := range slices.Sorted(maps.Keys(rec.Edits)) {
				text, info, err := p.readFile(path)
				switch link := (*root.LinkError)(nil); {
				case errors.As(err, &link):
					add(path, "replaced", err.Error())
					continue
				case err != nil:
					return nil, fmt.Errorf("looking at %q: %w", path, err)
				case !info.Exists:
					add(path, "missing", "the file is not there")
					continue
				}
				_, _, left, err := edit.Revert(path, text, rec.Edits[path])
				if err != nil {
					add(path, "changed", err.Error())
				}
				for _, l := range left {
					add(path, "changed", fmt.Sprintf("%s: %s", l.What, l.Why))
				}
			}
		}
	}
	return s, nil
}

// compare says how what lies at path differs from what was installed there; an empty state says that it does not.
func (p *Pending) compare(path string, rec home.File) (state, why string, err error) {
	info, err := p.root.Stat(path)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		return "replaced", err.Error(), nil
	}
	switch {
	case err != nil: // whether it changed is not known, and the record would forget it
		return "", "", fmt.Errorf("looking at %q: %w", path, err)
	case !info.Exists:
		return "missing", "it is not there", nil
	case !info.Regular():
		return "replaced", "it is a " + info.Kind() + " now", nil
	}
	digest, _, err := p.root.Digest(path, info.Size)
	grown := (*abi.LimitError)(nil)
	switch {
	case err != nil && !errors.As(err, &grown):
		return "", "", fmt.Errorf("reading %q: %w", path, err)
	case err != nil || digest.String() != rec.Digest:
		return "changed", "it was changed since it was installed", nil
	case !plan.SameMode(info.Mode, rec.Mode):
		return "mode", fmt.Sprintf("its mode was %s and is %s", rec.Mode, info.Mode), nil
	}
	return "", "", nil
}
