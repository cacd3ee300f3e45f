package host_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
)

// savedPlan is a saved plan as somebody writes it who has no lola: the line, a header, plans.
func savedPlan(t testing.TB, head map[string]any, plans ...[]byte) []byte {
	t.Helper()
	line, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("lola-plan 1\n"+string(line)+"\n"), bytes.Join(plans, nil)...)
}

// header is one for a single plan of the extension "guest".
func header(size int, before map[string]string) map[string]any {
	return map[string]any{
		"format": 1, "scope": "project", "before": before,
		"module":  map[string]any{"name": "m", "version": "1.0.0", "sha256": strings.Repeat("0", 64)},
		"targets": []any{map[string]any{"name": "guest", "version": "1.0.0", "size": size}},
	}
}

// stranger opens a plan file for the scene's project.
func (s *scene) stranger(t testing.TB, file []byte) (*host.Pending, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.lola")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := s.host.OpenPlan(t.Context(), host.OpenPlan{File: path, Project: s.project})
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// TestU04Stranger: a plan from a stranger names a granted extension. What it may do is what is granted to that here.
func TestU04Stranger(t *testing.T) {
	text := abi.Bytes("x")
	for name, c := range map[string]struct {
		intent abi.Intent
		rule   string
	}{
		"elsewhere":         {abi.Write{Path: "src/main.c", Mode: 0o644, Content: text}, plan.RuleNotGranted},
		"guarded":           {abi.Write{Path: ".claude/settings.json", Mode: 0o644, Content: text}, plan.RuleGuarded},
		"git":               {abi.Write{Path: ".git/hooks/pre-commit", Mode: 0o755, Content: text}, plan.RulePathVCS},
		"climbing":          {abi.Write{Path: ".guest/../../x", Mode: 0o644, Content: text}, plan.RulePathDot},
		"delete":            {abi.Delete{Path: "mine"}, plan.RuleNotGranted},
		"fetch":             {abi.Fetch{URL: "https://x.example/y", Method: "GET", Dest: ".guest/y"}, plan.RuleOpNotAllowed},
		"file of no module": {abi.Write{Path: ".guest/x", Mode: 0o644, Module: "SKILL.md"}, plan.RuleModuleFile},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t), abi.Limits{})
			encoded := encode(t, c.intent)
			_, err := s.stranger(t, savedPlan(t, header(len(encoded), map[string]string{}), encoded))
			var refused *plan.RefusedError
			if !errors.As(err, &refused) || refused.Findings[0].Rule != c.rule {
				t.Errorf("got %v, want rule %s", err, c.rule)
			}
			s.untouched(t)
		})
	}
}

// TestU04Foreign: what the plan would go over is asked about as ever, and what it says of the state is held to what is there.
func TestU04Foreign(t *testing.T) {
	s := newScene(t, answering(t), abi.Limits{})
	write(t, filepath.Join(s.project, ".guest", "a"), "mine")
	encoded := encode(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("theirs")})
	for _, was := range []map[string]string{
		nil, {".guest/a": "nothing"}, {".guest/a": "regular file 0644 " + abi.DigestOf([]byte("other")).String()},
		{".guest/a": "regular file 0644 " + abi.DigestOf([]byte("mine")).String(), ".guest/b": "nothing"},
	} {
		_, err := s.stranger(t, savedPlan(t, header(len(encoded), was), encoded))
		var stale *host.OutdatedError
		if !errors.As(err, &stale) || !strings.Contains(err.Error(), `".guest/`) {
			t.Errorf("before %v: got %v, want that it is out of date", was, err)
		}
	}
	p, err := s.stranger(t, savedPlan(t, header(len(encoded), map[string]string{".guest/a": "regular file 0644 " + abi.DigestOf([]byte("mine")).String()}), encoded))
	if err != nil {
		t.Fatal(err)
	}
	var foreign *host.ForeignError
	if err := p.Apply(t.Context(), host.Consent{}); !errors.As(err, &foreign) {
		t.Errorf("got %v, want that consent is needed", err)
	}
	if got, _ := os.ReadFile(filepath.Join(s.project, ".guest", "a")); string(got) != "mine" {
		t.Errorf("it is %q", got)
	}
}

// TestU04Trust: a stored consent for a module's digest is none for a file that says it is of that module.
func TestU04Trust(t *testing.T) {
	text := "---\nallowed-tools: Bash\n---\n"
	s := newScene(t, answering(t, abi.Write{Path: ".guest/s.md", Mode: 0o644, Content: abi.Bytes(text)}), abi.Limits{})
	write(t, filepath.Join(s.module, "skills", "s", "SKILL.md"), text)
	p := s.propose(t)
	if err := p.Apply(t.Context(), host.Consent{Trust: []grant.Trust{p.Trust()}, Remember: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.project, ".guest")); err != nil {
		t.Fatal(err)
	}
	again := s.propose(t)
	encoded := encode(t, abi.Write{Path: ".guest/s.md", Mode: 0o644, Content: abi.Bytes(text + "evil")})
	head := header(len(encoded), map[string]string{".guest/s.md": "nothing"})
	head["module"] = map[string]any{"name": again.Report().Module, "version": "1.0.0", "sha256": again.Report().Digest}
	file := savedPlan(t, head, encoded)
	forged, err := s.stranger(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if d := abi.DigestOf(file); forged.Trust().Digest != d || forged.Trust() == again.Trust() {
		t.Errorf("trust is asked for %v, want for the digest of the file, %v", forged.Trust(), d)
	}
	var trust *host.TrustError
	for _, c := range []host.Consent{{}, {Foreign: true}, {Trust: []grant.Trust{again.Trust()}}} {
		if err := forged.Apply(t.Context(), c); !errors.As(err, &trust) {
			t.Fatalf("%+v: got %v, want that consent is needed", c, err)
		}
	}
	if got := tree(t, s.project); strings.Contains(got, "evil") {
		t.Errorf("the project is %s", got)
	}
	if err := again.Apply(t.Context(), host.Consent{}); err != nil {
		t.Errorf("the module itself: %v", err)
	}
}

// TestSavedDamage: a plan file that was cut, flipped or added to is an error at once, or another plan, judged as such; nothing
// happens by itself.
func TestSavedDamage(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("text of a")}, abi.Write{Path: ".guest/b", Mode: 0o755, Content: abi.Bytes("b")}), abi.Limits{})
	var whole bytes.Buffer
	if err := s.propose(t).Save(t.Context(), &whole); err != nil {
		t.Fatal(err)
	}
	file := whole.Bytes()
	p, err := s.stranger(t, file)
	if err != nil {
		t.Fatalf("the plan itself: %v", err)
	}
	if p.Trust().Digest != abi.DigestOf(file) {
		t.Errorf("the digest is %v", p.Trust().Digest)
	}
	p.Close()
	for n := range len(file) {
		if _, err := s.stranger(t, file[:n]); err == nil {
			t.Errorf("%d of %d bytes are a plan", n, len(file))
		}
	}
	for _, more := range []string{"\x00", "\n", "x", string(file)} {
		if _, err := s.stranger(t, append(bytes.Clone(file), more...)); err == nil || !strings.Contains(err.Error(), "something follows the plans") {
			t.Errorf("with %q behind it: %v", more[:1], err)
		}
	}
	for i := range file {
		flipped := bytes.Clone(file)
		flipped[i] ^= 1 << (i % 8)
		if p, err := s.stranger(t, flipped); err == nil {
			if p.Trust().Digest == abi.DigestOf(file) {
				t.Errorf("byte %d is flipped and the digest is the same", i)
			}
			p.Close()
		}
	}
	s.untouched(t)
}

// TestSavedBounds: what a header says of sizes is no reason to take memory or to wait.
func TestSavedBounds(t *testing.T) {
	s := newScene(t, answering(t), abi.Limits{})
	encoded := encode(t)
	many := header(len(encoded), nil)
	for range 64 {
		many["targets"] = append(many["targets"].([]any), many["targets"].([]any)[0])
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"size beyond the file":    {savedPlan(t, header(1<<40, nil), encoded), "plan"},
		"size beyond any":         {savedPlan(t, header(1<<62, nil), encoded), "plan"},
		"size of nothing":         {savedPlan(t, header(0, nil), encoded), "has no byte"},
		"size below nothing":      {savedPlan(t, header(-1, nil), encoded), "has no byte"},
		"size short of the plan":  {savedPlan(t, header(len(encoded)-1, nil), encoded), "ends within"},
		"too many targets":        {savedPlan(t, many, encoded), "it has 65 targets"},
		"endless header":          {append([]byte("lola-plan 1\n"), bytes.Repeat([]byte("["), 33<<20)...), "saved plan header"},
		"deep header":             {append([]byte("lola-plan 1\n"), bytes.Repeat([]byte("["), 1<<20)...), ""},
		"deep header with an end": {append(append([]byte("lola-plan 1\n"), bytes.Repeat([]byte("["), 1<<20)...), '\n'), "its header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.stranger(t, c.file)
			if err == nil || !strings.Contains(err.Error(), "reading the plan") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			s.untouched(t)
		})
	}
	twice := header(len(encoded), nil)
	twice["targets"] = append(twice["targets"].([]any), twice["targets"].([]any)[0])
	if _, err := s.stranger(t, savedPlan(t, twice, encoded, encoded)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("one extension twice: %v", err)
	}
	if err := s.propose(t).Save(t.Context(), io.Discard); err != nil {
		t.Errorf("saving a plan of nothing: %v", err)
	}
}

// TestU04Owned: a plan that was not made here can say that it is of an installed module. What it removes or replaces of that is
// asked for; the same plan made here is an upgrade as any.
func TestU04Owned(t *testing.T) {
	file := func(text string) string { return "regular file 0644 " + abi.DigestOf([]byte(text)).String() }
	const edited = "{\n  \"x\": 1\n}\n"
	a := abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}
	b := abi.Write{Path: ".guest/b", Mode: 0o644, Content: abi.Bytes("b")}
	c := set(".guest/c.json", value("/x", int64(1)))
	all := map[string]string{".guest/a": file("a"), ".guest/b": file("b"), ".guest/c.json": file(edited)}
	for name, tt := range map[string]struct {
		intents []abi.Intent
		named   []string // what is asked for
	}{
		"nothing of it":   {nil, []string{".guest/a", ".guest/b", ".guest/c.json"}},
		"one file less":   {[]abi.Intent{a, c}, []string{".guest/b"}},
		"another content": {[]abi.Intent{a, abi.Write{Path: ".guest/b", Mode: 0o644, Content: abi.Bytes("evil")}, c}, []string{".guest/b"}},
		"another value":   {[]abi.Intent{a, b, set(".guest/c.json", value("/x", int64(2)))}, []string{".guest/c.json"}},
		"value for value": {[]abi.Intent{a, b, set(".guest/c.json", value("/y", int64(1)))}, []string{".guest/c.json"}},
		"the same":        {[]abi.Intent{a, b, c}, nil},
		"one file more":   {[]abi.Intent{a, b, c, abi.Write{Path: ".guest/n", Mode: 0o644, Content: abi.Bytes("n")}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t, a, b, c), abi.Limits{})
			if err := s.install(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := tree(t, s.project)
			was := maps.Clone(all)
			if name == "one file more" {
				was[".guest/n"] = "nothing"
			}
			encoded := encode(t, tt.intents...)
			head := header(len(encoded), was)
			head["module"] = map[string]any{"name": s.propose(t).Report().Module, "version": "9.9.9", "sha256": strings.Repeat("0", 64)}
			forged := savedPlan(t, head, encoded)
			p, err := s.stranger(t, forged)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Report().Stranger {
				t.Error("it is said to be made here")
			}
			if err := p.Save(t.Context(), io.Discard); err != nil {
				t.Fatal(err)
			}
			if p, err = s.stranger(t, forged); err != nil || !p.Report().Stranger {
				t.Fatalf("saved again it is ours: %v", err)
			}
			var foreign *host.ForeignError
			err = p.Apply(t.Context(), host.Consent{})
			if errors.As(err, &foreign) != (tt.named != nil) || foreign != nil && (!foreign.Stranger || !slices.Equal(foreign.Paths, tt.named)) {
				t.Fatalf("got %v, want that %q are asked for", err, tt.named)
			}
			if tt.named == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if now := tree(t, s.project); now != before {
				t.Errorf("the project was %s, is %s", before, now)
			}

			// The same, made here.
			other := s.beside(t, answering(t, tt.intents...))
			other.module = s.module
			var ours bytes.Buffer
			if err := other.propose(t).Save(t.Context(), &ours); err != nil {
				t.Fatal(err)
			}
			q, err := s.stranger(t, ours.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Apply(t.Context(), host.Consent{}); err != nil || q.Report().Stranger {
				t.Errorf("made here: %v", err)
			}
			after := tree(t, s.project)
			if err := s.install(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p, err = s.stranger(t, forged); err != nil {
				t.Fatal(err)
			}
			if err := p.Apply(t.Context(), host.Consent{Foreign: true}); err != nil || tree(t, s.project) != after {
				t.Errorf("with consent: %v, the project is %s, want %s", err, tree(t, s.project), after)
			}
		})
	}
}
