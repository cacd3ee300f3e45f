package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/module"
)

// example returns a copy of examples/git-doctor: what Bazel lays out for a test are links, and links that lead out of a module
// are no part of it.
func example(t testing.TB) string {
	t.Helper()
	src, dst := filepath.FromSlash("../../examples/git-doctor"), filepath.Join(t.TempDir(), "git-doctor")
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
		return os.Chmod(to, exampleMode(rel))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

// trust is the argument of --trust for a module.
func trust(t testing.TB, dir string) string {
	t.Helper()
	m, err := module.Load(dir, abi.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	return grant.Trust{Name: m.Name, Digest: m.Digest}.String()
}

// exampleMode is the mode that Git gives the file: neither Bazel's copies nor a umask count.
func exampleMode(rel string) fs.FileMode {
	if filepath.Ext(rel) == ".sh" {
		return 0o755
	}
	return 0o644
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

// cmdTrustOf sets a variable to what --trust takes for a module: trustof VAR DIR.
func cmdTrustOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: trustof VAR DIR")
	}
	m, err := module.Load(ts.MkAbs(args[1]), abi.DefaultLimits())
	ts.Check(err)
	defer m.Close()
	ts.Setenv(args[0], grant.Trust{Name: m.Name, Digest: m.Digest}.String())
}

// cmdCapture sets a variable to what the group of an expression matched in a file, stdout and stderr included: capture VAR FILE
// REGEXP.
func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture VAR FILE REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[2])
	ts.Check(err)
	found := re.FindStringSubmatch(ts.ReadFile(args[1]))
	if len(found) != 2 {
		ts.Fatalf("%q is not in %s", args[2], args[1])
	}
	ts.Setenv(args[0], found[1])
}

// cmdReplace changes a file as a user would in an editor: replace FILE OLD NEW. OLD is in it just once; \n and its like are as
// in Go.
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	var texts [2]string
	for i, arg := range args[1:] {
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(arg, `"`, `\"`) + `"`)
		ts.Check(err)
		texts[i] = text
	}
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, texts[0]); n != 1 {
		ts.Fatalf("%q is %d times in %s", texts[0], n, args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, texts[0], texts[1], 1)), 0o644))
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
