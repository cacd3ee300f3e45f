package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/extension"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/shim/policy"
)

// Extension describes one extension that a host can run.
type Extension struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Kind        abi.Kind `json:"kind"`
	Description string   `json:"description,omitempty"`
	// Tier says how it runs: "wasm" or "native".
	Tier extension.Tier `json:"tier"`
	// Level is the confinement that this machine gives its child beside the WASM runtime, and Open what stays open at it to an
	// extension that got out of the runtime, in words. See [ThisMachine].
	Level policy.Level `json:"level"`
	Open  []string     `json:"open"`
	// Builtin says that it ships with the program.
	Builtin bool     `json:"builtin"`
	Actions []string `json:"actions"`
	// Grants are what it may do in a project and User what it may do in the folder of the user's home, as a manifest writes
	// them; May says both in words.
	Grants []string `json:"grants"`
	User   []string `json:"user_grants,omitempty"`
	May    []string `json:"may"`
	// Digest and Size are those of the artifact.
	Digest string `json:"sha256"`
	Size   int    `json:"size"`
}

// builtin is a parsed [Builtin].
type builtin struct {
	extension.Manifest
	artifact []byte
	digest   abi.Digest
}

// grant is what the extension may do in a scope: a built-in one has what its manifest asks for.
func (b *builtin) grant(scope abi.Scope) grant.Set {
	if scope == abi.ScopeUser {
		if b.User == nil {
			return grant.Set{}
		}
		return b.User.Grant()
	}
	return b.Grant()
}

func readBuiltins(all []Builtin) ([]*builtin, error) {
	list := make([]*builtin, 0, len(all))
	digests := map[*byte]abi.Digest{} // several manifests share one artifact
	for _, b := range all {
		m, err := extension.ParseManifest(b.Manifest)
		if err != nil {
			return nil, fmt.Errorf("reading a built-in extension: %w", err)
		}
		if len(b.Artifact) == 0 {
			return nil, fmt.Errorf("reading the built-in extension %q: it has no artifact", m.Name)
		}
		if err := m.CheckArtifact(b.Artifact); err != nil {
			return nil, fmt.Errorf("reading the built-in extension %q: %w", m.Name, err)
		}
		digest, ok := digests[&b.Artifact[0]]
		if !ok {
			digest = abi.DigestOf(b.Artifact)
			digests[&b.Artifact[0]] = digest
		}
		list = append(list, &builtin{m, b.Artifact, digest})
	}
	slices.SortFunc(list, func(a, b *builtin) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(list); i++ {
		if list[i].Name == list[i-1].Name {
			return nil, fmt.Errorf("reading the built-in extensions: %q is there twice", list[i].Name)
		}
	}
	return list, nil
}

// Extensions lists what the host can run, sorted by name.
func (h *Host) Extensions() []Extension {
	list := make([]Extension, len(h.builtin))
	machine := ThisMachine()
	for i, b := range h.builtin {
		list[i] = b.describe(machine)
	}
	return list
}

// Extension describes one extension by name.
func (h *Host) Extension(name string) (Extension, error) {
	b, err := h.find(name)
	if err != nil {
		return Extension{}, err
	}
	return b.describe(ThisMachine()), nil
}

// Artifact returns the WASM module of an extension. It must not be changed.
func (h *Host) Artifact(name string) ([]byte, error) {
	b, err := h.find(name)
	if err != nil {
		return nil, err
	}
	return b.artifact, nil
}

func (b *builtin) describe(m Machine) Extension {
	var user, may []string
	may = append(may, b.Grant().Lines()...)
	if b.User != nil {
		user = b.User.Grant().Strings()
		may = append(may, b.User.Grant().Lines()...)
	}
	return Extension{
		Name: b.Name, Version: b.Version, Kind: b.Kind, Description: b.Description, Tier: b.Tier, Level: m.Level, Open: m.Open, Builtin: true,
		Actions: b.Actions, Grants: b.Grant().Strings(), User: user, May: may, Digest: b.digest.String(), Size: len(b.artifact),
	}
}

func (h *Host) find(name string) (*builtin, error) {
	for _, b := range h.builtin {
		if b.Name == name {
			return b, nil
		}
	}
	known := make([]string, len(h.builtin))
	for i, b := range h.builtin {
		known[i] = b.Name
	}
	return nil, &UnknownExtensionError{Name: name, Known: known}
}

// target finds an extension that can install.
func (h *Host) target(name string) (*builtin, error) {
	b, err := h.find(name)
	if err != nil {
		return nil, err
	}
	if b.Kind != abi.KindTarget || !slices.Contains(b.Actions, "install") {
		return nil, fmt.Errorf("extension %q is a %s and cannot install; targets can", name, b.Kind)
	}
	return b, nil
}
