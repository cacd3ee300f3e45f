package grant

import "testing"

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
