package host_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
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
			if err := maker.propose(t).Save(t.Context(), &file); err != nil {
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

// guarded is a scene whose extension was granted guarded files by name.
func guarded(t *testing.T, intents ...abi.Intent) *scene {
	t.Helper()
	s := newScene(t, answering(t), abi.Limits{})
	s.grants(t, filepath.Join(t.TempDir(), "home"), intents...)
	return s
}

// grants puts another host into the scene.
func (s *scene) grants(t *testing.T, home string, intents ...abi.Intent) {
	t.Helper()
	manifest := strings.Replace(guestManifest, `[".guest/**"]`, `[".guest/**", ".mcp.json", ".envrc", ".guest/.vscode/tasks.json"]`, 1)
	h, err := host.New(host.Options{Home: home, Builtins: []host.Builtin{{Manifest: []byte(manifest), Artifact: answering(t, intents...)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	s.host = h
}

// serves puts a server into .mcp.json.
func serves(at string, v any) abi.EditJSON { return set(".mcp.json", value(at, v)) }

// command is a server.
func command(words ...any) map[string]any {
	server := map[string]any{"command": words[0]}
	if len(words) > 1 {
		server["args"] = words[1:]
	}
	return server
}

// TestGuardedRuns: whatever a target makes appear or change in a guarded file runs by itself on behalf of the module, and needs
// the consent for its digest; a saved plan the same. What goes, or is so already, needs none.
func TestGuardedRuns(t *testing.T) {
	mine := `{"mcpServers": {"mine": {"command": "mine"}}}`
	for name, c := range map[string]struct {
		files   map[string]string
		intent  abi.Intent
		path    string   // of the run, "" for none
		text    []string // in what is shown
		foreign bool
	}{
		"a value": {
			map[string]string{".mcp.json": mine}, serves("/mcpServers/x", command("evil\x1b")), ".mcp.json", []string{"/mcpServers/x: ", `"evil\u001b"`}, false},
		"a new file":          {nil, serves("/mcpServers/x", command("evil")), ".mcp.json", []string{"evil"}, false},
		"another value":       {map[string]string{".mcp.json": mine}, serves("/mcpServers/mine", command("evil")), ".mcp.json", []string{"/mcpServers/mine: ", "evil"}, true},
		"the value there":     {map[string]string{".mcp.json": mine}, serves("/mcpServers/mine", command("mine")), "", nil, false},
		"a value that goes":   {map[string]string{".mcp.json": mine}, abi.EditJSON{Path: ".mcp.json", Edits: []abi.JSONEdit{{At: "/mcpServers/mine"}}}, "", nil, true},
		"a block":             {map[string]string{".envrc": "x=1\n"}, abi.EditBlock{Path: ".envrc", ID: "b", Text: ptr("export A=evil\n")}, ".envrc", []string{"b: export A=evil"}, false},
		"a whole file":        {nil, abi.Write{Path: ".envrc", Mode: 0o644, Content: abi.Bytes("evil\x1b\n")}, ".envrc", []string{"evil\x1b\n"}, false},
		"a file replaced":     {map[string]string{".envrc": "x\n"}, abi.Write{Path: ".envrc", Mode: 0o644, Content: abi.Bytes("evil\n")}, ".envrc", []string{"evil\n"}, true},
		"the file there":      {map[string]string{".envrc": "x\n"}, abi.Write{Path: ".envrc", Mode: 0o644, Content: abi.Bytes("x\n")}, "", nil, false},
		"a file that goes":    {map[string]string{".envrc": "x\n"}, abi.Delete{Path: ".envrc"}, "", nil, true},
		"a file that comes":   {map[string]string{".guest/e": "s3cret\n"}, abi.Rename{From: ".guest/e", To: ".envrc"}, ".envrc", []string{`".guest/e"`}, true},
		"one that goes away":  {map[string]string{".envrc": "x\n"}, abi.Rename{From: ".envrc", To: ".guest/e"}, "", nil, true},
		"a folder that comes": {map[string]string{".guest/h/tasks.json": "s3cret\n"}, abi.Rename{From: ".guest/h", To: ".guest/.vscode"}, ".guest/.vscode/tasks.json", []string{".guest/h"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := guarded(t, c.intent)
			for path, text := range c.files {
				write(t, filepath.Join(s.project, filepath.FromSlash(path)), text)
			}
			before := tree(t, s.project)
			var file bytes.Buffer
			fresh := s.propose(t)
			if err := fresh.Save(t.Context(), &file); err != nil {
				t.Fatal(err)
			}
			saved, err := s.stranger(t, file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []*host.Pending{fresh, saved} {
				runs := p.Report().Runs
				err := p.Apply(t.Context(), host.Consent{})
				trust, foreign := (*host.TrustError)(nil), (*host.ForeignError)(nil)
				if errors.As(err, &trust) != (c.path != "") || c.path == "" && errors.As(err, &foreign) != c.foreign {
					t.Fatalf("got %v, runs %+v", err, runs)
				}
				if c.path == "" {
					if len(runs) > 0 || p == fresh && !c.foreign && tree(t, s.project) != before {
						t.Errorf("runs %+v, the project was %s, is %s", runs, before, tree(t, s.project))
					}
					continue
				}
				if len(runs) != 1 || runs[0].Path != c.path || !strings.Contains(runs[0].What, "(put there by guest)") {
					t.Errorf("runs %+v, want one of %s by guest", runs, c.path)
				}
				for _, text := range c.text {
					if !strings.Contains(runs[0].Text, text) || strings.Contains(runs[0].Text, "s3cret") {
						t.Errorf("%q is shown, want %q in it", runs[0].Text, text)
					}
				}
				if err := p.Apply(t.Context(), host.Consent{Foreign: true}); !errors.As(err, &trust) || tree(t, s.project) != before {
					t.Errorf("consent to foreign changes: got %v, the project is %s", err, tree(t, s.project))
				}
			}
			if c.path == "" {
				return
			}
			if err := fresh.Apply(t.Context(), host.Consent{Foreign: c.foreign, Trust: []grant.Trust{fresh.Trust()}, Remember: true}); err != nil {
				t.Fatal(err)
			}
			if tree(t, s.project) == before {
				t.Error("nothing happened")
			}
			// Remembered for the digest, in another project.
			s.project = t.TempDir()
			for path, text := range c.files {
				write(t, filepath.Join(s.project, filepath.FromSlash(path)), text)
			}
			if err := s.propose(t).Apply(t.Context(), host.Consent{Foreign: c.foreign}); err != nil {
				t.Errorf("remembered: %v", err)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

// TestGuardedRunsOfServers: what a module shows as a server is not said again; what a target makes more of it is.
func TestGuardedRunsOfServers(t *testing.T) {
	for name, c := range map[string]struct {
		server map[string]any
		runs   int
	}{
		"the module's":    {command("srv", "-x"), 1},
		"the target's":    {command("srv", "-x", "--evil"), 2},
		"another program": {command("evil"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := guarded(t, serves("/mcpServers/srv", c.server))
			write(t, filepath.Join(s.module, "mcps.json"), `{"mcpServers": {"srv": {"command": "srv", "args": ["-x"]}}}`)
			p := s.propose(t)
			if runs := p.Report().Runs; len(runs) != c.runs || runs[0].Path != "mcps.json" {
				t.Errorf("runs %+v, want %d", runs, c.runs)
			}
			if trust := (*host.TrustError)(nil); !errors.As(p.Apply(t.Context(), host.Consent{Foreign: true}), &trust) {
				t.Error("no consent was needed")
			}
		})
	}
}

// TestRunsOfTargetsBesides: a module that shows one thing that runs is no cover for another that a target makes of it.
func TestRunsOfTargetsBesides(t *testing.T) {
	s := newScene(t, answering(t,
		abi.Write{Path: ".guest/commands/a.md", Mode: 0o644, Content: abi.Bytes("Then !`date`.\n")},
		abi.Write{Path: ".guest/commands/b.md", Mode: 0o644, Content: abi.Bytes("Now !`date`.\n")},
		abi.Write{Path: ".guest/commands/c.md", Mode: 0o644, Content: abi.Bytes("Then !`evil`.\n")},
		abi.Write{Path: ".guest/other/d.md", Mode: 0o644, Content: abi.Bytes("!`inert`\n")},
	), abi.Limits{})
	write(t, filepath.Join(s.module, "commands", "a.md"), "Then !`date`.\n")
	runs := s.propose(t).Report().Runs
	if len(runs) != 2 || runs[0].Path != "commands/a.md" || runs[1].Path != ".guest/commands/c.md" || runs[1].Text != "!`evil`\n" {
		t.Errorf("runs %+v", runs)
	}
}
