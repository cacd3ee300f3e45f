// Package gazelle holds no code, only the tests that keep BUILD files true.
//
// They read the whole source tree, which no rule can name as input, so they
// leave the sandbox and are never cached: the BUILD file says so by its tags.
package gazelle

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bazelbuild/rules_go/go/runfiles"
)

// TestBuildFilesAreCurrent fails when gazelle would change a BUILD file.
func TestBuildFilesAreCurrent(t *testing.T) {
	top := root(t)
	gazelle, err := runfiles.Rlocation("_main/gazelle")
	if err != nil {
		t.Fatal(err)
	}
	env, err := runfiles.Env()
	if err != nil {
		t.Fatal(err)
	}
	var diff bytes.Buffer
	cmd := exec.Command(gazelle, "-mode=diff")
	cmd.Env = append(append(os.Environ(), env...), "BUILD_WORKSPACE_DIRECTORY="+top, "HOME="+t.TempDir())
	cmd.Stdout = &diff
	cmd.Stderr = &diff
	if err := cmd.Run(); err != nil || diff.Len() > 0 {
		t.Errorf("gazelle would change BUILD files (%v); run: tools/bazel run //:gazelle\n%s", err, diff.String())
	}
}

// public matches what opens a target to everybody, in rules and in packages.
var public = regexp.MustCompile(`"//visibility:public"`)

// TestNothingIsPublic fails when a package is open to all: gazelle says so in
// each BUILD file that it makes, and the layers of tools/layers would be void.
func TestNothingIsPublic(t *testing.T) {
	open := map[string]string{
		"platforms/BUILD.bazel":  "constraints and platforms are named on command lines",
		"tools/nogo/BUILD.bazel": "rules_go takes nogo from a repository of its own",
	}
	top := root(t)
	seen := 0
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && rel != "." || rel == filepath.Join("tools", "tree", "modules")) {
			return filepath.SkipDir
		}
		if entry.Name() != "BUILD.bazel" {
			return nil
		}
		seen++
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved while we looked
		}
		if err != nil {
			return err
		}
		if _, ok := open[filepath.ToSlash(rel)]; !ok && public.Match(text) {
			t.Errorf("%s opens a target to everybody: name a group of tools/layers instead", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no BUILD file found: the walk looks in the wrong place")
	}
}

// root gives the folder of the checkout: WORKSPACE among the runfiles is a link
// to the file there.
func root(t *testing.T) string {
	t.Helper()
	if os.Getenv("TEST_SRCDIR") == "" {
		t.Skip("only Bazel has gazelle: tools/bazel test //tools/gazelle:all")
	}
	marker, err := runfiles.Rlocation("_main/WORKSPACE")
	if err != nil {
		t.Fatal(err)
	}
	marker, err = filepath.EvalSymlinks(marker)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(marker)
}
