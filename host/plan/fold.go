package plan

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

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
