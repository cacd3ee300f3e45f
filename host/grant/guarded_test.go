package grant

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lola-ext/lola/host/internal/fold"
)

func TestGuarded(t *testing.T) {
	for _, path := range []string{
		".mcp.json", ".MCP.json", "a/b/.mcp.json", ".claude/skills/x/.mcp.json", ".claude/settings.json", ".claude/settings.local.json",
		".Claude/Settings.JSON", "sub/.claude/settings.json", ".claude/hooks", ".claude/hooks/a", ".claude/hooks/a/b.sh", ".claude/skills/x/hooks/hooks.json",
		".claude/skills/x/.claude-plugin/plugin.json", ".vscode/tasks.json", ".vscode/launch.json", ".vscode/settings.json", ".vscode/mcp.json",
		".cursor/mcp.json", ".cursor/hooks.json", ".gemini/settings.json", "opencode.json", "opencode.jsonc", ".opencode/opencode.json",
		".opencode/plugin/x.ts", ".codex/config.toml", ".somebody/mcp.json", ".somebody/hooks/run", ".envrc", "deep/down/.envrc", ".claude/skills/x/.envrc",
		".gitmodules", ".gitattributes", "a/.gitattributes", ".gitconfig", ".husky", ".husky/pre-commit", ".husky/_/h", ".githooks/pre-push",
		".pre-commit-config.yaml", "lefthook.yml", ".lefthook.toml", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".config/fish/config.fish",
		".config/fish/conf.d/a.fish", ".github/workflows/ci.yml", ".github/workflows/sub/x", ".github/workflows", ".GitHub/Workflows/ci.yml",
		".github/actions/x/action.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "JENKINSFILE", "azure-pipelines.yml", ".travis.yml",
		"package.json", "packages/a/package.json", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs", "pip.conf", ".cargo/config.toml", "build.rs", "crates/a/build.rs",
		"conftest.py", "tests/conftest.py", "sitecustomize.py", ".idea/runConfigurations/a.xml", ".devcontainer/devcontainer.json", ".devcontainer.json",
		".ssh/authorized_keys", ".ssh/config", ".gnupg/gpg.conf", ".config/autostart/a.desktop", ".config/systemd/user/a.service",
		"Library/LaunchAgents/a.plist", "Documents/PowerShell/Microsoft.PowerShell_profile.ps1", ".vimrc", ".exrc", ".nvim.lua", ".env", "a/.env.local",
		".mcp.j\u017fon",      // the long s folds to s
		"node_modules/a/b.js", // code that is loaded
	} {
		if g, ok := Guarded(path); !ok || g.Pattern == "" || g.Why == "" {
			t.Errorf("Guarded(%q) = %+v, %v, want a row with its reason", path, g, ok)
		}
	}
	for _, path := range []string{
		"", "a", "mcp.json", "mcp.json.md", ".mcp.json.md", "x.mcp.json", ".claude/skills/x/SKILL.md", ".claude/commands/settings.json.md", ".claude/agents/a.md",
		".claude/settings", ".claude/rules/a.md", ".claude/CLAUDE.md", "CLAUDE.md", "GEMINI.md", "AGENTS.md", ".github/prompts/a.prompt.md",
		".github/skills/x/SKILL.md", ".github/agents/a.agent.md", ".github/instructions/a.instructions.md", ".github/copilot-instructions.md",
		".cursor/rules/a.mdc", ".cursor/skills/x/run.sh", ".cursor/commands/a.md", ".gemini/commands/a/b.toml", ".opencode/commands/hooks.md",
		".opencode/agents/a.md", ".github/workflows.md", "workflows/ci.yml", "husky/pre-commit", "src/main.go", ".git/hooks/x", "Makefile", "Dockerfile", "README.md",
		// Skills bring sources of their own, and nobody builds or pushes from there.
		".claude/skills/x/package.json", ".claude/skills/x/sub/package.json", ".claude/skills/x/setup.py", ".claude/skills/x/.github/workflows/ci.yml",
		".config/opencode/skills/x/package.json", ".agents/skills/x/conftest.py", ".claude/skills/x/.env",
	} {
		if g, ok := Guarded(path); ok {
			t.Errorf("Guarded(%q) = %+v, want nothing", path, g)
		}
	}
	// A folder named "skills" is no skill's by itself.
	for _, path := range []string{"skills/x/package.json", ".claude/skills/package.json", "a/skills/b/package.json"} {
		if _, ok := Guarded(path); !ok {
			t.Errorf("Guarded(%q) is false", path)
		}
	}
}

// The row P14: a glob, however wide, grants no guarded path; its literal name does, and only that one.
func TestMayWriteGuarded_P14(t *testing.T) {
	for _, path := range []string{
		".mcp.json", ".claude/settings.json", ".vscode/tasks.json", ".envrc", ".gitmodules", ".gitattributes", ".bashrc", ".github/workflows/ci.yml",
		".husky/pre-commit", "package.json", "sub/.envrc", ".MCP.JSON",
	} {
		dir, base := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, base = path[:i+1], path[i+1:]
		}
		for _, glob := range []string{
			"**", "**/*", dir + "*", dir + "**", dir + "?" + base[1:], dir + "[" + base[:1] + "]" + base[1:], "**/" + base, dir + base + "*", dir + "**/" + base,
			"**/" + path, path + "/**",
		} {
			s, err := New([]string{glob})
			if err != nil {
				t.Fatal(err)
			}
			if s.MayWrite(path) {
				t.Errorf("the glob %q grants the guarded path %q", glob, path)
			}
		}
		s, err := New([]string{"**", path})
		if err != nil {
			t.Fatal(err)
		}
		if !s.MayWrite(path) || !s.MayWrite("ordinary") {
			t.Errorf("%q by name: not granted", path)
		}
		if other := "other/" + path; s.MayWrite(other) {
			t.Errorf("%q by name grants %q", path, other)
		}
		if upper := strings.ToUpper(path); upper != path && s.MayWrite(upper) {
			t.Errorf("%q by name grants %q, another spelling", path, upper)
		}
		if !ForPaths([]string{path}).MayWrite(path) {
			t.Errorf("the host may not take back %q", path)
		}
	}
}

// The part of the row P18 that is ours: what appears beneath a folder is judged by its whole path, in whatever spelling, and
// so is the folder.
func TestGuardedBeneathAFolder_P18(t *testing.T) {
	s, err := New([]string{"tpl/**", ".claude/**", ".github/**", ".vscode/**"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"tpl/settings.json": true, ".claude/settings.json": false, ".claude/x": true, ".github/workflows": false, ".github/workflows/a.yml": false,
		".github/prompts/a.prompt.md": true, ".vscode/tasks.json": false, ".vscode/x.code-snippets": true, ".claude/hooks": false,
	} {
		if got := s.MayWrite(path); got != want {
			t.Errorf("MayWrite(%q) = %v, want %v", path, got, want)
		}
	}
}

// In user scope paths are relative to the assistant's folder, and judged as if it stood before them.
func TestGuardedInAFolder(t *testing.T) {
	s, err := New([]string{"**", "mcp.json"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, path string
		want         bool
	}{
		{".claude", "settings.json", false}, {".claude", "hooks/x", false}, {".claude", "skills/x/SKILL.md", true}, {".claude", "skills/x/package.json", true},
		{".claude", "mcp.json", true}, {".claude", "plugins/a", false}, {"", "settings.json", true}, {"", "hooks/x", true}, {"", "skills/x/package.json", false},
		{".config/opencode", "plugin/a.ts", false}, {".config/opencode", "opencode.json", false}, {".config/opencode", "agents/a.md", true},
		{".config/opencode", "skills/a/package.json", true}, {".cursor", "hooks.json", false}, {".gemini", "settings.json", false}, {".copilot", "mcp-config.json", false},
	} {
		if got := s.In(c.folder).MayWrite(c.path); got != c.want {
			t.Errorf("in %q MayWrite(%q) = %v, want %v", c.folder, c.path, got, c.want)
		}
	}
	if s.Folder() != "" || s.In(".x").Folder() != ".x" {
		t.Error("In changed the set itself")
	}
}

func TestGlobsAmongGuardedPaths(t *testing.T) {
	for glob, want := range map[string]bool{
		".claude/settings*.json": true, ".github/workflows/*.yml": true, "**/package.json": true, ".claude/hooks/**": true, ".mcp.json": true,
		".husky/**": true, ".[m]cp.json": true, "**/.[e]nvrc": true,
		"**": false, ".claude/**": false, ".github/*/**": false, "**/*.json": false, ".claude/skills/*/**": false, "docs/[!a]*.md": false, "[": false,
	} {
		if _, got := (Set{}).GuardedGlob(Glob{glob}); got != want {
			t.Errorf("GuardedGlob(%q) = %v, want %v", glob, got, want)
		}
	}
}

// Every row matches what it says, is found by the lookup, and stands once.
func TestTables(t *testing.T) {
	for _, table := range []struct {
		name string
		rows []row
		find func(string) (Guard, bool)
		want int
	}{{"guards", guards, Guarded, 300}, {"secrets", secrets, Secret, 60}} {
		seen := map[string]bool{}
		for _, r := range table.rows {
			if r.why == "" || len(r.patterns) == 0 || strings.HasSuffix(r.why, ".") {
				t.Errorf("%s, row %q: want a reason without a full stop, and patterns", table.name, r.why)
			}
			for _, p := range r.patterns {
				glob, err := ParseGlob(p)
				if err != nil {
					t.Error(err)
					continue
				}
				if seen[fold.Path(p)] {
					t.Errorf("%s: %q stands twice", table.name, p)
				}
				seen[fold.Path(p)] = true
				for _, path := range []string{glob.sample(), "some/where/" + glob.sample(), strings.ToUpper(glob.sample())} {
					if _, ok := table.find(path); !ok {
						t.Errorf("%s: row %q does not hold for %q", table.name, p, path)
					}
				}
			}
		}
		if len(seen) < table.want {
			t.Errorf("%s: %d patterns, want at least %d", table.name, len(seen), table.want)
		}
	}
}

// FuzzGuarded holds the lookup to trying every row, and to not telling spellings apart.
func FuzzGuarded(f *testing.F) {
	for _, s := range []string{"", ".mcp.json", "a/.CLAUDE/settings.x.json", ".claude/skills/x/package.json", ".x/hooks/y", "\u017fetup.py", "skills/.a/skills/b/c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		g, ok := Guarded(path)
		folded := fold.Path(path)
		var want *Guard
		for _, row := range guardTable().entries {
			if want == nil && !strings.Contains("/"+folded, "/.git/") && !(row.asSource && inSkill(folded)) && doublestar.MatchUnvalidated(row.glob(), folded) {
				want = &row.Guard
			}
		}
		if ok != (want != nil) || ok && g != *want {
			t.Errorf("Guarded(%q) = %+v, %v, want %+v", path, g, ok, want)
		}
		if g2, ok2 := Guarded(folded); ok2 != ok || g2 != g {
			t.Errorf("Guarded(%q) = %v, and of its folded form %v", path, ok, ok2)
		}
	})
}

func BenchmarkMayWrite(b *testing.B) {
	s, err := New([]string{".claude/skills/*/**", ".claude/commands/**/*.md"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !s.MayWrite(".claude/skills/sew/data/deep/down/file.md") {
			b.Fatal("refused")
		}
	}
}
