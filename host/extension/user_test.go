package extension

import (
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
)

func TestUser(t *testing.T) {
	for _, folder := range []string{".claude", ".cursor", ".gemini", ".config/opencode", ".copilot", ".codex", "Library/Application Support/Some App", "AppData/Roaming/App", "a.b-c_d"} {
		m, err := ParseManifest([]byte(good + "user: {folder: \"" + folder + "\", writes: [\"skills/*/**\"]}\n"))
		if err != nil {
			t.Errorf("%q: %v", folder, err)
			continue
		}
		g := m.User.Grant()
		if m.User.Folder != folder || g.Folder() != folder || !g.MayWrite("skills/a/SKILL.md") || g.MayWrite("x") || g.MayWrite(".demo/x") || len(m.User.Writes) != 1 {
			t.Errorf("%q: got %+v", folder, m.User)
		}
		if m.Grant().MayWrite("skills/a/SKILL.md") {
			t.Errorf("%q: what is asked for in user scope is granted in a project", folder)
		}
	}
	m, err := ParseManifest([]byte(good))
	if err != nil || m.User != nil {
		t.Errorf("without the field: got %+v, %v", m.User, err)
	}
}

func TestUserFolderRefused(t *testing.T) {
	for _, folder := range []string{
		"", ".", "..", "~", "~/.claude", "/", "/root", "./x", "../x", ".claude/", ".claude/..", "a//b", "a/b/c/d", `a\b`, "C:", "C:/x", "a:b", " a", "a ", "a.", "...",
		"-a", ".config", ".CONFIG", ".local/share", "Library", "library/Application Support", "AppData", "Documents", ".ssh", ".ssh/x", ".gnupg", ".SSH",
		".local/bin", ".idea", ".config/fish", ".config/systemd", ".config/systemd/user", ".git", ".git/hooks", "a/.GIT", "con", "a/NUL", "nul.x", "com1", "é",
		"a\u0085b", "a\u202eb", "a%b", "$HOME", "a*", strings.Repeat("a", 256),
	} {
		m := Manifest{Kind: abi.KindTarget}
		if u, err := m.user(grant.Rights{Folder: folder, Writes: []string{"x"}}); err == nil {
			t.Errorf("folder %q: took %+v", folder, u)
		}
	}
}

func TestUserRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no folder":        "user: {writes: [a]}\n",
		"no writes":        "user: {folder: .claude}\n",
		"unknown field":    "user: {folder: .claude, writes: [a], reads: [b]}\n",
		"a list":           "user: [.claude]\n",
		"glob that climbs": "user: {folder: .claude, writes: [\"../**\"]}\n",
		"guarded by glob":  "user: {folder: .claude, writes: [\"settings*.json\"]}\n",
		"guarded folder":   "user: {folder: .claude, writes: [\"hooks/**\"]}\n",
	} {
		if m, err := ParseManifest([]byte(good + text)); err == nil {
			t.Errorf("%s: took %+v", name, m.User)
		}
	}
	scan := strings.NewReplacer("kind: target", "kind: scan", "[install]", "[scan]", "writes: [\".demo/**\"]\n", "").Replace(good)
	if _, err := ParseManifest([]byte(scan)); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseManifest([]byte(scan + "user: {folder: .claude, writes: [a]}\n")); err == nil {
		t.Error("a scan may work in user scope")
	}
	// By name it may be asked for, and stands out in the grant.
	m, err := ParseManifest([]byte(good + "user: {folder: .claude, writes: [settings.json]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if g := m.User.Grant(); !g.MayWrite("settings.json") || g.MayWrite("settings.local.json") {
		t.Error("a guarded path by name is not what is granted")
	}
}
