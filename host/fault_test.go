package host_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
)

// TestModuleFaults: a finding that comes from a name in the module says so and names the file; one that does not leaves the
// module out of it.
func TestModuleFaults(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file can have such a name there")
	}
	text := abi.Bytes("x")
	for name, c := range map[string]struct {
		file   string // of the module
		intent []abi.Intent
		rule   string
		blamed []string // none: the extension is
	}{
		"copied":             {"skills/s/nul.txt", []abi.Intent{abi.Write{Path: ".guest/s/nul.txt", Mode: 0o644, Module: "skills/s/nul.txt"}}, plan.RulePathDevice, []string{`"skills/s/nul.txt"`}},
		"made of one":        {"commands/con.md", []abi.Intent{abi.Write{Path: ".guest/con.toml", Mode: 0o644, Content: text}}, plan.RulePathDevice, []string{`"commands/con.md"`}},
		"of its own making":  {"skills/s/nul.txt", []abi.Intent{abi.Write{Path: ".guest/aux", Mode: 0o644, Content: text}}, plan.RulePathDevice, nil},
		"moved to a bad one": {"skills/s/a", []abi.Intent{abi.Write{Path: ".guest/nul", Mode: 0o644, Module: "skills/s/a"}}, plan.RulePathDevice, nil},
		"two that are one": {"skills/s/A", []abi.Intent{
			abi.Write{Path: ".guest/A", Mode: 0o644, Module: "skills/s/A"}, abi.Write{Path: ".guest/a", Mode: 0o644, Module: "skills/s/a"},
		}, plan.RuleSamePath, []string{`"skills/s/A"`, `"skills/s/a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.rule == plan.RuleSamePath && runtime.GOOS == "darwin" {
				t.Skip("they are one file there")
			}
			s := newScene(t, answering(t, c.intent...), abi.Limits{})
			write(t, filepath.Join(s.module, "skills", "s", "a"), "a")
			write(t, filepath.Join(s.module, filepath.FromSlash(c.file)), "x")
			_, err := s.host.Install(t.Context(), host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
			refused := (*plan.RefusedError)(nil)
			if !errors.As(err, &refused) || len(refused.Findings) != 1 || refused.Findings[0].Rule != c.rule {
				t.Fatalf("got %v, want one finding of %q", err, c.rule)
			}
			fix := refused.Findings[0].Fix
			if got := strings.Contains(fix, "the module is at fault"); got != (c.blamed != nil) {
				t.Errorf("the fix is %q", fix)
			}
			for _, file := range c.blamed {
				if !strings.Contains(fix, file) {
					t.Errorf("the fix is %q, want it to name %s", fix, file)
				}
			}
		})
	}
}
