package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// pathRules are the stable ids that a finding about a path may have.
var pathRules = []string{
	"path-empty", "path-absolute", "path-dot", "path-backslash", "path-colon", "path-control", "path-utf8", "path-invisible",
	"path-trailing", "path-device", "path-shortname", "path-vcs", "path-length", "path-component", "path-depth",
}

// variant is one path and the rule that must be among its findings.
type variant struct{ path, rule string }

// all gives every path the same rule.
func all(rule string, paths ...string) []variant {
	var vs []variant
	for _, p := range paths {
		vs = append(vs, variant{p, rule})
	}
	return vs
}

// within repeats every variant as the first, a middle and the last component of a longer path.
func within(vs []variant) []variant {
	out := slices.Clone(vs)
	for _, v := range vs {
		out = append(out, variant{v.path + "/x", v.rule}, variant{"a/" + v.path, v.rule}, variant{".claude/" + v.path + "/x.md", v.rule})
	}
	return out
}

// hostilePaths are rows of the list of hostile inputs from public reports. Each begins with the row's own input; what
// follows is the rest of its kind.
var hostilePaths = []struct {
	id       string
	variants []variant
}{
	{"P02_escapes", slices.Concat(
		all("path-dot", "../x", "a/../../x", "..", ".", "./x", "a/.", "a/..", "a/./b", "a/../b", "../../etc/passwd", "x/../../../..",
			"a/b/../../../c", "../", "./", "a//b", "a/", "a/b//", "a///b", "./.", "../.", ".claude/../../x", "a/b/c/../../../../x"),
		all("path-absolute", "/", "/x", "/etc/passwd", "/../x", "/./x", "/.claude/x", "/a/../b", "//x", "///x"),
		all("path-empty", ""),
	)},
	{"P08_streams", within(all("path-colon", ".git::$INDEX_ALLOCATION", "file:stream", ".git:x", ".git::$DATA", "a.txt::$DATA", "a:",
		":", ":a", "a:b:c", "::", ".claude:hidden", "SKILL.md:Zone.Identifier", "x:$I30:$INDEX_ALLOCATION", "é:x", "CLAUDE.md:a.md",
		"a :b", "a: b", ".git:"))},
	{"P09_short_names", within(all("path-shortname", "GIT~1", "GI7EBA~1", "CLAUDE~1", "x~1", "git~1", "GiT~2", "g~9", "ABCDEF~1",
		"ABCDE~10", "SETTIN~1.JSO", "settin~1.jso", "MCP~1.JSO", "a~1.b", "x~123456", "a~1.md", "a~b~1", "~1", "~1.txt", "é~1", "日本~1.md", "0~0"))},
	{"P10_trailing", within(all("path-trailing", "sub.", "sub ", "sub..", "sub  ", "sub. ", "sub .", "a.b.", "a.b ", ".git.", ".git ",
		".git. .", ".claude.", ".claude ", "...", "....", " ", "  ", ". ", ".. ", "SKILL.md.", "é ", "x~ ", "a b ", "日本語."))},
	{"P11_devices", slices.Concat(
		within(all("path-device", "COM\u00B9", "nul.txt", "CONIN$", "con", "CON", "Con", "prn", "AUX", "aux.md", "NUL", "nul", "NuL.tar.gz",
			"com1", "COM9", "com1.x", "lpt1", "LPT9", "lpt5.log", "com\u00B2", "com\u00B3.txt", "LPT\u00B9", "lpt\u00B2", "lpt\u00B3.x",
			"CONOUT$", "conout$.txt", "conin$.x", "CLOCK$", "clock$", "clock$.md", "nul .txt", "con  .a.b", "com1 .md", "COM\u00B9 .x",
			"com0", "LPT0.txt")),
		within(all("path-trailing", "COM1 ", "nul ", "con.", "aux..", "COM\u00B9 ", "CONIN$ ", "nul. ")), // a device and a trailing space; one of the two is enough
	)},
	{"P12_windows_roots", slices.Concat(
		all("path-backslash", `\\?\C:\x`, `\??\c:\x`, `\\server\share\x`, `\\.\pipe\x`, `\\.\PhysicalDrive0`, `\x`, `a\b`, `..\x`, `a\..\..\x`,
			`\`, `a\`, `C:\x`, `\\?\UNC\server\share`, `\\?\GLOBALROOT\Device`, `.claude\x`, `a/b\c`, `.\x`, `\/x`),
		all("path-absolute", "//server/share/x", "//?/C:/x", "//./pipe/x", "//?/UNC/server/share", "/??/c:/x", "//"),
		all("path-colon", "C:x", "C:", "c:/x", "C:/", "Z:x/y", "a/C:/x", "C:..", "1:x", "é:x"),
	)},
	{"P13_disguises", slices.Concat(
		within(all("path-vcs",
			".git", ".GIT", ".Git", ".gIt", ".hg", ".HG", ".Hg", ".svn", ".SVN", ".sVn", ".jj", ".JJ", ".jJ",
			".g\u200Cit", ".gi\u200Dt", "\uFEFF.git", ".git\u200B", ".\u00ADgit", ".g\u2060it", ".gi\u202Et", ".git\uFE0F", ".g\u034Fit",
			".git\U000E0001", ".git\U000E0100", ".g\u180Eit", ".\u115Fgit", ".h\u200Cg", ".s\u200Dvn", ".j\u2060j", ".S\u200CVN", ".G\u200CI\u200DT",
			".\u017Fvn", ".\u017FVN")),
		within(all("path-invisible", "a\u200Bb", "a\u200Cb", "a\u200Db", "a\u200Eb", "a\u200Fb", "a\u202Ab", "a\u202Eb", "a\u2066b", "a\u2069b",
			"a\u061Cb", "a\u00ADb", "a\u034Fb", "a\u115Fb", "a\u1160b", "a\u17B4b", "a\u180Bb", "a\u180Eb", "a\u180Fb", "a\u2060b", "a\u2065b",
			"a\u206Fb", "a\u3164b", "a\uFEFFb", "\uFEFFa", "a\uFFA0b", "a\uFFF0b", "a\U0001BCA0b", "a\U0001D173b", "a\U000E0001b",
			"a\U000E0020b", "a\U000E0100b", "a\U000E0FFFb",
			// Variation selectors are ignorable, so an emoji that asks for its coloured form with one is refused, as is one that
			// is joined of several. The same emoji by itself is among the paths that must pass.
			"\u2764\uFE0F", "\u2764\uFE0E", "\U0001F468\u200D\U0001F4BB", "\u845B\U000E0100")),
		all("path-control", "a\x00b", "\x00", "a\x01", "a\nb", "a\rb", "a\tb", "\x1b[31mred", "a\x1f", "a\x7fb", "a\u0080b", "a\u0085b", "a\u009Fb", "a/b\x00/c"),
		all("path-utf8", "\xff", "a\xc0\xaeb", "a/\xc0\xaf/b", "\xed\xa0\x80", "\xed\xb0\x80", "\xf4\x90\x80\x80", "a\x80", "é"[:1], "日"[:2],
			".g\xffit", "\xf8\x88\x80\x80\x80", "\xe0\x80\xaf", "a/\xfe"),
	)},
}

// TestHostilePaths holds every variant of every row against the rule that it breaks.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	lim := limits(t, abi.Limits{})
	for _, row := range hostilePaths {
		t.Run(row.id, func(t *testing.T) {
			t.Parallel()
			if len(row.variants) < 15 {
				t.Fatalf("%d variants, want at least 15", len(row.variants))
			}
			for _, v := range row.variants {
				checkFindings(t, v.path, plan.CheckPath(v.path, lim), v.rule)
			}
		})
	}
}

// checkFindings says what every refusal must have: the rule wanted, and in each finding a known rule and a sentence.
func checkFindings(t *testing.T, path string, findings []plan.Finding, rule string) {
	t.Helper()
	var rules []string
	for _, f := range findings {
		rules = append(rules, f.Rule)
		if !slices.Contains(pathRules, f.Rule) {
			t.Errorf("CheckPath(%+.80q): unknown rule %q", path, f.Rule)
		}
		if f.Message == "" {
			t.Errorf("CheckPath(%+.80q): finding %q has no message", path, f.Rule)
		}
	}
	if !slices.Contains(rules, rule) {
		t.Errorf("CheckPath(%+.80q) finds %v, want %q among them", path, rules, rule)
	}
}

// TestDisguisedRepositories goes beyond the table of P13: any case of any letter, and any ignorable character at any
// place of each of the four names.
func TestDisguisedRepositories(t *testing.T) {
	t.Parallel()
	lim := limits(t, abi.Limits{})
	tried := 0
	for _, name := range []string{".git", ".hg", ".svn", ".jj"} {
		for bits := range 1 << len(name) {
			spelling := []byte(name)
			for i := range spelling {
				if bits&(1<<i) != 0 {
					spelling[i] = strings.ToUpper(name)[i]
				}
			}
			tried++
			checkFindings(t, string(spelling), plan.CheckPath(string(spelling), lim), "path-vcs")
			for _, ignorable := range []string{"\u00AD", "\u200B", "\u200C", "\u200D", "\u200E", "\u202E", "\u2060", "\u206F", "\uFE0F", "\uFEFF", "\U000E0061"} {
				for at := range len(spelling) + 1 {
					p := string(spelling[:at]) + ignorable + string(spelling[at:])
					tried++
					checkFindings(t, p, plan.CheckPath(p, lim), "path-vcs")
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("tried %d spellings, want at least 1000", tried)
	}
}

// TestDevicesInAnyCase is P11 for every device, with every extension shape.
func TestDevicesInAnyCase(t *testing.T) {
	t.Parallel()
	lim := limits(t, abi.Limits{})
	names := []string{"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
	for _, port := range []string{"com", "lpt"} {
		for _, digit := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "\u00B9", "\u00B2", "\u00B3"} {
			names = append(names, port+digit)
		}
	}
	for _, name := range names {
		for _, spelling := range []string{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]} {
			for _, rest := range []string{"", ".txt", ".tar.gz", ".a b", " .txt", "  .x.y", ".é", "..x"} {
				checkFindings(t, spelling+rest, plan.CheckPath(spelling+rest, lim), "path-device")
			}
		}
	}
}

// TestPathLimits stands on both sides of each bound, the default and a lowered one.
func TestPathLimits(t *testing.T) {
	t.Parallel()
	def, low := limits(t, abi.Limits{}), limits(t, abi.Limits{Path: 20, Component: 8, Components: 3})
	long := func(bytes int) string { // components of at most 250 bytes
		var parts []string
		for ; bytes > 250; bytes -= 251 {
			parts = append(parts, strings.Repeat("a", 250))
		}
		return strings.Join(append(parts, strings.Repeat("b", bytes)), "/")
	}
	for _, tt := range []struct {
		name string
		path string
		lim  abi.Limits
		rule string // "" means acceptable
	}{
		{"path at the bound", long(1024), def, ""},
		{"path over the bound", long(1025), def, "path-length"},
		{"path far over the bound", long(100_000), def, "path-length"},
		{"component at the bound", strings.Repeat("c", 255), def, ""},
		{"component over the bound", strings.Repeat("c", 256), def, "path-component"},
		{"component of two-byte letters at the bound", strings.Repeat("é", 127) + "c", def, ""},
		{"component of two-byte letters over the bound", strings.Repeat("é", 128), def, "path-component"},
		{"last of several over the bound", "a/b/" + strings.Repeat("c", 256), def, "path-component"},
		{"depth at the bound", strings.Repeat("d/", 31) + "d", def, ""},
		{"depth over the bound", strings.Repeat("d/", 32) + "d", def, "path-depth"},
		{"lowered path at the bound", "abcdefgh/abcdefgh/ab", low, ""},
		{"lowered path over the bound", "abcdefgh/abcdefgh/abc", low, "path-length"},
		{"lowered component over the bound", "abcdefghi", low, "path-component"},
		{"lowered depth over the bound", "a/b/c/d", low, "path-depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			findings := plan.CheckPath(tt.path, tt.lim)
			if tt.rule == "" {
				if len(findings) != 0 {
					t.Errorf("CheckPath(%.80q) finds %v, want nothing", tt.path, findings)
				}
				return
			}
			checkFindings(t, tt.path, findings, tt.rule)
		})
	}
}

// TestSeveralFindings: a refusal lists everything that is wrong, so that an author mends it once.
func TestSeveralFindings(t *testing.T) {
	t.Parallel()
	lim := limits(t, abi.Limits{})
	for _, rule := range []string{"path-absolute", "path-dot", "path-device", "path-vcs", "path-trailing"} {
		path := "/a/../nul.txt/.git/sub."
		checkFindings(t, path, plan.CheckPath(path, lim), rule)
	}
}

func limits(t *testing.T, l abi.Limits) abi.Limits {
	t.Helper()
	lim, err := l.Resolve()
	if err != nil {
		t.Fatalf("resolve limits %+v: %v", l, err)
	}
	return lim
}

func ExampleCheckPath() {
	lim, err := abi.Limits{}.Resolve()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range plan.CheckPath(".claude/../.GIT/config", lim) {
		fmt.Println(f.Rule)
	}
	fmt.Println(len(plan.CheckPath(".claude/skills/review/SKILL.md", lim)))
	// Output:
	// path-dot
	// path-vcs
	// 0
}
