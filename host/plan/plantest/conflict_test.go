package plantest_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/plan/plantest"
	"github.com/lola-ext/lola/host/root"
)

var plansToTry = flag.Int("plans", 20_000, "how many random plans to hold to the model of conflicts")

// ruleIDs are the ids under which plan.Check reports the rules of the model.
var ruleIDs = map[string]string{
	plantest.SamePath:    plan.RuleSamePath,
	plantest.NestedPath:  plan.RuleNestedPath,
	plantest.EditOverlap: plan.RuleEditOverlap,
	plantest.Spelling:    plan.RuleSamePath,
	// Check takes the wider reading: changes of single values that two plans share are one with two owners.
	plantest.EditShared: "",
}

// kind is who may propose what, and beneath which folder.
type kind struct {
	kind   abi.Kind
	action string
	ops    []abi.Op
	folder string
}

var kinds = []kind{
	{abi.KindTarget, "install", plantest.TargetOps, ""},
	{abi.KindSource, "fetch", plantest.SourceOps, "in"},
}

// TestConflictsAgainstModel holds plan.Check to the model on random plans.
func TestConflictsAgainstModel(t *testing.T) {
	r := openRoot(t, plantest.Tree{})
	rnd := rand.New(rand.NewPCG(7, 8))
	refused := 0
	for n := range *plansToTry {
		k := n % 4 / 3 // a source each fourth time
		if holdToModel(t, r, k, plantest.Proposals(plantest.FromRand(rnd), kinds[k].ops)) {
			refused++
		}
		if t.Failed() {
			t.Fatalf("plan %d of -plans %d", n, *plansToTry)
		}
	}
	if refused < *plansToTry/3 || refused > *plansToTry*9/10 {
		t.Errorf("%d of %d plans conflict: the generator is lopsided", refused, *plansToTry)
	}
}

// TestCasesAgainstModel holds plan.Check to the model on the cases that were judged by hand, but for those of ops that no one
// kind may use, as no plan of them gets as far as this; nor to what is an error by itself, so that Check looks no further:
// there is nothing to remove behind the last element of an array.
func TestCasesAgainstModel(t *testing.T) {
	r := openRoot(t, plantest.Tree{})
	held := 0
	for _, tt := range cases {
		k := slices.IndexFunc(kinds, func(k kind) bool { return k.allows(tt.proposals) })
		if k < 0 || tt.name == "addition and removal" {
			continue
		}
		held++
		t.Run(tt.name, func(t *testing.T) { holdToModel(t, r, k, tt.proposals) })
	}
	if held < len(cases)-4 {
		t.Errorf("%d of %d cases were held to the model", held, len(cases))
	}
}

// allows reports whether the kind may use every op of the proposals.
func (k kind) allows(proposals [][]abi.Intent) bool {
	for _, intents := range proposals {
		for _, in := range intents {
			if !slices.Contains(k.ops, in.Op()) {
				return false
			}
		}
	}
	return true
}

// FuzzConflicts holds plan.Check to the model: it refuses for a conflict exactly if two intents conflict, and says so of
// the intents that do. Each byte is a choice of the generator.
func FuzzConflicts(f *testing.F) {
	f.Add([]byte{}, false)
	rnd := rand.New(rand.NewPCG(9, 10))
	for n := range 64 {
		seed := make([]byte, 8<<(n%6))
		for i := range seed {
			seed[i] = byte(rnd.IntN(256))
		}
		f.Add(seed, n%4 == 3)
	}
	r := openRoot(f, plantest.Tree{})
	f.Fuzz(func(t *testing.T, data []byte, source bool) {
		k := 0
		if source {
			k = 1
		}
		holdToModel(t, r, k, plantest.Proposals(plantest.FromBytes(data), kinds[k].ops))
	})
}

// holdToModel compares what Check says of conflicts with what the model says, and returns whether there are any. A plan
// over which they disagree is shown without the intents that have no part in that.
func holdToModel(t *testing.T, r *root.Root, k int, proposals [][]abi.Intent) bool {
	t.Helper()
	conflict, why := disagree(t, r, k, proposals)
	if why == "" {
		return conflict
	}
	for p := 0; p < len(proposals); p++ {
		for i := 0; i < len(proposals[p]); i++ {
			fewer := slices.Clone(proposals)
			fewer[p] = slices.Delete(slices.Clone(proposals[p]), i, i+1)
			if _, still := disagree(t, r, k, fewer); still != "" {
				proposals, why = fewer, still
				p, i = 0, -1 // what had a part in it before may have none now
			}
		}
	}
	t.Errorf("%s%s", describe(proposals), why)
	return conflict
}

// disagree returns whether there are conflicts by the model, and in what Check disagrees with it, "" if in nothing:
//
//   - Check reports a conflict exactly if there is one, under a rule that some pair breaks;
//   - each intent that it names for a rule breaks that rule;
//   - of each two intents that conflict, Check names one, or names one of another proposal that conflicts with either.
//
// Not all that take part need be named: a finding shows an intent with one partner, and numbers the intents of one proposal
// only; of another's it tells in words. In one proposal, who drops every intent that is named has no conflict left.
func disagree(t *testing.T, r *root.Root, k int, proposals [][]abi.Intent) (conflict bool, why string) {
	t.Helper()
	pairs := slices.DeleteFunc(plantest.Conflicts(proposals), func(p plantest.Pair) bool { return ruleIDs[p.Rule] == "" })
	type broken struct {
		ref  plantest.Ref
		rule string
	}
	breaks := map[broken]bool{}
	for _, p := range pairs {
		breaks[broken{p.A, ruleIDs[p.Rule]}], breaks[broken{p.B, ruleIDs[p.Rule]}] = true, true
	}
	named := map[plantest.Ref]bool{}
	_, findings := check(t, r, k, proposals)
	for _, f := range findings {
		if !slices.Contains([]string{plan.RuleSamePath, plan.RuleNestedPath, plan.RuleEditOverlap}, f.Rule) {
			continue
		}
		if len(f.Intents) == 0 {
			return len(pairs) > 0, fmt.Sprintf("finding %+v names no intent", f)
		}
		for _, i := range f.Intents {
			ref := plantest.Ref{Intent: i}
			if _, err := fmt.Sscanf(f.Owner, "p%d", &ref.Proposal); err != nil {
				t.Fatalf("finding %+v: read the owner: %v", f, err)
			}
			named[ref] = true
			if !breaks[broken{ref, f.Rule}] {
				return len(pairs) > 0, fmt.Sprintf("finding %+v: the model knows no such conflict of %v", f, ref)
			}
		}
	}
	told := maps.Clone(named) // those in words too
	for _, p := range pairs {
		if p.A.Proposal != p.B.Proposal {
			told[p.A], told[p.B] = told[p.A] || named[p.B], told[p.B] || named[p.A]
		}
	}
	for _, p := range pairs {
		if !told[p.A] && !told[p.B] {
			return true, fmt.Sprintf("%v and %v conflict by %q, and Check does not say so; it finds %+v", p.A, p.B, p.Rule, findings)
		}
	}
	return len(pairs) > 0, ""
}

// TestAcceptedPlansDoWhatTheySay compares, for plans of a target in a root where each source of a rename exists and much else, the steps that
// Check returns with what the model makes of the tree; and Check accepts exactly what the model can do.
func TestAcceptedPlansDoWhatTheySay(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	accepted := 0
	for accepted < max(500, *plansToTry/40) {
		proposals := plantest.Proposals(plantest.FromRand(rnd), plantest.TargetOps)
		if len(plantest.Conflicts(proposals)) > 0 {
			continue
		}
		before := plantest.Surroundings(plantest.FromRand(rnd), proposals)
		want, err := before.Apply(proposals, plantest.Effects{Module: plantest.ModuleFiles, Edit: oneEdit})
		for _, intents := range proposals {
			for _, in := range intents {
				if in, ok := in.(abi.Write); ok && in.Expect.Absent {
					if _, ok := before[in.Path]; ok && err == nil {
						err = fmt.Errorf("%q is there", in.Path)
					}
				}
			}
		}
		checked, findings := check(t, openRoot(t, before), 0, proposals)
		if (err == nil) != (len(findings) == 0) {
			t.Fatalf("%s\nin %v: Check finds %+v, the model %v", describe(proposals), before, findings, err)
		}
		if err != nil {
			continue
		}
		accepted++
		if diff := plantest.Diff(perform(t, before, checked.Steps()), want); diff != "" {
			t.Fatalf("%s\nin %v: the steps %+v make another tree:\n%s", describe(proposals), before, checked.Steps(), diff)
		}
	}
}

// oneEdit does one edit with the package that Check does all edits of a file with.
func oneEdit(in abi.Intent, old []byte, exists bool) ([]byte, error) {
	var res edit.Result
	var err error
	switch in := in.(type) {
	case abi.EditJSON:
		res, err = edit.JSON(old, exists, in.Edits)
	case abi.EditBlock:
		res, err = edit.Block(in.Path, old, exists, in)
	}
	if !exists && len(res.New) == 0 {
		return nil, err
	}
	return res.New, err
}

// perform does steps as package plan defines them: what is removed, what moves, then the rest.
func perform(t *testing.T, before plantest.Tree, steps []plan.Step) plantest.Tree {
	t.Helper()
	var intents []abi.Intent
	for _, s := range steps {
		switch s.Action {
		case plan.Remove:
			intents = append(intents, abi.Delete{Path: s.Path})
		case plan.Move:
			intents = append(intents, abi.Rename{From: s.Path, To: s.To})
		case plan.Create, plan.Update, plan.Keep:
			r, err := s.Content.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if s.Action == plan.Keep {
				if n, ok := before[s.Path]; !ok || !plan.SameMode(n.Mode, s.Mode) || string(n.Data) != string(data) {
					t.Fatalf("step %+v keeps %v", s, n)
				}
			}
			intents = append(intents, abi.Write{Path: s.Path, Mode: s.Mode, Content: abi.Bytes(data)})
		default:
			t.Fatalf("step %+v is none of a write, a delete or a rename", s)
		}
	}
	after, err := before.Apply([][]abi.Intent{intents}, plantest.Effects{})
	if err != nil {
		t.Fatalf("the steps %+v cannot be done: %v", steps, err)
	}
	return after
}

// BenchmarkCheck65536 judges the largest plans. Check of 65,536 intents must stay well under a second, and near linear:
// ns/intent must not grow from the smaller size to the larger.
func BenchmarkCheck65536(b *testing.B) {
	for _, s := range plantest.Shapes {
		for _, n := range []int{8192, 65536} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(s.Name, " ", "-"), n), func(b *testing.B) {
				r := openRoot(b, plantest.Tree{})
				proposals := s.Make(n)
				for b.Loop() {
					check(b, r, 0, proposals)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/intent")
			})
		}
	}
}

// check asks plan.Check: proposal n is by extension pn, which may do anything that the kind may.
func check(t testing.TB, r *root.Root, k int, proposals [][]abi.Intent) (plan.Checked, []plan.Finding) {
	t.Helper()
	lim, err := abi.Limits{}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	everything, err := grant.Parse(grant.Rights{Writes: []string{"**"}, Capabilities: []string{grant.NetHTTP, grant.NetGit}})
	if err != nil {
		t.Fatal(err)
	}
	list := make([]plan.Proposal, len(proposals))
	for i, intents := range proposals {
		if kinds[k].folder != "" {
			intents = moveInto(kinds[k].folder, intents)
		}
		list[i] = plan.Proposal{Owner: fmt.Sprint("p", i), Kind: kinds[k].kind, Action: kinds[k].action, Grant: everything,
			Plan: &abi.Plan{Intents: intents}, Module: module{}, Destination: kinds[k].folder}
	}
	checked, err := plan.Check(r, plan.Options{Limits: lim}, list...)
	if err == nil {
		return checked, nil
	}
	var refused *plan.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("%s\nCheck: %v, want an answer or findings", describe(proposals), err)
	}
	return checked, refused.Findings
}

// moveInto moves what a source does into its folder.
func moveInto(folder string, intents []abi.Intent) []abi.Intent {
	moved := make([]abi.Intent, len(intents))
	for i, in := range intents {
		switch in := in.(type) {
		case abi.Write:
			in.Path = folder + "/" + in.Path
			moved[i] = in
		case abi.Fetch:
			in.Dest = folder + "/" + in.Dest
			moved[i] = in
		case abi.Clone:
			in.Dest = folder + "/" + in.Dest
			moved[i] = in
		}
	}
	return moved
}

// module has the files that the generator names.
type module struct{}

func (module) File(path string) (abi.Content, bool) {
	text, ok := plantest.ModuleFiles[path]
	return abi.Bytes(text), ok
}

func openRoot(t testing.TB, tree plantest.Tree) *root.Root {
	t.Helper()
	dir := t.TempDir()
	if err := tree.Write(dir); err != nil {
		t.Fatal(err)
	}
	r, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// describe writes proposals with a line for each intent.
func describe(proposals [][]abi.Intent) string {
	var b strings.Builder
	for p, intents := range proposals {
		for i, in := range intents {
			fmt.Fprintf(&b, "{%d %d} %s %+v\n", p, i, in.Op(), in)
		}
	}
	return b.String()
}
