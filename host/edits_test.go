package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
)

func set(path string, edits ...abi.JSONEdit) abi.EditJSON {
	return abi.EditJSON{Path: path, Edits: edits}
}

func value(at string, v any) abi.JSONEdit { return abi.JSONEdit{At: at, Set: true, Value: v} }

// agreeing proposes what the extension answers and applies it with every consent.
func (s *scene) agreeing(t *testing.T) error {
	t.Helper()
	p, err := s.host.Install(t.Context(), host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Apply(t.Context(), host.Consent{Foreign: true})
}

// TestM01Edits: what one module put into a file is not changed for another, whatever the user agrees to: not replaced, not
// removed, not within, not with what lies around it. What does not touch it goes.
func TestM01Edits(t *testing.T) {
	text, other := "one\n", "two\n"
	for name, c := range map[string]struct {
		in   abi.Intent
		want string // of the error; empty: none
	}{
		"replace":             {set(".guest/a.json", value("/s/a", "x")), `"/s/a" in ".guest/a.json"`},
		"remove":              {set(".guest/a.json", abi.JSONEdit{At: "/s/a"}), `"/s/a" in ".guest/a.json"`},
		"within":              {set(".guest/a.json", value("/s/o/k", "x")), `"/s/o" in ".guest/a.json"`},
		"added within":        {set(".guest/a.json", value("/s/o/new", "x")), `"/s/o" in ".guest/a.json"`},
		"around":              {set(".guest/a.json", value("/s", map[string]any{})), `"/s/a" in ".guest/a.json"`},
		"around, removed":     {set(".guest/a.json", abi.JSONEdit{At: "/s"}), `"/s/a" in ".guest/a.json"`},
		"block":               {abi.EditBlock{Path: ".guest/a.md", ID: "b", Text: &other}, `"b" in ".guest/a.md"`},
		"block, removed":      {abi.EditBlock{Path: ".guest/a.md", ID: "b"}, `"b" in ".guest/a.md"`},
		"beside":              {set(".guest/a.json", value("/s/ab", "x"), value("/t/a", "x")), ""},
		"the same":            {set(".guest/a.json", value("/s/a", "1")), ""},
		"another block":       {abi.EditBlock{Path: ".guest/a.md", ID: "c", Text: &other}, ""},
		"the same block":      {abi.EditBlock{Path: ".guest/a.md", ID: "b", Text: &text}, ""},
		"the same file, else": {set(".guest/b.json", value("/s/a", "x")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t,
				set(".guest/a.json", value("/s/a", "1"), value("/s/o", map[string]any{"k": "1"})),
				abi.EditBlock{Path: ".guest/a.md", ID: "b", Text: &text},
			), abi.Limits{})
			if err := s.agreeing(t); err != nil {
				t.Fatal(err)
			}
			before := tree(t, s.project)
			err := s.beside(t, answering(t, c.in)).agreeing(t)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var owned *host.OwnedError
			if !errors.As(err, &owned) || !strings.Contains(err.Error(), c.want+`, which module`) {
				t.Errorf("got %v, want that another module owns %s", err, c.want)
			}
			if after := tree(t, s.project); after != before {
				t.Errorf("the project was %s, is %s", before, after)
			}
		})
	}
}

// TestEditsTakenBack: whichever of two modules goes first, the file is in the end as it was, the user's additions kept.
func TestEditsTakenBack(t *testing.T) {
	for _, first := range []int{0, 1} {
		for _, was := range []string{"{}", "{\r\n\t\"s\": {\"mine\": 1 /* x */},\r\n}\r\n", "// only a comment\n"} {
			one := newScene(t, answering(t, set(".guest/a.json", value("/s/a", "1"))), abi.Limits{})
			file := filepath.Join(one.project, ".guest", "a.json")
			write(t, file, was)
			two := one.beside(t, answering(t, set(".guest/a.json", value("/s/b", "2"))))
			scenes := []*scene{one, two}
			for _, s := range scenes {
				if err := s.agreeing(t); err != nil {
					t.Fatal(err)
				}
			}
			for _, i := range []int{first, 1 - first} {
				s := scenes[i]
				p, err := s.host.Uninstall(t.Context(), host.Uninstall{Module: filepath.Base(s.module), Project: s.project})
				if err != nil {
					t.Fatal(err)
				}
				if stays := p.Report().Stays; len(stays) > 0 {
					t.Errorf("stays: %v", stays)
				}
				if err := p.Apply(t.Context(), host.Consent{}); err != nil {
					t.Error(err)
				}
				p.Close()
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != was {
				t.Errorf("first %d: got %q, %v, want %q", first, got, err, was)
			}
		}
	}
}

// TestUpgradeNamesWhatStays: a value that the user changed is not taken back by an upgrade which does not ask for it any more,
// and is named, also where the upgrade changes the file itself.
func TestUpgradeNamesWhatStays(t *testing.T) {
	s := newScene(t, answering(t, set(".guest/c.json", value("/s/a", int64(1)), value("/s/b", int64(2)))), abi.Limits{})
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(s.project, ".guest", "c.json")
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	write(t, at, strings.Replace(string(text), "2", "3", 1))
	next := s.beside(t, answering(t, set(".guest/c.json", value("/s/a", int64(5)))))
	p, err := next.host.Install(t.Context(), host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if stays := p.Report().Stays; len(stays) != 1 || stays[0].Path != ".guest/c.json" || !strings.Contains(stays[0].Why, "/s/b") {
		t.Errorf("it stays: %+v, want /s/b of .guest/c.json", stays)
	}
}
