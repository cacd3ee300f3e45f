package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
)

// outline is the steps as "action path owners", with what a step says beyond that in brackets.
func outline(steps []plan.Step) string {
	var all []string
	for _, s := range steps {
		line := fmt.Sprintf("%s %s", s.Action, s.Path)
		if s.To != "" {
			line += " to " + s.To
		}
		if s.Dir {
			var nodes []string
			for _, n := range s.Tree {
				nodes = append(nodes, n.Path)
			}
			line += fmt.Sprintf(" [%s]", strings.Join(nodes, " "))
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

// TestDirectories: what a delete or a rename of a directory comes to, alone and with other intents.
func TestDirectories(t *testing.T) {
	files := map[string]string{"d/a": "a", "d/e/b": "b", "d/empty/": "", "f": "f", "x/y": "y"}
	del := func(p string) abi.Intent { return abi.Delete{Path: p} }
	mv := func(from, to string) abi.Intent { return abi.Rename{From: from, To: to} }
	same := []abi.Intent{write("d/a", "a"), write("d/e/b", "b"), del("d")}
	for _, tt := range []struct {
		name string
		in   []abi.Intent
		want string
	}{
		{"a directory goes", []abi.Intent{del("d")}, "remove d [a e e/b empty]"},
		{"and what lies in it", []abi.Intent{del("d"), del("d/a"), del("d/e"), del("d/none")}, "remove d [a e e/b empty]"},
		{"a file in it comes back", []abi.Intent{del("d"), write("d/a", "a")}, "remove d [a e e/b empty]; create d/a"},
		{"something new comes", []abi.Intent{del("d"), write("d/e/new", "")}, "remove d [a e e/b empty]; create d/e/new"},
		{"a file takes its place", []abi.Intent{del("d"), write("d", "")}, "remove d [a e e/b empty]; create d"},
		{"an edit takes its place", []abi.Intent{del("d"), set("d", "/x", int64(1))}, "remove d [a e e/b empty]; create d"},
		{"it is filled as it was, but for an empty one", same, "remove d [a e e/b empty]; create d/a; create d/e/b"},
		{"a directory moves", []abi.Intent{mv("d", "n/m")}, "move d to n/m [a e e/b empty]"},
		{"a file moves", []abi.Intent{mv("f", "g")}, "move f to g"},
		{"to where a file goes", []abi.Intent{mv("f", "x/y"), del("x/y")}, "move f to x/y; remove x/y"},
		{"to where a directory goes", []abi.Intent{mv("f", "d"), del("d")}, "remove d [a e e/b empty]; move f to d"},
		{"beneath where a directory goes", []abi.Intent{mv("f", "d/a"), del("d")}, "remove d [a e e/b empty]; move f to d/a"},
		{"beneath where a file goes", []abi.Intent{mv("d", "f/g"), del("f")}, "move d to f/g [a e e/b empty]; remove f"},
		{"beside what is written", []abi.Intent{mv("f", "n/g"), write("n/h", "")}, "move f to n/g; create n/h"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, files)
			before := list(t, r.Path())
			if got := outline(byPath(steps(t, r, limits(t, abi.Limits{}), installs(t, "x", tt.in...)))); got != byText(tt.want) {
				t.Errorf("the steps are %q, want %q", got, tt.want)
			}
			if list(t, r.Path()) != before {
				t.Error("Check changed the tree")
			}
		})
	}
}

// byPath checks that the steps are sorted as documented and returns them.
func byPath(all []plan.Step) []plan.Step {
	if !slices.IsSortedFunc(all, func(a, b plan.Step) int { return strings.Compare(a.Path, b.Path) }) {
		return nil
	}
	return all
}

// byText sorts the steps of an outline by path, a removal first.
func byText(want string) string {
	all := strings.Split(want, "; ")
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) })
	return strings.Join(all, "; ")
}

// TestRemovedThenWrittenBefore: what is written beneath a directory that goes finds nothing there; what is written over a
// file that goes finds the file.
func TestRemovedThenWrittenBefore(t *testing.T) {
	r := openTree(t, map[string]string{"d/a": "a", "f": "f"})
	got := steps(t, r, limits(t, abi.Limits{}), installs(t, "x", abi.Delete{Path: "d"}, write("d/a", "new"), abi.Delete{Path: "f"}, write("f", "new")))
	for _, s := range got {
		if want := s.Action != plan.Create; s.Before.Exists != want {
			t.Errorf("%s %s saw %+v before", s.Action, s.Path, s.Before)
		}
		for _, n := range s.Tree {
			if n.Path == "a" && n.Digest != abi.DigestOf([]byte("a")) {
				t.Errorf("the tree of %q has another digest for %q", s.Path, n.Path)
			}
		}
	}
	if outline(got) != "remove d [a]; create d/a; update f" {
		t.Errorf("the steps are %q", outline(got))
	}
}

// TestM06FilledAsItWas: a directory that is deleted and filled with what it holds already does not change.
func TestM06FilledAsItWas(t *testing.T) {
	r := openTree(t, map[string]string{"d/a": "a", "d/e/b": "b"})
	lim := limits(t, abi.Limits{})
	in := []abi.Intent{abi.Delete{Path: "d"}, write("d/a", "a"), write("d/e/b", "b")}
	if got := steps(t, r, lim, installs(t, "x", in...)); outline(got) != "keep d/a; keep d/e/b" || !got[0].Before.Exists || got[0].Before.Digest != abi.DigestOf([]byte("a")) {
		t.Errorf("the steps are %q (%+v), want two that keep what is there", outline(got), got)
	}
	for name, in := range map[string][]abi.Intent{
		"less": in[:2], "more": append(slices.Clone(in), write("d/c", "")), "other bytes": {in[0], in[1], write("d/e/b", "c")},
		"another mode": {in[0], in[1], abi.Write{Path: "d/e/b", Mode: 0o600, Content: abi.Bytes("b")}},
	} {
		if name == "another mode" && plan.SameMode(0o644, 0o600) {
			continue // this system keeps no modes
		}
		if got := steps(t, r, lim, installs(t, "x", in...)); got[0].Action != plan.Remove {
			t.Errorf("%s: the steps are %q, want the directory to go", name, outline(got))
		}
	}
}

// TestRenames: both ends are touched, one end may not lie in the other, and what is there must go by the same plan.
func TestRenames(t *testing.T) {
	mv := func(from, to string) abi.Intent { return abi.Rename{From: from, To: to} }
	for _, tt := range []struct {
		name string
		in   []abi.Intent
		rule string
	}{
		{"nothing there", []abi.Intent{mv("none", "b")}, plan.RuleRenameSource},
		{"nothing there, beneath a file", []abi.Intent{mv("f/none", "b")}, plan.RuleRenameSource},
		{"a file in the way", []abi.Intent{mv("f", "g")}, plan.RuleRenameTarget},
		{"a directory in the way", []abi.Intent{mv("f", "d")}, plan.RuleRenameTarget},
		{"an empty directory in the way", []abi.Intent{mv("d", "empty")}, plan.RuleRenameTarget},
		{"only a part goes", []abi.Intent{mv("f", "d"), abi.Delete{Path: "d/a"}}, plan.RuleNestedPath},
		{"itself", []abi.Intent{mv("f", "f")}, plan.RuleSamePath},
		{"itself but for case", []abi.Intent{mv("f", "F")}, plan.RuleSamePath},
		{"into itself", []abi.Intent{mv("d", "d/e/n")}, plan.RuleNestedPath},
		{"into itself by another spelling", []abi.Intent{mv("d", "D/n")}, plan.RuleNestedPath},
		{"to where it lies", []abi.Intent{mv("d/a", "d")}, plan.RuleNestedPath},
		{"a swap", []abi.Intent{mv("f", "g"), mv("g", "f")}, plan.RuleSamePath},
		{"a chain", []abi.Intent{mv("f", "n"), mv("n", "m")}, plan.RuleSamePath},
		{"a write beneath the new path", []abi.Intent{mv("d", "n"), write("n/x", "")}, plan.RuleNestedPath},
		{"a write beneath the old path", []abi.Intent{mv("d", "n"), write("d/x", "")}, plan.RuleNestedPath},
		{"a write at the old path", []abi.Intent{mv("f", "n"), write("f", "")}, plan.RuleSamePath},
		{"an edit of what moves", []abi.Intent{mv("f", "n"), set("f", "/x", nil)}, plan.RuleSamePath},
		{"a delete of what moves", []abi.Intent{mv("f", "n"), abi.Delete{Path: "f"}}, plan.RuleSamePath},
		{"a delete above what moves", []abi.Intent{mv("d/a", "n"), abi.Delete{Path: "d"}}, plan.RuleNestedPath},
		{"a delete beneath what moves", []abi.Intent{mv("d", "n"), abi.Delete{Path: "d/a"}}, plan.RuleNestedPath},
		{"a delete of another spelling at the new path", []abi.Intent{mv("f", "g"), abi.Delete{Path: "G"}}, plan.RuleSamePath},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, map[string]string{"f": "f", "g": "g", "d/a": "a", "empty/": ""})
			found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", tt.in...))
			if !hasRule(found, tt.rule) {
				t.Errorf("found %+v, want %q", found, tt.rule)
			}
			if tt.rule == plan.RuleRenameSource || tt.rule == plan.RuleRenameTarget || len(tt.in) == 1 {
				return
			}
			// In two plans it is no better.
			if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", tt.in[0]), installs(t, "y", tt.in[1:]...)); !hasRule(found, tt.rule) {
				t.Errorf("in two plans: found %+v, want %q", found, tt.rule)
			}
		})
	}
}

// TestOneIntentOfSeveral: equal intents of several plans are one step that all of them own, whatever the op; in one plan
// they are a conflict, but for deletes.
func TestOneIntentOfSeveral(t *testing.T) {
	files := map[string]string{"d/a": "a", "e.json": `{"x": 1}`}
	for _, in := range []abi.Intent{
		write("w", "w"), abi.Delete{Path: "d"}, abi.Delete{Path: "d/a"}, abi.Rename{From: "d", To: "n"}, set("e.json", "/y", int64(1)),
		abi.EditBlock{Path: "e.md", ID: "b", Text: ptr("text\n")},
	} {
		r := openTree(t, files)
		lim := limits(t, abi.Limits{})
		got := steps(t, r, lim, installs(t, "a", in), installs(t, "b", in), installs(t, "c", in))
		if len(got) != 1 || !slices.Equal(got[0].Owners, []string{"a", "b", "c"}) {
			t.Errorf("%+v of three plans: %+v, want one step of three owners", in, got)
		}
		_, deletes := in.(abi.Delete)
		if found := findings(t, r, lim, installs(t, "a", in, in)); (found == nil) != deletes {
			t.Errorf("%+v twice in one plan: found %v", in, rulesOf(found))
		}
		if found := findings(t, r, lim, installs(t, "a", in), installs(t, "b", in, in)); (found == nil) != deletes {
			t.Errorf("%+v once, then twice in another plan: found %v", in, rulesOf(found))
		}
	}
}

func ptr(s string) *string { return &s }

// TestP18EveryFileOfADirectory: what goes or moves with a directory is judged file by file, at its old path and at its new
// one.
func TestP18EveryFileOfADirectory(t *testing.T) {
	files := map[string]string{
		"tpl/settings.json": "{}", "tpl/skills/x/SKILL.md": "", ".github/workflows/ci.yml": "", ".github/prompts/a.prompt.md": "", "docs/a.md": "", "docs/sub/b.txt": "",
		"hooks/empty/": "", "repo/.git/config": "", "repo/a": "", "stage/.lola-stage-1/x": "", "two/a/.hg/x": "",
	}
	writes := func(globs ...string) grant.Set { return granted(t, grant.Rights{Writes: globs}) }
	for _, tt := range []struct {
		name  string
		in    abi.Intent
		grant grant.Set
		rule  string
	}{
		{"a template becomes settings", abi.Rename{From: "tpl", To: ".claude"}, writes("**"), plan.RuleGuarded},
		{"by another case", abi.Rename{From: "tpl", To: ".Claude"}, writes("**"), plan.RuleGuarded},
		{"granted by name", abi.Rename{From: "tpl", To: ".claude"}, writes("**", ".claude/settings.json"), ""},
		{"to a harmless place", abi.Rename{From: "tpl", To: "tmpl"}, writes("**"), ""},
		{"workflows vanish", abi.Delete{Path: ".github"}, writes("**"), plan.RuleGuarded},
		{"granted by name to vanish", abi.Delete{Path: ".github"}, writes("**", ".github/workflows/ci.yml"), ""},
		{"workflows move away", abi.Rename{From: ".github", To: "old"}, writes("**"), plan.RuleGuarded},
		{"a part that is not granted", abi.Delete{Path: "docs"}, writes("docs", "docs/**/*.md"), plan.RuleNotGranted},
		{"all parts granted", abi.Delete{Path: "docs"}, writes("docs", "docs/**/*.md", "docs/**/*.txt"), ""},
		{"the new place is not granted", abi.Rename{From: "docs", To: "n"}, writes("docs/**", "n", "n/*.md"), plan.RuleNotGranted},
		{"both places granted", abi.Rename{From: "docs", To: "n"}, writes("docs/**", "n/**"), ""},
		{"an empty directory that is not granted", abi.Delete{Path: "hooks"}, writes("hooks"), plan.RuleNotGranted},
		{"a repository in it goes", abi.Delete{Path: "repo"}, writes("**"), plan.RulePathVCS},
		{"a repository in it moves", abi.Rename{From: "two", To: "n"}, writes("**"), plan.RulePathVCS},
		{"staging in it", abi.Delete{Path: "stage"}, writes("**"), plan.RulePathStaging},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, files)
			p := installs(t, "x", tt.in)
			p.Grant = tt.grant
			found := findings(t, r, limits(t, abi.Limits{}), p)
			if tt.rule == "" && found != nil || tt.rule != "" && (len(found) != 1 || found[0].Rule != tt.rule) {
				t.Errorf("found %+v, want %q", found, tt.rule)
			}
		})
	}
	r := openTree(t, files)
	for _, dest := range []string{".vscode", "a/.vscode", ".github/x", ".claude/skills"} {
		p := gets(t, abi.Clone{Repo: "https://example.com/r", Ref: "main", Dest: dest})
		p.Destination = dest
		if found := findings(t, r, limits(t, abi.Limits{}), p); !hasRule(found, plan.RuleGuarded) {
			t.Errorf("cloned into %q: found %v, want %q", dest, rulesOf(found), plan.RuleGuarded)
		}
	}
}

// TestGuardedIsShown: what is guarded and granted stands in the step, each path of a tree and both ends of a rename.
func TestGuardedIsShown(t *testing.T) {
	r := openTree(t, map[string]string{"tpl/settings.json": "{}", ".mcp.json": "{}"})
	p := installs(t, "x", abi.Rename{From: "tpl", To: ".claude"}, set(".mcp.json", "/x", int64(1)))
	p.Grant = granted(t, grant.Rights{Writes: []string{"tpl/**", ".claude/**", ".claude/settings.json", ".mcp.json"}})
	var paths []string
	for _, s := range steps(t, r, limits(t, abi.Limits{}), p) {
		for _, g := range s.Guarded {
			if g.Why == "" {
				t.Errorf("%q is shown without a reason", g.Path)
			}
			paths = append(paths, g.Path)
		}
	}
	if !slices.Equal(paths, []string{".mcp.json", ".claude/settings.json"}) {
		t.Errorf("%q are shown as guarded", paths)
	}
	// What stays as it is does not appear.
	p = installs(t, "x", write(".mcp.json", "{}"))
	p.Grant = granted(t, grant.Rights{Writes: []string{".mcp.json"}})
	if got := steps(t, r, limits(t, abi.Limits{}), p); got[0].Action != plan.Keep || got[0].Guarded != nil {
		t.Errorf("%+v, want it kept and not shown", got[0])
	}
}

// TestP14GuardedPaths: what other programs obey needs its own name in the grant, for every op that touches it, and in user
// scope too. A repository's own folder is refused whatever is granted.
func TestP14GuardedPaths(t *testing.T) {
	r := openTree(t, map[string]string{".mcp.json": "{}", "settings.json": "{}", "x": ""})
	for _, path := range []string{".mcp.json", ".claude/settings.json", ".vscode/tasks.json", ".envrc", ".MCP.json"} {
		for _, in := range []abi.Intent{
			write(path, ""), set(path, "/x", nil), abi.EditBlock{Path: path, ID: "x"}, abi.Delete{Path: path}, abi.Rename{From: "x", To: path}, abi.Rename{From: path, To: "y"},
		} {
			if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", in)); !hasRule(found, plan.RuleGuarded) {
				t.Errorf("%s %q: found %v, want %q", in.Op(), path, rulesOf(found), plan.RuleGuarded)
			}
			p := installs(t, "x", in)
			p.Grant = granted(t, grant.Rights{Writes: []string{path, "x", "y"}})
			if found := findings(t, r, limits(t, abi.Limits{}), p); hasRule(found, plan.RuleGuarded) || hasRule(found, plan.RuleNotGranted) {
				t.Errorf("%s %q granted by name: found %v", in.Op(), path, rulesOf(found))
			}
		}
	}
	hook := installs(t, "x", write(".git/hooks/post-checkout", ""))
	hook.Grant = granted(t, grant.Rights{Writes: []string{".git/hooks/post-checkout"}})
	if found := findings(t, r, limits(t, abi.Limits{}), hook); !hasRule(found, plan.RulePathVCS) {
		t.Errorf("a hook of git granted by name: found %v, want %q", rulesOf(found), plan.RulePathVCS)
	}
	user := plan.Options{Limits: limits(t, abi.Limits{}), Folder: ".claude"}
	if found := findingsWith(t, r, user, installs(t, "x", write("settings.json", ""))); !hasRule(found, plan.RuleGuarded) {
		t.Errorf("settings.json in .claude: found %v, want %q", rulesOf(found), plan.RuleGuarded)
	}
	if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", write("settings.json", ""))); found != nil {
		t.Errorf("settings.json in a project: found %v", rulesOf(found))
	}
}

// TestP23TreeSize: all directories that go or move are bounded together.
func TestP23TreeSize(t *testing.T) {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("a/%d", i)], files[fmt.Sprintf("b/%d", i)] = "", ""
	}
	r := openTree(t, files)
	in := []abi.Intent{abi.Delete{Path: "a"}, abi.Rename{From: "b", To: "c"}}
	if found := findings(t, r, limits(t, abi.Limits{NewEntries: 8}), installs(t, "x", in...)); found != nil {
		t.Errorf("room for 8: found %+v", found)
	}
	if found := findings(t, r, limits(t, abi.Limits{NewEntries: 7}), installs(t, "x", in...)); !hasRule(found, plan.RuleTreeSize) {
		t.Errorf("room for 7: found %v, want %q", rulesOf(found), plan.RuleTreeSize)
	}
	// Parents that a rename needs, and those that a delete takes away and a write brings back, count as new.
	for _, tt := range []struct {
		in []abi.Intent
		n  int
	}{
		{[]abi.Intent{abi.Rename{From: "a/0", To: "n/m/0"}}, 3},
		{[]abi.Intent{abi.Delete{Path: "a/0"}, abi.Delete{Path: "a"}, write("a/9", ""), write("b/9", "")}, 3},
	} {
		if found := findings(t, r, limits(t, abi.Limits{NewEntries: tt.n + 4}), installs(t, "x", tt.in...)); found != nil {
			t.Errorf("%v: found %+v", tt.in, found)
		}
		if found := findings(t, r, limits(t, abi.Limits{NewEntries: tt.n - 1}), installs(t, "x", tt.in...)); !hasRule(found, plan.RuleNewEntries) && !hasRule(found, plan.RuleTreeSize) {
			t.Errorf("%v: found %v", tt.in, rulesOf(found))
		}
	}
}

// TestP22Protected: what must not be reached is known by what it is, under whatever name.
func TestP22Protected(t *testing.T) {
	r := openTree(t, map[string]string{"a/state/x": "", "a/state/sub/y": "", "bin/lola": "program", "f": "", "b/c": ""})
	o := plan.Options{Limits: limits(t, abi.Limits{})}
	for _, p := range []string{"a/state", "bin/lola"} {
		info, err := os.Stat(filepath.Join(r.Path(), p))
		if err != nil {
			t.Fatal(err)
		}
		o.Protected = append(o.Protected, info)
	}
	if err := os.Link(filepath.Join(r.Path(), "bin", "lola"), filepath.Join(r.Path(), "b", "other")); err != nil {
		t.Logf("no hard links here: %v", err)
	} else if found := findingsWith(t, r, o, installs(t, "x", write("b/other", ""))); !hasRule(found, plan.RuleProtected) {
		t.Errorf("a hard link of the program: found %v, want %q", rulesOf(found), plan.RuleProtected)
	}
	for _, in := range []abi.Intent{
		write("a/state/x", "new"), write("a/state/new", ""), write("a/state/sub/new/z", ""), write("a/state", ""), write("bin/lola", ""),
		set("a/state/x", "/x", nil), abi.Delete{Path: "a/state/sub/y"}, abi.Delete{Path: "a/state"}, abi.Delete{Path: "a"}, abi.Delete{Path: "bin"},
		abi.Rename{From: "a", To: "n"}, abi.Rename{From: "f", To: "a/state/f"}, abi.Rename{From: "bin/lola", To: "n"},
	} {
		if found := findingsWith(t, r, o, installs(t, "x", in)); !hasRule(found, plan.RuleProtected) {
			t.Errorf("%+v: found %v, want %q", in, rulesOf(found), plan.RuleProtected)
		}
	}
	for _, in := range []abi.Intent{write("a/new", ""), write("a/statement", ""), write("bin/other", ""), abi.Delete{Path: "b/c"}, abi.Rename{From: "f", To: "bin/f"}} {
		if found := findingsWith(t, r, o, installs(t, "x", in)); found != nil {
			t.Errorf("%+v: found %v", in, rulesOf(found))
		}
	}
}
