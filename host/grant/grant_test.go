package grant

import (
	"slices"
	"strings"
	"testing"
)

func TestZeroSetAllowsNothing(t *testing.T) {
	var s Set
	for _, p := range []string{"", "a", ".claude/skills/x"} {
		if s.MayWrite(p) {
			t.Errorf("the zero set allows %q", p)
		}
	}
	if (Glob{}).Match("") {
		t.Error("the zero glob matches the empty path")
	}
}

func TestMayWrite(t *testing.T) {
	s, err := New([]string{".claude/skills/**", ".cursor/rules/*.mdc"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		".claude/skills/x/SKILL.md":   true,
		".claude/skills/x/.hidden":    true,
		".claude/settings.json":       false,
		".claude/skillsx/SKILL.md":    false,
		".CLAUDE/skills/x/SKILL.md":   false, // case counts: another spelling is another grant
		".cursor/rules/a.mdc":         true,
		".cursor/rules/sub/a.mdc":     false,
		"x/.claude/skills/x/SKILL.md": false,
	} {
		if got := s.MayWrite(path); got != want {
			t.Errorf("MayWrite(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestParseGlobRefuses(t *testing.T) {
	for _, s := range []string{"", "/etc/**", "../x", "a/../b", "a//b", "a/./b", `a\b`, "{a,b}", "[a", "a/**b", "a/"} {
		if _, err := ParseGlob(s); err == nil {
			t.Errorf("ParseGlob(%q) took it", s)
		}
	}
}

func TestLines(t *testing.T) {
	s, err := Parse(Rights{
		Writes:       []string{".claude/skills/**", ".mcp.json", "CLAUDE.md", "a b/*"},
		Reads:        []string{"docs/*.md", "go.mod"},
		Capabilities: []string{"net.http:example.com/x", "net.git", "symlink:replace", "unconfined", "net.git"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"may run without confinement: it can do whatever you can",
		"may create, change and delete .mcp.json, a guarded file: Claude Code and others start the programs it names when a session opens",
		"may create, change and delete files matching .claude/skills/**",
		"may create, change and delete CLAUDE.md",
		`may create, change and delete files matching "a b/*"`,
		"may read files matching docs/*.md, those left out whose names look secret",
		"may read go.mod",
		"may have files fetched from example.com/x, only by addresses that stand in its manifest or that you give, since it reads files",
		"may have repositories cloned from any public host, only by addresses that stand in its manifest or that you give, since it reads files",
		"may put a file in the place of a symlink, where it may write",
	}
	if got := s.Lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	const short = "write .claude/skills/**, .mcp.json, CLAUDE.md, a b/*; read docs/*.md, go.mod; net.http:example.com/x; net.git; symlink:replace; unconfined"
	if got := s.String(); got != short {
		t.Errorf("got %q, want %q", got, short)
	}
	user, err := New([]string{"settings.json", "skills/**"})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"may create, change and delete settings.json in ~/.claude, a guarded file: Claude Code runs the hooks in it, and takes permissions and environment from it",
		"may create, change and delete files matching skills/** in ~/.claude",
	}
	if got := user.In(".claude").Lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := (Set{}).Lines(); len(got) != 0 || (Set{}).String() != "nothing" || !(Set{}).Empty() {
		t.Errorf("the zero set says %q, %q", got, Set{})
	}
	if got := ForPaths([]string{"a"}); len(got.Lines()) != 1 || got.Empty() || got.String() != "write 1 files by name" {
		t.Errorf("a set of paths says %q, %q", got.Lines(), got)
	}
}

// An update asks only for what is new.
func TestBeyond(t *testing.T) {
	parse := func(r Rights) Set {
		t.Helper()
		s, err := Parse(r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	had := Rights{Writes: []string{"a/**", "b"}, Reads: []string{"r"}, Capabilities: []string{"net.http:h.example/x", "net.git"}}
	for name, c := range map[string]struct {
		asks Rights
		had  Rights
		want string
	}{
		"the same":                   {had, had, "nothing"},
		"less":                       {Rights{Writes: []string{"b"}}, had, "nothing"},
		"nothing granted":            {had, Rights{}, parse(had).String()},
		"another glob":               {Rights{Writes: []string{"a/**", "c"}, Reads: []string{"r", "b"}}, had, "write c; read b"},
		"a narrower glob":            {Rights{Writes: []string{"a/x/**"}}, had, "write a/x/**"},
		"reads of what it may write": {Rights{Reads: []string{"b"}}, had, "read b"},
		"a wider host":               {Rights{Capabilities: []string{"net.http"}}, had, "net.http"},
		"a wider prefix":             {Rights{Capabilities: []string{"net.http:h.example"}}, had, "net.http:h.example"},
		"a sibling":                  {Rights{Capabilities: []string{"net.http:h.example/xy"}}, had, "net.http:h.example/xy"},
		"beneath the prefix":         {Rights{Capabilities: []string{"net.http:h.example/x/y"}}, had, "nothing"},
		"beneath any host":           {Rights{Capabilities: []string{"net.git:h.example"}}, had, "nothing"},
		"another capability":         {Rights{Capabilities: []string{"symlink:replace"}}, had, "symlink:replace"},
		"another folder":             {Rights{Folder: ".x", Writes: []string{"b"}}, had, "write b"},
		"the same folder":            {Rights{Folder: ".x", Writes: []string{"b", "c"}}, Rights{Folder: ".x", Writes: []string{"b"}}, "write c"},
	} {
		got := parse(c.asks).Beyond(parse(c.had))
		if got.String() != c.want || got.Folder() != c.asks.Folder {
			t.Errorf("%s: got %q in %q, want %q", name, got, got.Folder(), c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, r := range []Rights{{Writes: []string{"a", "/b"}}, {Reads: []string{"../x"}}, {Capabilities: []string{"net.http", "exec"}}} {
		if s, err := Parse(r); err == nil || !s.Empty() {
			t.Errorf("Parse(%+v) = %v, %v", r, s, err)
		}
	}
	for _, s := range []string{"a\nb", "a\x00b", "a\x7f", "a\u202eb", "a\u200bb", "a\u3164b", "a\ufe0fb", "a\u2028b", "\xff", "a\u00a0b", "\ufeffa", "a\U000e0041"} {
		if g, err := ParseGlob(s); err == nil {
			t.Errorf("ParseGlob(%q) took it: what a person cannot see cannot be granted, got %q", s, g)
		}
	}
	for _, s := range []string{"höhe/*.md", "高/**", "a b", "[a-z]*", "e\u0301"} {
		if _, err := ParseGlob(s); err != nil {
			t.Error(err)
		}
	}
}

// A pattern costs no more than its length times the path's, however many wildcards it has.
func TestManyWildcards(t *testing.T) {
	g, err := ParseGlob(strings.Repeat("**/*a*/", 100) + "x")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Repeat(strings.Repeat("a", 30)+"/", 31) + "y"
	if g.Match(path) { // an exponential matcher never comes back
		t.Error("it matches")
	}
}
