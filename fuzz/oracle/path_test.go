package oracle

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/lola-ext/lola/abi"
)

// TestDefaultIgnorable derives the property as the head of its list in DerivedCoreProperties.txt says, from what the
// standard library has, and holds the list written out against it.
func TestDefaultIgnorable(t *testing.T) {
	t.Parallel()
	count := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
			unicode.Is(unicode.Variation_Selector, r) ||
			unicode.Is(unicode.Cf, r) &&
				!unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
				!(0xFFF9 <= r && r <= 0xFFFB) && // interlinear annotation
				!(0x13430 <= r && r <= 0x13440) // Egyptian hieroglyph formats
		if want {
			count++
		}
		if got := ignorable(r); got != want {
			t.Errorf("ignorable(%U) = %v, want %v", r, got, want)
		}
		if got, want := bidirectional(r), unicode.Is(unicode.Bidi_Control, r); got != want {
			t.Errorf("bidirectional(%U) = %v, want %v", r, got, want)
		}
	}
	if total := 4174; count != total { // as the data file states it
		t.Errorf("%d code points are ignorable, want %d", count, total)
	}
}

// TestASCIIUpper proves that the four characters its comment names are all there are.
func TestASCIIUpper(t *testing.T) {
	t.Parallel()
	want := map[rune]string{'\u0130': "I", '\u0131': "I", '\u017F': "S", '\u212A': "K"}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if 0xD800 <= r && r <= 0xDFFF {
			continue
		}
		got, expect := asciiUpper(string(r)), string(r)
		if w, ok := want[r]; ok {
			expect = w
		}
		if got != expect {
			t.Errorf("asciiUpper(%U) = %q, want %q", r, got, expect)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"FOO", "foo", "Foo"}, {"\u00E9", "e\u0301", "E\u0301", "\u00C9"}, {"stra\u00DFe", "STRASSE", "stra\u1E9Ee"}, {"\uFB01x", "FIX"},
		{"\u212Bngstrom", "a\u030Angstrom"}, {"\u03C3", "\u03C2", "\u03A3"}, {"a/B", "A/b"}, {"\u13A0", "\uAB70"},
	} {
		for _, spelling := range same {
			if Fold(spelling) != Fold(same[0]) {
				t.Errorf("Fold(%+q) = %+q, Fold(%+q) = %+q, want the same", spelling, Fold(spelling), same[0], Fold(same[0]))
			}
		}
	}
	if Fold("a") == Fold("b") || Fold("e") == Fold("\u00E9") {
		t.Error("Fold takes different paths for the same")
	}
}

// TestFoldEveryRune: characters that the standard library takes for the same but for case fold alike, as do the two
// normal forms of each, and what is folded stays as it is.
func TestFoldEveryRune(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xD800 <= r && r <= 0xDFFF {
			continue
		}
		folded := Fold(string(r))
		for _, same := range []string{string(unicode.SimpleFold(r)), folded, norm.NFC.String(string(r)), norm.NFD.String(string(r))} {
			if Fold(same) != folded {
				t.Errorf("Fold(%+q) = %+q, Fold(%+q) = %+q, want the same", same, Fold(same), string(r), folded)
			}
		}
	}
}

func TestPathRefused(t *testing.T) {
	t.Parallel()
	lim, err := abi.Limits{}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		want string // a part of the reason; "" means acceptable
	}{
		{"a", ""}, {"a/b/c.txt", ""}, {"...a", ""}, {" a", ""}, {"a b", ""}, {"~", ""}, {"a~b", ""}, {"file~", ""}, {"~x", ""},
		{".gitignore", ""}, {".git.x", ""}, {"git", ""}, {"com10", ""}, {"console", ""}, {"nul-x", ""}, {"longname~1", ""},
		{"x~1.json", ""}, {"x~1.a.b", ""}, {"x.~1~", ""}, {"été", ""}, {"e\u0301te\u0301", ""}, {"\u05D0", ""}, {"\U0001F680", ""},
		{"\u0600", "nothing to see"}, {".git\u0301", ""}, {".hg\u20E3", ""}, {".git\u00A8", ""}, {"com\u2074", ""}, {".\u0261it", ""}, // superscript four and the script g are neither digit nor g
		{"", "empty"}, {"/", "absolute"}, {"//s/x", "absolute"}, {"a//b", "empty"}, {"a/", "empty"}, {".", "relative"},
		{"a/..", "relative"}, {"a\\b", "separates"}, {"c:x", "stream"}, {"a\x00", "control"}, {"a\u0085", "control"},
		{"\x7f", "control"}, {"\xff", "UTF-8"}, {"\xed\xa0\x80", "UTF-8"}, {"a\u202E", "direction"}, {"a\u200C", "ignored"},
		{"\U0001F600\uFE0F", "ignored"}, {"a\u3000b", ""}, {"a\u202Fb", ""}, {"a\u3000", "trim"}, {"a\u00A0/b", "trim"}, {" ", "trim"}, {"a\u2028", "nothing to see"}, {"\u2800", "nothing to see"},
		{"\uFFF9", "nothing to see"}, {"a.", "Windows drops"}, {"a ", "Windows drops"}, {"...", "Windows drops"}, {" ", "Windows drops"},
		{"nul", "device"}, {"Nul.tar.gz", "device"}, {"nul .x", "device"}, {"com\u00B9.x", "device"}, {"LPT0", "device"},
		{"conIN$", "device"}, {"cloc\u212A$.x", "device"}, {"x~1", "8.3"}, {"~1", "8.3"}, {"a/LONGNA~1.TXT", "8.3"},
		{"ééééé~12.é", "8.3"}, {"x~1.", "Windows drops"}, {".git", ".git"}, {"a/.GiT/b", ".git"}, {".g\u0131t", ".git"},
		{".g\u0130t", ".git"}, {".gi\u0307t", ".git"}, {".j\u0307J\u0307", ".jj"}, {".git\u2026", ".git"}, {"\uFF0E\uFF27it", ".git"}, {".\u017Fvn", ".svn"}, {".j\u02B2", ".jj"}, {"\u2024hg", ".hg"},
		{strings.Repeat("a", 255), ""}, {strings.Repeat("a", 256), "has 256 bytes"},
		{strings.Repeat("a/", 31) + "a", ""}, {strings.Repeat("a/", 32) + "a", "33 components"},
		{strings.Repeat(strings.Repeat("a", 255)+"/", 4)[:1023] + "b", "has 256 bytes"},
		{strings.Repeat(strings.Repeat("a", 204)+"/", 5)[:1024], ""},
		{strings.Repeat(strings.Repeat("a", 204)+"/", 6)[:1026], "it has 1026 bytes"},
	} {
		got := PathRefused(tt.path, lim)
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("PathRefused(%+q) = %q, want it to say %q", tt.path, got, tt.want)
		}
	}
}
