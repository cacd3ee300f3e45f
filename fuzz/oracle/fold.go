package oracle

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the one spelling of all paths that count as the same: decomposed, folded by the full case mapping of the
// Unicode file CaseFolding.txt, composed again.
//
// Cherokee is the one script whose small letters fold to its capitals, as they came later. The library folds its capitals
// to small letters as well (golang/go issue 46101), so that the two never meet; here they do.
func Fold(path string) string {
	folded := cases.Fold().String(norm.NFD.String(path))
	folded = strings.Map(func(r rune) rune {
		switch {
		case 0xAB70 <= r && r <= 0xABBF:
			return r - 0xAB70 + 0x13A0
		case 0x13F8 <= r && r <= 0x13FD:
			return r - 0x13F8 + 0x13F0
		}
		return r
	}, folded)
	return norm.NFC.String(folded)
}
