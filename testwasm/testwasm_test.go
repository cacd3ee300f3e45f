package testwasm

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
)

func TestEveryGuestIsAModule(t *testing.T) {
	for _, g := range Catalogue() {
		t.Run(g.ID(), func(t *testing.T) {
			wasm := Module(t, g.ID())
			if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
				t.Fatalf("%d bytes that are no core WASM module of version 1", len(wasm))
			}
			for _, export := range []string{"memory", "lola_abi_version", "lola_alloc", "lola_run", "lola_plan_ptr", "lola_plan_len"} {
				if !bytes.Contains(wasm, append([]byte{byte(len(export))}, export...)) {
					t.Errorf("no export %q", export)
				}
			}
			if bytes.Contains(wasm, []byte("\x06_start\x00")) {
				t.Error("it exports _start: that is the command form")
			}
			t.Logf("%d bytes", len(wasm))
		})
	}
}

func TestCatalogueIsAGrid(t *testing.T) {
	all := Catalogue()
	if want := len(Languages()) * len(Behaviours()); len(all) != want {
		t.Errorf("%d guests, want %d", len(all), want)
	}
	var ids []string
	for _, g := range all {
		ids = append(ids, g.ID())
		if g.Does == "" || g.Ends == "" {
			t.Errorf("%s: the catalogue does not say what it does or how it ends", g.ID())
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(all) {
		t.Error("an id occurs twice")
	}
}

// A folder without a row would be a guest that no test runs.
func TestFoldersAreInTheCatalogue(t *testing.T) {
	for _, l := range Languages() {
		entries, err := os.ReadDir(string(l))
		if err != nil {
			t.Skipf("the sources are not here: %v", err)
		}
		for _, e := range entries {
			if _, ok := find(string(l) + "/" + e.Name()); e.IsDir() && !ok {
				t.Errorf("folder %s/%s has no row in catalogue.go", l, e.Name())
			}
		}
		if _, err := os.Stat(string(l) + "/echo"); err != nil {
			continue // under Bazel only what was built is here
		}
		for _, b := range Behaviours() {
			if _, err := os.Stat(string(l) + "/" + b.Name); err != nil {
				t.Errorf("behaviour %q has no guest in %s: %v", b.Name, l, err)
			}
		}
	}
}

func TestUnknownGuest(t *testing.T) {
	if _, err := Read("go/none"); err == nil || errors.Is(err, ErrNotBuilt) {
		t.Errorf("got %v", err)
	}
}
