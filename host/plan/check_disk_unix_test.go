//go:build unix

package plan_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// linkHere puts a symlink to a directory outside at "link".
func linkHere(t *testing.T, r *root.Root) bool {
	t.Helper()
	if err := os.Symlink(t.TempDir(), filepath.Join(r.Path(), "link")); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestLinksInTheWay is P01 and P05 as far as Unix has them: links at any component and at the end, dangling ones, loops,
// links that stay inside, and what is no file at all. Nothing of it is followed, opened or waited for.
func TestLinksInTheWay(t *testing.T) {
	r := openTree(t, map[string]string{"real/file": "x", "deep/er/": ""})
	outside := t.TempDir()
	at := func(p string) string { return filepath.Join(r.Path(), p) }
	for link, target := range map[string]string{
		"out": outside, "inside": "real", "dangling": "nowhere", "loop": "loop", "deep/up": "..", "deep/er/root": "/", "flink": "real/file", "dotted": "./real/.",
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	lim := limits(t, abi.Limits{})
	for _, path := range []string{
		"out", "out/x", "out/x/y/z", "inside", "inside/file", "dangling", "dangling/x", "loop", "loop/x", "deep/up", "deep/up/real/file",
		"deep/er/root/etc/passwd", "flink", "flink/x", "dotted/file", "fifo", "fifo/x",
	} {
		for _, in := range []abi.Intent{write(path, "x"), abi.Delete{Path: path}} {
			if found := findings(t, r, lim, installs(t, "x", in)); !hasRule(found, plan.RuleLink) {
				t.Errorf("%s %q: found %v, want %q", in.Op(), path, rulesOf(found), plan.RuleLink)
			}
		}
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) != 0 {
		t.Errorf("the link's target holds %v, want nothing", names)
	}
}

// TestModesCount: the same bytes with another mode are another file.
func TestModesCount(t *testing.T) {
	r := openTree(t, map[string]string{"a": "x"})
	lim := limits(t, abi.Limits{})
	for mode, want := range map[abi.Mode]plan.Action{0o644: plan.Keep, 0o755: plan.Update, 0: plan.Update, 0o777: plan.Update} {
		got := steps(t, r, lim, installs(t, "x", abi.Write{Path: "a", Mode: mode, Content: abi.Bytes("x")}))
		if len(got) != 1 || got[0].Action != want || got[0].Mode != mode || got[0].Before.Mode != 0o644 {
			t.Errorf("mode %s: %+v, want %q", mode, got, want)
		}
	}
}
