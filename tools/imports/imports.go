// Package imports is an analyzer: it says which packages of this module may
// import which outside ones, and where unsafe may stand.
//
// Bazel's visibility keeps the arrows between our own packages (tools/layers);
// this table keeps those that leave the module. A dependency that has no row is
// refused everywhere, so a new one is a decision and not an accident.
//
// It runs in every Bazel build, through nogo. It does not see what an outside
// package imports in its turn.
package imports

import (
	"go/ast"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Module is the import path that our own packages begin with.
const Module = "github.com/lola-ext/lola"

// Analyzer reports an import of an outside package by a package that has no
// business with it, and an import of unsafe outside the files named for it.
var Analyzer = &analysis.Analyzer{
	Name: "imports",
	Doc:  "keeps outside packages to the layers that may import them",
	Run:  run,
}

// A row lets some of our packages import one outside module.
type row struct {
	module string   // import path of the module, or a prefix of it
	by     []string // our packages, relative to Module; "x/..." takes in x and all below
	tests  bool     // any _test.go file may import it too
	why    string   // why nobody else may
}

var rows = []row{
	{
		module: "github.com/tetratelabs/wazero",
		by:     []string{"shim/internal/engine"},
		why:    "one package compiles and runs foreign code, and only in the child",
	},
	{
		module: "github.com/fxamacker/cbor/v2",
		by:     []string{"abi/wire", "fuzz/..."},
		why:    "the codec takes what the wire forbids, so it may only stand behind the walker of abi/wire",
	},
	{
		module: "github.com/spf13/cobra",
		by:     []string{"cmd/lola"},
		why:    "the command line is the command's alone; a library has no flags",
	},
	{
		module: "github.com/spf13/pflag",
		by:     []string{"cmd/lola"},
		why:    "the command line is the command's alone; a library has no flags",
	},
	{
		module: "golang.org/x/term",
		by:     []string{"cmd/lola", "cmd/lola/preview"},
		why:    "whether there is a person to ask is the command's to know",
	},
	{
		module: "github.com/goccy/go-yaml",
		by:     []string{"host/internal/strictyaml"},
		why:    "its parser unfolds aliases without bound, so one package stands before it",
	},
	{
		module: "github.com/bmatcuk/doublestar/v4",
		by:     []string{"host/grant"},
		why:    "what a glob matches is what it grants, so one package says it",
	},
	{
		module: "github.com/tailscale/hujson",
		by:     []string{"host/internal/edit"},
		why:    "it parses without a bound on depth, so one package stands before it",
	},
	{
		module: "github.com/aymanbagabas/go-udiff",
		by:     []string{"cmd/lola/preview"},
		why:    "what a person is shown is made in one package, which bounds it",
	},
	{
		module: "golang.org/x/text",
		by:     []string{"host/plan", "host/plan/plantest", "host/internal/fold", "fuzz/..."},
		why:    "paths are folded in one place, so that they fold alike everywhere",
	},
	{
		module: "golang.org/x/sys",
		by:     []string{"host", "host/root", "host/internal/apply", "host/internal/code", "host/internal/launch", "host/internal/home", "host/audit", "shim/...", "bench/..."},
		tests:  true,
		why:    "system calls stand in the packages that touch files, processes and the kernel's walls",
	},
	{
		module: "github.com/rogpeppe/go-internal",
		by:     []string{"cmd/lola"},
		tests:  true,
		why:    "it runs command scripts in tests",
	},
	{
		module: "github.com/bazelbuild/rules_go/go/runfiles",
		by:     []string{"bench/...", "fuzz/...", "testwasm", "tools/..."},
		tests:  true,
		why:    "only tests and tools know that Bazel laid out their files",
	},
	{
		module: "golang.org/x/tools",
		by:     []string{"tools/..."},
		why:    "analyzers are tools, and tools are imported by nothing",
	},
}

// unsafeFiles are the guest's side of the ABI: a pointer into linear memory is
// what the ABI hands over there. All else is named *_unsafe.go.
var unsafeFiles = []string{
	"sdk/ext/export_wasip1.go",
	"testwasm/go/*/*.go",
}

func run(pass *analysis.Pass) (any, error) {
	// The test package of a package is held to the same row, and the main
	// package that Bazel makes for a test is not ours to judge.
	from, ours := within(strings.TrimSuffix(pass.Pkg.Path(), "_test"))
	if !ours {
		return nil, nil
	}
	for _, file := range pass.Files {
		name := filepath.ToSlash(pass.Fset.Position(file.Package).Filename)
		for _, spec := range file.Imports {
			check(pass, from, name, spec)
		}
	}
	return nil, nil
}

func check(pass *analysis.Pass, from, file string, spec *ast.ImportSpec) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return // the compiler says it better
	}
	if path == "unsafe" {
		if !mayBeUnsafe(from, file) {
			pass.Reportf(spec.Pos(), "unsafe is imported in a file not named *_unsafe.go: danger has a file name, so that a reviewer finds all of it")
		}
		return
	}
	if _, ours := within(path); ours || standard(path) {
		return
	}
	for _, r := range rows {
		if path != r.module && !strings.HasPrefix(path, r.module+"/") {
			continue
		}
		if r.tests && strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, by := range r.by {
			if covers(by, from) {
				return
			}
		}
		pass.Reportf(spec.Pos(), "%s may not import %s: %s (allowed in %s; see tools/imports)", from, path, r.why, strings.Join(r.by, ", "))
		return
	}
	pass.Reportf(spec.Pos(), "%s imports %s, which no layer may: if it is wanted, give it a row with its reason in tools/imports", from, path)
}

// within reports whether path is one of ours, and what it is called from the
// root of the module; the root itself is ".".
func within(path string) (string, bool) {
	if path == Module {
		return ".", true
	}
	return strings.CutPrefix(path, Module+"/")
}

// standard reports whether path is in the standard library: no other import
// path lacks a dot in its first element.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// covers reports whether the pattern, a package or "x/...", takes in pkg.
func covers(pattern, pkg string) bool {
	if base, all := strings.CutSuffix(pattern, "/..."); all {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pkg == pattern
}

func mayBeUnsafe(from, file string) bool {
	base := file[strings.LastIndex(file, "/")+1:]
	if strings.HasSuffix(base, "_unsafe.go") || strings.HasSuffix(base, "_unsafe_test.go") {
		return true
	}
	for _, pattern := range unsafeFiles {
		if ok, _ := filepath.Match(pattern, from+"/"+base); ok {
			return true
		}
	}
	return false
}
