// Package fold tells which paths are one path on some file system.
//
//	fold.Path("Dir/é") == fold.Path("dir/E\u0301") // true
//
// Some file systems take upper and lower case for the same, some take composed and decomposed letters for the same. Whoever
// compares paths compares what Path returns, so that a path that collides anywhere collides everywhere, and nothing has to
// be probed. The result is for comparing and never for opening. It does not see through 8.3 aliases, links or ignorable
// characters: package host/plan refuses those. What Path returns may change with the Unicode version; it is not stored.
package fold

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Path maps paths that are one path on some file system to the same text: NFD, full case folding, NFC, the order that
// Unicode's canonical caseless matching (D145) asks for. An ASCII path costs one pass.
func Path(path string) string {
	if isASCII(path) {
		return strings.ToLower(path)
	}
	folded := cases.Fold().String(norm.NFD.String(path))
	// x/text swaps the two cases of Cherokee where it should fold them to one (golang/go 46101).
	folded = strings.Map(func(r rune) rune {
		switch {
		case r >= 0xab70 && r <= 0xabbf:
			return r - 0xab70 + 0x13a0
		case r >= 0x13f8 && r <= 0x13fd:
			return r - 8
		}
		return r
	}, folded)
	return norm.NFC.String(folded)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
