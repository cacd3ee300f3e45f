package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// parsePointer returns the reference tokens of an RFC 6901 pointer, decoded. The root pointer has none.
func parsePointer(at string) ([]string, error) {
	refuse := func(why string) error { return &Error{At: at, Why: why} }
	switch {
	case at == "":
		return nil, nil
	case at[0] != '/':
		return nil, refuse("it is no JSON pointer: it does not begin with a slash")
	case !utf8.ValidString(at):
		return nil, refuse("it is no JSON pointer: it is not valid UTF-8")
	case strings.Count(at, "/") > maxTokens:
		return nil, refuse(fmt.Sprintf("it has %d parts: want at most %d", strings.Count(at, "/"), maxTokens))
	}
	tokens := strings.Split(at[1:], "/")
	for i, t := range tokens {
		for j := range len(t) {
			if t[j] == '~' && (j+1 == len(t) || t[j+1] != '0' && t[j+1] != '1') {
				return nil, refuse("it is no JSON pointer: a tilde without 0 or 1 after it")
			}
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// pointer is the inverse of parsePointer.
func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(t, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// appends reports whether the tokens name the place behind an array's last element. A final "-" always does: what an edit
// means must not hang on what the file holds.
func appends(tokens []string) bool { return len(tokens) > 0 && tokens[len(tokens)-1] == "-" }
