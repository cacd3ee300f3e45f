// Package gen turns the bytes of a fuzzer into inputs that reach deep: plans, paths and the like that are nearly right.
//
// Random bytes are refused at the first check, so a fuzzer that starts from them spends its time there. A generator reads
// the same bytes as a list of choices among pieces that matter and joins them, so that every small change of the bytes is
// a small change of the input.
//
//	path := gen.Path(data)
//
// The same bytes always give the same input; any bytes give one. What the pieces are may change at any time, and with them
// the meaning of a stored seed: a case worth keeping is kept as the input itself, in package regress.
package gen

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// choices reads decisions from bytes. When they run out, every decision is the first.
type choices struct{ data []byte }

func (c *choices) below(n int) int {
	if len(c.data) == 0 || n <= 1 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *choices) done() bool { return len(c.data) == 0 }

func pick[T any](c *choices, of []T) T { return of[c.below(len(of))] }

// The pieces of a path. Each list begins with what is most ordinary, since that is what a fuzzer's zero bytes choose.
var (
	legal = []string{
		"a", "b", "src", "SKILL.md", ".claude", "skills", "commands", ".github", ".cursor", "AGENTS.md", "deep", "a b",
		"été", "e\u0301te\u0301", "日本語", "\u05E9\u05DC\u05D5\u05DD", "🚀", "ß", "Å", "\u212B", "ﬁ", "x.tar.gz", "...a", " a", "~", "a~b",
	}
	device = []string{
		"con", "prn", "aux", "nul", "com", "lpt", "conin$", "conout$", "clock$", "com1", "lpt9", "com0", "com\u00B9", "lpt\u00B3",
		"com\u2074", "com10", "console", "nul-x",
	}
	repository = []string{".git", ".hg", ".svn", ".jj", "git", ".gitignore", ".gitmodules", ".git.x", ".svn-base", ".bzr", ".gi", ".j"}
	// What may stand anywhere in a component and might change what it is taken for.
	insert = []string{
		".", " ", "~", "~1", "~12", "1", ":", "\\", "\x00", "\x1f", "\x7f", "\u0085", "\u00A0", "\u00AD", "\u0301", "\u0307", "\u0308",
		"\u034F", "\u061C", "\u115F", "\u180E", "\u200B", "\u200C", "\u200D", "\u200E", "\u2028", "\u202E", "\u2060", "\u2069", "\u20E3",
		"\u2800", "\u3000", "\u3164", "\uFE0F", "\uFEFF", "\uFFA0", "\uFFF5", "\uFFF9", "\uFFFD", "\uFFFE", "\U0001D159", "\U0001D173",
		"\U00013430", "\U000E0001", "\U000E0100", "\U000E0FFF", "\U0010FFFF", "\u0600", "\u0378", "\uE000", "\xff", "\xc0\xae", "\xed\xa0\x80",
		"::$INDEX_ALLOCATION", "$", "-", "_", "?", "*", "<", "|", "\"", "\n", "\t", "\u00B9", "\u2024", "\u2026", "\u00A8", "\uFF0E", "\uFF0F", "\uFF3C",
	}
	whole  = []string{"", ".", "..", "...", " ", ". .", "~1", "x~1", "GIT~1", "GI7EBA~1", "SETTIN~1.JSO", "a~1.text", "longer~1", "longername~1", "x~1.a.b", "~~1", "a~1~", "1~1"}
	prefix = []string{"", "", "", "", "", "", "/", "//", "./", "../", "C:", "c:/", "\\", "\\\\?\\", "\\??\\", "//?/", "~/", " "}
	suffix = []string{"", "", "", "", "", "", "/", "//", "/.", "/..", ".", " "}
	length = []int{1, 2, 7, 8, 9, 31, 32, 33, 84, 85, 86, 127, 128, 254, 255, 256, 341}
)

// Path makes a path from data.
func Path(data []byte) string {
	c := &choices{data}
	var b strings.Builder
	b.WriteString(pick(c, prefix))
	end := pick(c, suffix)
	for first := true; first || !c.done() && b.Len() < 2000; first = false {
		if !first {
			b.WriteByte('/')
		}
		b.WriteString(component(c))
	}
	b.WriteString(end)
	return b.String()
}

func component(c *choices) string {
	var name string
	switch c.below(8) {
	case 0, 1:
		name = pick(c, legal)
	case 2:
		name = pick(c, device)
	case 3, 4:
		name = pick(c, repository)
	case 5:
		name = pick(c, whole)
	case 6:
		name = strings.Repeat(pick(c, []string{"a", "é", "日", "🚀"}), pick(c, length))
	case 7: // many components at once: depth is hard to reach one choice at a time
		name = strings.Repeat("d/", c.below(40)) + "d"
	}
	for n := c.below(4); n > 0; n-- {
		name = disguise(c, name)
	}
	return name
}

// disguise changes name into what some system takes for the same, or into what nearly is.
func disguise(c *choices, name string) string {
	runes := []rune(name)
	at := c.below(len(runes) + 1)
	switch c.below(11) {
	case 0:
		return string(runes[:at]) + pick(c, insert) + string(runes[at:])
	case 1:
		return name + pick(c, insert)
	case 2:
		return strings.ToUpper(name)
	case 3:
		return fold(runes, at, unicode.SimpleFold)
	case 4:
		return fold(runes, at, other)
	case 5:
		return fold(runes, at, fullwidth)
	case 6:
		return norm.NFD.String(name)
	case 7:
		return norm.NFC.String(name)
	case 8:
		return name + "." + pick(c, legal)
	case 9:
		return name + pick(c, []string{".", " ", ". ", " .", "..", "~1", "~1.txt", " .txt", "\u0301"})
	default: // cut short, in the middle of a character too
		return name[:c.below(len(name)+1)]
	}
}

// fold maps the character at index at, or none beyond the end.
func fold(runes []rune, at int, mapping func(rune) rune) string {
	if at < len(runes) {
		runes[at] = mapping(runes[at])
	}
	return string(runes)
}

// other returns a character that a case mapping, a compatibility form or only the eye takes for r.
func other(r rune) rune {
	switch unicode.ToLower(r) {
	case '.':
		return '\u2024'
	case 'i':
		return '\u0131'
	case 's':
		return '\u017F'
	case 'k':
		return '\u212A'
	case 'h':
		return '\u02B0'
	case 'j':
		return '\u2C7C'
	case 'g':
		return '\u0261'
	case 't':
		return '\U0001D42D'
	case 'o':
		return '\u043E'
	case '1':
		return '\u00B9'
	case 'n':
		return '\u207F'
	case 'v':
		return '\u2174'
	}
	return r
}

// fullwidth returns the wide form of an ASCII character.
func fullwidth(r rune) rune {
	if '!' <= r && r <= '~' {
		return r - '!' + '\uFF01'
	}
	return r
}
