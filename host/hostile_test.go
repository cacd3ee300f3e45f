package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
	"github.com/lola-ext/lola/testwasm"
)

const guestManifest = `name: guest
version: 1.0.0
kind: target
abi: 1
artifact: guest.wasm
actions: [install]
writes: [".guest/**"]
`

// scene is a host with one extension, a module and a project.
type scene struct {
	host            *host.Host
	module, project string
}

func newScene(t *testing.T, wasm []byte, limits abi.Limits) *scene {
	t.Helper()
	s := &scene{module: t.TempDir(), project: t.TempDir()}
	write(t, filepath.Join(s.module, "skills", "s", "SKILL.md"), "text\n")
	write(t, filepath.Join(s.project, "mine"), "mine\n")
	h, err := host.New(host.Options{
		Home:     filepath.Join(t.TempDir(), "home"),
		Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: wasm}},
		Limits:   limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	s.host = h
	return s
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// install runs the extension and, if it is let, applies its plan.
func (s *scene) install(ctx context.Context) error {
	p, err := s.host.Install(ctx, host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Apply(ctx, host.Consent{Foreign: true})
}

// untouched wants that nothing but the user's file is in the project, nothing of the run in the state folder, and no child
// of this process left.
func (s *scene) untouched(t *testing.T) {
	t.Helper()
	if got := tree(t, s.project); got != "mine mine\n" {
		t.Errorf("the project was touched:\n%s", got)
	}
	if got := tree(t, filepath.Join(s.host.Home(), "tmp")); got != "" {
		t.Errorf("the state folder holds what the run left:\n%s", got)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
}

func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s ", filepath.ToSlash(rel))
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

// children lists the processes whose parent this one is, where the system tells (proc(5)).
func children(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) {
			left = append(left, path)
		}
	}
	return left
}

// small are the bounds that the guests of wasmbuild expect.
var small = abi.Limits{GuestMemory: 256 * 64 << 10, Plan: 1 << 20, Deadline: 60 * time.Second}

// A guest with a defect gives an error that names its kind, and leaves everything as it was.
func TestDefects(t *testing.T) {
	seen := map[job.Outcome]bool{}
	for _, g := range wasmbuild.Guests() {
		// Those of a case, and one of each outcome: package runner has them all.
		if g.Outcome == job.OK || g.Case == "" && seen[g.Outcome] {
			continue
		}
		seen[g.Outcome] = true
		t.Run(strings.TrimPrefix(g.Case+": "+g.Name, ": "), func(t *testing.T) {
			s := newScene(t, g.Module, small)
			wantFailure(t, s.install(t.Context()), string(g.Outcome))
			s.untouched(t)
		})
	}
}

// A guest that does not end is ended at its deadline (W01, W04), however it spends its time.
func TestEndless(t *testing.T) {
	limits := small
	limits.Deadline = time.Second
	for _, g := range wasmbuild.Endless() {
		if g.Case == "" {
			continue // package runner has them all
		}
		t.Run(strings.TrimPrefix(g.Case+": "+g.Name, ": "), func(t *testing.T) {
			s := newScene(t, g.Module, limits)
			wantFailure(t, s.install(t.Context()), "deadline")
			s.untouched(t)
		})
	}
}

// The guests that compilers make, in each language.
func TestCompiledGuests(t *testing.T) {
	want := map[testwasm.Ending]string{
		testwasm.EndsByDeadline: "deadline", testwasm.EndsByExit: string(job.Exit), testwasm.EndsByTrap: string(job.Trap),
		testwasm.EndsByMemory: string(job.Trap), testwasm.EndsRefused: "",
	}
	for _, g := range testwasm.Catalogue() {
		if g.Ends == testwasm.EndsWithPlan {
			continue
		}
		t.Run(g.ID(), func(t *testing.T) {
			limits := abi.Limits{GuestMemory: 64 << 20}
			if g.Ends == testwasm.EndsByDeadline {
				limits.Deadline = 10 * time.Second
			}
			s := newScene(t, testwasm.Module(t, g.ID()), limits)
			wantFailure(t, s.install(t.Context()), want[g.Ends])
			s.untouched(t)
		})
	}
}

func wantFailure(t *testing.T, err error, class string) {
	t.Helper()
	var failed *host.ExtensionError
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want the failure of an extension", err)
	}
	if class != "" && string(failed.Class) != class {
		t.Errorf("got class %q (%v), want %q", failed.Class, err, class)
	}
	if failed.Extension != "guest" || !strings.Contains(err.Error(), `"guest"`) || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("the error does not name the extension, or is not one clean line: %q", err)
	}
}

// A plan that is well-formed and evil is refused whole, with every finding.
func TestEvilPlans(t *testing.T) {
	text := abi.Bytes("x")
	good := abi.Write{Path: ".guest/ok", Mode: 0o644, Content: text}
	for name, c := range map[string]struct {
		intent abi.Intent
		rule   string
	}{
		"P02 climbing":           {abi.Write{Path: ".guest/../../x", Content: text}, plan.RulePathDot},
		"absolute":               {abi.Write{Path: "/etc/cron.d/x", Content: text}, plan.RulePathAbsolute},
		"P08 stream":             {abi.Write{Path: ".guest/a:b", Content: text}, plan.RulePathColon},
		"P13 disguised git":      {abi.Write{Path: ".guest/.g\u200cit/config", Content: text}, plan.RulePathVCS},
		"git hook":               {abi.Write{Path: ".git/hooks/post-checkout", Mode: 0o755, Content: text}, plan.RulePathVCS},
		"not granted":            {abi.Write{Path: "package.json", Content: text}, plan.RuleGuarded},
		"P14 settings":           {abi.Write{Path: ".claude/settings.json", Content: text}, plan.RuleGuarded},
		"module file of its own": {abi.Write{Path: ".guest/x", Module: "../../etc/passwd"}, plan.RuleModuleFile},
		"delete of the user's":   {abi.Delete{Path: "mine"}, plan.RuleNotGranted},
		"fetch":                  {abi.Fetch{URL: "https://x.example/y", Method: "GET", Dest: ".guest/y"}, plan.RuleOpNotAllowed},
		"rename of the user's":   {abi.Rename{From: "mine", To: ".guest/b"}, plan.RuleNotGranted},
		"rename of nothing":      {abi.Rename{From: ".guest/a", To: ".guest/b"}, plan.RuleRenameSource},
		"same path twice":        {abi.Write{Path: ".guest/OK", Content: text}, plan.RuleSamePath},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, wasmbuild.Reactor(wasmbuild.Parts{Plan: encode(t, good, c.intent)}), abi.Limits{})
			err := s.install(t.Context())
			var refused *plan.RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want a refusal", err)
			}
			found := false
			for _, f := range refused.Findings {
				found = found || f.Rule == c.rule
			}
			if !found {
				t.Errorf("got %+v, want rule %s", refused.Findings, c.rule)
			}
			s.untouched(t)
		})
	}
}

// encode makes the bytes of a plan without the checks that an honest encoder makes.
func encode(t testing.TB, intents ...abi.Intent) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (wire.Options{}).EncodePlan(&b, &abi.Plan{Intents: intents}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What an extension says reaches the caller as it came, and only as data: it is the command that escapes it (O01).
func TestForeignWordsAreKept(t *testing.T) {
	var b bytes.Buffer
	said := "\x1b[2J::set-output\nverified"
	if err := (wire.Options{}).EncodePlan(&b, &abi.Plan{Messages: []abi.Message{{Level: abi.LevelInfo, Text: said}}}); err != nil {
		t.Fatal(err)
	}
	s := newScene(t, wasmbuild.Reactor(wasmbuild.Parts{Plan: b.Bytes()}), abi.Limits{})
	p, err := s.host.Install(t.Context(), host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if m := p.Report().Messages; len(m) != 1 || m[0].Text != said || m[0].Extension != "guest" {
		t.Errorf("got %+v", m)
	}
}

// A cancelled context ends the child and leaves everything as it was.
func TestCancel(t *testing.T) {
	guests := wasmbuild.Endless()
	s := newScene(t, guests[0].Module, small)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.install(ctx); err == nil {
		t.Error("it ended well")
	}
	s.untouched(t)
}
