package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// TestRows runs the analyzer over one import at a time. An empty want means
// that the import is allowed; otherwise the finding must hold those words.
func TestRows(t *testing.T) {
	for _, tc := range []struct {
		name, pkg, file, path, want string
	}{
		{"engine runs wasm", "shim/internal/engine", "engine.go", "github.com/tetratelabs/wazero", ""},
		{"engine runs wasi", "shim/internal/engine", "imports.go", "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1", ""},
		{"host must not run wasm", "host", "host.go", "github.com/tetratelabs/wazero", "only in the child"},
		{"a name that only begins alike", "shim/internal/engine", "engine.go", "github.com/tetratelabs/wazero2", "no layer may"},
		{"wire decodes", "abi/wire", "decode.go", "github.com/fxamacker/cbor/v2", ""},
		{"abi has no codec", "abi", "abi.go", "github.com/fxamacker/cbor/v2", "behind the walker"},
		{"the test package of a package", "abi/wire_test", "wire_test.go", "github.com/fxamacker/cbor/v2", ""},
		{"a package below", "shim/internal/lockdown", "lockdown_linux.go", "golang.org/x/sys/unix", ""},
		{"only in a test", "host/plan", "check_test.go", "golang.org/x/sys/unix", ""},
		{"but not beside it", "host/plan", "check.go", "golang.org/x/sys/unix", "system calls"},
		{"unknown", "host", "host.go", "example.com/left/pad", "row with its reason"},
		{"our own", "host", "host.go", Module + "/abi", ""},
		{"standard", "host", "host.go", "encoding/json", ""},
		{"unsafe", "host/root", "root.go", "unsafe", "*_unsafe.go"},
		{"unsafe by name", "host/root", "stat_unsafe.go", "unsafe", ""},
		{"unsafe in the SDK", "sdk/ext", "export_wasip1.go", "unsafe", ""},
		{"unsafe in a guest", "testwasm/go/lie", "main.go", "unsafe", ""},
		{"unsafe beside the SDK", "sdk/ext", "ext.go", "unsafe", "*_unsafe.go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := analyse(t, Module+"/"+tc.pkg, tc.file, tc.path)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%s importing %s: got finding %q, want %q", tc.pkg, tc.path, got, tc.want)
			}
		})
	}
}

func TestForeignPackagesAreLeftAlone(t *testing.T) {
	if got := analyse(t, "testmain", "testmain.go", "github.com/tetratelabs/wazero"); got != "" {
		t.Errorf("a package outside the module got the finding %q", got)
	}
}

func TestEveryRowHasAReason(t *testing.T) {
	for _, r := range rows {
		if r.why == "" || len(r.by) == 0 {
			t.Errorf("row %s lacks a reason or a package", r.module)
		}
	}
}

// analyse gives what the analyzer says about a file of package pkg whose one
// import is path. The analyzer reads syntax only, so nothing is type-checked.
func analyse(t *testing.T, pkg, file, path string) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, "package p\nimport _ \""+path+"\"\n", parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	pass := &analysis.Pass{
		Analyzer: Analyzer,
		Fset:     fset,
		Files:    []*ast.File{f},
		Pkg:      types.NewPackage(pkg, "p"),
		Report:   func(d analysis.Diagnostic) { found = append(found, d.Message) },
	}
	if _, err := Analyzer.Run(pass); err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, "\n")
}
