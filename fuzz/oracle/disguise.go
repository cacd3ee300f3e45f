package oracle

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// repositoryFolder returns which version control's folder c is, in any case or disguise, or "".
//
// The stricter reading of "disguise": c is stripped of all by which a file system, a code page or a comparison without case
// takes it for the plain name, and of what shows nothing. Compatibility forms become what they stand for (fullwidth,
// superscript, mathematical letters), ignorable characters go, letters lose their case by whichever mapping leads to ASCII,
// and what Windows drops from the end is dropped. Letters with marks and letters of other scripts that merely look alike are
// left: nothing takes them for these names.
func repositoryFolder(c string) string {
	var plain []rune
	for _, r := range norm.NFKD.String(c) {
		if ignorable(r) || bidirectional(r) {
			continue
		}
		if n := len(plain); r == dotAbove && n > 0 && strings.ContainsRune("iIjJ", plain[n-1]) {
			continue
		}
		plain = append(plain, r)
	}
	switch name := strings.TrimRight(asciiUpper(string(plain)), ". "); name {
	case ".GIT", ".HG", ".SVN", ".JJ":
		return strings.ToLower(name)
	}
	return ""
}

// dotAbove shows nothing over an i or j, which have their dot already. The capital I with a dot decomposes into it, and the
// simple lower case of that capital, by which many programs compare, is a plain i.
const dotAbove = '\u0307'

// asciiUpper returns s in capitals where any case mapping of a character leads to an ASCII letter: beside a to z these
// are the dotless i, the i with a dot, the long s and the kelvin sign, each of which some file system that compares
// without case takes for the ASCII letter. Other characters stay.
func asciiUpper(s string) string {
	return strings.Map(func(r rune) rune {
		for _, mapped := range []rune{r, unicode.ToUpper(r), unicode.ToLower(r), unicode.SimpleFold(r)} {
			switch {
			case 'a' <= mapped && mapped <= 'z':
				return mapped - 'a' + 'A'
			case 'A' <= mapped && mapped <= 'Z':
				return mapped
			}
		}
		return r
	}, s)
}
