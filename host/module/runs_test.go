package module_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/module"
)

// TestRuns: what makes an assistant run something is found however it is written, and nothing else is.
func TestRuns(t *testing.T) {
	long := "---\n" + strings.Repeat("x: y\n", 20000) + "---\n"
	for name, tt := range map[string]struct {
		file, text string
		want       string // in What; "" is no run
	}{
		"plain skill":           {"skills/a/SKILL.md", "---\nname: a\ndescription: hooks and allowed-tools\n---\nhooks: x\n", ""},
		"empty frontmatter":     {"skills/a/SKILL.md", "---\n---\nhooks: x\n", ""},
		"no frontmatter":        {"skills/a/SKILL.md", "# A\n\nallowed-tools: Bash\n", ""},
		"allowed tools":         {"skills/a/SKILL.md", "---\nname: a\nallowed-tools: Bash(*)\n---\n", "without asking"},
		"in a command":          {"commands/c.md", "---\nallowed-tools: [Bash]\n---\nGo.\n", "without asking"},
		"in another file":       {"skills/a/ref/more.md", "---\nhooks: {}\n---\n", "hooks"},
		"hooks":                 {"agents/a.md", "---\nhooks:\n  PreToolUse:\n  - command: x\n---\n", "hooks"},
		"quoted and escaped":    {"agents/a.md", "---\n\"h\\u006foks\": x\n---\n", "hooks"},
		"flow":                  {"agents/a.md", "---\n{hooks: x}\n---\n", "hooks"},
		"upper case":            {"agents/a.md", "---\nAllowed-Tools: Bash\n---\n", "without asking"},
		"byte order mark":       {"agents/a.md", "\xef\xbb\xbf---\nhooks: x\n---\n", "hooks"},
		"empty lines before":    {"agents/a.md", "\n\n---\nhooks: x\n---\n", "hooks"},
		"carriage returns":      {"agents/a.md", "---\r\nhooks: x\r\n---\r\n", "hooks"},
		"without an end":        {"agents/a.md", "---\nhooks: x\n", "hooks"},
		"merged":                {"agents/a.md", "---\n<<: {hooks: x}\nname: a\n---\n", "cannot be read"},
		"malformed":             {"agents/a.md", "---\n: : [\n---\n", "cannot be read"},
		"two of one name":       {"agents/a.md", "---\nname: a\nname: b\n---\n", "cannot be read"},
		"too long":              {"agents/a.md", long, "too long"},
		"servers":               {"mcps.json", `{"mcpServers": {}}`, "MCP servers"},
		"servers in an agent":   {"agents/a.md", "---\nmcpServers:\n  x: {command: y}\n---\n", "MCP servers"},
		"not Markdown":          {"skills/a/run.sh", "---\nhooks: x\n---\n", ""},
		"JavaScript":            {"agents/a.md", "---js\na: require('child_process').execSync('id')\n---\n", "another language"},
		"said to be YAML":       {"agents/a.md", "---yaml\nname: a\n---\n", ""},
		"behind three dots":     {"agents/a.md", "---\nname: a\n...\nhooks: x\n---\n", "cannot be read"},
		"carriage returns only": {"agents/a.md", "---\rhooks: x\r---\rGo.\r", "hooks"},
		"hard space before":     {"agents/a.md", "\u00a0---\nhooks: x\n---\n", "hooks"},
		"marks before":          {"agents/a.md", "\ufeff \ufeff---\nhooks: x\n---\n", "hooks"},
		"UTF-16":                {"agents/a.md", "\xff\xfe-\x00-\x00-\x00\n\x00h\x00", "not UTF-8"},
		"UTF-16 without a mark": {"agents/a.md", "-\x00-\x00-\x00\n\x00h\x00", "not UTF-8"},
		"behind much space":     {"agents/a.md", strings.Repeat(" \n", 64<<10) + "---\nhooks: x\n---\n", "too long"},
		"fence of spaces":       {"agents/a.md", "---\nname: a\n---" + strings.Repeat(" ", 100) + "# x\nhooks: x\n---\n", "cannot be read"},
		"fence with a space":    {"agents/a.md", "---\nname: a\n--- \nhooks: x\n---\n", "hooks"},
		"such a fence, no key":  {"agents/a.md", "---\nname: a\n--- \n\nGo.\n", ""},
		"a line within a text":  {"agents/a.md", "---\nname: \"a\nhooks: x\n\"\n---\n", "hooks"},
		"a text about it":       {"agents/a.md", "---\ndescription: |\n  hooks: none\nname: a\n---\n", ""},
		"permissions":           {"agents/a.md", "---\nname: a\npermissionMode: bypassPermissions\n---\n", "permissions"},
		"permissions by tool":   {"agents/a.md", "---\npermission: {bash: allow}\n---\n", "permissions"},
		"another spelling":      {"agents/a.md", "---\nallowedTools: [Bash]\n---\n", "without asking"},
		"a rule":                {"skills/a/ref/more.md", "-----\nText.\n", "cannot be read"},
		"a line that begins so": {"skills/a/ref/more.md", "- --\nhooks: x\n", ""},
		"another ending's case": {"skills/a/B.MD", "---\nhooks: x\n---\n", "hooks"},
		"a command":             {"commands/c.md", "Then !`date`.\n", "commands"},
		"in a skill's file":     {"skills/a/ref/more.md", "x!`date`", "commands"},
		"in an agent":           {"agents/a.md", "!`date`", "commands"},
		"in a fence":            {"commands/c.md", "````\n!`date`\n````\n", "commands"},
		"a fence of its own":    {"commands/c.md", "```!\ndate\n```\n", "commands"},
		"not Markdown at all":   {"skills/a/run.sh", "!`date`", ""},
		"in instructions":       {"AGENTS.md", "!`date`", ""},
		"without a mark":        {"commands/c.md", "Run `date`! Then ``x``.\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := filepath.Join(dir, filepath.FromSlash(tt.file))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := module.Load(dir, abi.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			runs, err := p.Runs()
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(runs) > 0:
				t.Errorf("it is said to run %q", runs[0].What)
			case tt.want != "" && (len(runs) != 1 || !strings.Contains(runs[0].What, tt.want) || runs[0].Path != tt.file):
				t.Errorf("runs: %+v, want one with %q", runs, tt.want)
			}
		})
	}
}

// TestCommandRuns: each mark counts, whatever stands around it, so that none hides another; all are counted, some are shown.
func TestCommandRuns(t *testing.T) {
	many := strings.Repeat("!`x`\n", 60)
	for name, tt := range map[string]struct{ text, want string }{
		"one":                   {"Then !`git status`.", "!`git status`\n"},
		"two on a line":         {"!`a` and !`b`", "!`a`\n!`b`\n"},
		"over lines":            {"!`a \\\n  b`", "!`a \\\n  b`\n"},
		"one within another":    {"x!`foo !`evil`", "!`foo !`\n!`evil`\n"},
		"many backquotes":       {"!``a ` b``", "!``a `\n"},
		"no end":                {"!`a\nb", "!`a\n"},
		"at the end":            {"!`", "!`\n"},
		"fence without an end":  {"```!\na\n", "```!\na\n\n"},
		"fence and a command":   {"```!\na\n```\n!`b`", "!`b`\n```!\na\n```\n"},
		"a command behind much": {"!`" + strings.Repeat("x", module.MaxShown) + "` !`evil`", "!`evil`\n(and 1 more, not shown)\n"},
		"very many":             {many, many[:50*5] + "(and 10 more, not shown)\n"},
		"none":                  {"Wow! `a` ```sh\n!\n```", ""},
	} {
		if got := module.CommandRuns([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
