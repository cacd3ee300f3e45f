package wire

import (
	"fmt"
	"strings"
)

// The checks of texts. Each says what is wrong, or nothing.

func notEmpty(b []byte) string {
	if len(b) == 0 {
		return "is empty; leave the key out instead"
	}
	return ""
}

func badBlockID(b []byte) string {
	if len(b) < 1 || len(b) > 64 {
		return fmt.Sprintf("has %d bytes; want 1 to 64", len(b))
	}
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return fmt.Sprintf("has %q; want lower-case letters, digits, full stops and hyphens", c)
		}
	}
	return ""
}

// badPointer holds a text to RFC 6901, section 3.
func badPointer(b []byte) string {
	if len(b) > 0 && b[0] != '/' {
		return "is no JSON pointer: it does not begin with a slash"
	}
	for i, c := range b {
		if c == '~' && (i+1 == len(b) || b[i+1] != '0' && b[i+1] != '1') {
			return "is no JSON pointer: a tilde without 0 or 1 after it"
		}
	}
	return ""
}

func badCommit(b []byte) string {
	if len(b) != 40 && len(b) != 64 {
		return fmt.Sprintf("has %d bytes; want a whole commit of 40 or 64 hexadecimal digits", len(b))
	}
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Sprintf("has %q; want lower-case hexadecimal digits", c)
		}
	}
	return ""
}

// badBlockText refuses a text with a line that a reader of the file would take for a marker.
func badBlockText(b []byte) string {
	for line := range strings.Lines(string(b)) {
		if isMarker(strings.Trim(line, " \t\r\n")) {
			return fmt.Sprintf("has the marker line %q", strings.TrimRight(line, "\r\n"))
		}
	}
	return ""
}

func isMarker(line string) bool {
	if inner, ok := strings.CutPrefix(line, "<!--"); ok {
		if line, ok = strings.CutSuffix(inner, "-->"); !ok {
			return false
		}
	} else if line, ok = strings.CutPrefix(line, "#"); !ok {
		return false
	}
	id, ok := strings.CutPrefix(strings.Trim(line, " \t"), "lola:")
	if !ok {
		return false
	}
	i := strings.LastIndexByte(id, ':')
	return i >= 0 && (id[i:] == ":start" || id[i:] == ":end")
}
