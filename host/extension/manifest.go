// Package extension describes extensions: their names and their manifests.
//
//	m, err := extension.ParseManifest(text)
//	m.Grant() // what it asks for, as a value
//
// A manifest only asks. For the built-in targets what it asks is granted because it ships with the host; for everybody
// else's the user decides, and the content-addressed store that goes with it joins this package with `lola ext add`. A
// manifest can tighten what its extension runs under and never loosen it. Fields are added here as the host learns to honour
// them: until then they are refused, so no manifest believes itself more restricted, or more able, than it is. What a manifest
// says of itself is not checked against what the extension does.
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

// maxLicense bounds the text of a license, in bytes: an SPDX expression.
const maxLicense = 256

// Tier says how an extension runs.
type Tier string

// The tiers.
const (
	TierWASM   Tier = "wasm"   // confined, in a child of this binary
	TierNative Tier = "native" // an ordinary process
)

// EncodingCBOR is how requests and plans are encoded. The JSON form belongs to [TierNative], and comes with it.
const EncodingCBOR = "cbor"

// Manifest is a parsed and checked extension.yaml. docs/extension.schema.json says how it is written.
type Manifest struct {
	Name        string
	Version     string
	Kind        abi.Kind
	Description string
	ABI         int
	Artifact    string
	// SHA256 is the digest of the artifact; nil if the manifest does not say it. See [Manifest.CheckArtifact].
	SHA256   *abi.Digest
	Tier     Tier
	Encoding string
	Actions  []string
	Writes   []grant.Glob
	Contents []grant.Glob // empty: every text file of the module
	// Limits holds what the manifest lowers, the rest zero. See [Manifest.Tighten].
	Limits abi.Limits
	Params []Param // sorted by name
	// User says where a target works in user scope; nil if it does not.
	User    *User
	License string

	grant grant.Set
}

// Grant returns what the manifest asks for in a project.
func (m Manifest) Grant() grant.Set { return m.grant }

// CheckArtifact reports whether the bytes are those that the manifest is for. A manifest that names no digest takes any.
func (m Manifest) CheckArtifact(artifact []byte) error {
	if m.SHA256 == nil {
		return nil
	}
	if got := abi.DigestOf(artifact); got != *m.SHA256 {
		return fmt.Errorf("checking the artifact %q of extension %q: its SHA-256 is %s, and the manifest says %s", m.Artifact, m.Name, got, m.SHA256)
	}
	return nil
}

// manifestFields are the fields of a manifest, in the order in which it is shown how to write one.
var manifestFields = []string{
	"name", "version", "kind", "description", "abi", "artifact", "sha256", "tier", "encoding", "actions", "writes", "reads", "contents", "capabilities",
	"limits", "params", "user", "confine", "license",
}

// refusedFields are fields that are known and not honoured yet, with the reason.
var refusedFields = map[string]string{
	"seccomp": "it is for tier native, which this version cannot run; a WASM module makes no system calls",
	"run_as":  "it is for tier native, which this version cannot run; a WASM module has no user of its own",
}

// ParseManifest reads a manifest strictly: unknown and duplicate fields, and values of another type or outside their lists,
// are errors that name the line or the field, and what was probably meant.
func ParseManifest(text []byte) (Manifest, error) {
	if len(text) > maxManifest {
		return Manifest{}, fmt.Errorf("parsing %s: %w", ManifestName, &abi.LimitError{Limit: "manifest", Bound: maxManifest, Got: int64(len(text))})
	}
	var values map[string]any
	if err := strictyaml.Parse(text, &values); err != nil {
		return Manifest{}, fmt.Errorf("parsing %s: %w", ManifestName, err)
	}
	m, err := readManifest(read(values, manifestFields))
	switch name, _ := values["name"].(string); {
	case err != nil && name != "":
		return Manifest{}, fmt.Errorf("parsing %s of extension %.100q: %w", ManifestName, name, err)
	case err != nil:
		return Manifest{}, fmt.Errorf("parsing %s: %w", ManifestName, err)
	}
	return m, nil
}

func readManifest(d mapping) (Manifest, error) {
	m := Manifest{
		Name: d.text("name"), Version: d.text("version"), Kind: abi.Kind(d.text("kind")), Description: d.line("description", maxDescription),
		ABI: int(d.integer("abi")), Artifact: d.text("artifact"), Actions: d.texts("actions"), License: d.line("license", maxLicense),
	}
	tier, encoding, confine, digest := d.text("tier"), d.text("encoding"), d.text("confine"), d.text("sha256")
	rights := grant.Rights{Writes: d.texts("writes"), Reads: d.texts("reads"), Capabilities: d.texts("capabilities")}
	contents := d.texts("contents")
	m.Limits = readLimits(d.mapping("limits", limitNames()))
	m.Params = readParams(d.mapping("params", nil), m.Kind)
	asked := readUser(d)
	if *d.err != nil {
		return Manifest{}, *d.err
	}

	if err := CheckName(m.Name); err != nil {
		return m, err
	}
	if err := CheckVersion(m.Version); err != nil {
		return m, err
	}
	if !slices.ContainsFunc(abi.Versions, func(v abi.VersionRow) bool { return int64(v.Version) == d.integer("abi") }) {
		return m, fmt.Errorf("field abi: %d is no version that this host speaks; it speaks %d", d.integer("abi"), abi.Version)
	}
	m.Tier = TierWASM
	if d.has("tier") && tier != string(TierWASM) {
		return m, fmt.Errorf("field tier: %.100q is not supported by this version; it knows %q", tier, TierWASM)
	}
	m.Encoding = EncodingCBOR
	if d.has("encoding") && encoding != EncodingCBOR {
		return m, fmt.Errorf("field encoding: %.100q is not supported by this version; tier %q speaks %q", encoding, m.Tier, EncodingCBOR)
	}
	if d.has("confine") && confine != "on" {
		return m, fmt.Errorf("field confine: %.100q; want \"on\": a manifest only tightens, and running unconfined is for the user to grant", confine)
	}
	if err := abi.CheckName(m.Artifact); err != nil {
		return m, fmt.Errorf("field artifact: %w", err)
	}
	if d.has("sha256") {
		sum, err := abi.ParseDigest(digest)
		if err != nil {
			return m, fmt.Errorf("field sha256: %w", err)
		}
		m.SHA256 = &sum
	}
	if len(m.Actions) == 0 {
		return m, fmt.Errorf("field actions: want at least one")
	}
	for i, a := range m.Actions {
		if _, ok := abi.RightOf(m.Kind, a); !ok {
			return m, fmt.Errorf("field actions: kind %.100q has no action %.100q", m.Kind, a)
		}
		if slices.Contains(m.Actions[:i], a) {
			return m, fmt.Errorf("field actions: %q stands twice", a)
		}
	}
	var err error
	if m.Contents, err = parseGlobs(contents); err != nil {
		return m, fmt.Errorf("field contents: %w", err)
	}
	if m.Writes, err = parseGlobs(rights.Writes); err != nil {
		return m, fmt.Errorf("field writes: %w", err)
	}
	if m.grant, err = m.asks(rights); err != nil {
		return m, err
	}
	if d.has("user") {
		asked.Capabilities = rights.Capabilities
		if m.User, err = m.user(asked); err != nil {
			return m, err
		}
	}
	return m, nil
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
