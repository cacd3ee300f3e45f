package plantest_test

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan/plantest"
)

// What a case rests on.
const (
	onePath  = "SPEC 5: Two intents may not touch one path"
	beneath  = "SPEC 5: nor one beneath another"
	bothEnds = "SPEC 5: rename touches both ends"
	excepted = "SPEC 5: a path that is or lies beneath a delete's path does not conflict with that delete"
	source   = "SPEC 5: unless it is a rename source"
	edits    = "SPEC 5: Several edits of one file are one edit if their pointers or ids do not overlap"
	owners   = "SPEC 5: When several targets install in one transaction, equal intents are one file with several owners"
	fold     = "SPEC 5: two paths are one if they fold alike (Unicode NFD, full case fold, NFC)"
	addition = "SPEC 3: /- adds a value to an array unless it is there"
	anyOrder = "abi/SPEC.md: list, one at least, of maps, in any order"
	p07      = "P07: FOO and foo, NFC and NFD spellings, in one plan: one path on every OS, plan refused"
)

func w(path string) abi.Intent {
	return abi.Write{Path: path, Mode: 0o644, Content: abi.Bytes("x")}
}
func del(path string) abi.Intent { return abi.Delete{Path: path} }
func mv(from, to string) abi.Intent {
	return abi.Rename{From: from, To: to}
}
func fetch(dest string) abi.Intent {
	return abi.Fetch{URL: "https://a.example/", Method: "GET", Dest: dest}
}
func clone(dest string) abi.Intent {
	return abi.Clone{Repo: "https://a.example/r", Ref: "main", Dest: dest}
}

// set edits a JSON file: "/a=1" sets, "/a" removes.
func set(path string, edits ...string) abi.Intent {
	in := abi.EditJSON{Path: path}
	for _, e := range edits {
		at, value, ok := strings.Cut(e, "=")
		edit := abi.JSONEdit{At: at, Set: ok}
		if ok {
			edit.Value = value
		}
		in.Edits = append(in.Edits, edit)
	}
	return in
}

func block(path, id, text string) abi.Intent {
	return abi.EditBlock{Path: path, ID: id, Text: &text}
}

func noBlock(path, id string) abi.Intent { return abi.EditBlock{Path: path, ID: id} }

// plans makes a proposal of each list.
func plans(p ...[]abi.Intent) [][]abi.Intent { return p }

// in makes one proposal.
func in(intents ...abi.Intent) []abi.Intent { return intents }

var cases = []struct {
	name      string
	proposals [][]abi.Intent
	want      string // "A-B rule" by the intents' positions, all proposals counted through
	why       string
}{
	{"nothing", plans(in()), "", onePath},
	{"one write", plans(in(w("a"))), "", onePath},
	{"two paths", plans(in(w("a"), w("b"))), "", onePath},
	{"one path", plans(in(w("a"), w("a"))), "0-1 same-path", onePath},
	{"three times one path", plans(in(w("a"), w("a"), w("a"))), "0-1 same-path, 0-2 same-path, 1-2 same-path", onePath},
	{"a file and one in it", plans(in(w("a"), w("a/b"))), "0-1 nested-path", beneath},
	{"a file and one deep in it, the other way round", plans(in(w("a/b/c/d"), w("a"))), "0-1 nested-path", beneath},
	{"names that begin alike", plans(in(w("a"), w("ab/c"), w("a!/c"), w("a b"), w("a-b"), w("a.b/c"))), "", beneath},
	{"two files of a directory", plans(in(w("d/a"), w("d/b"))), "", beneath},

	{"case", plans(in(w("a"), w("A"))), "0-1 same-path", p07},
	{"case of a parent", plans(in(w("d/a"), w("D/a"))), "0-1 same-path", fold},
	{"case of a file and a parent", plans(in(w("D"), w("d/a"))), "0-1 nested-path", fold},
	{"case of directories alone", plans(in(w("d/a"), w("D/b"))), "", onePath},
	{"composed and decomposed", plans(in(w("caf\u00e9"), w("cafe\u0301"))), "0-1 same-path", p07},
	{"full case fold", plans(in(w("stra\u00dfe"), w("STRASSE"))), "0-1 same-path", fold},
	{"capital sharp s", plans(in(w("\u1e9e"), w("\u00df"))), "0-1 same-path", fold},
	{"kelvin sign", plans(in(w("\u212a"), w("k"))), "0-1 same-path", fold},
	{"long s", plans(in(w("\u017fkill"), w("SKILL"))), "0-1 same-path", fold},
	{"dotted capital i", plans(in(w("\u0130"), w("i\u0307"))), "0-1 same-path", fold},
	{"dotted capital i is no plain i", plans(in(w("\u0130"), w("i"))), "", fold},
	{"dotless i is no i", plans(in(w("\u0131"), w("I"))), "", fold},
	{"ligature", plans(in(w("\ufb01"), w("FI"))), "0-1 same-path", fold},
	{"final sigma", plans(in(w("\u03c2"), w("\u03a3"))), "0-1 same-path", fold},
	{"Cherokee", plans(in(w("\u13a0"), w("\uab70"))), "0-1 same-path", fold},
	{"late Cherokee", plans(in(w("\u13f0"), w("\u13f8"))), "0-1 same-path", fold},
	{"order of marks", plans(in(w("a\u0301\u0323"), w("\u1ea1\u0301"))), "0-1 same-path", fold},
	{"iota beneath before another mark", plans(in(w("\u1fb3\u0301"), w("\u1fb4"))), "0-1 same-path", fold},
	{"superscript is no digit", plans(in(w("a\u00b2"), w("a2"))), "", fold},
	{"fullwidth is no ASCII", plans(in(w("\uff41"), w("a"))), "", fold},

	{"delete and write in it", plans(in(del("d"), w("d/x"))), "", excepted},
	{"delete and write deep in it, the other way round", plans(in(w("d/x/y"), del("d"))), "", excepted},
	{"delete and write there", plans(in(del("d"), w("d"))), "", excepted},
	{"delete and write above", plans(in(del("d/x"), w("d"))), "0-1 nested-path", beneath},
	{"delete twice", plans(in(del("d"), del("d"))), "", excepted},
	{"delete and delete in it", plans(in(del("d"), del("d/x"))), "", excepted},
	{"delete and delete in it, the other way round", plans(in(del("d/x"), del("d"))), "", excepted},
	{"delete and edit there", plans(in(del("f"), set("f", "/a=1"))), "", excepted},
	{"delete and block in it", plans(in(del("d"), block("d/f", "a", "x"))), "", excepted},
	{"delete and clone there", plans(in(del("d"), clone("d"))), "", excepted},
	{"delete and fetch in it", plans(in(del("d"), fetch("d/f"))), "", excepted},
	{"delete and clone above", plans(in(clone("d"), del("d/x"))), "0-1 nested-path", beneath},
	{"a delete does not excuse what else conflicts", plans(in(del("d"), w("d/x"), w("d/x/y"), w("d"))),
		"1-2 nested-path, 1-3 nested-path, 2-3 nested-path", beneath},
	{"delete and write in it by another plan", plans(in(del("d")), in(w("d/x"))), "", excepted},
	{"delete and write in it, by case of the directory", plans(in(del("D"), w("d/x"))), "0-1 spelling", p07},
	{"delete and write in it, by case of the file", plans(in(del("d"), w("d/X"), del("d/x"))), "1-2 spelling", p07},
	{"delete and delete in it by case", plans(in(del("D"), del("d/x"))), "0-1 spelling", p07},
	{"delete and rename into it by case", plans(in(del("D"), mv("e", "d/x"))), "0-1 spelling", p07},
	{"delete and write there by case", plans(in(del("FOO"), w("foo"))), "0-1 spelling", p07},
	{"delete and write there by case, the other way round", plans(in(w("foo"), del("FOO"))), "0-1 spelling", p07},
	{"delete twice by case", plans(in(del("FOO"), del("foo"))), "0-1 spelling", p07},
	{"delete and edit there by form", plans(in(del("\u00e9"), set("e\u0301", "/a=1"))), "0-1 spelling", p07},
	{"delete and write above by case", plans(in(del("D/x"), w("d"))), "0-1 nested-path", beneath},

	{"rename and write of its target", plans(in(mv("a", "b"), w("b"))), "0-1 same-path", bothEnds},
	{"rename and write of its source", plans(in(mv("a", "b"), w("a"))), "0-1 same-path", bothEnds},
	{"rename and write in its source", plans(in(mv("a", "b"), w("a/x"))), "0-1 nested-path", bothEnds},
	{"rename and write in its target", plans(in(mv("a", "b"), w("b/x"))), "0-1 nested-path", bothEnds},
	{"rename and write above its target", plans(in(mv("a", "b/c"), w("b"))), "0-1 nested-path", bothEnds},
	{"rename and edit of its target", plans(in(mv("a", "b"), set("b", "/a=1"))), "0-1 same-path", bothEnds},
	{"rename and another thing", plans(in(mv("a", "b"), w("c"))), "", bothEnds},
	{"renames in a row", plans(in(mv("a", "b"), mv("b", "c"))), "0-1 same-path", bothEnds},
	{"renames that swap", plans(in(mv("a", "b"), mv("b", "a"))), "0-1 same-path", bothEnds},
	{"two renames to one path", plans(in(mv("a", "c"), mv("b", "c"))), "0-1 same-path", bothEnds},
	{"two renames from one path", plans(in(mv("a", "b"), mv("a", "c"))), "0-1 same-path", bothEnds},
	{"rename into what another moves", plans(in(mv("a", "b"), mv("c", "a/x"))), "0-1 nested-path", bothEnds},
	{"rename out of what another moves", plans(in(mv("a", "b"), mv("a/x", "c"))), "0-1 nested-path", bothEnds},
	{"two renames apart", plans(in(mv("d/a", "d/b"), mv("d/c", "e/c"))), "", bothEnds},
	{"rename into itself", plans(in(mv("a", "a/b"))), "0-0 nested-path", bothEnds},
	{"rename onto its parent", plans(in(mv("a/b", "a"))), "0-0 nested-path", bothEnds},
	{"rename to itself", plans(in(mv("a", "a"))), "0-0 same-path", bothEnds},
	{"rename of case alone", plans(in(mv("a", "A"))), "0-0 same-path", fold},
	{"delete and rename out of it", plans(in(del("d"), mv("d/x", "e"))), "0-1 nested-path", source},
	{"delete and rename of it", plans(in(del("d"), mv("d", "e"))), "0-1 same-path", source},
	{"delete and rename of it by case", plans(in(del("D"), mv("d", "e"))), "0-1 same-path", source},
	{"delete and rename within it", plans(in(del("d"), mv("d/x", "d/y"))), "0-1 nested-path", source},
	{"delete and rename into it", plans(in(del("d"), mv("e", "d/x"))), "", excepted},
	{"delete and rename to it", plans(in(mv("e", "d"), del("d"))), "", excepted},
	{"delete and rename to it by case", plans(in(mv("e", "D"), del("d"))), "0-1 spelling", p07},
	{"delete in what a rename moves", plans(in(del("a/x"), mv("a", "b"))), "0-1 nested-path", beneath},
	{"delete in where a rename goes", plans(in(del("b/x"), mv("a", "b"))), "0-1 nested-path", beneath},

	{"edit and write of one file", plans(in(set("f", "/a=1"), w("f"))), "0-1 same-path", onePath},
	{"edit and write above", plans(in(set("f/g", "/a=1"), w("f"))), "0-1 nested-path", beneath},
	{"two edits, one beneath", plans(in(set("f", "/a=1"), set("f/g", "/b=1"))), "0-1 nested-path", beneath},
	{"two edits of two files", plans(in(set("f", "/a=1"), set("g", "/a=1"))), "", onePath},
	{"two edits of one file", plans(in(set("f", "/a=1"), set("f", "/b=1"))), "", edits},
	{"three edits of one file, two overlap", plans(in(set("f", "/a=1"), set("f", "/b=1"), set("f", "/a/c=1"))), "0-2 edit-overlap", edits},
	{"one pointer", plans(in(set("f", "/a=1"), set("f", "/a=2"))), "0-1 edit-overlap", edits},
	{"one pointer, one value, one plan", plans(in(set("f", "/a=1"), set("f", "/a=1"))), "0-1 edit-overlap", edits},
	{"one pointer, one removal", plans(in(set("f", "/a=1"), set("f", "/a"))), "0-1 edit-overlap", edits},
	{"two removals of one pointer", plans(in(set("f", "/a"), set("f", "/a"))), "0-1 edit-overlap", edits},
	{"a pointer within another", plans(in(set("f", "/a/b/c=1"), set("f", "/a=1"))), "0-1 edit-overlap", edits},
	{"pointers that begin alike", plans(in(set("f", "/a=1"), set("f", "/ab/c=1"))), "", edits},
	{"pointers by case", plans(in(set("f", "/a=1"), set("f", "/A=1"))), "", edits},
	{"escaped slash", plans(in(set("f", "/a~1b=1"), set("f", "/a=1"))), "", edits},
	{"escapes that are one", plans(in(set("f", "/~01=1"), set("f", "/~1=1"))), "", edits},
	{"the empty member", plans(in(set("f", "/=1"), set("f", "/a=1"))), "", edits},
	{"the whole file", plans(in(set("f", "=1"), set("f", "/a=1"))), "0-1 edit-overlap", edits},
	{"within the empty member", plans(in(set("f", "/=1"), set("f", "//a=1"))), "0-1 edit-overlap", edits},
	{"two additions", plans(in(set("f", "/a/-=1"), set("f", "/a/-=2"))), "", addition},
	{"one addition twice", plans(in(set("f", "/a/-=1"), set("f", "/a/-=1"))), "0-1 edit-overlap", addition},
	{"addition and the array", plans(in(set("f", "/a/-=1"), set("f", "/a=2"))), "0-1 edit-overlap", edits},
	{"addition and within it", plans(in(set("f", "/a/-=1"), set("f", "/a/-/b=2"))), "0-1 edit-overlap", edits},
	{"addition and removal", plans(in(set("f", "/a/-=1"), set("f", "/a/-"))), "0-1 edit-overlap", edits},
	{"addition and beside it", plans(in(set("f", "/a/-=1"), set("f", "/a/b=2"))), "0-1 edit-overlap", addition},
	{"addition and beside it, the other way round", plans(in(set("f", "/a/b/c"), set("f", "/a/-=1"))), "0-1 edit-overlap", addition},
	{"additions to two arrays", plans(in(set("f", "/a/-=1"), set("f", "/b/-=1"))), "", addition},
	{"addition to an array in what an addition needs as an array", plans(in(set("f", "/a/-=1"), set("f", "/a/b/-=1"))), "0-1 edit-overlap", addition},
	{"overlap within one edit", plans(in(set("f", "/a=1", "/a/b=2"))), "0-0 edit-overlap", anyOrder},
	{"one pointer twice within one edit", plans(in(set("f", "/a=1", "/a=1"))), "0-0 edit-overlap", anyOrder},
	{"two additions within one edit", plans(in(set("f", "/a/-=1", "/a/-=2"))), "", addition},
	{"two blocks", plans(in(block("f", "a", "x"), block("f", "b", "x"))), "", edits},
	{"one block twice", plans(in(block("f", "a", "x"), block("f", "a", "x"))), "0-1 edit-overlap", edits},
	{"one block in two ways", plans(in(block("f", "a", "x")), in(block("f", "a", "y"))), "0-1 edit-overlap", edits},
	{"a block that comes and goes", plans(in(block("f", "a", "x"), noBlock("f", "a"))), "0-1 edit-overlap", edits},
	{"ids are no prefixes of each other", plans(in(block("f", "a", "x"), block("f", "a.b", "x"))), "", edits},
	{"two formats", plans(in(block("f", "a", "x"), set("f", "/a=1"))), "0-1 edit-overlap", edits},
	{"two formats of two plans", plans(in(set("f", "/a=1")), in(block("f", "a", "x"))), "0-1 edit-overlap", edits},
	{"two edits of one file by case", plans(in(set("f", "/a=1"), set("F", "/b=1"))), "0-1 spelling", p07},
	{"two edits of one file by case that overlap", plans(in(set("f", "/a=1"), set("F", "/a=1"))), "0-1 edit-overlap, 0-1 spelling", edits},

	{"equal writes of two plans", plans(in(w("a")), in(w("a"))), "", owners},
	{"equal writes of three plans", plans(in(w("a")), in(w("a")), in(w("b"), w("a"))), "", owners},
	{"equal writes of two plans and once more in one", plans(in(w("a"), w("a")), in(w("a"))), "0-1 same-path", owners},
	{"writes of two plans by case", plans(in(w("a")), in(w("A"))), "0-1 same-path", fold},
	{"another mode", plans(in(w("a")), in(abi.Write{Path: "a", Mode: 0o755, Content: abi.Bytes("x")})), "0-1 same-path", owners},
	{"other bytes", plans(in(w("a")), in(abi.Write{Path: "a", Mode: 0o644, Content: abi.Bytes("y")})), "0-1 same-path", owners},
	{"another expectation", plans(in(w("a")), in(abi.Write{Path: "a", Mode: 0o644, Content: abi.Bytes("x"), Expect: abi.Expect{Absent: true}})),
		"0-1 same-path", owners},
	{"a write beneath another plan's", plans(in(w("a")), in(w("a/b"))), "0-1 nested-path", beneath},
	{"equal edits of two plans", plans(in(set("f", "/a=1")), in(set("f", "/a=1"))), "", owners},
	{"edits of two plans that share a pointer", plans(in(set("f", "/a=1", "/b=1")), in(set("f", "/a=1", "/c=1"))), "0-1 edit-shared", owners},
	{"edits of two plans that share a pointer and differ there", plans(in(set("f", "/a=1", "/b=1")), in(set("f", "/a=1", "/b=2"))), "0-1 edit-overlap", edits},
	{"edits of two plans that share a removal", plans(in(set("f", "/a", "/b=1")), in(set("f", "/a", "/c=1"))), "0-1 edit-shared", owners},
	{"edits of two plans that share an addition", plans(in(set("f", "/a/-=1", "/b=1")), in(set("f", "/a/-=1", "/c=1"))), "0-1 edit-shared", owners},
	{"edits of one plan that share a pointer", plans(in(set("f", "/a=1", "/b=1"), set("f", "/a=1", "/c=1"))), "0-1 edit-overlap", edits},
	{"equal edits of two plans by case", plans(in(set("f", "/a=1")), in(set("F", "/a=1"))), "0-1 edit-shared, 0-1 spelling", p07},
	{"equal blocks of two plans", plans(in(block("f", "a", "x")), in(block("f", "a", "x"))), "", owners},
	{"equal removals of a block", plans(in(noBlock("f", "a")), in(noBlock("f", "a"))), "", owners},
	{"equal renames of two plans", plans(in(mv("a", "b")), in(mv("a", "b"))), "", owners},
	{"equal renames into themselves", plans(in(mv("a", "a/b")), in(mv("a", "a/b"))), "0-0 nested-path, 1-1 nested-path", bothEnds},
	{"equal deletes of two plans", plans(in(del("a")), in(del("a"))), "", owners},
	{"equal fetches of two plans", plans(in(fetch("a")), in(fetch("a"))), "", owners},

	{"fetch and write", plans(in(fetch("a"), w("a"))), "0-1 same-path", onePath},
	{"fetch twice", plans(in(fetch("a"), fetch("a"))), "0-1 same-path", onePath},
	{"clone and write in it", plans(in(clone("d"), w("d/x"))), "0-1 nested-path", beneath},
	{"clone and write beside it", plans(in(clone("d"), w("e"))), "", beneath},
	{"clone in a clone", plans(in(clone("d"), clone("d/e"))), "0-1 nested-path", beneath},
	{"clone and fetch in it by case", plans(in(clone("D"), fetch("d/x"))), "0-1 nested-path", fold},
}

// TestConflicts holds the model to judgements made by hand.
func TestConflicts(t *testing.T) {
	if len(cases) < 60 {
		t.Fatalf("%d cases: some are lost", len(cases))
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(tt.proposals, plantest.Conflicts(tt.proposals)); got != tt.want {
				t.Errorf("%+v: found %q, want %q by %q", tt.proposals, got, tt.want, tt.why)
			}
		})
	}
}

// show writes pairs as the cases do.
func show(proposals [][]abi.Intent, pairs []plantest.Pair) string {
	at := func(r plantest.Ref) int {
		n := r.Intent
		for _, p := range proposals[:r.Proposal] {
			n += len(p)
		}
		return n
	}
	var list []string
	for _, p := range pairs {
		list = append(list, fmt.Sprintf("%d-%d %s", at(p.A), at(p.B), p.Rule))
	}
	return strings.Join(list, ", ")
}

// TestConflictsAreOfASet: a plan is a set, not a script, so no order of its intents makes or hides a conflict.
func TestConflictsAreOfASet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		proposals := plantest.Proposals(plantest.FromRand(rnd), plantest.Ops)
		shuffled := make([][]abi.Intent, len(proposals))
		from := make([][]int, len(proposals))
		for p, intents := range proposals {
			from[p] = rnd.Perm(len(intents))
			for _, i := range from[p] {
				shuffled[p] = append(shuffled[p], intents[i])
			}
		}
		back := plantest.Conflicts(shuffled)
		for k, pair := range back {
			pair.A.Intent, pair.B.Intent = from[pair.A.Proposal][pair.A.Intent], from[pair.B.Proposal][pair.B.Intent]
			if compareRefs(pair.A, pair.B) > 0 {
				pair.A, pair.B = pair.B, pair.A
			}
			back[k] = pair
		}
		pairs := plantest.Conflicts(proposals)
		slices.SortFunc(back, comparePairs)
		slices.SortFunc(pairs, comparePairs)
		if !slices.Equal(pairs, back) {
			t.Fatalf("%+v: the conflicts are %+v, in another order %+v", proposals, pairs, back)
		}
	}
}

func compareRefs(a, b plantest.Ref) int {
	return cmp.Or(a.Proposal-b.Proposal, a.Intent-b.Intent)
}

func comparePairs(a, b plantest.Pair) int {
	return cmp.Or(compareRefs(a.A, b.A), compareRefs(a.B, b.B), strings.Compare(a.Rule, b.Rule))
}

// TestEqualLooksAtEveryField changes each field of each type of intent, so that a new field cannot be forgotten.
func TestEqualLooksAtEveryField(t *testing.T) {
	text, other := "x", "y"
	samples := []struct{ a, b abi.Intent }{ // each field of b differs from that of a
		{abi.Write{Path: "a", Mode: 1, Content: abi.Bytes("x"), Module: "m", Expect: abi.Expect{Digest: &abi.Digest{}}},
			abi.Write{Path: "b", Mode: 2, Content: abi.Bytes("y"), Module: "n", Expect: abi.Expect{Digest: &abi.Digest{1}}, ReplaceSymlink: true}},
		{abi.EditJSON{Path: "a", Edits: []abi.JSONEdit{{At: "/a"}}}, abi.EditJSON{Path: "b", Edits: []abi.JSONEdit{{At: "/a", Set: true}}}},
		{abi.EditBlock{Path: "a", ID: "a", Text: &text}, abi.EditBlock{Path: "b", ID: "b", Text: &other}},
		{abi.Delete{Path: "a"}, abi.Delete{Path: "b"}},
		{abi.Rename{From: "a", To: "a"}, abi.Rename{From: "b", To: "b"}},
		{abi.Fetch{URL: "a", Method: "a", Headers: nil, Dest: "a", Digest: nil},
			abi.Fetch{URL: "b", Method: "b", Headers: []abi.HTTPHeader{{}}, Dest: "b", Digest: &abi.Digest{}}},
		{abi.Clone{Repo: "a", Ref: "a", Depth: 1, Dest: "a", Commit: "a"}, abi.Clone{Repo: "b", Ref: "b", Depth: 2, Dest: "b", Commit: "b"}},
	}
	for i, s := range samples {
		for j, o := range samples {
			if got := plantest.Equal(s.a, o.a); got != (i == j) {
				t.Errorf("Equal(%+v, %+v) = %v", s.a, o.a, got)
			}
		}
		a, b := reflect.ValueOf(s.a), reflect.ValueOf(s.b)
		for f := range a.NumField() {
			changed := reflect.New(a.Type()).Elem()
			changed.Set(a)
			changed.Field(f).Set(b.Field(f))
			if plantest.Equal(s.a, changed.Interface().(abi.Intent)) || plantest.Equal(changed.Interface().(abi.Intent), s.a) {
				t.Errorf("%T: Equal does not look at %s", s.a, a.Type().Field(f).Name)
			}
		}
	}
	one := func(at string, v any) abi.Intent {
		return abi.EditJSON{Path: "f", Edits: []abi.JSONEdit{{At: at, Set: true, Value: v}}}
	}
	values := []any{nil, false, true, int64(0), int64(1), "", "a", []any{}, []any{nil}, []any{"a"}, []any{"a", "a"}, map[string]any{},
		map[string]any{"a": nil}, map[string]any{"b": nil}, map[string]any{"a": []any{int64(1)}}}
	for i, v := range values {
		for j, o := range values {
			if got := plantest.Equal(one("/a", v), one("/a", o)); got != (i == j) {
				t.Errorf("Equal of %#v and %#v = %v", v, o, got)
			}
		}
	}
	if !plantest.Equal(w("a"), abi.Write{Path: "a", Mode: 0o644, Content: copied("x")}) {
		t.Error("the same bytes from elsewhere are not equal")
	}
	if plantest.Equal(w("a"), abi.Write{Path: "a", Mode: 0o644, Module: "m"}) {
		t.Error("bytes and a module file are equal")
	}
}

// copied is content of another type.
type copied string

func (c copied) Size() int64        { return int64(len(c)) }
func (c copied) Digest() abi.Digest { return abi.DigestOf([]byte(c)) }
func (c copied) Open() (io.ReadCloser, error) {
	return abi.Bytes(c).Open()
}

// TestFoldPath holds the fold of every character to its simple folds in the tables of the standard library, and to itself.
func TestFoldPath(t *testing.T) {
	if got, want := plantest.FoldPath("E\u0301/Stra\u00dfe/\u1fb4"), []string{"\u00e9", "strasse", "\u03ac\u03b9"}; !slices.Equal(got, want) {
		t.Errorf("FoldPath = %+q, want %+q", got, want)
	}
	foldOf := func(r rune) string { return strings.Join(plantest.FoldPath(string(r)), "/") }
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == '/' || 0xd800 <= r && r < 0xe000 {
			continue
		}
		f := foldOf(r)
		if again := strings.Join(plantest.FoldPath(f), "/"); again != f {
			t.Errorf("%+q folds to %+q, and that to %+q", r, f, again)
		}
		if o := unicode.SimpleFold(r); o != r {
			n++
			if f != foldOf(o) {
				t.Errorf("%+q folds to %+q, %+q to %+q", r, f, o, foldOf(o))
			}
		}
	}
	if n < 2500 {
		t.Errorf("%d characters have a simple fold: the tables are not what they were", n)
	}
}

// TestProposalsMakeAll: the generator makes every op, conflict and freedom from conflict, in fair shares.
func TestProposalsMakeAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	rules, ops, sizes := map[string]int{}, map[abi.Op]int{}, map[int]int{}
	free, several, shared := 0, 0, 0
	const n = 4000
	for range n {
		proposals := plantest.Proposals(plantest.FromRand(rnd), plantest.Ops)
		pairs := plantest.Conflicts(proposals)
		size := 0
		for p, intents := range proposals {
			size += len(intents)
			for _, in := range intents {
				ops[in.Op()]++
				if p > 0 && len(pairs) == 0 && slices.ContainsFunc(proposals[0], func(o abi.Intent) bool { return plantest.Equal(in, o) }) {
					shared++
				}
			}
		}
		sizes[size]++
		if len(pairs) == 0 {
			free++
			if size > 1 {
				several++
			}
		}
		broken := map[string]bool{}
		for _, p := range pairs {
			broken[p.Rule] = true
		}
		for r := range broken {
			rules[r]++
		}
	}
	for _, r := range []string{plantest.SamePath, plantest.NestedPath, plantest.EditOverlap, plantest.Spelling} {
		if rules[r] < n/50 {
			t.Errorf("%d of %d plans break %s", rules[r], n, r)
		}
	}
	for _, o := range plantest.Ops {
		if ops[o] < n {
			t.Errorf("%d intents are a %s", ops[o], o)
		}
	}
	if several < n/5 || free > 4*n/5 || shared < n/100 || sizes[40] == 0 {
		t.Errorf("of %d plans %d have no conflict, %d of those several intents, %d shared ones; %d have 40 intents", n, free, several, shared, sizes[40])
	}
	t.Logf("free %d, several %d, shared %d, rules %v, ops %v, sizes %v", free, several, shared, rules, ops, sizes)
}

// TestShapes: the large plans conflict or not as they say, at a size that the model can judge, and keep to the limits of
// paths.
func TestShapes(t *testing.T) {
	for _, s := range plantest.Shapes {
		t.Run(s.Name, func(t *testing.T) {
			proposals := s.Make(100)
			n := 0
			for _, intents := range proposals {
				n += len(intents)
			}
			if n != 100 {
				t.Errorf("%d intents, want 100", n)
			}
			if pairs := plantest.Conflicts(proposals); (len(pairs) > 0) != s.Conflicts {
				t.Errorf("%d conflicts, want some: %v", len(pairs), s.Conflicts)
			}
		})
	}
}
