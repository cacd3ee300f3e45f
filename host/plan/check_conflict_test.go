package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// TestP07SamePath: names that some file system takes for one are one on every OS, as a whole or as a parent of a file.
func TestP07SamePath(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	for _, pair := range [][2]string{
		{"FOO", "foo"}, {"a/FOO/b", "a/foo/b"}, {"caf\u00e9", "cafe\u0301"}, {"CAFE\u0301/x", "caf\u00e9/x"}, {"stra\u00dfe", "STRASSE"}, {"\u1e9e", "ss"},
		{"\u212aelvin", "kelvin"}, {"\ufb01le", "file"}, {"\u03c3", "\u03c2"}, {"\u0130", "i\u0307"}, {"\u1f80", "\u1f00\u03b9"}, {"\u017fkill", "SKILL"},
		{"a\u0301\u0323", "\u1ea1\u0301"}, {"\uac00", "\u1100\u1161"}, {"\u2126", "\u03c9"}, {"same", "same"},
	} {
		for _, p := range [][2]string{pair, {pair[1], pair[0]}} {
			// In one plan, in two, and with a delete on either side unless the spelling is the same.
			for _, proposals := range [][]plan.Proposal{
				{installs(t, "x", write(p[0], "1"), write(p[1], "2"))},
				{installs(t, "x", write(p[0], "1")), installs(t, "y", write(p[1], "2"))},
			} {
				if found := findings(t, r, lim, proposals...); !hasRule(found, plan.RuleSamePath) {
					t.Errorf("%+q and %+q: found %v, want %q", p[0], p[1], rulesOf(found), plan.RuleSamePath)
				}
			}
			if p[0] == p[1] {
				continue
			}
			if found := findings(t, r, lim, installs(t, "x", abi.Delete{Path: p[0]}, write(p[1], ""))); !hasRule(found, plan.RuleSamePath) {
				t.Errorf("delete %+q, write %+q: found %v, want %q", p[0], p[1], rulesOf(found), plan.RuleSamePath)
			}
			if found := findings(t, r, lim, installs(t, "x", write(p[0], ""), write(p[1]+"/x", ""))); !hasRule(found, plan.RuleNestedPath) {
				t.Errorf("%+q and %+q: found %v, want %q", p[0], p[1]+"/x", rulesOf(found), plan.RuleNestedPath)
			}
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"\u0131", "i"}, {"o", "\u00f8"}, {"a", "\u00e1"}, {"a-b", "a/b"}, {"ab", "a/b"}, {"a b", "a/b"}, {"a!", "a/b"}} {
		if found := findings(t, r, lim, installs(t, "x", write(pair[0], ""), write(pair[1], ""))); found != nil {
			t.Errorf("%+q and %+q: found %v, want them two paths", pair[0], pair[1], rulesOf(found))
		}
	}
}

// TestNamedConflicts holds each case that the specification names.
func TestNamedConflicts(t *testing.T) {
	lim := limits(t, abi.Limits{})
	digest := abi.DigestOf([]byte("old"))
	expecting := func(e abi.Expect) abi.Write { w := write("f", "new"); w.Expect = e; return w }
	loud := write("f", "new")
	loud.Mode = 0o755
	for _, tt := range []struct {
		name  string
		files map[string]string
		plans [][]abi.Intent // a proposal each, owned by p0, p1, ...
		rule  string         // "": accepted
		want  string         // the steps, as "action path owners"
	}{
		{"two writes in one plan", nil, [][]abi.Intent{{write("f", "1"), write("f", "1")}}, plan.RuleSamePath, ""},
		{"equal writes of two plans", nil, [][]abi.Intent{{write("f", "new")}, {write("f", "new")}}, "", "create f p0,p1"},
		{"equal writes of three plans", map[string]string{"f": "old"}, [][]abi.Intent{{write("f", "new")}, {write("g", "")}, {write("f", "new")}}, "",
			"update f p0,p2; create g p1"},
		{"other bytes", nil, [][]abi.Intent{{write("f", "new")}, {write("f", "neu")}}, plan.RuleSamePath, ""},
		{"another mode", nil, [][]abi.Intent{{write("f", "new")}, {loud}}, plan.RuleSamePath, ""},
		{"another expectation", nil, [][]abi.Intent{{write("f", "new")}, {expecting(abi.Expect{Absent: true})}}, plan.RuleSamePath, ""},
		{"the same expectation", map[string]string{"f": "old"},
			[][]abi.Intent{{expecting(abi.Expect{Digest: &digest})}, {expecting(abi.Expect{Digest: &digest})}}, "", "update f p0,p1"},
		{"a write beneath a write", nil, [][]abi.Intent{{write("d", ""), write("d/e/f", "")}}, plan.RuleNestedPath, ""},
		{"a write beneath another plan's", nil, [][]abi.Intent{{write("d/e/f", "")}, {write("d", "")}}, plan.RuleNestedPath, ""},
		{"a write beneath a delete", map[string]string{"d": "old"}, [][]abi.Intent{{write("d/e/f", ""), abi.Delete{Path: "d"}}}, "",
			"remove d p0; create d/e/f p0"},
		{"a write at a delete", map[string]string{"f": "old"}, [][]abi.Intent{{abi.Delete{Path: "f"}, write("f", "new")}}, "", "update f p0"},
		{"a write at another plan's delete", map[string]string{"f": "old"}, [][]abi.Intent{{write("f", "new")}, {abi.Delete{Path: "f"}}}, "", "update f p0"},
		{"a delete beneath a write", nil, [][]abi.Intent{{write("d", ""), abi.Delete{Path: "d/e"}}}, plan.RuleNestedPath, ""},
		{"a delete beneath a delete", map[string]string{"f": "old"}, [][]abi.Intent{{abi.Delete{Path: "f"}, abi.Delete{Path: "f/x"}}}, "", "remove f p0"},
		{"two deletes", map[string]string{"f": "old"}, [][]abi.Intent{{abi.Delete{Path: "f"}}, {abi.Delete{Path: "f"}}}, "", "remove f p0,p1"},
		{"nothing", nil, [][]abi.Intent{{}}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, tt.files)
			var proposals []plan.Proposal
			for i, p := range tt.plans {
				proposals = append(proposals, installs(t, fmt.Sprintf("p%d", i), p...))
			}
			if tt.rule != "" {
				found := findings(t, r, lim, proposals...)
				if len(found) != 1 || found[0].Rule != tt.rule {
					t.Fatalf("found %+v, want one %q", found, tt.rule)
				}
				return
			}
			var got []string
			for _, s := range steps(t, r, lim, proposals...) {
				got = append(got, fmt.Sprintf("%s %s %s", s.Action, s.Path, strings.Join(s.Owners, ",")))
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("the steps are %q, want %q", strings.Join(got, "; "), tt.want)
			}
		})
	}
}

// TestConflictsNameBoth: a finding names both intents, and the other extension if it is another's.
func TestConflictsNameBoth(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	found := findings(t, r, lim, installs(t, "x", write("a", ""), write("g", ""), write("G", "")))
	if len(found) != 1 || !slices.Equal(found[0].Intents, []int{1, 2}) || !strings.Contains(found[0].Message, `"g"`) || !strings.Contains(found[0].Message, `"G"`) {
		t.Errorf("found %+v, want intents 1 and 2 and both paths", found)
	}
	found = findings(t, r, lim, installs(t, "cursor", write("g", "1")), installs(t, "gemini", write("g", "2")))
	if len(found) != 1 || found[0].Owner != "gemini" || !strings.Contains(found[0].Message, "cursor") {
		t.Errorf("found %+v, want both extensions named", found)
	}
}

// modelFold is fold once more, from Unicode's D145 and with no short cut.
func modelFold(path string) string {
	return norm.NFC.String(norm.NFD.String(cases.Fold().String(norm.NFD.String(path))))
}

// modelConflict says whether two intents of different positions conflict: SPEC.md, section 5, one pair at a time.
func modelConflict(a, b abi.Intent, samePlan bool) bool {
	pathOf := func(in abi.Intent) (string, bool) {
		if d, ok := in.(abi.Delete); ok {
			return d.Path, true
		}
		return in.(abi.Write).Path, false
	}
	pa, deletesA := pathOf(a)
	pb, deletesB := pathOf(b)
	fa, fb := modelFold(pa), modelFold(pb)
	switch {
	case fa == fb && pa != pb:
		return true // P07: one path on some systems, two on others
	case fa == fb && (deletesA || deletesB):
		return false
	case fa == fb:
		wa, wb := a.(abi.Write), b.(abi.Write)
		return samePlan || wa.Mode != wb.Mode || wa.Content.Digest() != wb.Content.Digest()
	case strings.HasPrefix(fb, fa+"/"):
		return !deletesA || !strings.HasPrefix(pb, pa+"/") // beneath it by one spelling, beside it by another
	case strings.HasPrefix(fa, fb+"/"):
		return !deletesB || !strings.HasPrefix(pa, pb+"/")
	}
	return false
}

// TestConflictsAgainstModel compares Check on small random plans with the model: it refuses if and only if some pair
// conflicts, and what it accepts is every write once, with all that asked for it.
func TestConflictsAgainstModel(t *testing.T) {
	r := openTree(t, nil)
	lim := limits(t, abi.Limits{})
	names := []string{"a", "A", "b", "a!", "\u00e9", "e\u0301", "E\u0301", "\u00df", "ss", "a b"}
	refused, accepted := 0, 0
	for seed := range uint64(4000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		use := names[:2+rnd.IntN(len(names)-1)]
		plans := make([][]abi.Intent, 1+rnd.IntN(3))
		for i := range plans {
			for range rnd.IntN(4) {
				parts := make([]string, 1+rnd.IntN(3))
				for k := range parts {
					parts[k] = use[rnd.IntN(len(use))]
				}
				path := strings.Join(parts, "/")
				if rnd.IntN(3) == 0 {
					plans[i] = append(plans[i], abi.Delete{Path: path})
				} else {
					plans[i] = append(plans[i], abi.Write{Path: path, Mode: []abi.Mode{0o644, 0o755}[rnd.IntN(4)/3], Content: abi.Bytes("xy"[:1+rnd.IntN(4)/3])})
				}
			}
		}
		type placed struct {
			plan int
			in   abi.Intent
		}
		var all []placed
		var proposals []plan.Proposal
		for i, p := range plans {
			proposals = append(proposals, installs(t, fmt.Sprint(i), p...))
			for _, in := range p {
				all = append(all, placed{i, in})
			}
		}
		conflict := false
		owners := map[string][]string{}
		for i, a := range all {
			for _, b := range all[i+1:] {
				conflict = conflict || modelConflict(a.in, b.in, a.plan == b.plan)
			}
			if w, ok := a.in.(abi.Write); ok {
				owners[w.Path] = append(owners[w.Path], fmt.Sprint(a.plan))
			}
		}
		c, err := plan.Check(r, plan.Options{Limits: lim}, proposals...)
		if (err != nil) != conflict {
			t.Fatalf("seed %d: %v: Check says %v, the model says conflict: %v", seed, plans, err, conflict)
		}
		if err != nil {
			refused++
			continue
		}
		accepted++
		got := map[string][]string{}
		for _, s := range c.Steps() {
			if s.Action != plan.Create {
				t.Fatalf("seed %d: step %+v in an empty root", seed, s)
			}
			got[s.Path] = s.Owners
		}
		if !maps.EqualFunc(got, owners, slices.Equal) {
			t.Fatalf("seed %d: %v: the steps have the owners %v, want %v", seed, plans, got, owners)
		}
	}
	if refused < 500 || accepted < 500 {
		t.Errorf("%d refused, %d accepted: the generator is lopsided", refused, accepted)
	}
}

// TestFoldIsStable folds what is folded already, and what is normalised differently. Every character alone is held to the
// standard library's case orbits in fuzz/target.
func TestFoldIsStable(t *testing.T) {
	for _, s := range []string{"", "a/B", "\u0345a", "e\u0301\u0323/E\u0323\u0301", "\u1fb3\u0301", "\u13a0\uab70\u13f8"} {
		if f := plan.Fold(s); plan.Fold(f) != f || plan.Fold(norm.NFC.String(s)) != f || plan.Fold(norm.NFD.String(s)) != f {
			t.Errorf("Fold(%+q) = %+q is not stable", s, f)
		}
	}
}
