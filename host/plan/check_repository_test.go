package plan_test

import (
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// TestP19BareRepository: nothing that a plan writes may complete, or change, what git takes for a repository.
func TestP19BareRepository(t *testing.T) {
	lim := limits(t, abi.Limits{})
	for _, tt := range []struct {
		name  string
		files string // on disk before, separated by spaces
		plan  string // written
		bad   bool
	}{
		{"the case itself", "", "d/HEAD d/config d/objects/x d/refs/x", true},
		{"at the top", "", "HEAD objects/x refs/x", true},
		{"deep", "", "a/b/c/HEAD a/b/c/objects/1/2/3 a/b/c/refs/heads/main", true},
		{"files for folders", "", "d/HEAD d/objects d/refs", true},
		{"a folder for HEAD", "", "d/HEAD/x d/objects/x d/refs/x", true},
		{"other case", "", "d/head d/Objects/x d/REFS/x", true},
		{"other case of the folder", "", "d/HEAD D/objects/x d/refs/x", true},
		{"another form of the folder", "", "\u00e9/HEAD e\u0301/objects/x \u00c9/refs/x", true},
		{"long s", "", "d/HEAD d/object\u017f/x d/ref\u017f/x", true},
		{"HEAD on disk", "d/HEAD", "d/objects/x d/refs/x", true},
		{"objects on disk", "d/objects/x", "d/HEAD d/refs/x", true},
		{"refs on disk", "d/refs/", "d/HEAD d/objects/x", true},
		{"two on disk", "d/refs/ d/objects/", "d/HEAD", true},
		{"two spellings, one of them on disk", "D/HEAD", "d/objects/y D/objects/x D/refs/x", true},
		{"whole on disk, config added", "d/HEAD d/refs/ d/objects/", "d/config", true},
		{"whole on disk, hook added", "d/HEAD d/refs/ d/objects/", "d/hooks/post-checkout", true},
		{"whole on disk, config changed", "d/HEAD d/refs/ d/objects/ d/config", "d/config", true},
		{"whole on disk at the top, hook added", "HEAD refs/ objects/", "hooks/post-checkout", true},
		{"common folder", "", "d/HEAD d/commondir c/objects/x c/refs/x c/config", true},
		{"common folder, HEAD on disk", "d/HEAD", "d/commondir", true},
		{"common folder on disk", "d/commondir", "d/HEAD", true},
		{"common folder, other case", "", "d/Head d/CommonDir", true},

		{"HEAD alone", "", "d/HEAD", false},
		{"no HEAD", "", "d/objects/x d/refs/x d/config d/hooks/x", false},
		{"no refs", "", "d/HEAD d/objects/x", false},
		{"not side by side", "", "d/HEAD d/e/objects/x d/e/refs/x", false},
		{"longer names", "", "d/HEADER d/objects.md d/refs.md d/commondir.md", false},
		{"commondir alone", "", "d/commondir", false},
		{"config and hooks", "d/HEAD", "d/config d/hooks/x hooks/y config", false},
		{"a skill in a bare repository", "HEAD refs/ objects/ config", ".claude/skills/x/SKILL.md", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range strings.Fields(tt.files) {
				files[f] = "old"
			}
			r := openTree(t, files)
			var all []abi.Intent
			parts := make([][]abi.Intent, 2)
			for i, p := range strings.Fields(tt.plan) {
				all = append(all, write(p, "new"))
				parts[i%2] = append(parts[i%2], write(p, "new"))
			}
			for _, proposals := range [][]plan.Proposal{
				{installs(t, "x", all...)},
				{installs(t, "x", parts[0]...), installs(t, "y", parts[1]...)}, // each harmless alone
			} {
				found := findings(t, r, lim, proposals...)
				if hasRule(found, plan.RuleBareRepo) != tt.bad || !tt.bad && found != nil {
					t.Errorf("found %v, want %q: %v", rulesOf(found), plan.RuleBareRepo, tt.bad)
				}
			}
		})
	}
}

// TestRepositoryMayGo: taking the files of a repository away makes none.
func TestRepositoryMayGo(t *testing.T) {
	r := openTree(t, map[string]string{"d/HEAD": "", "d/objects/x": "", "d/refs/x": ""})
	in := []abi.Intent{abi.Delete{Path: "d/HEAD"}, abi.Delete{Path: "d/objects/x"}, abi.Delete{Path: "d/refs/x"}}
	if got := steps(t, r, limits(t, abi.Limits{}), installs(t, "x", in...)); len(got) != 3 {
		t.Errorf("%d steps, want 3", len(got))
	}
}

// TestP19RepositoryByMoves: renames bring and take marks like writes, and what goes does not count.
func TestP19RepositoryByMoves(t *testing.T) {
	del := func(p string) abi.Intent { return abi.Delete{Path: p} }
	mv := func(from, to string) abi.Intent { return abi.Rename{From: from, To: to} }
	for _, tt := range []struct {
		name  string
		files string
		in    []abi.Intent
		bad   bool
	}{
		{"a mark comes by rename", "d/HEAD d/refs/x o/x", []abi.Intent{mv("o", "d/objects")}, true},
		{"a file becomes HEAD", "d/objects/x d/refs/x h", []abi.Intent{mv("h", "d/HEAD")}, true},
		{"two come", "d/refs/x h o/x", []abi.Intent{mv("h", "d/HEAD"), mv("o", "d/objects")}, true},
		{"beside what is written", "d/refs/x h", []abi.Intent{mv("h", "d/HEAD"), write("d/objects/x", "")}, true},
		{"a directory that holds a part moves", "t/HEAD t/refs/x d/", []abi.Intent{mv("t", "n"), write("d/objects/x", "")}, false},
		{"a whole one moves", "t/HEAD t/refs/x t/objects/x", []abi.Intent{mv("t", "n")}, true},
		{"a whole one deep down moves", "t/a/HEAD t/a/refs/x t/a/objects/x", []abi.Intent{mv("t", "n")}, true},
		{"to the top", "HEAD refs/x o/x", []abi.Intent{mv("o", "objects")}, true},
		{"by another case", "d/HEAD d/refs/x o/x", []abi.Intent{mv("o", "d/Objects")}, true},
		{"a whole one goes", "t/HEAD t/refs/x t/objects/x", []abi.Intent{del("t")}, false},
		{"one mark goes", "d/HEAD d/refs/x", []abi.Intent{del("d/refs"), write("d/objects/x", "")}, false},
		{"one mark moves away", "d/HEAD d/refs/x", []abi.Intent{mv("d/HEAD", "n"), write("d/objects/x", "")}, false},
		{"all goes and a part comes", "d/HEAD d/refs/x d/objects/x", []abi.Intent{del("d"), write("d/HEAD", ""), write("d/refs/x", "")}, false},
		{"all goes and all comes", "d/HEAD d/refs/x d/objects/x", []abi.Intent{del("d"), write("d/HEAD", ""), write("d/refs/x", ""), write("d/objects/y", "")}, true},
		{"only what lies in a mark goes", "d/HEAD d/refs/x", []abi.Intent{del("d/refs/x"), write("d/objects/x", "")}, true},
		{"a mark of another spelling goes", "d/HEAD d/refs/x", []abi.Intent{del("d/Head"), write("d/objects/x", "")}, true},
		{"an edit is a mark too", "d/refs/x d/objects/x", []abi.Intent{set("d/HEAD", "/x", nil)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range strings.Fields(tt.files) {
				files[f] = "old"
			}
			found := findings(t, openTree(t, files), limits(t, abi.Limits{}), installs(t, "x", tt.in...))
			if hasRule(found, plan.RuleBareRepo) != tt.bad || !tt.bad && found != nil {
				t.Errorf("found %v, want %q: %v", rulesOf(found), plan.RuleBareRepo, tt.bad)
			}
		})
	}
}
