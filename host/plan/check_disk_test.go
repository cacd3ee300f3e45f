package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// TestZeroChecked: what nobody checked does nothing.
func TestZeroChecked(t *testing.T) {
	var c plan.Checked
	if c.Root() != nil || c.Steps() != nil || c.Changes() != 0 {
		t.Errorf("the zero Checked has root %v and %d steps", c.Root(), len(c.Steps()))
	}
}

// TestSteps holds each step to what lies in the root, and Check to changing nothing there.
func TestSteps(t *testing.T) {
	r := openTree(t, map[string]string{"same": "same", "other": "old", "gone": "gone", "dir/": ""})
	before := list(t, r.Path())
	got := steps(t, r, limits(t, abi.Limits{}), installs(t, "x",
		write("same", "same"), write("other", "new"), write("dir/fresh", "fresh"), abi.Delete{Path: "gone"}, abi.Delete{Path: "absent"}, abi.Delete{Path: "no/where"}))
	want := []struct {
		path           string
		action         plan.Action
		before, after  string
		exists, writes bool
	}{
		{"dir/fresh", plan.Create, "", "fresh", false, true},
		{"gone", plan.Remove, "gone", "", true, false},
		{"other", plan.Update, "old", "new", true, true},
		{"same", plan.Keep, "same", "same", true, true},
	}
	if len(got) != len(want) {
		t.Fatalf("%d steps, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		s := got[i]
		if s.Path != w.path || s.Action != w.action || s.Before.Exists != w.exists || (s.Content != nil) != w.writes {
			t.Errorf("step %d is %+v, want %+v", i, s, w)
		}
		if w.exists && (s.Before.Digest != abi.DigestOf([]byte(w.before)) || s.Before.Size != int64(len(w.before))) {
			t.Errorf("step %q saw %+v before, want %q", s.Path, s.Before, w.before)
		}
		if w.writes && s.Content.Digest() != abi.DigestOf([]byte(w.after)) {
			t.Errorf("step %q has other content than %q", s.Path, w.after)
		}
	}
	if after := list(t, r.Path()); after != before {
		t.Errorf("Check changed the tree from %q to %q", before, after)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil {
			all += p + "\n"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStepsAreTheCallers: a caller that spoils its slice spoils nobody else's.
func TestStepsAreTheCallers(t *testing.T) {
	r := openTree(t, map[string]string{"a": "old"})
	c, err := plan.Check(r, plan.Options{Limits: limits(t, abi.Limits{})}, installs(t, "x", write("a", "old"), write("b", "")))
	if err != nil {
		t.Fatal(err)
	}
	c.Steps()[0].Path = "../outside"
	if got := c.Steps()[0].Path; got != "a" {
		t.Errorf("the step's path became %q", got)
	}
	if c.Changes() != 1 {
		t.Errorf("%d changes, want 1: keeping is none", c.Changes())
	}
}

// TestModuleFiles: a write may copy a file of the module, and of nothing else.
func TestModuleFiles(t *testing.T) {
	r := openTree(t, map[string]string{"here": "x"})
	lim := limits(t, abi.Limits{})
	module := moduleFiles{"skills/x/SKILL.md": "text", "": "the empty name"}
	for _, tt := range []struct {
		module plan.ModuleFiles
		in     abi.Write
		ok     bool
	}{
		{module, abi.Write{Path: "a", Mode: 0o644, Module: "skills/x/SKILL.md"}, true},
		{module, abi.Write{Path: "a", Mode: 0o644, Module: "skills/x/skill.md"}, false},
		{module, abi.Write{Path: "a", Mode: 0o644, Module: "./skills/x/SKILL.md"}, false},
		{module, abi.Write{Path: "a", Mode: 0o644, Module: "/etc/passwd"}, false},
		{module, abi.Write{Path: "a", Mode: 0o644, Module: "here"}, false},
		{module, abi.Write{Path: "a", Mode: 0o644}, false},
		{nil, abi.Write{Path: "a", Mode: 0o644, Module: "skills/x/SKILL.md"}, false},
	} {
		p := installs(t, "x", tt.in)
		p.Module = tt.module
		found := findings(t, r, lim, p)
		if (found == nil) != tt.ok || !tt.ok && !hasRule(found, plan.RuleModuleFile) {
			t.Errorf("module %v, write %+v: found %v, want it accepted: %v", tt.module, tt.in, rulesOf(found), tt.ok)
		}
	}
}

// TestExpect: the precondition of a write is held against what is there.
func TestExpect(t *testing.T) {
	r := openTree(t, map[string]string{"f": "old", "parent": "old"})
	lim := limits(t, abi.Limits{})
	old, other := abi.DigestOf([]byte("old")), abi.DigestOf([]byte("other"))
	for _, tt := range []struct {
		path   string
		expect abi.Expect
		ok     bool
	}{
		{"f", abi.Expect{}, true}, {"f", abi.Expect{Absent: true}, false}, {"f", abi.Expect{Digest: &old}, true}, {"f", abi.Expect{Digest: &other}, false},
		{"new", abi.Expect{}, true}, {"new", abi.Expect{Absent: true}, true}, {"new", abi.Expect{Digest: &old}, false},
		{"no/parent", abi.Expect{Absent: true}, true}, {"no/parent", abi.Expect{Digest: &old}, false},
		{"parent/new", abi.Expect{Absent: true}, true}, {"parent/new", abi.Expect{Digest: &old}, false},
	} {
		w := write(tt.path, "new")
		w.Expect = tt.expect
		found := findings(t, r, lim, installs(t, "x", w, abi.Delete{Path: "parent"}))
		if (found == nil) != tt.ok || !tt.ok && !hasRule(found, plan.RuleExpect) {
			t.Errorf("%q expecting %+v: found %v, want it accepted: %v", tt.path, tt.expect, rulesOf(found), tt.ok)
		}
	}
	// A file that was kept as it is must meet the expectation too.
	w := write("f", "old")
	w.Expect = abi.Expect{Absent: true}
	if found := findings(t, r, lim, installs(t, "x", w)); !hasRule(found, plan.RuleExpect) {
		t.Errorf("the same bytes, expected absent: found %v, want %q", rulesOf(found), plan.RuleExpect)
	}
}

// TestInTheWay: a file where a directory is needed and the other way round, unless the file goes in the same plan under
// exactly that name: another spelling may be another file.
func TestInTheWay(t *testing.T) {
	lim := limits(t, abi.Limits{})
	for _, tt := range []struct {
		name string
		in   []abi.Intent
		rule string
	}{
		{"a file for a parent", []abi.Intent{write("file/x", "")}, plan.RuleInTheWay},
		{"a file far up", []abi.Intent{write("dir/file/x/y/z", "")}, plan.RuleInTheWay},
		{"a directory for the file", []abi.Intent{write("dir", "")}, plan.RuleInTheWay},
		{"the file goes", []abi.Intent{write("file/x", ""), abi.Delete{Path: "file"}}, ""},
		{"the file goes, deep", []abi.Intent{write("dir/file/x/y", ""), abi.Delete{Path: "dir/file"}}, ""},
		{"another spelling goes", []abi.Intent{write("file/x", ""), abi.Delete{Path: "FILE"}}, plan.RuleSamePath},
		{"another file goes", []abi.Intent{write("file/x", ""), abi.Delete{Path: "dir/file"}}, plan.RuleInTheWay},
		{"deleting beneath a file", []abi.Intent{abi.Delete{Path: "file/x"}}, ""},
		{"deleting a directory", []abi.Intent{abi.Delete{Path: "dir"}}, ""},
		{"a directory that goes", []abi.Intent{write("dir", ""), abi.Delete{Path: "dir"}}, ""},
		{"an edit of a directory", []abi.Intent{abi.EditJSON{Path: "dir", Edits: []abi.JSONEdit{{At: "/x"}}}}, plan.RuleInTheWay},
		{"a rename beneath a file", []abi.Intent{abi.Rename{From: "dir", To: "file/x"}}, plan.RuleInTheWay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, map[string]string{"file": "x", "dir/file": "y"})
			found := findings(t, r, lim, installs(t, "x", tt.in...))
			if tt.rule == "" && found != nil || tt.rule != "" && !hasRule(found, tt.rule) {
				t.Errorf("found %+v, want %q", found, tt.rule)
			}
		})
	}
}

// TestP23NewEntries: every entry that is made counts, each parent once, and what is there does not.
func TestP23NewEntries(t *testing.T) {
	r := openTree(t, map[string]string{"there/is/file": "x"})
	for _, tt := range []struct {
		in      []abi.Intent
		entries int
	}{
		{[]abi.Intent{write("a", "")}, 1},
		{[]abi.Intent{write("a/b/c", "")}, 3},
		{[]abi.Intent{write("a/b/c", ""), write("a/b/d", ""), write("a/e", "")}, 5},
		{[]abi.Intent{write("there/is/new", "")}, 1},
		{[]abi.Intent{write("there/is/file", "y")}, 0},
		{[]abi.Intent{write("there/is/not/much", ""), write("there/b", "")}, 3},
	} {
		if found := findings(t, r, limits(t, abi.Limits{NewEntries: max(tt.entries, 1)}), installs(t, "x", tt.in...)); found != nil {
			t.Errorf("%v with room for %d: found %v, want it accepted", tt.in, tt.entries, rulesOf(found))
		}
		if tt.entries < 2 {
			continue
		}
		if found := findings(t, r, limits(t, abi.Limits{NewEntries: tt.entries - 1}), installs(t, "x", tt.in...)); !hasRule(found, plan.RuleNewEntries) {
			t.Errorf("%v with room for %d: found %v, want %q", tt.in, tt.entries-1, rulesOf(found), plan.RuleNewEntries)
		}
	}
	if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", write("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2/3/4/5/6/7", ""))); !hasRule(found, plan.RulePathDepth) {
		t.Errorf("33 components: found %v, want %q", rulesOf(found), plan.RulePathDepth)
	}
}

// TestOverwritesAnySize: a file that is written over is only hashed, whatever its size; one that is edited is held in memory
// and must keep to the limit.
func TestOverwritesAnySize(t *testing.T) {
	old := strings.Repeat("{}\n", 100)
	r := openTree(t, map[string]string{"f.json": old})
	lim := limits(t, abi.Limits{Content: 64})
	c, err := plan.Check(r, plan.Options{Limits: lim}, installs(t, "x", write("f.json", "new")))
	if err != nil || len(c.Steps()) != 1 || c.Steps()[0].Before.Digest != abi.DigestOf([]byte(old)) {
		t.Errorf("a write over %d bytes: %v, %+v", len(old), err, c.Steps())
	}
	if found := findings(t, r, lim, installs(t, "x", set("f.json", "/a", "b"))); !hasRule(found, plan.RuleUnreadable) {
		t.Errorf("an edit of %d bytes: found %v, want %q", len(old), rulesOf(found), plan.RuleUnreadable)
	}
}
