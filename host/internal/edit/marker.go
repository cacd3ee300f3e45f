package edit

import (
	"fmt"
	"path"
	"strings"
)

// marker is how a line of a file says that it is no content.
type marker struct{ open, end string }

var (
	hash  = marker{"# ", ""}
	angle = marker{"<!-- ", " -->"}
	none  = marker{}
)

// markers maps extensions to comments that take a line of their own. What is not listed has the number sign, as shells,
// most configuration files and files without extension do. In those marked none neither form is a comment: a block would
// become part of a program or break it.
var markers = map[string]marker{
	".htm": angle, ".html": angle, ".markdown": angle, ".md": angle, ".mdc": angle, ".mdown": angle, ".mkd": angle,
	".plist": angle, ".svg": angle, ".vue": angle, ".xhtml": angle, ".xml": angle, ".xsd": angle, ".xsl": angle,

	".json": none, ".json5": none, ".jsonc": none, ".jsonl": none, ".ndjson": none, ".ipynb": none, ".csv": none, ".tsv": none,
	".c": none, ".cc": none, ".cpp": none, ".cs": none, ".cxx": none, ".h": none, ".hpp": none, ".m": none, ".mm": none,
	".cjs": none, ".cts": none, ".js": none, ".jsx": none, ".mjs": none, ".mts": none, ".ts": none, ".tsx": none, ".mdx": none,
	".css": none, ".less": none, ".sass": none, ".scss": none, ".svelte": none, ".astro": none,
	".dart": none, ".go": none, ".gradle": none, ".groovy": none, ".java": none, ".kt": none, ".kts": none, ".php": none,
	".proto": none, ".rs": none, ".scala": none, ".swift": none, ".v": none, ".zig": none,
	".adoc": none, ".rst": none, ".tex": none, ".bat": none, ".cmd": none, ".vim": none, ".el": none, ".clj": none,
	".erl": none, ".hs": none, ".lisp": none, ".lua": none, ".ml": none, ".sql": none, ".asm": none, ".s": none,
}

// markerOf looks up the form of a file's markers by its path.
func markerOf(name string) (marker, error) {
	ext := strings.ToLower(path.Ext(name))
	m, listed := markers[ext]
	switch {
	case !listed:
		return hash, nil
	case m == none:
		return none, fmt.Errorf("a file named %q has no line comment that a block could be marked with", "*"+ext)
	}
	return m, nil
}

func (m marker) line(id, which string) string { return m.open + "lola:" + id + ":" + which + m.end }

// read returns what a line marks, in any spacing: editors and formatters change it.
func (m marker) read(line string) (id, which string, ok bool) {
	line, ok = strings.CutPrefix(strings.Trim(line, " \t\r\n"), strings.TrimSpace(m.open))
	if !ok {
		return "", "", false
	}
	if line, ok = strings.CutSuffix(line, strings.TrimSpace(m.end)); !ok {
		return "", "", false
	}
	if line, ok = strings.CutPrefix(strings.Trim(line, " \t"), "lola:"); !ok {
		return "", "", false
	}
	i := strings.LastIndexByte(line, ':')
	if i < 0 || line[i+1:] != "start" && line[i+1:] != "end" {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

// markerIn returns the first line of a text that is a marker, of any id and form; empty: none.
func markerIn(s string) string {
	for line := range strings.Lines(s) {
		for _, m := range []marker{hash, angle} {
			if _, _, ok := m.read(line); ok {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// validID reports whether an id is `[a-z0-9.-]{1,64}`.
func validID(id string) bool {
	return len(id) > 0 && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}

// section is a block of a file: offsets of its first marker line, of the text between, of its last marker line and of what
// follows.
type section struct {
	id                        string
	start, body, bodyEnd, end int
	line                      int
}

// sections finds the blocks of a file. One without an end, an end without a start, two of one id and one within another
// are *[Error]s: a guess could take the user's lines along.
func sections(s string, m marker) ([]section, error) {
	var found []section
	seen := map[string]int{}
	open, at, number := false, 0, 0
	for line := range strings.Lines(s) {
		number++
		next := at + len(line)
		id, which, ok := m.read(line)
		switch {
		case !ok || !validID(id):
		case which == "start" && open:
			last := found[len(found)-1]
			return nil, &Error{ID: id, Line: number, Why: fmt.Sprintf("it starts within block %q of line %d", last.id, last.line)}
		case which == "start" && seen[id] > 0:
			return nil, &Error{ID: id, Line: number, Why: fmt.Sprintf("it is there twice, first on line %d", seen[id])}
		case which == "start":
			open, seen[id] = true, number
			found = append(found, section{id: id, start: at, body: next, line: number})
		case !open || found[len(found)-1].id != id:
			return nil, &Error{ID: id, Line: number, Why: "it ends where it has not started"}
		default:
			b := &found[len(found)-1]
			open, b.bodyEnd, b.end = false, at, next
		}
		at = next
	}
	if open {
		last := found[len(found)-1]
		return nil, &Error{ID: last.id, Line: last.line, Why: "it starts and does not end"}
	}
	return found, nil
}
