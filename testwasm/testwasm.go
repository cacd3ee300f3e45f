// Package testwasm has guests as test inputs: WASM modules that behave well or badly, in each language.
//
//	wasm := testwasm.Module(t, "rust/spin")
//
// A guest does one thing; its folder says in which language and what. They are built by Bazel and not committed, so a test
// that wants one is skipped where they are not: run it with tools/bazel, or have them written to a folder and name that:
//
//	tools/bazel run //testwasm/export -- /tmp/guests
//	LOLA_TESTWASM=/tmp/guests go test ./...
//
// What it does not have: malformed modules; those are written by hand where they are needed.
package testwasm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bazelbuild/rules_go/go/runfiles"
)

// FolderVariable is the environment variable that names a folder with the guests, one LANGUAGE/BEHAVIOUR.wasm each.
const FolderVariable = "LOLA_TESTWASM"

// ErrNotBuilt means that the guests are not on this machine. Under Bazel it never comes.
var ErrNotBuilt = errors.New("the guests are not built")

// Module returns the guest of that name, as in "go/echo". It skips the test if guests were not built, and fails it if there
// is no such guest or it should be there and is not.
func Module(t testing.TB, id string) []byte {
	t.Helper()
	b, err := Read(id)
	if errors.Is(err, ErrNotBuilt) {
		t.Skipf("%v; run this test with tools/bazel, or: tools/bazel run //testwasm/export -- DIR, and set %s=DIR", err, FolderVariable)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Read returns the guest of that name. The error is [ErrNotBuilt] if this is no run by Bazel and [FolderVariable] is not set.
func Read(id string) ([]byte, error) {
	guest, ok := find(id)
	if !ok {
		return nil, fmt.Errorf("reading guest %q: the catalogue has none of that name", id)
	}
	path, err := locate(guest)
	if err != nil {
		return nil, fmt.Errorf("reading guest %q: %w", id, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading guest %q: %w", id, err)
	}
	return b, nil
}

func find(id string) (Guest, bool) {
	for _, g := range Catalogue() {
		if g.ID() == id {
			return g, true
		}
	}
	return Guest{}, false
}

func locate(g Guest) (string, error) {
	if folder := os.Getenv(FolderVariable); folder != "" {
		return filepath.Join(folder, string(g.Language), g.Name+".wasm"), nil
	}
	path, err := runfiles.Rlocation("_main/testwasm/" + g.ID() + "/" + g.Name + ".wasm")
	switch {
	case err == nil:
		return path, nil
	case os.Getenv("TEST_SRCDIR") == "" && os.Getenv("RUNFILES_DIR") == "" && os.Getenv("RUNFILES_MANIFEST_FILE") == "":
		return "", ErrNotBuilt
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the runfiles have it not: %w", err)
	}
	return "", err
}
