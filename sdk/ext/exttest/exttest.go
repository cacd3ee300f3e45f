// Package exttest calls a handler of package ext in a test: no WASM, no host, no CBOR.
//
//	plan, err := exttest.Run(install, exttest.Install("demo", map[string]string{"skills/a/SKILL.md": "..."}))
//
// What it does not show is whether a host would accept the plan; a path or an op that is not allowed passes here.
package exttest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/sdk/ext"
)

// Run calls the handler with the request. It returns what the handler made, also when it failed.
func Run(h ext.Handler, req *ext.Request) (*ext.Plan, error) {
	plan := new(ext.Plan)
	err := h(req, plan)
	return plan, err
}

// Install returns a request to install a module that holds these files, by path. They have mode 0644, and their contents are
// given, as if the manifest's contents were "**". The module has version 1.0.0 and a made-up digest; the extension is called
// "test", version 0.0.0.
func Install(module string, files map[string]string) *ext.Request {
	m := &ext.Module{Identity: ext.Identity{Name: module, Version: "1.0.0"}, Digest: abi.DigestOf([]byte(module))}
	for path, content := range files {
		m.Files = append(m.Files, ext.File{
			Path: path, Mode: 0o644, Size: int64(len(content)), Digest: abi.DigestOf([]byte(content)), Content: []byte(content),
		})
	}
	slices.SortFunc(m.Files, func(a, b ext.File) int { return strings.Compare(a.Path, b.Path) })
	return &ext.Request{
		Action:    "install",
		Extension: ext.Identity{Name: "test", Version: "0.0.0"},
		Scope:     abi.ScopeProject,
		Module:    m,
	}
}

// Writes returns the plan's writes as text, a line each, sorted: "PATH <- FILE" for a copy, "PATH = CONTENT" for content in
// Go syntax. Other intents are left out. It is meant for comparing with what a test wants.
func Writes(p *ext.Plan) []string {
	lines := []string{}
	for _, in := range p.Intents {
		w, ok := in.(ext.Write)
		switch b, isBytes := w.Content.(ext.Bytes); {
		case ok && w.Module != "":
			lines = append(lines, w.Path+" <- "+w.Module)
		case ok && isBytes:
			lines = append(lines, w.Path+" = "+strconv.Quote(string(b)))
		}
	}
	slices.Sort(lines)
	return lines
}
