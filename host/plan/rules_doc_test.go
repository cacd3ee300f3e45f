package plan_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/plan"
)

var update = flag.Bool("update", false, "write docs/RULES.md anew")

// TestRulesDoc holds docs/RULES.md to the table of rules.
func TestRulesDoc(t *testing.T) {
	page := filepath.FromSlash("../../docs/RULES.md")
	want := rulesDoc()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("%v; go test ./host/plan -run TestRulesDoc -update writes it", err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("%s is stale; go test ./host/plan -run TestRulesDoc -update writes it anew", page)
	}
}

func rulesDoc() string {
	var b strings.Builder
	b.WriteString(`# The rules

Made from the table of rules in host/plan by "go test ./host/plan -run TestRulesDoc -update".

A plan is a set of intents, accepted whole or refused whole. A refusal lists every finding: the id of a rule, the intents, and
what can be done. The ids are stable; "lola explain RULE" prints what stands here. Findings of one intent come in this order.
`)
	for _, r := range plan.Rules {
		fmt.Fprintf(&b, "\n## %s\n\nWhat: %s.\n\nWhy: %s\n\nExample: `%s`\n\nAuthor: %s\n", r.ID, r.Summary, r.Why, r.Example, r.Author)
		if r.Fix != "" {
			fmt.Fprintf(&b, "\nUser: %s.\n", r.Fix)
		}
	}
	return b.String()
}
