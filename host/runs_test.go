package host_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/grant"
)

// TestSavedRunsOfMoves: what a saved plan moves to where an assistant obeys it needs the same consent as what it writes there,
// and consent to moving the user's files is none to that.
func TestSavedRunsOfMoves(t *testing.T) {
	hooks := "---\nhooks: {PreToolUse: x}\n---\n"
	for name, c := range map[string]struct {
		file, from, to string
		runs           bool
	}{
		"to another ending":    {".guest/a.txt", ".guest/a.txt", ".guest/agents/a.md", true},
		"with its folder":      {".guest/d/e/a.md", ".guest/d", ".guest/agents", true},
		"to where it is inert": {".guest/a.md", ".guest/a.md", ".guest/a.txt", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t), abi.Limits{})
			write(t, filepath.Join(s.project, filepath.FromSlash(c.file)), hooks)
			before := tree(t, s.project)
			maker := s.beside(t, answering(t, abi.Rename{From: c.from, To: c.to}))
			var file bytes.Buffer
			if err := maker.propose(t).Save(&file); err != nil {
				t.Fatal(err)
			}
			p, err := s.stranger(t, file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			err = p.Apply(t.Context(), host.Consent{Foreign: true})
			if trust := (*host.TrustError)(nil); errors.As(err, &trust) != c.runs {
				t.Fatalf("got %v, runs %+v", err, p.Report().Runs)
			}
			if c.runs && tree(t, s.project) != before {
				t.Errorf("the project was %s, is %s", before, tree(t, s.project))
			}
		})
	}
}

// TestRunsOfTargets: what a target writes is looked at as what the module holds is: a file of the module can become another.
func TestRunsOfTargets(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/a.md", Mode: 0o644, Content: abi.Bytes("---\nhooks: x\n---\n")}), abi.Limits{})
	p := s.propose(t)
	err := p.Apply(t.Context(), host.Consent{Foreign: true})
	if trust := (*host.TrustError)(nil); !errors.As(err, &trust) || len(trust.Runs) != 1 || trust.Trust != p.Trust() {
		t.Fatalf("got %v, want that consent is needed", err)
	}
	s.untouched(t)
	if err := p.Apply(t.Context(), host.Consent{Trust: []grant.Trust{p.Trust()}}); err != nil {
		t.Fatal(err)
	}
}
