package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

// style is how a file is laid out, as far as what is added to it follows that.
type style struct {
	end     string // of a line
	unit    string // what an inner line is indented by
	colon   string // what stands behind a colon
	gap     string // what stands behind a comma on one line
	oneLine bool   // the whole value stands on one line
}

// styleOf looks at the first member and the first indented line. A file that shows neither gets two spaces.
func styleOf(root *value, end string) style {
	s := style{end: end, unit: "  ", colon: " ", gap: " "}
	found := 0
	var look func(v hujson.ValueTrimmed, indent string) bool
	inner := func(lead hujson.Extra, outer string) string {
		in := indentOf(lead, outer)
		if found&1 == 0 && len(in) > len(outer) && strings.HasPrefix(in, outer) {
			s.unit, found = in[len(outer):], found|1
		}
		return in
	}
	look = func(v hujson.ValueTrimmed, indent string) bool {
		switch v := v.(type) {
		case *hujson.Object:
			for _, m := range v.Members {
				in := inner(m.Name.BeforeExtra, indent)
				if colon := string(m.Value.BeforeExtra); found&2 == 0 && isSpace(colon) && !strings.Contains(colon, "\n") {
					s.colon, found = colon, found|2
				}
				if found == 3 || look(m.Value.Value, in) {
					return true
				}
			}
		case *hujson.Array:
			for _, e := range v.Elements {
				if in := inner(e.BeforeExtra, indent); found == 3 || look(e.Value, in) {
					return true
				}
			}
		}
		return false
	}
	look(root.tree, "")
	if root.tree.Kind() == '{' || root.tree.Kind() == '[' {
		s.oneLine = len(bytes.Trim(root.raw[1:len(root.raw)-1], " \t")) > 0 && bytes.IndexByte(root.raw, '\n') < 0
	}
	if s.colon == "" && s.oneLine {
		s.gap = ""
	}
	return s
}

// indentOf is the white space at the start of the line on which something stands that has lead before it: of lead's last
// line, or outer if lead has no line end.
func indentOf(lead []byte, outer string) string {
	i := bytes.LastIndexByte(lead, '\n')
	if i < 0 {
		return outer
	}
	line := lead[i+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// spot is a value on the way of a pointer, and how what is put into it is laid out.
type spot struct {
	value  *value
	indent string // of the line on which it begins
	inline bool   // it does not begin its line, so what is put into it while it is empty does not either
}

// into is the spot of an item's value.
func (s spot) into(it *item) spot {
	in := spot{value: it.value, indent: indentOf(it.head, indentOf(it.lead, s.indent))}
	in.inline = bytes.IndexByte(it.lead, '\n') < 0 && bytes.IndexByte(it.head, '\n') < 0
	return in
}

// Slot is where an added or removed item stood between its neighbours, so that they can be put back as they were.
type Slot struct {
	// Was is what stood before the closing bracket, behind the last comment, when the item was added; for a removed item,
	// what stood behind its comma.
	Was string `json:"was"`
	// Lead and Tail are what was put in place of Was: before the added item and behind it. For a removed item, Lead is what
	// stood before it and Tail what has stood in its place since.
	Lead string `json:"lead"`
	Tail string `json:"tail"`
	// Alone is set if there was no other item.
	Alone bool `json:"alone,omitempty"`

	// The rest is set for a removed item.
	Prev  *string `json:"prev,omitempty"`  // the name before it
	Next  *string `json:"next,omitempty"`  // the name behind it
	Head  string  `json:"head,omitempty"`  // its name and colon, as they were written
	After string  `json:"after,omitempty"` // between it and its comma
	Comma bool    `json:"comma,omitempty"` // it was last and had a comma
	Moved string  `json:"moved,omitempty"` // between the item before it and the comma, which has gone
}

// add puts a value last into an opened object or array. Preconditions: s.value is open; an object does not have the name.
func (st *style) add(s spot, name string, make func(indent string, inline bool) []byte) (*item, *Slot) {
	b := s.value.box
	comments, space := splitSpace(b.tail)
	slot := &Slot{Was: string(space), Alone: b.last == nil}
	ended := bytes.HasSuffix(comments, []byte("\n")) // by a line comment
	indent, inline := s.indent+st.unit, s.inline
	switch {
	case b.last != nil && bytes.IndexByte(b.last.lead, '\n') >= 0:
		indent, inline = indentOf(b.last.lead, ""), false
	case b.last != nil:
		inline = !ended
	case bytes.IndexByte(b.tail, '\n') >= 0:
		inline = false
	}
	switch {
	case ended:
		slot.Lead = indent
	case !inline:
		slot.Lead = st.end + indent
	case len(comments) > 0:
		slot.Lead = " "
	case b.last == nil:
	case b.last.prev == nil:
		slot.Lead = st.gap
	default:
		_, gap := splitSpace(b.last.lead)
		slot.Lead = string(gap)
	}
	switch {
	case bytes.IndexByte(space, '\n') >= 0:
		slot.Tail = string(space)
	case ended:
		slot.Tail = st.end + string(space)
	case b.last == nil && !inline:
		slot.Tail = st.end + s.indent
	default:
		slot.Tail = string(space)
	}
	it := &item{name: name, lead: join(comments, slot.Lead), value: &value{raw: make(indent, inline), ours: true}}
	if b.object {
		it.head = append(append(quote(nil, name), ':'), st.colon...)
	}
	b.tail = []byte(slot.Tail)
	b.link(it, nil)
	return it, slot
}

func join(a []byte, b string) []byte { return append(a[:len(a):len(a)], b...) }

// format writes a value of an edit. Names are sorted: an edit has no order of them.
func (st *style) format(v any, indent string, inline bool) []byte {
	return st.appendValue(nil, v, indent, inline)
}

func (st *style) appendValue(b []byte, v any, indent string, inline bool) []byte {
	list := func(open, end byte, n int, each func(i int, inner string)) []byte {
		b = append(b, open)
		for i := range n {
			switch {
			case !inline:
				b = append(append(append(b, st.end...), indent...), st.unit...)
			case i > 0:
				b = append(b, st.gap...)
			}
			each(i, indent+st.unit)
			if i+1 < n {
				b = append(b, ',')
			}
		}
		if n > 0 && !inline {
			b = append(append(b, st.end...), indent...)
		}
		return append(b, end)
	}
	switch v := v.(type) {
	case string:
		return quote(b, v)
	case []any:
		return list('[', ']', len(v), func(i int, inner string) { b = st.appendValue(b, v[i], inner, inline) })
	case map[string]any:
		names := sortedNames(v)
		return list('{', '}', len(v), func(i int, inner string) {
			b = append(append(quote(b, names[i]), ':'), st.colon...)
			b = st.appendValue(b, v[names[i]], inner, inline)
		})
	case nil:
		return append(b, "null"...)
	}
	return fmt.Append(b, v)
}

// quote writes a string literal. What ends a line for some readers, what cannot be seen and what turns the direction of
// what follows is escaped, so that nobody is shown something else than what a program reads.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || r == '\ufeff':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
