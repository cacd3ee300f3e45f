package host

import (
	"maps"
	"slices"

	"github.com/lola-ext/lola/host/internal/home"
)

// Installed is one module that is installed in a project for one target.
type Installed struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Target  string `json:"target"`
	Digest  string `json:"sha256"`
	Files   int    `json:"files"` // those that it changed values in included
}

// List says what is installed in a project, sorted by module, then target.
func (h *Host) List(project string) ([]Installed, error) {
	r, err := h.openProject(project)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	in, err := h.home.Installed(r)
	if err != nil {
		return nil, err
	}
	return list(in), nil
}

func list(in *home.Installed) []Installed {
	list := []Installed{}
	for _, name := range slices.Sorted(maps.Keys(in.Modules)) {
		for _, t := range slices.Sorted(maps.Keys(in.Modules[name].Targets)) {
			rec := in.Modules[name].Targets[t]
			list = append(list, Installed{Module: name, Version: rec.Version, Target: t, Digest: rec.Digest, Files: len(rec.Files) + len(rec.Edits)})
		}
	}
	return list
}
