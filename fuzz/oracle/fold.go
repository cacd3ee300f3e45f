package oracle

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the one spelling of all paths that count as the same: decomposed, folded by the full case mapping,
// composed again.
func Fold(path string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(path)))
}
