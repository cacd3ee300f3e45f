package plan_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

func textOf(t *testing.T, s plan.Step) string {
	t.Helper()
	r, err := s.Content.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEdits: edits of one file are one step, with what each extension did, and keep what is there.
func TestEdits(t *testing.T) {
	block := func(path, id, text string) abi.Intent { return abi.EditBlock{Path: path, ID: id, Text: &text} }
	drop := func(path, at string) abi.Intent { return abi.EditJSON{Path: path, Edits: []abi.JSONEdit{{At: at}}} }
	for _, tt := range []struct {
		name  string
		plans [][]abi.Intent
		want  string // action, owners with the kinds of their records, text
	}{
		{"a value is added", [][]abi.Intent{{set("j", "/b", int64(2))}}, `update p0:add {"a": 1, "b": 2}`},
		{"a value is replaced", [][]abi.Intent{{set("j", "/a", int64(2))}}, `update p0:replace {"a": 2}`},
		{"a value is there", [][]abi.Intent{{set("j", "/a", int64(1))}}, `keep p0:same {"a": 1}`},
		{"a value goes", [][]abi.Intent{{drop("j", "/a")}}, `update p0:remove {}`},
		{"several edits of one plan", [][]abi.Intent{{set("j", "/b", int64(2)), drop("j", "/a")}}, `update p0:add,remove {"b": 2}`},
		{"edits of two plans", [][]abi.Intent{{set("j", "/b", int64(2))}, {set("j", "/c", int64(3))}}, `update p0:add p1:add {"a": 1, "b": 2, "c": 3}`},
		{"an edit that two ask for", [][]abi.Intent{{set("j", "/b", int64(2))}, {set("j", "/c", int64(3)), set("j", "/b", int64(2))}},
			`update p0:add p1:add,add {"a": 1, "b": 2, "c": 3}`},
		{"a new file", [][]abi.Intent{{set("n", "/b", int64(2))}}, "create p0:add {\n  \"b\": 2\n}\n"},
		{"nothing to remove in no file", [][]abi.Intent{{drop("n", "/b")}}, ""},
		{"a file that goes is begun anew", [][]abi.Intent{{set("j", "/b", int64(2)), abi.Delete{Path: "j"}}}, "update p0:add {\n  \"b\": 2\n}\n"},
		{"nothing in a file that goes", [][]abi.Intent{{drop("j", "/a"), abi.Delete{Path: "j"}}}, "remove"},
		{"another plan's delete", [][]abi.Intent{{abi.Delete{Path: "j"}}, {set("j", "/b", int64(2))}}, "update p1:add {\n  \"b\": 2\n}\n"},
		{"a broken file that goes", [][]abi.Intent{{set("broken", "/b", int64(2)), abi.Delete{Path: "broken"}}}, "update p0:add {\n  \"b\": 2\n}\n"},
		{"a block", [][]abi.Intent{{block("t.md", "x", "new\n")}}, "update p0:add text\n\n<!-- lola:x:start -->\nnew\n<!-- lola:x:end -->\n"},
		{"two blocks", [][]abi.Intent{{block("n.md", "x", "1\n")}, {block("n.md", "y", "2\n")}},
			"create p0:add p1:add <!-- lola:x:start -->\n1\n<!-- lola:x:end -->\n\n<!-- lola:y:start -->\n2\n<!-- lola:y:end -->\n"},
		{"a block that two ask for", [][]abi.Intent{{block("n.md", "x", "1\n")}, {block("n.md", "x", "1\n")}},
			"create p0:add p1:add <!-- lola:x:start -->\n1\n<!-- lola:x:end -->\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openTree(t, map[string]string{"j": `{"a": 1}`, "broken": "{", "t.md": "text\n"})
			var proposals []plan.Proposal
			for i, p := range tt.plans {
				proposals = append(proposals, installs(t, fmt.Sprintf("p%d", i), p...))
			}
			got := steps(t, r, limits(t, abi.Limits{}), proposals...)
			if len(got) == 0 && tt.want == "" {
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d steps: %q, want one", len(got), outline(got))
			}
			s := got[0]
			line := []string{string(s.Action)}
			for _, e := range s.Edits {
				var kinds []string
				for _, r := range e.Records {
					kinds = append(kinds, string(r.Kind))
				}
				line = append(line, e.Owner+":"+strings.Join(kinds, ","))
			}
			if s.Content != nil {
				line = append(line, textOf(t, s))
			}
			if strings.Join(line, " ") != tt.want {
				t.Errorf("got %q, want %q", strings.Join(line, " "), tt.want)
			}
			if s.Content != nil && (!plan.SameMode(s.Mode, 0o644) || s.Content.Digest() != abi.DigestOf([]byte(textOf(t, s)))) {
				t.Errorf("mode %s, digest %s", s.Mode, s.Content.Digest())
			}
		})
	}
}

// TestEditsOverlap: what edits of one file may not do together, in one plan and in two.
func TestEditsOverlap(t *testing.T) {
	r := openTree(t, map[string]string{"j": "{}"})
	lim := limits(t, abi.Limits{})
	one, two := "1\n", "2\n"
	for _, tt := range []struct {
		a, b     abi.Intent
		together bool // two plans may have them
		alone    bool // one plan may have both
	}{
		{set("j", "/a", int64(1)), set("j", "/b", int64(1)), true, true},
		{set("j", "/a", int64(1)), set("j", "/a", int64(1)), true, false},
		{set("j", "/a", int64(1)), set("j", "/a", int64(2)), false, false},
		{set("j", "/a", map[string]any{}), set("j", "/a/b", int64(2)), false, false},
		{set("j", "/a/b", int64(2)), abi.EditJSON{Path: "j", Edits: []abi.JSONEdit{{At: "/a"}}}, false, false},
		{set("j", "/a/-", "x"), set("j", "/a/-", "y"), true, true},
		{abi.EditBlock{Path: "m.md", ID: "a", Text: &one}, abi.EditBlock{Path: "m.md", ID: "a", Text: &two}, false, false},
		{abi.EditBlock{Path: "m.md", ID: "a", Text: &one}, abi.EditBlock{Path: "m.md", ID: "b", Text: &two}, true, true},
		{abi.EditBlock{Path: "j", ID: "a", Text: &one}, set("j", "/a", int64(1)), false, false},
		{set("j", "/a", int64(1)), write("j", "{}"), false, false},
		{set("j", "/a", int64(1)), set("J", "/b", int64(1)), false, false},
		{set("j", "/a", int64(1)), write("j/x", "{}"), false, false},
	} {
		for _, p := range [][2]abi.Intent{{tt.a, tt.b}, {tt.b, tt.a}} {
			if found := findings(t, r, lim, installs(t, "x", p[0], p[1])); (found == nil) != tt.alone {
				t.Errorf("%+v and %+v in one plan: found %v", p[0], p[1], rulesOf(found))
			}
			if found := findings(t, r, lim, installs(t, "x", p[0]), installs(t, "y", p[1])); (found == nil) != tt.together {
				t.Errorf("%+v and %+v in two plans: found %v", p[0], p[1], rulesOf(found))
			}
		}
	}
	// Three plans share one edit, and a fourth disagrees.
	same := set("j", "/a", int64(1))
	if got := steps(t, r, lim, installs(t, "x", same), installs(t, "y", same), installs(t, "z", same)); len(got) != 1 || len(got[0].Edits) != 3 {
		t.Errorf("%+v, want one step with an edit of each", got)
	}
	found := findings(t, r, lim, installs(t, "x", same), installs(t, "y", same), installs(t, "z", set("j", "/a", int64(2))))
	if !slices.Equal(rulesOf(found), []string{plan.RuleEditOverlap}) || found[0].Owner != "z" || !strings.Contains(found[0].Message, "/a") {
		t.Errorf("found %+v, want one overlap of z's", found)
	}
}

// TestEditsAreBounded: what is read and what comes of it has the size of a content at most.
func TestEditsAreBounded(t *testing.T) {
	r := openTree(t, map[string]string{"j": `{"a": "` + strings.Repeat("x", 100) + `"}`})
	for limit, ok := range map[int64]bool{100: false, 109: false, 200: true} {
		lim := limits(t, abi.Limits{Content: limit})
		if found := findings(t, r, lim, installs(t, "x", set("j", "/b", int64(1)))); (found == nil) != ok {
			t.Errorf("a bound of %d: found %+v", limit, found)
		}
	}
	for limit, ok := range map[int64]bool{100: false, 500: true} { // of all together, what a plan may have
		r := openTree(t, nil)
		in := []abi.Intent{set("a", "/x", strings.Repeat("x", 80)), set("b", "/x", strings.Repeat("x", 80))}
		if found := findings(t, r, limits(t, abi.Limits{Plan: limit}), installs(t, "x", in...)); (found == nil) != ok || !ok && !hasRule(found, plan.RuleEditFile) {
			t.Errorf("a plan of %d bytes: found %+v", limit, found)
		}
	}
	var blocks []abi.Intent
	for i := range 65 {
		blocks = append(blocks, abi.EditBlock{Path: "t.md", ID: fmt.Sprint(i), Text: ptr("x\n")})
	}
	if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", blocks...)); !hasRule(found, plan.RuleEditFile) {
		t.Errorf("65 blocks: found %v, want %q", rulesOf(found), plan.RuleEditFile)
	}
	if found := findings(t, r, limits(t, abi.Limits{}), installs(t, "x", blocks[1:]...)); found != nil {
		t.Errorf("64 blocks: found %+v", found)
	}
}
