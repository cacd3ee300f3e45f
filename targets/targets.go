// Package targets holds the extensions that come with lola: five targets in one WASM module.
//
// They are data here. A host runs them through the same door as anyone's extension: each has a manifest that asks for what
// it may write, and the module gets a request that names the one that is meant.
//
//	for _, m := range targets.Manifests() {
//		fmt.Println(m.Name, len(m.YAML))
//	}
//
// What may change: the module and the manifests with every release, the list by growing.
package targets

import _ "embed"

// The module is committed, so that go install needs no Rust; targets.wasm.rustc beside it names the compiler that made it,
// and a test that has that compiler makes it again and compares. CONTRIBUTING.md and docs/targets.md say how to refresh it.
//
//go:embed targets.wasm
var wasm []byte

// Wasm returns the module that all built-in targets share. Callers must not change it.
func Wasm() []byte { return wasm }

// Manifest is one built-in target.
type Manifest struct {
	// Name is the target's name, as in YAML.
	Name string
	// YAML is its extension.yaml. Its artifact is [Wasm].
	YAML []byte
	// Detect holds paths, relative to a project, any of which shows that the assistant is used there. They are what the
	// assistant's own files are called, so .github alone does not show Copilot.
	Detect []string
}

//go:embed manifests/claude-code.yaml
var claudeCode []byte

//go:embed manifests/cursor.yaml
var cursor []byte

//go:embed manifests/gemini-cli.yaml
var geminiCLI []byte

//go:embed manifests/opencode.yaml
var openCode []byte

//go:embed manifests/copilot.yaml
var copilot []byte

// Manifests returns the built-in targets, in the order in which they are listed to people.
func Manifests() []Manifest {
	return []Manifest{
		{Name: "claude-code", YAML: claudeCode, Detect: []string{".claude", "CLAUDE.md"}},
		{Name: "cursor", YAML: cursor, Detect: []string{".cursor"}},
		{Name: "gemini-cli", YAML: geminiCLI, Detect: []string{".gemini", "GEMINI.md"}},
		{Name: "opencode", YAML: openCode, Detect: []string{".opencode", "opencode.json", "opencode.jsonc"}},
		{Name: "copilot", YAML: copilot, Detect: []string{
			".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".github/skills", ".github/agents",
		}},
	}
}
