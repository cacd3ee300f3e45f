package apply

import (
	"encoding/json"
	"io"
)

// write writes what json.Marshal makes of the change, piece by piece: a plan of the most intents is tens of megabytes, which
// nobody needs to hold.
func (c *change) write(w io.Writer) error {
	e := encoder{w: w}
	head := *c
	head.Moves = nil
	e.open(head, true)
	e.list("moves", len(c.Moves), func(i int) { e.move(c.Moves[i]) })
	e.text("}")
	return e.err
}

// encoder writes JSON objects whose last members are long. It keeps the first error.
type encoder struct {
	w   io.Writer
	err error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = io.WriteString(e.w, s)
	}
}

// open writes a value, as yet without its closing brace if more is to come.
func (e *encoder) open(v any, more bool) {
	text, err := json.Marshal(v)
	if e.err == nil {
		e.err = err
	}
	if e.err != nil {
		return
	}
	if more {
		text = text[:len(text)-1]
	}
	_, e.err = e.w.Write(text)
}

// list writes a member that is a list, unless it is empty. Members are before it.
func (e *encoder) list(name string, n int, item func(i int)) {
	for i := range n {
		if e.err != nil {
			return
		}
		if i == 0 {
			e.text(`,"` + name + `":[`)
		} else {
			e.text(",")
		}
		item(i)
	}
	if n > 0 {
		e.text("]")
	}
}

func (e *encoder) move(m move) {
	head := m
	head.Before, head.After = nil, nil
	e.open(head, true)
	e.node("before", m.Before)
	e.node("after", m.After)
	e.text("}")
}

func (e *encoder) node(name string, n *node) {
	if n == nil {
		return
	}
	e.text(`,"` + name + `":`)
	head := *n
	head.Tree = nil
	e.open(head, len(n.Tree) > 0)
	if len(n.Tree) > 0 {
		e.list("tree", len(n.Tree), func(i int) { e.open(&n.Tree[i], false) })
		e.text("}")
	}
}
