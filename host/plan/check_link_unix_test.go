//go:build unix

package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

func link(t *testing.T, r *root.Root, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(r.Path(), name)); err != nil {
		t.Fatal(err)
	}
}

// TestReplaceSymlink: a write may take a link's place if the grant says so, and never goes through it.
func TestReplaceSymlink(t *testing.T) {
	r := openTree(t, map[string]string{"f": "f", "dir/": ""})
	link(t, r, "a", "f")
	link(t, r, "out", "/etc/passwd")
	link(t, r, "dangling", "nowhere")
	link(t, r, "up", "..")
	lim := limits(t, abi.Limits{})
	replace := func(path string) abi.Write { w := write(path, "new"); w.ReplaceSymlink = true; return w }
	for name, target := range map[string]string{"a": "f", "out": "/etc/passwd", "dangling": "nowhere", "up": ".."} {
		got := steps(t, r, lim, installs(t, "x", replace(name)))
		if len(got) != 1 || got[0].Action != plan.Update || got[0].Path != name || got[0].Before.Link != target || got[0].Before.Regular() || len(got[0].Foreign) != 1 {
			t.Errorf("replacing %q: %+v, want one foreign update of the link itself", name, got)
		}
		if found := findings(t, r, lim, installs(t, "x", write(name, "new"))); !hasRule(found, plan.RuleLink) {
			t.Errorf("writing %q without the word: found %v, want %q", name, rulesOf(found), plan.RuleLink)
		}
		if found := findings(t, r, lim, installs(t, "x", replace(name+"/x"))); !hasRule(found, plan.RuleLink) {
			t.Errorf("through %q: found %v, want %q", name, rulesOf(found), plan.RuleLink)
		}
		p := installs(t, "x", replace(name))
		p.Grant = granted(t, grant.Rights{Writes: []string{"**"}})
		if found := findings(t, r, lim, p); !hasRule(found, plan.RuleReplaceLink) {
			t.Errorf("without the grant: found %v, want %q", rulesOf(found), plan.RuleReplaceLink)
		}
	}
	if got := steps(t, r, lim, installs(t, "x", replace("new"), replace("f"))); outline(got) != "update f; create new" {
		t.Errorf("the steps are %q", outline(got))
	}
	if found := findings(t, r, lim, installs(t, "x", replace("dir"))); !hasRule(found, plan.RuleInTheWay) {
		t.Errorf("a directory: found %v, want %q", rulesOf(found), plan.RuleInTheWay)
	}
}

// TestFollow: a link that the user admits and that stays inside is judged, shown and done as the path that it stands for.
func TestFollow(t *testing.T) {
	files := map[string]string{"AGENTS.md": "agents", "shared/claude/settings.json": "{}", "a/b/": "", "real/file": ""}
	links := map[string]string{
		"CLAUDE.md": "AGENTS.md", ".claude": "shared/claude", "a/up": "../real", "a/b/top": "../../real/./", "new.md": "real/not-yet.md",
		"out": "../outside", "abs": "/tmp", "far": "a/../../x", "loop": "loop", "chain": "CLAUDE.md", "through": ".claude/x", "sneaky": "a/up/../x", "self": "self/x", "git": ".git", "root": ".",
	}
	for _, tt := range []struct {
		follow string
		path   string
		to     string // "": refused
	}{
		{"CLAUDE.md", "CLAUDE.md", "AGENTS.md"},
		{".claude", ".claude/skills/x/SKILL.md", "shared/claude/skills/x/SKILL.md"},
		{"a/up", "a/up/file", "real/file"},
		{"a/b/top", "a/b/top/file", "real/file"},
		{"new.md", "new.md", "real/not-yet.md"},
		{"CLAUDE.md", "real/file", "real/file"},
		{"", "CLAUDE.md", ""}, {"CLAUDE.md", ".claude/x", ""}, {"claude.md", "CLAUDE.md", ""}, {".claude", "a/up/file", ""},
		{"out", "out/x", ""}, {"abs", "abs/x", ""}, {"far", "far", ""}, {"loop", "loop", ""}, {"chain", "chain", ""}, {"through", "through", ""},
		{"sneaky", "sneaky", ""}, {"self", "self", ""}, {"git", "git/config", ""}, {"root", "root/x", ""},
		{"../x", "CLAUDE.md", ""}, {"real/file", "CLAUDE.md", ""},
	} {
		t.Run(tt.follow+" "+tt.path, func(t *testing.T) {
			r := openTree(t, files)
			for name, target := range links {
				link(t, r, name, target)
			}
			o := plan.Options{Limits: limits(t, abi.Limits{}), Follow: strings.Fields(tt.follow)}
			if tt.to == "" {
				if found := findingsWith(t, r, o, installs(t, "x", write(tt.path, "new"))); !hasRule(found, plan.RuleLink) {
					t.Errorf("found %+v, want %q", found, plan.RuleLink)
				}
				return
			}
			if got := stepsWith(t, r, o, installs(t, "x", write(tt.path, "new"))); len(got) != 1 || got[0].Path != tt.to {
				t.Errorf("%q, want one step at %q", outline(got), tt.to)
			}
		})
	}
	// What it stands for is what is in conflict; it is guarded by either name, and granted by either if it is not.
	r := openTree(t, files)
	for name, target := range links {
		link(t, r, name, target)
	}
	link(t, r, "cfg", "mcp")
	if err := os.Mkdir(filepath.Join(r.Path(), "mcp"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, r, "alias", ".mcp.json")
	link(t, r, ".vscode", "soon")
	if err := os.MkdirAll(filepath.Join(r.Path(), "like"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Path(), "like", "tasks.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := plan.Options{Limits: limits(t, abi.Limits{}), Follow: []string{"CLAUDE.md", ".claude", "alias", "cfg", ".vscode"}}
	narrow := installs(t, "x", write("CLAUDE.md", ""))
	narrow.Grant = granted(t, grant.Rights{Writes: []string{"CLAUDE.md"}})
	if got := stepsWith(t, r, o, narrow); outline(got) != "update AGENTS.md" {
		t.Errorf("granted under the link's name, the steps are %q", outline(got))
	}
	for name, tt := range map[string]struct {
		p    plan.Proposal
		rule string
	}{
		"guarded by the link's name":     {installs(t, "x", abi.Delete{Path: ".claude/settings.json"}), plan.RuleGuarded},
		"guarded, named where it lies":   {installs(t, "x", write("shared/claude/settings.json", "")), plan.RuleGuarded},
		"guarded where it leads":         {installs(t, "x", write("alias", "")), plan.RuleGuarded},
		"deleted with its folder":        {installs(t, "x", abi.Delete{Path: "shared/claude"}), plan.RuleGuarded},
		"deleted with one above":         {installs(t, "x", abi.Delete{Path: "shared"}), plan.RuleGuarded},
		"deleted by the link":            {installs(t, "x", abi.Delete{Path: ".claude"}), plan.RuleGuarded},
		"moved away with its folder":     {installs(t, "x", abi.Rename{From: "shared/claude", To: "n"}), plan.RuleGuarded},
		"moved to where a link leads":    {installs(t, "x", abi.Rename{From: "like", To: "soon"}), plan.RuleGuarded},
		"both names":                     {installs(t, "x", write("CLAUDE.md", ""), write("AGENTS.md", "")), plan.RuleSamePath},
		"beneath both names":             {installs(t, "x", abi.Rename{From: ".claude", To: "n"}, write("shared/claude/x", "")), plan.RuleNestedPath},
		"a rename from one to the other": {installs(t, "x", abi.Rename{From: "CLAUDE.md", To: "AGENTS.md"}), plan.RuleSamePath},
	} {
		if found := findingsWith(t, r, o, tt.p); !hasRule(found, tt.rule) {
			t.Errorf("%s: found %v, want %q", name, rulesOf(found), tt.rule)
		}
	}
	byName := installs(t, "x", write("shared/claude/settings.json", "new"))
	byName.Grant = granted(t, grant.Rights{Writes: []string{"shared/**", ".claude/settings.json"}})
	if got := stepsWith(t, r, o, byName); len(got) != 1 || len(got[0].Guarded) != 1 || got[0].Guarded[0].Path != ".claude/settings.json" {
		t.Errorf("granted by the guarded name: %+v, want it marked", got)
	}
	in := []abi.Intent{abi.EditBlock{Path: "CLAUDE.md", ID: "x", Text: ptr("@x\n")}, write(".claude/new.md", ""), set("cfg/a.json", "/x", int64(1))}
	if got := stepsWith(t, r, o, installs(t, "x", in...)); outline(got) != "update AGENTS.md; create mcp/a.json; create shared/claude/new.md" {
		t.Errorf("the steps are %q", outline(got))
	}
}

// TestFollowArgument: a finding about a link that can be followed gives the very argument that admits it, which then leads past
// it; one about a link that cannot names no argument.
func TestFollowArgument(t *testing.T) {
	r := openTree(t, map[string]string{"AGENTS.md": "agents", "shared/x": "", "a/b/": "", "d/real/": ""})
	links := map[string]string{
		"CLAUDE.md": "AGENTS.md", ".claude": "shared", "a/up": "../d", "new.md": "shared/not-yet.md", "it's a link": "shared", "$x;": "shared", "é": "shared",
		"out": "../outside", "abs": "/tmp", "loop": "loop", "chain": "CLAUDE.md", "through": ".claude/x", "git": ".git", "root": ".", "d/in": "real",
	}
	for name, target := range links {
		link(t, r, name, target)
	}
	o := plan.Options{Limits: limits(t, abi.Limits{})}
	for _, tt := range []struct{ path, link, word string }{
		{"CLAUDE.md", "CLAUDE.md", "CLAUDE.md"}, {".claude/skills/x", ".claude", ".claude"}, {"a/up/f", "a/up", "a/up"}, {"new.md", "new.md", "new.md"},
		{"it's a link/f", "it's a link", `'it'\''s a link'`}, {"$x;/f", "$x;", "'$x;'"}, {"é/f", "é", "é"},
		{"out/x", "out", ""}, {"abs/x", "abs", ""}, {"loop", "loop", ""}, {"chain", "chain", ""}, {"through", "through", ""}, {"git/x", "git", ""}, {"root/x", "root", ""},
	} {
		found := findingsWith(t, r, o, installs(t, "x", write(tt.path, "new")))
		if len(found) != 1 || found[0].Rule != plan.RuleLink {
			t.Errorf("%q: found %+v, want one finding of %q", tt.path, found, plan.RuleLink)
			continue
		}
		_, word, ok := strings.Cut(found[0].Fix, "--follow ")
		if ok != (tt.word != "") || word != tt.word {
			t.Errorf("%q: the fix is %q, want the argument %q", tt.path, found[0].Fix, tt.word)
		}
		admits := o
		admits.Follow = []string{tt.link}
		if _, err := plan.Check(r, admits, installs(t, "x", write(tt.path, "new"))); (err == nil) != ok {
			t.Errorf("%q: the fix is %q, and with --follow %q it is %v", tt.path, found[0].Fix, tt.link, err)
		}
	}
	// A second link behind an admitted one is not looked through, and is not offered.
	o.Follow = []string{"a/up"}
	if found := findingsWith(t, r, o, installs(t, "x", write("a/up/in/f", "new"))); len(found) != 1 || strings.Contains(found[0].Fix, "--follow") {
		t.Errorf("behind an admitted link: found %+v, want no argument", found)
	}
	if found := findings(t, r, o.Limits, installs(t, "x", abi.Delete{Path: "a"})); len(found) != 1 || strings.Contains(found[0].Fix, "--follow") {
		t.Errorf("within a directory that goes: found %+v, want no argument", found)
	}
}

// TestLinksInTrees: a directory with a link or a device in it neither goes nor moves.
func TestLinksInTrees(t *testing.T) {
	r := openTree(t, map[string]string{"d/a/b": "", "real": ""})
	link(t, r, "d/a/link", "../../real")
	for _, in := range []abi.Intent{abi.Delete{Path: "d"}, abi.Delete{Path: "d/a"}, abi.Rename{From: "d", To: "n"}, abi.Delete{Path: "d/a/link"}} {
		if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", in)); !hasRule(found, plan.RuleLink) {
			t.Errorf("%+v: found %v, want %q", in, rulesOf(found), plan.RuleLink)
		}
	}
}

// TestHardLinks: a file with several names is replaced at one of them.
func TestHardLinks(t *testing.T) {
	r := openTree(t, map[string]string{"a": "old"})
	if err := os.Link(filepath.Join(r.Path(), "a"), filepath.Join(r.Path(), "b")); err != nil {
		t.Fatal(err)
	}
	if got := steps(t, r, limits(t, abi.Limits{}), installs(t, "x", write("a", "new"))); outline(got) != "update a" || got[0].Before.Links != 2 {
		t.Errorf("%+v, want one update of a file with two names", got)
	}
}
