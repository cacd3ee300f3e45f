package plantest_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan/plantest"
)

// appends is an edit that can be seen: a line that says what was asked.
func appends(in abi.Intent, old []byte, exists bool) ([]byte, error) {
	switch in := in.(type) {
	case abi.EditBlock:
		return append(old, "block "+in.ID+"\n"...), nil
	case abi.EditJSON:
		return append(old, "json "+in.Edits[0].At+"\n"...), nil
	}
	return nil, errors.New("no edit")
}

var effects = plantest.Effects{Edit: appends, Module: plantest.ModuleFiles}

// TestApply shows what each op does to a tree, and in which order.
func TestApply(t *testing.T) {
	before := map[string]string{"f": "f", "d/x": "x", "d/e/y": "y", "dd/z": "z"}
	for _, tt := range []struct {
		name string
		plan []abi.Intent
		want map[string]string // nil: an error
	}{
		{"nothing", nil, before},
		{"write", in(w("n/e/w")), map[string]string{"f": "f", "d/x": "x", "d/e/y": "y", "dd/z": "z", "n/e/w": "x"}},
		{"write again", in(w("f")), map[string]string{"f": "x", "d/x": "x", "d/e/y": "y", "dd/z": "z"}},
		{"delete a directory", in(del("d")), map[string]string{"f": "f", "dd/z": "z"}},
		{"delete a file", in(del("d/e/y")), map[string]string{"f": "f", "d/x": "x", "d/e/": "", "dd/z": "z"}},
		{"delete nothing", in(del("g/h")), before},
		{"delete what lies beneath a file", in(del("f/h")), before},
		{"delete and write in it", in(w("d/new"), del("d")), map[string]string{"f": "f", "dd/z": "z", "d/new": "x"}},
		{"delete and write deep in it", in(del("d"), w("d/e/f/g")), map[string]string{"f": "f", "dd/z": "z", "d/e/f/g": "x"}},
		{"delete a directory and write a file there", in(w("d"), del("d")), map[string]string{"f": "f", "dd/z": "z", "d": "x"}},
		{"delete a file and write in it", in(w("f/g"), del("f")), map[string]string{"f/g": "x", "d/x": "x", "d/e/y": "y", "dd/z": "z"}},
		{"rename a directory", in(mv("d", "n/d")), map[string]string{"f": "f", "n/d/x": "x", "n/d/e/y": "y", "dd/z": "z"}},
		{"rename a file onto another", in(mv("f", "d/x")), map[string]string{"d/x": "f", "d/e/y": "y", "dd/z": "z"}},
		{"rename to what is deleted", in(mv("dd", "d"), del("d")), map[string]string{"f": "f", "d/z": "z"}},
		{"rename into what is deleted", in(mv("f", "d/f"), del("d")), map[string]string{"d/f": "f", "dd/z": "z"}},
		{"rename the last file", in(mv("dd/z", "z")), map[string]string{"f": "f", "d/x": "x", "d/e/y": "y", "dd/": "", "z": "z"}},
		{"edit", in(set("f", "/a=1"), block("new", "b", "")), map[string]string{"f": "fjson /a\n", "d/x": "x", "d/e/y": "y", "dd/z": "z", "new": "block b\n"}},
		{"edit what is deleted", in(set("f", "/a=1"), del("f")), map[string]string{"f": "json /a\n", "d/x": "x", "d/e/y": "y", "dd/z": "z"}},
		{"two edits of one file", in(set("f", "/a=1"), set("f", "/b=1")), map[string]string{"f": "fjson /a\njson /b\n", "d/x": "x", "d/e/y": "y", "dd/z": "z"}},
		{"a module file", in(abi.Write{Path: "f", Mode: 0o644, Module: "skills/m/more.md"}),
			map[string]string{"f": "module file 2", "d/x": "x", "d/e/y": "y", "dd/z": "z"}},
		{"a module file that is not there", in(abi.Write{Path: "f", Mode: 0o644, Module: "no"}), nil},
		{"write over a directory", in(w("d")), nil},
		{"write beneath a file", in(w("f/x")), nil},
		{"edit a directory", in(set("d", "/a=1")), nil},
		{"rename what is absent", in(mv("no", "n")), nil},
		{"rename over a directory", in(mv("f", "d")), nil},
		{"rename a directory over a file", in(mv("d", "f")), nil},
		{"rename beneath a file", in(mv("d", "f/d")), nil},
		{"fetch", in(fetch("x")), nil},
		{"clone", in(clone("x")), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := plantest.Files(before)
			got, err := tree.Apply(plans(tt.plan, tt.plan), effects) // by two owners
			if diff := plantest.Diff(tree, plantest.Files(before)); diff != "" {
				t.Fatalf("Apply changed the tree itself:\n%s", diff)
			}
			if tt.want == nil {
				if err == nil {
					t.Fatalf("Apply makes %v, want an error", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := plantest.Diff(got, plantest.Files(tt.want)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// TestApplyKeepsModes: a write sets the mode, an edit and a rename keep it.
func TestApplyKeepsModes(t *testing.T) {
	tree := plantest.Tree{"d": {Dir: true, Mode: 0o750}, "d/x": {Mode: 0o755}, "e": {Mode: 0o600}, "w": {Mode: 0o777}}
	got, err := tree.Apply(plans(in(mv("d", "m"), set("e", "/a=1"), w("w"), w("new"), block("b", "a", "x"))), effects)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]abi.Mode{"m": 0o750, "m/x": 0o755, "e": 0o600, "w": 0o644, "new": 0o644, "b": 0o644} {
		if n, ok := got[p]; !ok || n.Mode != want {
			t.Errorf("%s: %v, want the mode %04o", p, n, want)
		}
	}
}

// TestApplyIsOfASet applies plans without conflicts in two orders: the model of conflicts lets nothing pass whose result
// depends on the order of intents. Values that join one array are left to their order, so each edit here is marked by
// itself and the marks are compared as a set.
func TestApplyIsOfASet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	marks := func(_ abi.Intent, old []byte, _ bool) ([]byte, error) { return append(old, '+'), nil }
	effects := plantest.Effects{Edit: marks, Module: plantest.ModuleFiles}
	applied := 0
	for range 20000 {
		proposals := plantest.Proposals(plantest.FromRand(rnd), plantest.TargetOps)
		if len(plantest.Conflicts(proposals)) > 0 {
			continue
		}
		before := plantest.Sources(proposals)
		shuffled := make([][]abi.Intent, len(proposals))
		for p, i := range rnd.Perm(len(proposals)) {
			for _, k := range rnd.Perm(len(proposals[i])) {
				shuffled[p] = append(shuffled[p], proposals[i][k])
			}
		}
		a, errA := before.Apply(proposals, effects)
		b, errB := before.Apply(shuffled, effects)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%+v: %v, in another order %v", proposals, errA, errB)
		}
		if errA != nil {
			continue
		}
		applied++
		if diff := plantest.Diff(a, b); diff != "" {
			t.Fatalf("%+v: the order of intents counts:\n%s", proposals, diff)
		}
	}
	if applied < 2000 {
		t.Errorf("%d plans were applied", applied)
	}
}

// TestReadWrite puts trees on disk and reads them again.
func TestReadWrite(t *testing.T) {
	tree := plantest.Tree{
		"d": {Dir: true, Mode: 0o755}, "d/empty": {Dir: true, Mode: 0o755}, "d/f": {Mode: 0o644, Data: []byte("f\r\n\x00")},
		"a b": {Mode: 0o644}, "\u00e9": {Mode: 0o644, Data: []byte("x")},
	}
	if plantest.Diff(plantest.Tree{"f": {Mode: 0o644}}, plantest.Tree{"f": {Mode: 0o600}}) != "" { // not on Windows
		tree["closed"] = plantest.Node{Dir: true, Mode: 0o500}
		tree["closed/run"] = plantest.Node{Mode: 0o751, Data: []byte("#!\n")}
	}
	dir := t.TempDir()
	if err := tree.Write(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(filepath.Join(dir, "closed"), 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	got, err := plantest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := plantest.Diff(got, tree); diff != "" {
		t.Fatal(diff)
	}
	if _, err := plantest.Read(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading what is absent: %v", err)
	}
	if err := os.Symlink("a b", filepath.Join(dir, "link")); err != nil {
		t.Logf("no symlinks here: %v", err)
		return
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Logf("symlinks are something else here: %v, %v", info, err)
		return
	}
	if got, err := plantest.Read(dir); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("reading a link: %v, %v", got, err)
	}
}

// TestDiff names each path that differs.
func TestDiff(t *testing.T) {
	got := plantest.Diff(plantest.Files(map[string]string{"a": "1", "b": "2", "c": "3", "e/f": ""}), plantest.Files(map[string]string{"b": "2", "c": "4", "d": "5", "e": ""}))
	want := `"a" is there: a file of mode 0644, "1"
"c" is a file of mode 0644, "3", want a file of mode 0644, "4"
"d" is missing: a file of mode 0644, "5"
"e" is a directory of mode 0755, want a file of mode 0644, ""
"e/f" is there: a file of mode 0644, ""
`
	if got != want {
		t.Errorf("Diff = %s\nwant %s", got, want)
	}
	if d := plantest.Diff(nil, nil); d != "" {
		t.Errorf("Diff of nothing = %q", d)
	}
}
