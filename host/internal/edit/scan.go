package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const mark = "\ufeff" // a byte order mark

// bounded looks through text before the parser sees it: it calls itself for each nesting, and takes many bytes of memory
// for each value.
func bounded(text []byte) error {
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i) - 1
		case '/':
			end := skipComment(text, i)
			if end == i {
				continue // the parser says so
			}
			// A program that ends lines at a lone CR reads what follows as values, where another reads a comment.
			if text[i+1] == '/' {
				body := bytes.TrimSuffix(bytes.TrimSuffix(text[i:end], []byte("\n")), []byte("\r"))
				if bytes.IndexByte(body, '\r') >= 0 {
					return &Error{Line: lineAt(text, i), Why: "a comment holds a carriage return without a line feed"}
				}
			}
			i = end - 1
		case '{', '[':
			values++
			if depth++; depth > MaxDepth {
				return &Error{Line: lineAt(text, i), Why: fmt.Sprintf("nested more than %d deep", MaxDepth)}
			}
		case '}', ']':
			depth--
		case ',', ':':
			values++
		}
	}
	if values > MaxValues {
		return &Error{Why: fmt.Sprintf("it holds %d values: want at most %d", values, MaxValues)}
	}
	return nil
}

// skipString returns the index behind the string that begins at i, or the length of text.
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// skipComment returns the index behind the comment that begins at i, its line feed included, or i if none does. An
// unfinished one ends with text.
func skipComment(text []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	if n := bytes.Index(text[i+2:], []byte(end)); n >= 0 {
		return i + 2 + n + len(end)
	}
	return len(text)
}

// commented reports whether a value's text, or what stands around one, holds a comment.
func commented(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i) - 1
		case '/':
			return true
		}
	}
	return false
}

// splitSpace cuts what stands around a value behind its last comment: comments, then white space.
func splitSpace(extra []byte) (comments, space []byte) {
	end := 0
	for i := 0; i < len(extra); i++ {
		if extra[i] == '/' {
			end = max(skipComment(extra, i), i+1)
			i = end - 1
		}
	}
	return extra[:end:end], extra[end:]
}

func isSpace(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

func lineAt(text []byte, offset int) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// lineEnd is how the text ends its lines: as it ends the first.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// parseText reads one value of a file or of a record.
func parseText(text []byte) (hujson.Value, error) {
	if !utf8.Valid(text) {
		return hujson.Value{}, &Error{Why: "it is not valid UTF-8"}
	}
	if err := bounded(text); err != nil {
		return hujson.Value{}, err
	}
	v, err := hujson.Parse(text)
	if err == nil {
		return v, nil
	}
	// The parser quotes what it could not read, which may be a token of the user's.
	bad := &Error{Why: "it is no JSON, with or without comments"}
	var column int
	if _, no := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &bad.Line, &column); no == nil {
		bad.Why += fmt.Sprintf(": stuck at column %d", column)
	}
	return hujson.Value{}, bad
}
