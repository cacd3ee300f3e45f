package host_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exhaustiveVariable makes the tests of this package that take a sample every day try everything.
const exhaustiveVariable = "LOLA_TEST_EXHAUSTIVE"

func exhaustive() bool { return os.Getenv(exhaustiveVariable) != "" }

// facts is what lies in a directory: by path, all that can be told of it.
type facts map[string]string

// factsOf takes it down; with times, when each was last written too.
func factsOf(t testing.TB, dir string, times bool) facts {
	t.Helper()
	f := facts{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %q", text)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			what += " -> " + to
		}
		if times {
			what += info.ModTime().Format(" 15:04:05.000000000")
		}
		rel, err := filepath.Rel(dir, p)
		f[rel] = what
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// madeDirs are directories that the plan makes. They go when they are empty, and what somebody moves away at that instant
// stays until the next change looks for it.
var madeDirs = []string{".guest/fresh", ".guest/fresh/a", ".guest/to"}

// differs lists the differences, those beneath the ignored paths left out, and empty directories of the plan's own.
func (f facts) differs(want facts, ignored ...string) string {
	var b strings.Builder
	all := maps.Clone(want)
	maps.Copy(all, f)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(ignored, func(dir string) bool { return dir != "" && (p == dir || strings.HasPrefix(p, dir+"/")) }) {
			continue
		}
		if slices.Contains(madeDirs, p) && len(ignored) > 0 && strings.HasPrefix(f[p]+want[p], "d") && (f[p] == "" || want[p] == "") {
			continue
		}
		if f[p] != want[p] {
			fmt.Fprintf(&b, "\n  %q is %.90s, want %.90s", p, f[p], want[p])
		}
	}
	return b.String()
}
