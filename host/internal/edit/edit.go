// Package edit changes single values of a JSON file, or one marked block of a text file, for a plan that may not read the
// file, and takes exactly that back later.
//
//	result, err := edit.JSON(old, true, intent.Edits)       // result.New is written, result.Records are kept
//	now, empty, left, err := edit.Revert(path, now, records) // later, whatever the user did to the file since
//
// It works on bytes and touches no disk. Every byte that an edit does not add, replace or remove stays as it is: comments,
// order, indentation, line endings, a byte order mark, a missing last newline. What cannot be done without a guess is
// refused: a file that does not parse, a name that an object has twice, a block without an end.
//
// It does not judge. Whether an intent may touch the file, whether a value that it replaces is the user's, and what a person
// is asked, is decided above. Records hold what was there before, tokens and passwords included, so they are kept as
// private as the file was. Two programs that write one file at once are kept apart by the caller.
//
// The wording of errors may change. What is refused may grow; the form of stored records only with a way to read the old.
package edit

import (
	"fmt"
	"strings"
)

// Bounds of what is read and written. A settings file of a thousandth of this is a large one; the bounds keep a hostile
// project from costing the host its memory or its stack.
const (
	MaxFile   = 16 << 20 // bytes of a file, before and after
	MaxDepth  = 512      // objects and arrays within each other: the parser calls itself for each
	MaxValues = 1 << 19  // names and values of a file: the parser takes some 100 bytes for each
	maxTokens = 128      // reference tokens of a pointer: each may become an object around the next
)

// Result is what a file becomes.
type Result struct {
	// New is the whole file. It is the old one, byte for byte, if nothing changes.
	New []byte
	// Changed is false if there is nothing to write. A file that did not exist is then not made either.
	Changed bool
	// Records has one element per edit, in order.
	Records []Record
}

// Left is something that [Revert] does not take back because it is no longer as it was put.
type Left struct {
	What string // a JSON pointer, or the id of a block
	Why  string
}

// Error is why an edit is refused. Nothing has been changed then.
type Error struct {
	At   string // the JSON pointer it is about, if it is about one
	ID   string // the block it is about, if it is about one
	Line int    // the line of the file, from 1; 0: none in particular
	Why  string // the rest of the sentence
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.ID != "":
		fmt.Fprintf(&b, "editing block %q: ", e.ID)
	case e.At != "":
		fmt.Fprintf(&b, "editing %q: ", e.At)
	default:
		b.WriteString("editing the file: ")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	b.WriteString(e.Why)
	return b.String()
}
