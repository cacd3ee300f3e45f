package plan

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold maps paths that are one path on some file system to the same text. It is for comparing, never for opening.
func Fold(path string) string { return fold(path) }

// fold is NFD, full case folding, NFC, the order that Unicode's canonical caseless matching (D145) asks for.
func fold(path string) string {
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
