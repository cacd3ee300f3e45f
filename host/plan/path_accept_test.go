package plan_test

import (
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// ordinaryPaths are what real modules and projects have. A rule that refuses one of them is too wide.
var ordinaryPaths = []string{
	// Where assistants look.
	".claude/skills/x/SKILL.md", ".claude/commands/review.md", ".claude/agents/reviewer.md", ".claude/settings.json", "CLAUDE.md", "AGENTS.md",
	"GEMINI.md", ".github/prompts/a.prompt.md", ".github/copilot-instructions.md", ".github/workflows/ci.yml", ".cursor/rules/a.mdc",
	".cursor/skills/a/SKILL.md", ".gemini/commands/git/commit.toml", ".opencode/command/a.md", ".mcp.json", ".vscode/mcp.json",
	// Dotfiles, among them those that begin like a version control's folder.
	".gitignore", ".gitkeep", ".github", ".gitattributes", ".gitmodules", ".gitlab-ci.yml", ".git-blame-ignore-revs", ".git.md", "x.git",
	".hgignore", ".hgtags", ".svnignore", ".jjconfig.toml", "git", "hg", "jj", ".editorconfig", ".env.example", ".a", "..a", "...a", "a..b",
	// Names that begin or end like a device.
	"com10", "com", "comm1", "console", "console.log", "nul-terminated", "null", "nul1", "aux-tools", "auxiliary/x", "printer", "prn2.txt",
	"lpt", "lpt10.md", "conin", "clock", "clock.js", "context.md", "a.nul", "a.con", ".nul", ".con/x", "x-com1", "my.aux.txt",
	// Tildes that make no 8.3 alias.
	"a~b", "file~", "~x", "~", "a~1b", "notes.md~", "x~y.txt", "file.txt.~1~", "~$draft.docx", "a~b~c", "very-long-name~1", "document~1.markdown",
	// Other alphabets, composed and decomposed, and what has no case.
	"été/résumé.md", "e\u0301te\u0301/re\u0301sume\u0301.md", "\u00C5ngstr\u00F6m", "A\u030Angstro\u0308m", "日本語/スキル.md", "か\u3099", "한국어", "\u1112\u1161\u11AB",
	"Ελληνικά.txt", "русский/файл.md", "עברית", "العربية.md", "ไทย", "हिन्दी.md", "straße", "İstanbul", "ılık", "ﬁle",
	// Emoji, as long as no variation selector or joiner stands in them: those are ignorable, hence refused.
	"🚀.md", "\u2764.md", "docs/🎉 launch.md", "👍🏽", "🇫🇷",
	// Spaces and punctuation inside.
	"a b", " a", "My Skill/SKILL.md", "a - b (copy).txt", "x+y=z.md", "100%.txt", "#readme", "@scope/pkg", "[id].tsx", "{a,b}", "it's.md", "a,b;c", "a&b!", "$HOME.md",
	"-rf", "--help", "_", "-", "0", "^x", "`x`", "a…b",
	// Sizes and depths that occur.
	"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", "node_modules/@types/node/ts5.6/compatibility/float16array.d.ts",
	"src/main/java/com/example/app/App.java", "LICENSE", "Makefile", "a.tar.gz", "README.md", "Dockerfile.dev", "v1.2.3",
}

func TestOrdinaryPaths(t *testing.T) {
	t.Parallel()
	if len(ordinaryPaths) < 60 {
		t.Fatalf("%d paths, want at least 60", len(ordinaryPaths))
	}
	lim := limits(t, abi.Limits{})
	for _, p := range ordinaryPaths {
		for _, f := range plan.CheckPath(p, lim) {
			t.Errorf("CheckPath(%+q) finds %q: %s; want nothing", p, f.Rule, f.Message)
		}
	}
}
