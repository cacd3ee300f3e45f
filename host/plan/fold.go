package plan

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold maps paths that are one path on some file system to the same text. It is for comparing, never for opening.
func Fold(path string) string { return fold(path) }

// fold maps paths that any known file system could take for one to the same text: NFD, full case folding, NFC (the order
// that Unicode's canonical caseless matching, D145, asks for).
func fold(path string) string {
	ascii := true
	for i := range len(path) {
		if path[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(path)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(path)))
}
