package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// openTree makes a root that holds the files, by path; a path that ends with a slash is a directory.
func openTree(t testing.TB, files map[string]string) *root.Root {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// installs is a target that may write everything and proposes the intents.
func installs(t testing.TB, owner string, intents ...abi.Intent) plan.Proposal {
	t.Helper()
	return plan.Proposal{Owner: owner, Kind: abi.KindTarget, Action: "install", Grant: everything(t), Plan: &abi.Plan{Intents: intents}}
}

// gets is a source that may write, fetch and clone everything to the folder "d".
func gets(t testing.TB, intents ...abi.Intent) plan.Proposal {
	t.Helper()
	return plan.Proposal{Owner: "x", Kind: abi.KindSource, Action: "fetch", Grant: everything(t), Plan: &abi.Plan{Intents: intents}, Destination: "d"}
}

// everything may write any path but guarded ones, and fetch and clone anything.
func everything(t testing.TB) grant.Set {
	t.Helper()
	return granted(t, grant.Rights{Writes: []string{"**"}, Capabilities: []string{"net.http", "net.git", "symlink:replace"}})
}

func granted(t testing.TB, r grant.Rights) grant.Set {
	t.Helper()
	g, err := grant.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func write(path, text string) abi.Write {
	return abi.Write{Path: path, Mode: 0o644, Content: abi.Bytes(text)}
}

// set is an edit that sets one value of a JSON file.
func set(path, at string, value any) abi.EditJSON {
	return abi.EditJSON{Path: path, Edits: []abi.JSONEdit{{At: at, Set: true, Value: value}}}
}

// findings returns why the proposals are refused, nil if they are accepted. It holds Check to what every answer must be:
// findings or steps, never both.
func findings(t testing.TB, r *root.Root, lim abi.Limits, proposals ...plan.Proposal) []plan.Finding {
	t.Helper()
	return findingsWith(t, r, plan.Options{Limits: lim}, proposals...)
}

func findingsWith(t testing.TB, r *root.Root, o plan.Options, proposals ...plan.Proposal) []plan.Finding {
	t.Helper()
	c, err := plan.Check(r, o, proposals...)
	if err == nil {
		return nil
	}
	var refused *plan.RefusedError
	if !errors.As(err, &refused) || len(refused.Findings) == 0 {
		t.Fatalf("Check: %v, want a refusal with findings", err)
	}
	if c.Root() != nil || len(c.Steps()) != 0 || c.Changes() != 0 {
		t.Fatalf("Check refuses and returns %d steps all the same", len(c.Steps()))
	}
	return refused.Findings
}

// steps returns the steps of proposals that must be accepted.
func steps(t testing.TB, r *root.Root, lim abi.Limits, proposals ...plan.Proposal) []plan.Step {
	t.Helper()
	return stepsWith(t, r, plan.Options{Limits: lim}, proposals...)
}

func stepsWith(t testing.TB, r *root.Root, o plan.Options, proposals ...plan.Proposal) []plan.Step {
	t.Helper()
	c, err := plan.Check(r, o, proposals...)
	if err != nil {
		t.Fatalf("Check: %v, want it accepted", err)
	}
	if c.Root() != r {
		t.Fatal("Checked has another root")
	}
	return c.Steps()
}

func rulesOf(fs []plan.Finding) []string {
	var rules []string
	for _, f := range fs {
		rules = append(rules, f.Rule)
	}
	return rules
}

func hasRule(fs []plan.Finding, rule string) bool { return slices.Contains(rulesOf(fs), rule) }

// moduleFiles is a module of files in memory.
type moduleFiles map[string]string

func (m moduleFiles) File(path string) (abi.Content, bool) {
	text, ok := m[path]
	return abi.Bytes(text), ok
}
