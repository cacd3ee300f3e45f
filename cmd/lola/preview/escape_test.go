package preview

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestO01Escape: nothing that a terminal or a log would obey, or that cannot be seen, comes through.
func TestO01Escape(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"plain text, with (signs) & # + ~ :": "plain text, with (signs) & # + ~ :",
		".claude/skills/x/SKILL.md":          ".claude/skills/x/SKILL.md",
		"é e\u0301 日本 русский עברית 🚀 \ufffd": "é e\u0301 日本 русский עברית 🚀 \ufffd",
		`C:\x\n`:             `C:\x\n`,
		"\x1b[31mred\x1b[0m": `\x1b[31mred\x1b[0m`,
		"\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\": `\x1b]8;;http://evil\x1b\link\x1b]8;;\x1b\`,
		"\x1b]52;c;aGk=\a":                            `\x1b]52;c;aGk=\x07`,
		"real\rfake":                                  `real\rfake`,
		"one\ntwo":                                    `one\ntwo`,
		"one\r\ntwo":                                  `one\r\ntwo`,
		"a\tb":                                        `a\tb`,
		"a\bb\x00c\x7fd":                              `a\x08b\x00c\x7fd`,
		"\u009b31m\u0085":                             `\u{9b}31m\u{85}`,
		"\x9b31m":                                     `\x9b31m`,
		"a\u202eb\u2066c":                             `a\u{202e}b\u{2066}c`,
		"a\u200bb\u200dc\ufeff":                       `a\u{200b}b\u{200d}c\u{feff}`,
		"\u2028\u2029":                                `\u{2028}\u{2029}`,
		"a\u00adb\u034fc":                             `a\u{ad}b\u{34f}c`,
		"x\ufe0f\U000e0041":                           `x\u{fe0f}\u{e0041}`,
		"\u3164\u115f\uffa0":                          `\u{3164}\u{115f}\u{ffa0}`,
		"\ue000\U0010ffff":                            `\u{e000}\u{10ffff}`,
		"\xff\xc3\xe9t":                               `\xff\xc3\xe9t`,
		"\xed\xa0\x80":                                `\xed\xa0\x80`,
		"\xef\xbf\xbd\xef\xbf":                        "\ufffd" + `\xef\xbf`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

// TestO02Commands: what a CI system would take for a command is none any more, and looks like what it was.
func TestO02Commands(t *testing.T) {
	for in, want := range map[string]string{
		"::set-output name=x::y":        `\x3a:set-output name=x::y`,
		"::":                            `\x3a:`,
		":::x":                          `\x3a::x`,
		"  ::error::x":                  `  \x3a:error::x`,
		"\u00a0::error::x":              "\u00a0" + `\x3a:error::x`,
		"\t::error::x":                  `\t\x3a:error::x`,
		"\n::error::x":                  `\n\x3a:error::x`,
		"std::string":                   "std::string",
		": :x":                          ": :x",
		"##[command]x":                  `\x23#[command]x`,
		"text ##[group]x":               `text \x23#[group]x`,
		"###[group]x":                   `#\x23#[group]x`,
		"##vso[task.setvariable]x":      `\x23#vso[task.setvariable]x`,
		"text ##VSO[task.complete]x":    `text \x23#VSO[task.complete]x`,
		"##teamcity[buildStatus]":       `\x23#teamcity[buildStatus]`,
		"##[a]##[b]":                    `\x23#[a]\x23#[b]`,
		"## Heading [link](x)":          "## Heading [link](x)",
		"# [x] ##a b[ ##":               "# [x] ##a b[ ##",
		"#\u200b#[group]":               `#\u{200b}#[group]`,
		"signature verified":            "signature verified",
		"##\u202e[x":                    `##\u{202e}[x`,
		strings.Repeat("#", 1000) + "[": strings.Repeat("#", 998) + `\x23#[`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

// commands is what a runner looks for in a line.
var commands = regexp.MustCompile(`^\s*::|##[A-Za-z]*\[`)

// FuzzEscape: one line of valid text in which every character has a shape and no runner finds a command; and what is
// escaped stays as it is when it is escaped again.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "::x", " ::x", "##[x", "##vso[", "\xff\ufffd", "\x1b]8;;", "a\u202eb", "\r\n\t", "###vso[::", "é\u0301\xe9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if !utf8.ValidString(got) || commands.MatchString(got) {
			t.Errorf("Escape(%+q) = %+q", s, got)
		}
		for _, r := range got {
			if !printable(r) {
				t.Errorf("Escape(%+q) = %+q, which holds %U", s, got, r)
			}
		}
		if again := Escape(got); again != got {
			t.Errorf("Escape(%+q) = %+q, and again %+q", s, got, again)
		}
	})
}

// TestName: a name that could pass for what stands around it is in quotes, and they cannot be closed from within.
func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"":                    `""`,
		".claude/skills/a.md": ".claude/skills/a.md",
		"日本/é_1@2+3.md":       "日本/é_1@2+3.md",
		"a b":                 `"a b"`,
		"a (0644)":            `"a (0644)"`,
		`a" b`:                `"a\" b"`,
		"a: b":                `"a: b"`,
		"a → b":               `"a → b"`,
		"a\nb":                `"a\nb"`,
		"::x":                 `"\x3a:x"`,
	} {
		if got := name(in); got != want {
			t.Errorf("name(%q) = %s, want %s", in, got, want)
		}
	}
}
