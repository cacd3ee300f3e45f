package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lola-ext/lola/targets"
)

// TestGoldenTrees installs the example for each built-in target and holds the tree that comes out to a golden archive:
// modes in its comment, files behind it. Uninstalling gives back the tree before.
func TestGoldenTrees(t *testing.T) {
	for _, target := range targets.Manifests() {
		t.Run(target.Name, func(t *testing.T) {
			t.Setenv("LOLA_HOME", filepath.Join(t.TempDir(), "home"))
			project := t.TempDir()
			if err := os.WriteFile(filepath.Join(project, "README.md"), []byte("# mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			dir := example(t)
			before, err := snapshot(project)
			if err != nil {
				t.Fatal(err)
			}
			if code, _, stderr := lola(t, "install", dir, "-a", target.Name, "--project", project, "--trust", trust(t, dir)); code != 0 {
				t.Fatalf("install: exit code %d\n%s", code, stderr)
			}
			compare(t, filepath.Join("testdata", "golden", target.Name+".txtar"), project)
			if code, _, stderr := lola(t, "uninstall", "git-doctor", "--project", project); code != 0 {
				t.Fatalf("uninstall: exit code %d\n%s", code, stderr)
			}
			after, err := snapshot(project)
			if err != nil {
				t.Fatal(err)
			}
			if after != before {
				t.Errorf("the tree after uninstall is another than before install:\n%s\nwant\n%s", after, before)
			}
		})
	}
}

func compare(t *testing.T, golden, project string) {
	t.Helper()
	var ar txtar.Archive
	var modes strings.Builder
	err := filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(project, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&modes, "%04o %s\n", info.Mode().Perm(), filepath.ToSlash(rel))
		ar.Files = append(ar.Files, txtar.File{Name: filepath.ToSlash(rel), Data: text})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ar.Comment = []byte(modes.String())
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, txtar.Format(&ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatalf("%v (go test ./cmd/lola -update makes it)", err)
	}
	if runtime.GOOS == "windows" {
		ar.Comment = want.Comment // no modes there
	}
	if got := string(txtar.Format(&ar)); got != string(txtar.Format(want)) {
		t.Errorf("the tree is another than %s; go test ./cmd/lola -update writes it anew\n%s", golden, got)
	}
}
