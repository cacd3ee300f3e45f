package plan_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
)

// rights is the table of SPEC.md, section 3, written down a second time: which kind may do what.
var rights = map[abi.Kind]map[string][]abi.Op{
	abi.KindTarget:  {"install": {abi.OpWrite, abi.OpEdit, abi.OpDelete, abi.OpRename}, "uninstall": {abi.OpWrite, abi.OpEdit, abi.OpDelete, abi.OpRename}},
	abi.KindSource:  {"fetch": {abi.OpFetch, abi.OpClone, abi.OpWrite}},
	abi.KindCatalog: {"search": nil, "resolve": nil, "list": nil},
	abi.KindScan:    {"scan": nil},
}

// intents has one intent of every type.
var intents = []abi.Intent{
	write("d/a", ""), abi.EditJSON{Path: "d/a", Edits: []abi.JSONEdit{{At: "/x"}}}, abi.EditBlock{Path: "d/a", ID: "x"}, abi.Delete{Path: "d/a"},
	abi.Rename{From: "d/a", To: "d/b"}, abi.Fetch{URL: "https://example.com/", Method: "GET", Dest: "d/a"},
	abi.Clone{Repo: "https://example.com/r", Ref: "main", Dest: "d/c"},
}

// TestRightsTable tries every kind, action and type of intent, those that do not exist too.
func TestRightsTable(t *testing.T) {
	r := openTree(t, map[string]string{"d/a": "{}"})
	lim := limits(t, abi.Limits{})
	kinds := []abi.Kind{abi.KindTarget, abi.KindSource, abi.KindCatalog, abi.KindScan, "", "Target", "hook"}
	actions := []string{"install", "uninstall", "fetch", "search", "resolve", "list", "scan", "", "Install", "update"}
	for _, k := range kinds {
		for _, a := range actions {
			ops, known := rights[k][a]
			p := plan.Proposal{Owner: "x", Kind: k, Action: a, Grant: everything(t), Plan: &abi.Plan{}, Destination: "d"}
			if k == abi.KindCatalog || k == abi.KindScan {
				p.Plan.Result = abi.Scan{Verdict: abi.VerdictPass}
			}
			if found := findings(t, r, lim, p); (len(found) == 0) != known {
				t.Errorf("%q %q without intents: found %v, want it known: %v", k, a, rulesOf(found), known)
			}
			for _, in := range intents {
				p.Plan.Intents = []abi.Intent{in}
				found := findings(t, r, lim, p)
				allowed := known && slices.Contains(ops, in.Op())
				if got := hasRule(found, plan.RuleOpNotAllowed); got == allowed {
					t.Errorf("%q %q %T: found %v, want %q: %v", k, a, in, rulesOf(found), plan.RuleOpNotAllowed, !allowed)
				}
				if allowed != (len(found) == 0) {
					t.Errorf("%q %q %T: found %v, want it accepted: %v", k, a, in, rulesOf(found), allowed)
				}
			}
		}
	}
	for _, row := range abi.Rights {
		if _, ok := rights[row.Kind][row.Action]; !ok {
			t.Errorf("abi.Rights has %q %q, which this table lacks", row.Kind, row.Action)
		}
	}
}

// TestResults: a result is due exactly where the table says so.
func TestResults(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	for _, tt := range []struct {
		kind   abi.Kind
		action string
		result abi.Result
		ok     bool
	}{
		{abi.KindTarget, "install", nil, true}, {abi.KindTarget, "install", abi.Entries{}, false}, {abi.KindSource, "fetch", abi.Resolved{}, false},
		{abi.KindCatalog, "search", nil, false}, {abi.KindCatalog, "search", abi.Entries{}, true},
		{abi.KindScan, "scan", nil, false}, {abi.KindScan, "scan", abi.Scan{Verdict: abi.VerdictFail}, true},
	} {
		p := plan.Proposal{Owner: "x", Kind: tt.kind, Action: tt.action, Plan: &abi.Plan{Result: tt.result}}
		if found := findings(t, r, lim, p); hasRule(found, plan.RuleResult) == tt.ok {
			t.Errorf("%q %q with result %v: found %v, want it accepted: %v", tt.kind, tt.action, tt.result, rulesOf(found), tt.ok)
		}
	}
}

// TestEveryIntentNamesItsPaths: a path in any field of any intent is judged. A new intent, or a new field that is a path,
// fails here until it is.
func TestEveryIntentNamesItsPaths(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	notPaths := map[string]bool{"Module": true, "ID": true, "URL": true, "Method": true, "Repo": true, "Ref": true, "Commit": true}
	seen := map[abi.Op]bool{}
	for _, in := range intents {
		seen[in.Op()] = true
		for i := range reflect.TypeOf(in).NumField() {
			field := reflect.TypeOf(in).Field(i)
			if field.Type.Kind() != reflect.String || notPaths[field.Name] {
				continue
			}
			hostile := reflect.New(reflect.TypeOf(in)).Elem()
			hostile.Set(reflect.ValueOf(in))
			hostile.Field(i).SetString("../outside")
			found := findings(t, r, lim, installs(t, "x", hostile.Interface().(abi.Intent)))
			if !hasRule(found, plan.RulePathDot) {
				t.Errorf("%T with %s ../outside: found %v, want %q", in, field.Name, rulesOf(found), plan.RulePathDot)
			}
			denied := installs(t, "x", in)
			denied.Grant = grant.Set{}
			if found := findings(t, r, lim, denied); !hasRule(found, plan.RuleNotGranted) {
				t.Errorf("%T without a grant: found %v, want %q", in, rulesOf(found), plan.RuleNotGranted)
			}
		}
	}
	for _, row := range abi.Rights {
		for _, op := range row.Ops {
			if !seen[op] {
				t.Errorf("op %q has no intent in this test", op)
			}
		}
	}
}

// TestPointersAreNoIntents: the address of an intent satisfies the interface too; it is judged by no rule and so refused.
func TestPointersAreNoIntents(t *testing.T) {
	w := write("../outside", "")
	if found := findings(t, openTree(t, nil), limits(t, abi.Limits{}), installs(t, "x", &w, &abi.Delete{Path: "../outside"})); len(found) < 2 {
		t.Errorf("found %v, want both refused", rulesOf(found))
	}
}

// TestGrants: both ends of a rename, exact paths, and the grant of one proposal is not that of another.
func TestGrants(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	skills, err := grant.New([]string{".claude/skills/**"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		grant grant.Set
		in    abi.Intent
		ok    bool
	}{
		{skills, write(".claude/skills/x/SKILL.md", ""), true},
		{skills, write(".claude/settings.json", ""), false},
		{skills, write(".Claude/skills/x/SKILL.md", ""), false},
		{skills, abi.Delete{Path: ".claude/agents/x.md"}, false},
		{skills, abi.Rename{From: ".claude/skills/x", To: "x"}, false},
		{skills, abi.Rename{From: "x", To: ".claude/skills/x"}, false},
		{grant.ForPaths([]string{"a[b].md"}), abi.Delete{Path: "a[b].md"}, true},
		{grant.ForPaths([]string{"a*"}), abi.Delete{Path: "ab"}, false},
		{grant.Set{}, write("a", ""), false},
	} {
		p := installs(t, "x", tt.in)
		p.Grant = tt.grant
		found := findings(t, r, lim, p)
		if (hasRule(found, plan.RuleNotGranted) || hasRule(found, plan.RuleGuarded)) == tt.ok {
			t.Errorf("%+v under %q: found %v, want it granted: %v", tt.in, tt.grant, rulesOf(found), tt.ok)
		}
		for _, f := range found {
			if f.Rule == plan.RuleNotGranted && f.Fix == "" {
				t.Errorf("%+v: the finding names no next step", tt.in)
			}
		}
	}
	a, b := installs(t, "a", write(".claude/skills/x/SKILL.md", "")), installs(t, "b", write("elsewhere", ""))
	b.Grant = skills
	if found := findings(t, r, lim, a, b); len(found) != 1 || found[0].Owner != "b" {
		t.Errorf("found %+v, want one finding about b", found)
	}
}
