package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/plan"
)

// TestForeignChanges: what lola did not put there, or what was changed since, is marked; nothing else is.
func TestForeignChanges(t *testing.T) {
	files := map[string]string{
		"mine": "mine", "ours": "ours", "changed": "by me", "d/mine": "m", "d/ours": "ours", "e/ours": "ours", "e/made/": "", "g/mine/": "", "j": `{"theirs": 1, "ours": 2, "edited": 3}`,
	}
	installed := map[string]plan.Installed{
		"ours": {Digest: abi.DigestOf([]byte("ours"))}, "changed": {Digest: abi.DigestOf([]byte("as installed"))}, "d/ours": {Digest: abi.DigestOf([]byte("ours"))},
		"e/ours": {Digest: abi.DigestOf([]byte("ours"))}, "e/made": {Dir: true},
		"j": {Edits: []edit.Record{{Kind: edit.Add, At: "/ours", New: ptr("2")}, {Kind: edit.Add, At: "/edited", New: ptr("9")}}},
	}
	o := plan.Options{Limits: limits(t, abi.Limits{}), Installed: func(path string) (plan.Installed, bool) { i, ok := installed[path]; return i, ok }}
	for _, tt := range []struct {
		name string
		in   []abi.Intent
		want []string // the paths that are marked
	}{
		{"a new file", []abi.Intent{write("new", "")}, nil},
		{"mine is overwritten", []abi.Intent{write("mine", "new")}, []string{"mine"}},
		{"mine is adopted", []abi.Intent{write("mine", "mine")}, nil},
		{"mine is adopted with another mode", []abi.Intent{abi.Write{Path: "mine", Mode: 0o755, Content: abi.Bytes("mine")}}, nil},
		{"mine is deleted and written", []abi.Intent{write("mine", "new"), abi.Delete{Path: "mine"}}, []string{"mine"}},
		{"ours is overwritten", []abi.Intent{write("ours", "new")}, nil},
		{"changed is overwritten", []abi.Intent{write("changed", "new")}, []string{"changed"}},
		{"mine is deleted", []abi.Intent{abi.Delete{Path: "mine"}}, []string{"mine"}},
		{"ours is deleted", []abi.Intent{abi.Delete{Path: "ours"}}, nil},
		{"changed is deleted", []abi.Intent{abi.Delete{Path: "changed"}}, []string{"changed"}},
		{"what is absent is deleted", []abi.Intent{abi.Delete{Path: "none"}}, nil},
		{"mine is renamed", []abi.Intent{abi.Rename{From: "mine", To: "n"}}, []string{"mine"}},
		{"ours is renamed", []abi.Intent{abi.Rename{From: "ours", To: "n"}}, nil},
		{"a directory with one of mine is deleted", []abi.Intent{abi.Delete{Path: "d"}}, []string{"d/mine"}},
		{"a directory with one of mine is renamed", []abi.Intent{abi.Rename{From: "d", To: "n"}}, []string{"d/mine"}},
		{"a directory of ours is deleted", []abi.Intent{abi.Delete{Path: "e"}}, nil},
		{"an empty directory of mine is deleted", []abi.Intent{abi.Delete{Path: "g"}}, []string{"g/mine"}},
		{"an empty directory of mine, itself", []abi.Intent{abi.Delete{Path: "g/mine"}}, []string{"g/mine"}},
		{"mine goes with its directory and comes back", []abi.Intent{abi.Delete{Path: "d"}, write("d/mine", "m")}, nil},
		{"mine goes with its directory and comes back otherwise", []abi.Intent{abi.Delete{Path: "d"}, write("d/mine", "new")}, []string{"d/mine"}},
		{"a value is added", []abi.Intent{set("j", "/new", int64(1))}, nil},
		{"a value is so already", []abi.Intent{set("j", "/theirs", int64(1))}, nil},
		{"my value is replaced", []abi.Intent{set("j", "/theirs", int64(2))}, []string{"j"}},
		{"my value is removed", []abi.Intent{abi.EditJSON{Path: "j", Edits: []abi.JSONEdit{{At: "/theirs"}}}}, []string{"j"}},
		{"our value is replaced", []abi.Intent{set("j", "/ours", int64(3))}, nil},
		{"our value that I edited is replaced", []abi.Intent{set("j", "/edited", int64(4))}, []string{"j"}},
		{"a file is edited from nothing", []abi.Intent{set("j", "/new", int64(1)), abi.Delete{Path: "j"}}, []string{"j"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, files)
			var got []string
			for _, s := range stepsWith(t, r, o, installs(t, "x", tt.in...)) {
				for _, f := range s.Foreign {
					if f.Why == "" {
						t.Errorf("%q is marked without a reason", f.Path)
					}
					got = append(got, f.Path)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q are marked, want %q", got, tt.want)
			}
		})
	}
	if _, ok := plan.RuleOf(plan.RuleForeign); !ok {
		t.Error("the rule is not documented")
	}
}

// TestP17ForgedState: what a project holds that looks like this program's own state changes nothing of the judgement.
func TestP17ForgedState(t *testing.T) {
	record := fmt.Sprintf(`{"format":1,"modules":{"x":{"targets":{"x":{"files":{"mine":{"sha256":%q}}}}}}}`, abi.DigestOf([]byte("mine")))
	r := openTree(t, map[string]string{
		"mine": "mine", "installed/x.json": record, ".lola/installed/x.json": record, ".lola-stage-0/journal": "forged", "a/.lola-stage-0/old/0": "forged",
	})
	lim := limits(t, abi.Limits{})
	if got := steps(t, r, lim, installs(t, "x", write("mine", "new"))); len(got) != 1 || len(got[0].Foreign) != 1 {
		t.Errorf("%+v, want one foreign change", got)
	}
	for _, in := range []abi.Intent{write(".lola-stage-0/journal", ""), abi.Delete{Path: ".lola-stage-0"}, abi.Delete{Path: "a"}, abi.Rename{From: "a", To: "b"}} {
		if found := findings(t, r, lim, installs(t, "x", in)); !hasRule(found, plan.RulePathStaging) {
			t.Errorf("%+v: found %v, want %q", in, rulesOf(found), plan.RulePathStaging)
		}
	}
}
