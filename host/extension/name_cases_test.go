package extension_test

import (
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/extension"
)

// The row P15 of our list of hostile inputs: folders are named for extensions and their versions, so neither may be more
// than one component, or one that any file system takes for something else.

var hostileNames = []string{
	"../../x", ".", "..", ".bin", // the row itself
	"", "../x", "x/..", "a/b", "/", "/x", "./x", "x/", `..\x`, `a\b`, `C:\x`, "C:x", "x:y", "file:stream",
	".x", "..x", "a..b", "a..", "...", "-x", "--help", ".git", ".hg", ".svn", ".jj", ".bin/x", "x.", "a.b.",
	"con", "nul", "prn", "aux", "com1", "com9", "lpt1", "nul.x", "con.1", "com1.tool", "aux.a.b",
	"X", "Git-Doctor", "gIT", "CON", "a b", " a", "a ", "a_b", "a@b", "@scope/a", "a~1", "git~1", "a+b", "a%2fb", "%2e%2e", "a?", "a*", "$a", "`a`",
	"a\x00b", "\x00", "a\nb", "a\tb", "a\x7f", "a\u0085", "\xff", "a\xc0\xaf", "é", "e\u0301", "\u0430", "a\u200Db", "\uFEFFa", "a\u202Eb",
	"\uFF41", "a\u00B9", "\u212A", "com\u00B9", "\u0131", "🚀",
	strings.Repeat("a", 65), strings.Repeat("a", 255), strings.Repeat("a", 4096), strings.Repeat("../", 30) + "etc/passwd",
}

var ordinaryNames = []string{
	"a", "0", "x1", "git-doctor", "claude-code", "cursor", "gemini-cli", "opencode", "copilot", "7zip", "a.b", "com.example.tool", "a-b-c", "a--b",
	"com", "com10", "console", "null", "nul-terminated", "auxiliary", "lpt", "printer", "clock", "git", "hg", "svn", "x.git", "node.js",
	strings.Repeat("a", 64), "0.0.0", "1-2",
}

var hostileVersions = []string{
	"../../x", ".", "..", ".bin", // the row itself
	"", "../x", "1/..", "1/2", "/1", "1/", `1\2`, `..\1`, "1:2", "C:1", "1:stream",
	"1..2", "1..", "..1", ".1", "1.", "1.0.", "v1.0.0", "latest", "x", "-1", "+1", "--1",
	"1 ", " 1", "1 0", "1_0", "1~1", "1.0.0~1", "1@2", "1%2f2", "1*", "1?", "^1.0.0", "~1.0", ">=1", "1,2", "1;2", "1$x", "1`x`", "1=2", "1|2",
	"1\x00", "\x00", "1\n2", "1\r", "1\t", "1\x7f", "1\u0085", "\xff", "1\xc0\xaf", "1é", "1\u0301", "1\u200D", "\uFEFF1", "1\u202E", "\u0661", "\u00B9", "\uFF11", "1\u00B2",
	strings.Repeat("1", 65), strings.Repeat("1", 255), "1" + strings.Repeat(".1", 2048), "1" + strings.Repeat("/..", 30),
}

var ordinaryVersions = []string{
	"0", "1", "0.0.0", "1.2.3", "10.20.30", "1.2", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x.7.z.92", "1.0.0+20130313144700",
	"1.0.0-beta+exp.sha.5114f85", "1.0.0+21AF26D3", "2.0.0-rc.1+build.123", "1.0.0--x", "2024.10.05", "0.0.0-20240101000000-abcdef123456", "1.0.0-SNAPSHOT",
	"99999999999999999999.0.0", strings.Repeat("1", 64), "1.0.0-nul", "1.0.0-con.1",
}

func TestCheckName_P15(t *testing.T) {
	t.Parallel()
	atLeast(t, 15, hostileNames)
	for _, name := range hostileNames {
		refused(t, "CheckName", name, extension.CheckName(name))
	}
	for _, name := range ordinaryNames {
		if err := extension.CheckName(name); err != nil {
			t.Errorf("CheckName(%+.80q) = %v, want nil", name, err)
		}
	}
}

func TestCheckVersion_P15(t *testing.T) {
	t.Parallel()
	atLeast(t, 15, hostileVersions)
	for _, version := range hostileVersions {
		refused(t, "CheckVersion", version, extension.CheckVersion(version))
	}
	for _, version := range ordinaryVersions {
		if err := extension.CheckVersion(version); err != nil {
			t.Errorf("CheckVersion(%+.80q) = %v, want nil", version, err)
		}
	}
}

// refused wants an error of one printable line, whatever stood in the input.
func refused(t *testing.T, check, input string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s(%+.80q) = nil, want an error", check, input)
		return
	}
	for _, r := range err.Error() {
		if r < ' ' || 0x7F <= r && r <= 0x9F || r == 0x202E || r == 0xFEFF || r == 0xFFFD {
			t.Errorf("%s(%+.80q) = %+q, which holds %U unescaped", check, input, err, r)
			return
		}
	}
}

func atLeast(t *testing.T, n int, inputs []string) {
	t.Helper()
	if len(inputs) < n {
		t.Fatalf("%d inputs, want at least %d", len(inputs), n)
	}
}
