package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// example is the path of examples/git-doctor.
func example(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.FromSlash("../../examples/git-doctor"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lola.yaml")); err != nil {
		t.Fatalf("the example module is missing: %v", err)
	}
	return dir
}

// cmdCode runs a command and wants its exit code: code N CMD ARG...
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N CMD ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("running %q: %v", args[1:], err)
	}
	if want := args[0]; fmt.Sprint(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// cmdSnapshot takes down a tree, names, kinds, modes and bytes, into a file: snapshot DIR FILE.
func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: snapshot DIR FILE")
	}
	text, err := snapshot(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// cmdUnmoved wants that no file of a tree was written since a file was: unmoved DIR FILE.
func cmdUnmoved(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unmoved DIR FILE")
	}
	mark, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(mark.ModTime()) {
			err = fmt.Errorf("%q was written", path)
		}
		return err
	}))
}

// snapshot lists a tree: a line with kind, mode and path for each entry, the bytes of files quoted behind it.
func snapshot(dir string) (string, error) {
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().String()
		if runtime.GOOS == "windows" {
			mode = info.Mode().Type().String()
		}
		line := mode + " " + filepath.ToSlash(rel)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", text)
		}
		lines = append(lines, line)
		return nil
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n", err
}

// lola runs the command in this process, its child excepted, and returns what it printed.
func lola(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}
