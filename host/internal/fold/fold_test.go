package fold

import (
	"testing"
	"unicode/utf8"
)

func TestPath(t *testing.T) {
	for _, same := range [][]string{
		{"a/b", "A/B", "a/B"},
		{".MCP.json", ".mcp.JSON"},
		{"é", "e\u0301", "É", "E\u0301"},
		{"straße", "STRASSE", "stra\u1e9ee"},
		{"\u212a", "k", "K"},            // the Kelvin sign
		{"ſ", "s"},                      // the long s
		{"\u03c3", "\u03c2", "\u03a3"},  // sigma, final and capital
		{"\u13a0", "\uab70"},            // Cherokee
		{"\u13f0", "\u13f8"},            // Cherokee, the other block
		{"\u00c5", "\u212b", "a\u030a"}, // the Ångström sign
		{"\ufb01le", "file", "FILE"},    // a ligature
		{"\u1fb3", "\u1fbc", "αι"},
	} {
		for _, other := range same[1:] {
			if a, b := Path(same[0]), Path(other); a != b {
				t.Errorf("%+q and %+q: got %+q and %+q, want one", same[0], other, a, b)
			}
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a/b", "ab"}, {"i", "ı"}, {"é", "e"}, {"а", "a"}, {"", "a"}} {
		if Path(pair[0]) == Path(pair[1]) {
			t.Errorf("%+q and %+q fold to one", pair[0], pair[1])
		}
	}
}

// FuzzPath holds folding to what comparing needs: a folded path stays as it is, valid text stays valid, and ASCII takes no
// other way than the rest.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "a/B", "É/ß", "\uab70\u13f8", "e\u0301\u0327", "\u1fb3\u0345", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Path(s)
		if again := Path(once); again != once {
			t.Errorf("%+q folds to %+q, and that to %+q", s, once, again)
		}
		if utf8.ValidString(s) {
			if !utf8.ValidString(once) {
				t.Errorf("%+q folds to invalid text %+q", s, once)
			}
			if got, want := Path(s+"/é"), once+"/é"; got != want {
				t.Errorf("%+q beneath %+q: got %+q, want %+q", "é", s, got, want)
			}
		}
	})
}
