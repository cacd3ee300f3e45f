package main

import (
	"io/fs"
	"testing"

	"github.com/lola-ext/lola/abi/abitest"
)

// fix is the command that writes what these tests ask for.
const fix = "go run ./abi/abitest/gen abi/abitest/testdata"

func TestVectorsAreFresh(t *testing.T) {
	want, err := vectors()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	entries, err := fs.ReadDir(abitest.Files(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have[e.Name()] = true
		got, err := fs.ReadFile(abitest.Files(), e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := want[e.Name()]; !ok {
			t.Errorf("vector %q is made by nothing; run: %s", e.Name(), fix)
		} else if string(got) != text {
			t.Errorf("vector %q is stale; run: %s", e.Name(), fix)
		}
	}
	for name := range want {
		if !have[name] {
			t.Errorf("vector %q is missing; run: %s", name, fix)
		}
	}
}
