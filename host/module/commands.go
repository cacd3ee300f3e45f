package module

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxCommands bounds how many commands of one file are shown: what a person reads of one. They are counted all.
const maxCommands = 50

// commandFolders are the names of the folders from which assistants take files in which a command in backquotes is run: those
// of a module, and what assistants call them.
var commandFolders = []string{"commands", "command", "skills", "skill", "agents", "agent", "prompts", "workflows"}

// MayCommand reports whether an assistant that finds a Markdown file at the path runs the commands in its text.
func MayCommand(name string) bool {
	dir, file := path.Split(strings.ToLower(name))
	return path.Ext(file) == ".md" && slices.ContainsFunc(strings.Split(dir, "/"), func(d string) bool { return slices.Contains(commandFolders, d) })
}

// CommandRuns returns the commands that an assistant runs when it reads a Markdown file for its instructions, verbatim, one
// after the other, the first few of very many; "" for none. A command stands in backquotes behind an exclamation mark, or in a
// fence that opens with three backquotes and one.
//
// Assistants differ in what may stand before the mark, and whether fences and comments hide one. So each mark counts for
// itself, wherever it stands: up to the next backquote, though that may begin another one.
func CommandRuns(text []byte) string {
	var b strings.Builder
	n, more := 0, 0
	add := func(command []byte) {
		if n++; n > maxCommands || b.Len()+len(command) > MaxShown {
			more++
			return
		}
		b.Write(command)
		b.WriteByte('\n')
	}
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("!`"))
		if i < 0 {
			break
		}
		at += i
		add(quoted(text[at:]))
		at += len("!`")
	}
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("```!"))
		if i < 0 {
			break
		}
		at += i
		add(fenced(text[at:]))
		at += len("```!")
	}
	if more > 0 {
		fmt.Fprintf(&b, "(and %d more, not shown)\n", more)
	}
	return b.String()
}

// quoted is what begins with a mark and backquotes, up to the backquotes that end it; without those, to the end of the line.
func quoted(text []byte) []byte {
	from := 1
	for from < len(text) && text[from] == '`' {
		from++
	}
	to := bytes.IndexByte(text[from:], '`')
	if to < 0 {
		return line(text)
	}
	for to += from; to < len(text) && text[to] == '`'; to++ {
	}
	return text[:to]
}

// fenced is what begins with an opening fence, up to the next three backquotes or to the end.
func fenced(text []byte) []byte {
	if end := bytes.Index(text[4:], []byte("```")); end >= 0 {
		return text[:4+end+3]
	}
	return text
}

func line(text []byte) []byte {
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		return text[:i]
	}
	return text
}
