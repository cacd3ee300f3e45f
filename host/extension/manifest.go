// Package extension describes extensions: their names and their manifests.
//
//	m, err := extension.ParseManifest(text)
//	m.Grant() // what it asks for, as a value
//
// A manifest only asks. For the built-in targets what it asks is granted because it ships with the host; for everybody
// else's the user decides, and the content-addressed store that goes with it joins this package with `lola ext add`. Fields
// are added here as the host learns to honour them: until then they are unknown, and an unknown field is an error, so no
// manifest believes itself more restricted than it is.
package extension

import (
	"fmt"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/strictyaml"
)

// ManifestName is the file name of a manifest.
const ManifestName = "extension.yaml"

// maxManifest bounds a manifest, in bytes.
const maxManifest = 64 << 10

// Tier says how an extension runs.
type Tier string

// The tiers.
const (
	TierWASM   Tier = "wasm"   // confined, in a child of this binary
	TierNative Tier = "native" // an ordinary process
)

// Manifest is a parsed and checked extension.yaml.
type Manifest struct {
	Name        string
	Version     string
	Kind        abi.Kind
	Description string
	ABI         int
	Artifact    string
	Tier        Tier
	Actions     []string
	Writes      []grant.Glob
	Contents    []grant.Glob // empty: every text file of the module
	License     string
	// User says where a target works in user scope; nil if it does not.
	User *User

	grant grant.Set
}

// Grant returns what the manifest asks for in a project.
func (m Manifest) Grant() grant.Set { return m.grant }

// document is a manifest as it is written.
type document struct {
	Name        string   `yaml:"name"`
	Version     string   `yaml:"version"`
	Kind        string   `yaml:"kind"`
	Description string   `yaml:"description"`
	ABI         int      `yaml:"abi"`
	Artifact    string   `yaml:"artifact"`
	Tier        string   `yaml:"tier"`
	Actions     []string `yaml:"actions"`
	Writes      []string `yaml:"writes"`
	Contents    []string `yaml:"contents"`
	License     string   `yaml:"license"`
	User        *user    `yaml:"user"`
}

// ParseManifest reads a manifest strictly: unknown and duplicate fields, and values outside their lists, are errors that
// name the line or the field.
func ParseManifest(text []byte) (Manifest, error) {
	if len(text) > maxManifest {
		return Manifest{}, fmt.Errorf("parsing %s: %w", ManifestName, &abi.LimitError{Limit: "manifest", Bound: maxManifest, Got: int64(len(text))})
	}
	var d document
	if err := strictyaml.Parse(text, &d); err != nil {
		return Manifest{}, fmt.Errorf("parsing %s: %w", ManifestName, err)
	}
	m, err := d.check()
	if err != nil {
		return Manifest{}, fmt.Errorf("parsing %s of extension %q: %w", ManifestName, d.Name, err)
	}
	return m, nil
}

func (d document) check() (Manifest, error) {
	m := Manifest{
		Name: d.Name, Version: d.Version, Kind: abi.Kind(d.Kind), Description: d.Description, ABI: d.ABI,
		Artifact: d.Artifact, Tier: Tier(d.Tier), Actions: d.Actions, License: d.License,
	}
	if err := CheckName(d.Name); err != nil {
		return m, err
	}
	if err := CheckVersion(d.Version); err != nil {
		return m, err
	}
	if !slices.ContainsFunc(abi.Versions, func(v abi.VersionRow) bool { return v.Version == d.ABI }) {
		return m, fmt.Errorf("field abi: %d is no version that this host speaks; it speaks %d", d.ABI, abi.Version)
	}
	if m.Tier == "" {
		m.Tier = TierWASM
	}
	if m.Tier != TierWASM {
		return m, fmt.Errorf("field tier: %q is not supported by this version; it knows %q", d.Tier, TierWASM)
	}
	if err := abi.CheckName(d.Artifact); err != nil {
		return m, fmt.Errorf("field artifact: %w", err)
	}
	if len(d.Actions) == 0 {
		return m, fmt.Errorf("field actions: want at least one")
	}
	for _, a := range d.Actions {
		if _, ok := abi.RightOf(m.Kind, a); !ok {
			return m, fmt.Errorf("field actions: kind %q has no action %q", d.Kind, a)
		}
	}
	var err error
	if m.grant, err = writes(d.Writes, ""); err != nil {
		return m, fmt.Errorf("field writes: %w", err)
	}
	if m.Writes, err = parseGlobs(d.Writes); err != nil {
		return m, fmt.Errorf("field writes: %w", err)
	}
	if m.Contents, err = parseGlobs(d.Contents); err != nil {
		return m, fmt.Errorf("field contents: %w", err)
	}
	if d.User != nil {
		if m.User, err = d.User.check(m.Kind); err != nil {
			return m, fmt.Errorf("field user: %w", err)
		}
	}
	return m, nil
}

// writes reads what a manifest asks to write beneath a folder of the home, or in a project if there is none. A pattern whose
// wildcards lie among guarded paths would grant nothing: better said now than when a plan is refused.
func writes(globs []string, folder string) (grant.Set, error) {
	s, err := grant.New(globs)
	if err != nil {
		return grant.Set{}, err
	}
	s = s.In(folder)
	for _, text := range globs {
		g, err := grant.ParseGlob(text)
		if err != nil {
			return grant.Set{}, err
		}
		if guard, ok := s.GuardedGlob(g); ok && !g.Literal() {
			return grant.Set{}, fmt.Errorf("glob %q: it lies among guarded paths (%s: %s), which no wildcard grants; name each file", text, guard.Pattern, guard.Why)
		}
	}
	return s, nil
}

func parseGlobs(texts []string) ([]grant.Glob, error) {
	globs := make([]grant.Glob, len(texts))
	for i, t := range texts {
		g, err := grant.ParseGlob(t)
		if err != nil {
			return nil, err
		}
		globs[i] = g
	}
	return globs, nil
}
