package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// provocation is a tree and the proposals that break one rule in it.
type provocation struct {
	files     map[string]string
	limits    abi.Limits
	proposals func(t *testing.T) []plan.Proposal
	// prepare makes what cannot be said in files; it reports false where this system cannot have it.
	prepare func(t *testing.T, r *root.Root) bool
	// protect is a file or directory that no plan may reach.
	protect string
	// others are further rules that the same proposals break of necessity.
	others []string
}

// one is a proposal with one intent.
func one(in abi.Intent) func(*testing.T) []plan.Proposal {
	return func(t *testing.T) []plan.Proposal { return []plan.Proposal{installs(t, "x", in)} }
}

func badPath(path string, others ...string) provocation {
	return provocation{proposals: one(write(path, "")), others: others}
}

// provocations has one row for every rule.
var provocations = map[string]provocation{
	plan.RulePathEmpty:     badPath("", plan.RuleNotGranted),
	plan.RulePathLength:    badPath(strings.Repeat("abcdefg/", 128)+"x", plan.RulePathDepth, plan.RulePathDot),
	plan.RulePathDepth:     badPath(strings.Repeat("a/", 32) + "x"),
	plan.RulePathUTF8:      badPath("a\xff"),
	plan.RulePathControl:   badPath("a\x1b"),
	plan.RulePathInvisible: badPath("a\u202eb"),
	plan.RulePathBackslash: badPath(`a\b`),
	plan.RulePathColon:     badPath("a:b"),
	plan.RulePathAbsolute:  badPath("/a", plan.RulePathDot),
	plan.RulePathDot:       badPath("a/../b"),
	plan.RulePathComponent: badPath(strings.Repeat("x", 256)),
	plan.RulePathTrailing:  badPath("a."),
	plan.RulePathDevice:    badPath("nul.txt"),
	plan.RulePathShortName: badPath("CLAUDE~1"),
	plan.RulePathVCS:       badPath(".git/hooks/post-checkout"),
	plan.RulePathStaging:   badPath(".Lola-Stage-1/x"),
	plan.RuleMode:          {proposals: one(abi.Write{Path: "a", Mode: 0o4755, Content: abi.Bytes("")})},
	plan.RuleOpNotAllowed:  {proposals: one(abi.Fetch{URL: "https://example.com/", Method: "GET", Dest: "a"})},
	plan.RuleOpUnknown: {proposals: func(t *testing.T) []plan.Proposal {
		w := write("a", "")
		return []plan.Proposal{installs(t, "x", &w)}
	}, others: []string{plan.RuleOpNotAllowed}},
	plan.RuleDestination: {proposals: func(t *testing.T) []plan.Proposal { return []plan.Proposal{gets(t, write("e/a", ""))} }},
	plan.RuleGuarded:     {proposals: one(write(".mcp.json", "{}"))},
	plan.RuleReplaceLink: {proposals: func(t *testing.T) []plan.Proposal {
		p := installs(t, "x", abi.Write{Path: "a", Content: abi.Bytes(""), ReplaceSymlink: true})
		p.Grant = granted(t, grant.Rights{Writes: []string{"a"}})
		return []plan.Proposal{p}
	}},
	plan.RuleURL: {proposals: func(t *testing.T) []plan.Proposal {
		return []plan.Proposal{gets(t, abi.Fetch{URL: "http://example.com/", Method: "GET", Dest: "d/a"})}
	}},
	plan.RuleRef: {proposals: func(t *testing.T) []plan.Proposal {
		return []plan.Proposal{gets(t, abi.Clone{Repo: "https://example.com/r", Ref: "--upload-pack=x", Dest: "d/a"})}
	}},
	plan.RuleRemoteNotGranted: {proposals: func(t *testing.T) []plan.Proposal {
		p := gets(t, abi.Fetch{URL: "https://example.org/", Method: "GET", Dest: "d/a"})
		p.Grant = granted(t, grant.Rights{Writes: []string{"**"}, Capabilities: []string{"net.http:example.com"}})
		return []plan.Proposal{p}
	}},
	plan.RuleEditForm: {proposals: one(abi.EditJSON{Path: "a", Edits: []abi.JSONEdit{{At: "x"}}})},
	plan.RuleEditOverlap: {proposals: func(t *testing.T) []plan.Proposal {
		return []plan.Proposal{installs(t, "x", set("a", "/x", int64(1)), set("a", "/x/y", int64(1)))}
	}},
	plan.RuleEditFile:     {files: map[string]string{"a": "{"}, proposals: one(set("a", "/x", int64(1)))},
	plan.RuleRenameSource: {proposals: one(abi.Rename{From: "a", To: "b"})},
	plan.RuleRenameTarget: {files: map[string]string{"a": "", "b": ""}, proposals: one(abi.Rename{From: "a", To: "b"})},
	plan.RuleTreePath:     {files: map[string]string{"a/x": ""}, limits: abi.Limits{Components: 2}, proposals: one(abi.Rename{From: "a", To: "b/c"})},
	plan.RuleTreeSize:     {files: map[string]string{"a/x": "", "a/y": ""}, limits: abi.Limits{NewEntries: 1}, proposals: one(abi.Delete{Path: "a"})},
	plan.RuleProtected:    {files: map[string]string{"a/state/x": ""}, protect: "a/state", proposals: one(abi.Delete{Path: "a"})},
	plan.RuleResult: {proposals: func(t *testing.T) []plan.Proposal {
		p := installs(t, "x")
		p.Plan.Result = abi.Entries{}
		return []plan.Proposal{p}
	}},
	plan.RuleNotGranted: {proposals: func(t *testing.T) []plan.Proposal {
		p := installs(t, "x", write("a", ""))
		p.Grant = grant.Set{}
		return []plan.Proposal{p}
	}},
	plan.RuleModuleFile: {proposals: one(abi.Write{Path: "a", Mode: 0o644, Module: "skills/x/SKILL.md"})},
	plan.RuleSamePath: {proposals: func(t *testing.T) []plan.Proposal {
		return []plan.Proposal{installs(t, "x", write("a", ""), write("a", ""))}
	}},
	plan.RuleNestedPath: {proposals: func(t *testing.T) []plan.Proposal {
		return []plan.Proposal{installs(t, "x", write("a", ""), write("a/b", ""))}
	}},
	plan.RuleLink:       {proposals: one(write("link/x", "")), prepare: linkHere},
	plan.RuleInTheWay:   {files: map[string]string{"a": ""}, proposals: one(write("a/b", ""))},
	plan.RuleExpect:     {proposals: one(abi.Write{Path: "a", Content: abi.Bytes(""), Expect: abi.Expect{Digest: new(abi.Digest)}})},
	plan.RuleBareRepo:   {files: map[string]string{"d/objects/x": "", "d/refs/x": ""}, proposals: one(write("d/HEAD", ""))},
	plan.RuleNewEntries: {limits: abi.Limits{NewEntries: 2}, proposals: one(write("a/b/c", ""))},
	plan.RuleUnreadable: {proposals: one(write("a", "")), prepare: func(t *testing.T, r *root.Root) bool {
		return r.Close() == nil // nothing can be looked at beneath a closed root
	}},
}

// noRefusals are rules that Check does not refuse by: one marks steps, and one is Checked.Unsupported's.
var noRefusals = []string{plan.RuleForeign, plan.RuleOpUnsupported}

// TestEveryRuleIsProvoked holds the list of rules and the table above to each other: a rule without a row fails, a row
// whose proposals do not break it fails, and so does one that breaks more than it says.
func TestEveryRuleIsProvoked(t *testing.T) {
	var ids []string
	for _, r := range plan.Rules {
		if r.ID == "" || r.Summary == "" || r.Why == "" || r.Example == "" || r.Author == "" {
			t.Errorf("rule %+v is not documented in full", r)
		}
		if slices.Contains(ids, r.ID) {
			t.Errorf("rule %q is listed twice", r.ID)
		}
		ids = append(ids, r.ID)
		if _, ok := provocations[r.ID]; !ok && !slices.Contains(noRefusals, r.ID) {
			t.Errorf("rule %q has no test that provokes it", r.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(provocations)) {
		t.Run(id, func(t *testing.T) {
			if !slices.Contains(ids, id) {
				t.Fatalf("rule %q is not listed in Rules", id)
			}
			p := provocations[id]
			r := openTree(t, p.files)
			if p.prepare != nil && !p.prepare(t, r) {
				t.Skip("this system cannot have what the rule is about")
			}
			o := plan.Options{Limits: limits(t, p.limits)}
			if p.protect != "" {
				info, err := os.Stat(filepath.Join(r.Path(), p.protect))
				if err != nil {
					t.Fatal(err)
				}
				o.Protected = append(o.Protected, info)
			}
			found := findingsWith(t, r, o, p.proposals(t)...)
			if !hasRule(found, id) {
				t.Fatalf("found %v, want %q", rulesOf(found), id)
			}
			for _, f := range found {
				if f.Rule != id && !slices.Contains(p.others, f.Rule) {
					t.Errorf("found %q too (%s); want %q and at most %v", f.Rule, f.Message, id, p.others)
				}
				if f.Message == "" {
					t.Errorf("finding %q has no message", f.Rule)
				}
			}
		})
	}
}

// defects is a plan in which the intent at each position breaks rules of its own, and some break rules with others.
func defects() []abi.Intent {
	return []abi.Intent{
		write("/a/../nul.txt", ""), write("fine", ""), write(".git/config", ""), abi.Write{Path: "m", Mode: 0o7777, Content: abi.Bytes("")},
		write("nest", ""), write("nest/x", ""), write("twice", "1"), write("twice", "2"), abi.Rename{From: "a:", To: "b:"},
		abi.Clone{Repo: "https://example.com/r", Ref: "main", Dest: "c"}, abi.Write{Path: "none"}, write("file/x", ""),
		abi.Write{Path: "there", Content: abi.Bytes(""), Expect: abi.Expect{Absent: true}},
		write("d/HEAD", ""), write("d/objects/1", ""), write("d/refs/1", ""), write("e/HEAD", ""), write("e/commondir", ""),
	}
}

// TestAllFindingsInFixedOrder: everything that is wrong is said at once, in one order, and that order is the documented
// one: extension, intent, rule, path.
func TestAllFindingsInFixedOrder(t *testing.T) {
	r := openTree(t, map[string]string{"file": "", "there": ""})
	lim := limits(t, abi.Limits{})
	other := installs(t, "second", write("twice", "3"), write("", ""))
	want := findings(t, r, lim, installs(t, "first", defects()...), other)
	for _, rule := range []string{
		plan.RulePathAbsolute, plan.RulePathDot, plan.RulePathDevice, plan.RulePathVCS, plan.RuleMode, plan.RuleNestedPath, plan.RuleSamePath,
		plan.RuleOpNotAllowed, plan.RuleModuleFile, plan.RuleInTheWay, plan.RuleExpect, plan.RuleBareRepo, plan.RulePathEmpty,
	} {
		if !hasRule(want, rule) {
			t.Errorf("found %v, want %q among them", rulesOf(want), rule)
		}
	}
	if n := len(slices.DeleteFunc(rulesOf(want), func(r string) bool { return r != plan.RuleBareRepo })); n != 2 {
		t.Errorf("found %d bare repositories, want both", n)
	}
	for range 20 {
		if got := findings(t, r, lim, installs(t, "first", defects()...), other); !reflect.DeepEqual(got, want) {
			t.Fatalf("the same plan has other findings at another time:\n%v\n%v", got, want)
		}
	}
	checkOrder(t, want)
}

// TestShuffledPlans: a plan is a set. In whatever order its intents come, as many findings of each rule come, in the
// documented order.
func TestShuffledPlans(t *testing.T) {
	r := openTree(t, map[string]string{"file": "", "there": ""})
	lim := limits(t, abi.Limits{})
	count := func(intents []abi.Intent) map[string]int {
		found := findings(t, r, lim, installs(t, "first", intents...), installs(t, "second", write("twice", "3")))
		checkOrder(t, found)
		n := map[string]int{}
		for _, f := range found {
			n[f.Rule]++
		}
		return n
	}
	want := count(defects())
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		intents := defects()
		rnd.Shuffle(len(intents), func(i, j int) { intents[i], intents[j] = intents[j], intents[i] })
		if got := count(intents); !maps.Equal(got, want) {
			t.Fatalf("a shuffled plan has the findings %v, want %v", got, want)
		}
	}
}

func checkOrder(t *testing.T, found []plan.Finding) {
	t.Helper()
	rank := func(f plan.Finding) []int {
		owner := slices.Index([]string{"first", "second"}, f.Owner)
		intent := -1
		if len(f.Intents) > 0 {
			intent = f.Intents[0]
		}
		return []int{owner, intent, slices.IndexFunc(plan.Rules, func(r plan.Rule) bool { return r.ID == f.Rule })}
	}
	for i := 1; i < len(found); i++ {
		if a, b := found[i-1], found[i]; slices.Compare(rank(a), rank(b)) > 0 {
			t.Errorf("finding %d (%q, intents %v) comes before %d (%q, intents %v)", i-1, a.Rule, a.Intents, i, b.Rule, b.Intents)
		}
	}
}

// TestFindingsAreBounded: a plan of 64 MiB can break every rule with every intent. What is kept of that is bounded, and
// the refusal says that there is more.
func TestFindingsAreBounded(t *testing.T) {
	r := openTree(t, nil)
	intents := make([]abi.Intent, 4000)
	for i := range intents {
		intents[i] = write(fmt.Sprintf("/%d/../nul./x~1/a:\\\x01\u202e", i), "")
	}
	p := installs(t, "x", intents...)
	_, err := plan.Check(r, plan.Options{Limits: limits(t, abi.Limits{})}, p)
	refused, ok := err.(*plan.RefusedError)
	if !ok || len(refused.Findings) != plan.MaxFindings || !refused.Truncated {
		t.Fatalf("Check: %.200v, want %d findings and the word that there are more", err, plan.MaxFindings)
	}
	if !strings.Contains(err.Error(), "more than") {
		t.Errorf("the error %q does not say that there are more", err)
	}
	p.Plan.Intents = intents[:10]
	if _, err := plan.Check(r, plan.Options{Limits: limits(t, abi.Limits{})}, p); err.(*plan.RefusedError).Truncated {
		t.Error("a short list of findings is called truncated")
	}
}

// TestLongGrantsInMessages: a grant stands in a message per intent, so it is cut there.
func TestLongGrantsInMessages(t *testing.T) {
	var globs []string
	for i := range 100 {
		globs = append(globs, fmt.Sprintf("é%d/%s", i, strings.Repeat("é", 400)))
	}
	p := installs(t, "x", write("a", ""))
	var err error
	if p.Grant, err = grant.New(globs); err != nil {
		t.Fatal(err)
	}
	found := findings(t, openTree(t, nil), limits(t, abi.Limits{}), p)
	if len(found) != 1 || found[0].Rule != plan.RuleNotGranted || len(found[0].Message) > 400 {
		t.Errorf("found %v with a message of %d bytes, want one %q of at most 400", rulesOf(found), len(found[0].Message), plan.RuleNotGranted)
	}
}

// TestRefusedErrorNames: the error names the extension, the rule and how many more there are.
func TestRefusedErrorNames(t *testing.T) {
	_, err := plan.Check(openTree(t, nil), plan.Options{Limits: limits(t, abi.Limits{})}, installs(t, "cursor", write("/a", "")))
	for _, part := range []string{"cursor", plan.RulePathAbsolute, "1 more"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, want %q in it", err, part)
		}
	}
	if got := (&plan.RefusedError{}).Error(); got == "" {
		t.Error("a refusal without findings says nothing")
	}
}

// TestLongTextsInMessages: what a plan says at length is not said again at length, however many findings it stands in.
func TestLongTextsInMessages(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	r := openTree(t, map[string]string{"j": "{}"})
	var same []abi.Intent
	for range 3 {
		same = append(same, set("j", "/"+long, int64(1)))
	}
	for name, p := range map[string]plan.Proposal{
		"a pointer": installs(t, "x", same...), "a URL": gets(t, abi.Fetch{URL: long, Method: "GET", Dest: "d/a"}), "a ref": gets(t, abi.Clone{Repo: "https://example.com/r", Ref: "-" + long, Dest: "d/a"}),
		"a module file": installs(t, "x", abi.Write{Path: "a", Module: long}), "a bad pointer": installs(t, "x", set("j", long, nil)), "a path": installs(t, "x", write(long, "")),
	} {
		found := findings(t, r, limits(t, abi.Limits{}), p)
		if len(found) == 0 {
			t.Errorf("%s: nothing found", name)
		}
		for _, f := range found {
			if len(f.Message) > 5000 {
				t.Errorf("%s: the message of %q has %d bytes", name, f.Rule, len(f.Message))
			}
		}
	}
}

// nearMisses has, for every rule, what comes close to breaking it and does not: the intents of one plan, and the tree.
var nearMisses = map[string]struct {
	files  map[string]string
	limits abi.Limits
	in     []abi.Intent
	source bool
}{
	plan.RulePathEmpty:        {in: []abi.Intent{write("a", "")}},
	plan.RulePathLength:       {in: []abi.Intent{write(strings.Repeat(strings.Repeat("x", 200)+"/", 5)+"x", "")}},
	plan.RulePathDepth:        {in: []abi.Intent{write(strings.Repeat("a/", 31)+"x", "")}},
	plan.RulePathUTF8:         {in: []abi.Intent{write("\u00e4", "")}},
	plan.RulePathControl:      {in: []abi.Intent{write("a b", "")}},
	plan.RulePathInvisible:    {in: []abi.Intent{write("a\u05d0b", "")}},
	plan.RulePathBackslash:    {in: []abi.Intent{write("a/b", "")}},
	plan.RulePathColon:        {in: []abi.Intent{write("a;b", "")}},
	plan.RulePathAbsolute:     {in: []abi.Intent{write("a/b", "")}},
	plan.RulePathDot:          {in: []abi.Intent{write("a/...b/.c", "")}},
	plan.RulePathComponent:    {in: []abi.Intent{write(strings.Repeat("x", 255), "")}},
	plan.RulePathTrailing:     {in: []abi.Intent{write(".a b", "")}},
	plan.RulePathDevice:       {in: []abi.Intent{write("null.txt", "")}},
	plan.RulePathShortName:    {in: []abi.Intent{write("CLAUDE~", "")}},
	plan.RulePathVCS:          {in: []abi.Intent{write(".gitkeep", "")}},
	plan.RulePathStaging:      {in: []abi.Intent{write(".lola-stages", "")}},
	plan.RuleMode:             {in: []abi.Intent{abi.Write{Path: "a", Mode: 0o777, Content: abi.Bytes("")}}},
	plan.RuleOpNotAllowed:     {in: []abi.Intent{fetch("https://example.com/")}, source: true},
	plan.RuleOpUnknown:        {in: []abi.Intent{write("a", "")}},
	plan.RuleResult:           {},
	plan.RuleDestination:      {in: []abi.Intent{write("d/a", "")}, source: true},
	plan.RuleNotGranted:       {in: []abi.Intent{write("a", "")}},
	plan.RuleGuarded:          {in: []abi.Intent{write("mcp.json", "")}},
	plan.RuleReplaceLink:      {in: []abi.Intent{abi.Write{Path: "a", Content: abi.Bytes(""), ReplaceSymlink: true}}},
	plan.RuleURL:              {in: []abi.Intent{fetch("https://example.com/--x")}, source: true},
	plan.RuleRef:              {in: []abi.Intent{clone("https://example.com/r", "a-b")}, source: true},
	plan.RuleRemoteNotGranted: {in: []abi.Intent{clone("https://example.com/r", "a")}, source: true},
	plan.RuleModuleFile:       {in: []abi.Intent{write("a", "")}},
	plan.RuleEditForm:         {in: []abi.Intent{set("a", "/x~0/y~1", int64(1))}},
	plan.RuleSamePath:         {in: []abi.Intent{write("a", ""), write("\u00e1", "")}},
	plan.RuleNestedPath:       {in: []abi.Intent{write("a", ""), write("a-b", ""), write("ab/c", "")}},
	plan.RuleEditOverlap:      {in: []abi.Intent{set("a", "/x", int64(1)), set("a", "/xy", int64(1))}},
	plan.RuleUnreadable:       {files: map[string]string{"a": "x"}, in: []abi.Intent{write("a", "")}},
	plan.RuleProtected:        {files: map[string]string{"a/state/x": ""}, in: []abi.Intent{abi.Delete{Path: "a"}}},
	plan.RuleLink:             {files: map[string]string{"link/": ""}, in: []abi.Intent{write("link/x", "")}},
	plan.RuleInTheWay:         {files: map[string]string{"a/": ""}, in: []abi.Intent{write("a/b", "")}},
	plan.RuleExpect:           {in: []abi.Intent{abi.Write{Path: "a", Content: abi.Bytes(""), Expect: abi.Expect{Absent: true}}}},
	plan.RuleRenameSource:     {files: map[string]string{"a": ""}, in: []abi.Intent{abi.Rename{From: "a", To: "b"}}},
	plan.RuleRenameTarget:     {files: map[string]string{"a": "", "b": ""}, in: []abi.Intent{abi.Rename{From: "a", To: "b"}, abi.Delete{Path: "b"}}},
	plan.RuleEditFile:         {files: map[string]string{"a": "{} // all there is"}, in: []abi.Intent{set("a", "/x", int64(1))}},
	plan.RuleTreePath:         {files: map[string]string{"a/x": ""}, limits: abi.Limits{Components: 3}, in: []abi.Intent{abi.Rename{From: "a", To: "b/c"}}},
	plan.RuleTreeSize:         {files: map[string]string{"a/x": "", "a/y": ""}, limits: abi.Limits{NewEntries: 2}, in: []abi.Intent{abi.Delete{Path: "a"}}},
	plan.RuleBareRepo:         {files: map[string]string{"d/objects/x": ""}, in: []abi.Intent{write("d/HEAD", "")}},
	plan.RuleNewEntries:       {limits: abi.Limits{NewEntries: 3}, in: []abi.Intent{write("a/b/c", "")}},
}

// TestNoRuleIsTooWide: for every rule, what comes close to breaking it is accepted.
func TestNoRuleIsTooWide(t *testing.T) {
	for _, r := range plan.Rules {
		miss, ok := nearMisses[r.ID]
		if !ok && !slices.Contains(noRefusals, r.ID) {
			t.Errorf("rule %q has no plan that comes close", r.ID)
		}
		p := installs(t, "x", miss.in...)
		if miss.source {
			p = gets(t, miss.in...)
		}
		if found := findings(t, openTree(t, miss.files), limits(t, miss.limits), p); found != nil {
			t.Errorf("close to %q: found %+v", r.ID, found)
		}
	}
}
