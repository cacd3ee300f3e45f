package target

import (
	"flag"
	"testing"

	"github.com/lola-ext/lola/abi"
)

var exhaustive = flag.Bool("exhaustive", false, "try every character where the everyday run takes a sample")

// TestEveryRune puts each code point where a single character decides, and holds the two validators of FuzzPath against
// each other there. A fuzzer finds such places by chance; there are few enough to try them all.
//
// The everyday run tries what lies below the large blocks of ideographs and syllables, and a sample of the rest. With
// -exhaustive (about a minute) only the planes that are empty or for private use are sampled.
func TestEveryRune(t *testing.T) {
	t.Parallel()
	lim, err := abi.Limits{}.Resolve()
	if err != nil {
		t.Fatalf("resolve default limits: %v", err)
	}
	frames := []struct{ before, after string }{
		{"", ""}, {"a", ""}, {"", "a"}, {"a", "a/b"}, // by itself, last, first, within
		{".g", "t"}, {".git", ""}, {".g", "it"}, {"", "git"}, {".", "vn"}, {".h", ""}, {".", "j"}, // in place of a letter and beside one
		{"co", ""}, {"com", ".x"}, {"nu", ""}, {"nul", ".x"}, {"con", "n$"}, {"cloc", "$"}, {"conin", ""},
		{"a", "1"}, {"a~", ""}, {"a~1", "b"}, {"a~1.", ""}, {"a~1.xyz", ""}, {"aaaaaa", "~1"}, {"aaaaa", "~1"},
	}
	tried := 0
	for r := rune(0); r <= 0x10FFFF; r++ {
		switch {
		case 0xD800 <= r && r <= 0xDFFF: // surrogates are no characters
			continue
		case 0x34000 <= r && r < 0xE0000, 0xE1000 <= r: // unassigned; supplementary private use
			if r%0x101 != 0 {
				continue
			}
		}
		if !*exhaustive && everydaySkips(r) {
			continue
		}
		tried++
		for _, f := range frames {
			checkPath(t, f.before+string(r)+f.after, lim)
		}
	}
	t.Logf("%d characters in %d places each", tried, len(frames))
}

// everydaySkips leaves out most of what lies in large blocks of like characters: all but the scripts and symbols before the
// ideographs, the compatibility forms, and the tags and selectors.
func everydaySkips(r rune) bool {
	whole := r < 0x2E80 || 0xFB00 <= r && r <= 0xFFFF || 0xE0000 <= r && r <= 0xE0200
	return !whole && r%61 != 0
}
