package edit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// A document is the text of a file around its one value. Values are slices of the text until something within them is
// edited: then the object or array is opened into a list of items, each again a slice of the text. Written out, what was
// not opened is what it was.
type document struct {
	mark   string // a byte order mark, or nothing
	before []byte
	root   *value // nil: nothing but white space and comments, all in before
	after  []byte
	padded bool // a line feed was put behind the last line, a comment, for the parser
	style  style
	text   []byte // what positions count in
}

// value is one JSON value.
type value struct {
	raw  []byte              // its text; out of date once box is set
	tree hujson.ValueTrimmed // what raw says; nil: not parsed yet
	at   int                 // where raw begins in the text that was parsed
	ours bool                // written by an edit, so at is no position in the file
	box  *box                // set once it is opened
}

// box is an object or array whose items can be edited.
type box struct {
	object      bool
	first, last *item
	tail        []byte // what stands before the closing bracket
	comma       bool   // a comma stands behind the last item
	// byName holds an object's members. A name that is there twice leads to a nil item.
	byName map[string]*item
	// byForm holds an array's elements by canonical form, the later ones last; nil until it is needed.
	byForm map[string][]*item
}

// item is a member of an object or an element of an array.
type item struct {
	prev, next *item
	lead       []byte // what stands before it, behind a bracket or comma
	name       string
	head       []byte // a member's name and colon and what stands around them
	value      *value
	after      []byte // what stands between it and its comma
}

// parse reads a file.
func parse(old []byte) (*document, error) {
	if len(old) > MaxFile {
		return nil, &Error{Why: fmt.Sprintf("it has %d bytes: want at most %d", len(old), MaxFile)}
	}
	d := &document{text: old}
	if bytes.HasPrefix(old, []byte(mark)) {
		d.mark, d.text = mark, old[len(mark):]
	}
	if d.blank() {
		if _, err := parseText(append(d.text[:len(d.text):len(d.text)], "\n{}"...)); err != nil {
			return nil, err
		}
		d.before = d.text
		d.style = style{end: lineEnd(d.text), unit: "  ", colon: " ", gap: " "}
		return d, nil
	}
	if !bytes.HasSuffix(d.text, []byte("\n")) {
		d.padded, d.text = true, append(d.text[:len(d.text):len(d.text)], '\n')
	}
	v, err := parseText(d.text)
	if err != nil {
		return nil, err
	}
	d.before, d.after = v.BeforeExtra, v.AfterExtra
	d.root = &value{raw: d.text[v.StartOffset:v.EndOffset], tree: v.Value, at: v.StartOffset}
	d.style = styleOf(d.root, lineEnd(d.text))
	return d, nil
}

// blank reports whether the text holds no value at all.
func (d *document) blank() bool {
	for i := 0; i < len(d.text); i++ {
		switch d.text[i] {
		case ' ', '\t', '\r', '\n':
		case '/':
			end := skipComment(d.text, i)
			if end == i {
				return false
			}
			i = end - 1
		default:
			return false
		}
	}
	return true
}

// bytes writes the document out.
func (d *document) bytes() []byte {
	b := append([]byte(d.mark), d.before...)
	if d.root == nil {
		return b
	}
	b = append(d.root.append(b), d.after...)
	if d.padded {
		b = b[:len(b)-1]
	}
	return b
}

// line is where a value begins in the file, 0 if it was not there.
func (d *document) line(v *value) int {
	if v.ours {
		return 0
	}
	return lineAt(d.text, v.at)
}

func (v *value) append(b []byte) []byte {
	if v.box == nil {
		return append(b, v.raw...)
	}
	open, end := byte('['), byte(']')
	if v.box.object {
		open, end = '{', '}'
	}
	b = append(b, open)
	for it := v.box.first; it != nil; it = it.next {
		b = append(append(b, it.lead...), it.head...)
		b = append(it.value.append(b), it.after...)
		if it.next != nil || v.box.comma {
			b = append(b, ',')
		}
	}
	return append(append(b, v.box.tail...), end)
}

// text is the value as it is written out now.
func (v *value) text() []byte {
	if v.box == nil {
		return v.raw
	}
	return v.append(nil)
}

// parsed returns what a value says now.
func (v *value) parsed() hujson.ValueTrimmed {
	if v.box != nil {
		return mustParse(v.text())
	}
	if v.tree == nil {
		v.tree, v.at = mustParse(v.raw), 0
	}
	return v.tree
}

// mustParse reads what has been parsed or written here before.
func mustParse(text []byte) hujson.ValueTrimmed {
	v, err := hujson.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("edit: text of ours does not parse: %v", err))
	}
	return v.Value
}

func (v *value) form() string { return canonicalTree(v.parsed()) }

// is reports whether a value is what a record's text says, and nothing but that: a comment in it is somebody's.
func (v *value) is(form string) bool { return v.form() == form && !commented(v.text()) }

// kind names what a value is, for errors.
func (v *value) kind() string {
	if v.box != nil {
		if v.box.object {
			return "an object"
		}
		return "an array"
	}
	switch v.parsed().Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}

// open returns the items of an object or array, nil for any other value.
func (v *value) open() *box {
	if v.box != nil {
		return v.box
	}
	part := func(from, to int) []byte { return v.raw[from-v.at : to-v.at : to-v.at] }
	switch tree := v.parsed().(type) {
	case *hujson.Object:
		b := &box{object: true, tail: tree.AfterExtra, byName: make(map[string]*item, len(tree.Members))}
		for i := range tree.Members {
			name, val := &tree.Members[i].Name, &tree.Members[i].Value
			it := &item{
				lead: name.BeforeExtra, name: text(name.Value.(hujson.Literal)), head: part(name.StartOffset, val.StartOffset),
				value: &value{raw: part(val.StartOffset, val.EndOffset), tree: val.Value, at: val.StartOffset, ours: v.ours},
				after: val.AfterExtra,
			}
			b.comma = val.AfterExtra != nil
			b.link(it, nil)
		}
		v.box = b
	case *hujson.Array:
		b := &box{tail: tree.AfterExtra}
		for i := range tree.Elements {
			val := &tree.Elements[i]
			b.comma = val.AfterExtra != nil
			b.link(&item{
				lead:  val.BeforeExtra,
				value: &value{raw: part(val.StartOffset, val.EndOffset), tree: val.Value, at: val.StartOffset, ours: v.ours},
				after: val.AfterExtra,
			}, nil)
		}
		v.box = b
	}
	return v.box
}

// link puts an item before next, or last.
func (b *box) link(it, next *item) {
	prev := b.last
	if next != nil {
		prev = next.prev
	}
	it.prev, it.next = prev, next
	if prev == nil {
		b.first = it
	} else {
		prev.next = it
	}
	if next == nil {
		b.last = it
	} else {
		next.prev = it
	}
	if b.object {
		if _, twice := b.byName[it.name]; twice {
			b.byName[it.name] = nil
		} else {
			b.byName[it.name] = it
		}
	} else if b.byForm != nil {
		form := it.value.form()
		b.byForm[form] = append(b.byForm[form], it)
	}
}

// unlink takes an item out.
func (b *box) unlink(it *item) {
	if it.prev == nil {
		b.first = it.next
	} else {
		it.prev.next = it.next
	}
	if it.next == nil {
		b.last = it.prev
	} else {
		it.next.prev = it.prev
	}
	if b.object {
		delete(b.byName, it.name)
		return
	}
	if b.byForm != nil {
		form := it.value.form()
		b.byForm[form] = slices.DeleteFunc(b.byForm[form], func(o *item) bool { return o == it })
	}
}

// element returns the last element of a canonical form.
func (b *box) element(form string) *item {
	if b.byForm == nil {
		b.byForm = make(map[string][]*item)
		for it := b.first; it != nil; it = it.next {
			f := it.value.form()
			b.byForm[f] = append(b.byForm[f], it)
		}
	}
	same := b.byForm[form]
	if len(same) == 0 {
		return nil
	}
	return same[len(same)-1]
}
