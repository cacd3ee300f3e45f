package edit

import (
	"bytes"
	"fmt"

	"github.com/lola-ext/lola/abi"
)

// JSON applies the edits of one intent to a file, whose bytes are old if it exists. The file may have comments, trailing
// commas and a byte order mark. Cost grows with the file and the edits, not with their product.
//
//   - A value is set where its pointer says; objects on the way that are missing are made. A value that is equal already
//     stays as it is written.
//   - `/-` at the end of a pointer adds to an array, which is made if it is missing, unless an equal element is there. Any
//     other way into an array is refused: a position means something else once somebody adds a line.
//   - Removing what is absent is no error. The root cannot be set or removed.
//   - A file that is missing, empty, or holds comments alone gets an object first, or an array for `/-`. Comments stay
//     before it; a file that edits only remove from is left alone.
//
// Errors are *[Error]: edits that overlap, a file that does not parse or passes a bound, a parent that is something else
// than the pointer needs, a name on the way that is there twice.
func JSON(old []byte, exists bool, edits []abi.JSONEdit) (Result, error) {
	if err := separate(edits); err != nil {
		return Result{}, err
	}
	if !exists {
		old = nil
	}
	d, err := parse(old)
	if err != nil {
		return Result{}, err
	}
	result := Result{New: old, Records: make([]Record, 0, len(edits))}
	for _, e := range edits {
		r, err := d.apply(e, exists)
		if err != nil {
			return Result{}, err
		}
		result.Records = append(result.Records, r)
		result.Changed = result.Changed || r.Kind != Same
	}
	if result.Changed {
		if result.New, err = d.finish(); err != nil {
			return Result{}, err
		}
	}
	return result, nil
}

// separate refuses edits that overlap. The same element added twice is added once.
func separate(edits []abi.JSONEdit) error {
	keys, err := Keys(abi.EditJSON{Edits: edits})
	if err != nil {
		return err
	}
	for _, c := range Conflicts(keys) {
		if tokens, _ := parsePointer(edits[c.B].At); !c.Same || !appends(tokens) {
			return &Error{At: edits[c.B].At, Why: fmt.Sprintf("%q, which is edited too, overlaps it", edits[c.A].At)}
		}
	}
	return nil
}

// finish writes the document out and holds it to what [JSON] takes, so that no later edit or revert is refused for what
// this one did.
func (d *document) finish() ([]byte, error) {
	b := d.bytes()
	if len(b) > MaxFile {
		return nil, &Error{Why: fmt.Sprintf("it would have %d bytes: want at most %d", len(b), MaxFile)}
	}
	if d.root == nil {
		return b, nil
	}
	if _, err := parse(b); err != nil {
		return nil, &Error{Why: fmt.Sprintf("what would be written is refused: %v", err)}
	}
	return b, nil
}

func (d *document) apply(e abi.JSONEdit, exists bool) (Record, error) {
	tokens, err := parsePointer(e.At)
	if err != nil {
		return Record{}, err
	}
	r := Record{Kind: Same, At: e.At}
	last := len(tokens) - 1
	if last < 0 {
		return r, &Error{Why: "the empty pointer names the whole file: use a write"}
	}
	if appends(tokens) && !e.Set {
		return r, &Error{At: e.At, Why: "there is no element behind an array's last one to remove"}
	}
	var form string
	if e.Set {
		if form, err = canonicalValue(e.Value); err != nil {
			return r, &Error{At: e.At, Why: err.Error()}
		}
	}
	if d.root == nil {
		if !e.Set {
			return r, nil
		}
		r.File = d.begin(exists, last == 0 && appends(tokens))
	}
	here := spot{value: d.root}
	for i, token := range tokens {
		b := here.value.open()
		if i == last && appends(tokens) {
			return d.element(r, e, here, form)
		}
		if b == nil || !b.object {
			return r, d.wrong(here.value, tokens, i)
		}
		it, there := b.byName[token]
		switch {
		case there && it == nil:
			return r, &Error{At: e.At, Line: d.line(here.value), Why: fmt.Sprintf("the object %q has this name more than once", pointer(tokens[:i]))}
		case there && i < last:
			here = here.into(it)
		case there && !e.Set:
			r.Kind, r.Old = Remove, ref(it.value.text())
			r.Slot = b.remove(it)
			return r, nil
		case there && it.value.form() == form:
			r.New = d.plain(e.Value)
			return r, nil
		case there:
			r.Kind, r.Old = Replace, ref(it.value.text())
			at := here.into(it)
			b.set(it, d.style.format(e.Value, at.indent, at.inline || onLine(it.value.text())))
			r.New = ref(it.value.text())
			return r, nil
		case !e.Set:
			return r, nil
		default:
			return d.member(r, e, here, tokens, i), nil
		}
	}
	return r, nil
}

func ref(b []byte) *string {
	s := string(b)
	return &s
}

// plain is the text of a value that is there already. It is not taken from the file: comments can make that large, and one
// element can be asked for many times.
func (d *document) plain(v any) *string { return ref(d.style.format(v, "", true)) }

// onLine reports whether a value is an object or array that holds something and stands on one line.
func onLine(text []byte) bool {
	return len(text) > 2 && (text[0] == '{' || text[0] == '[') && bytes.IndexByte(text, '\n') < 0
}

// begin puts an empty object or array into a document that has no value.
func (d *document) begin(exists, array bool) *File {
	comments, space := splitSpace(d.before)
	f := &File{Made: !exists, Was: string(space), Tail: d.style.end}
	if len(comments) > 0 && !bytes.HasSuffix(comments, []byte("\n")) {
		f.Lead = d.style.end
	}
	d.before, d.after = join(comments, f.Lead), []byte(f.Tail)
	d.root = &value{raw: []byte("{}"), ours: true}
	if array {
		d.root.raw = []byte("[]")
	}
	return f
}

// wrong is the error for a value on the way of tokens that has no place for the token at i.
func (d *document) wrong(v *value, tokens []string, i int) error {
	e := &Error{At: pointer(tokens), Line: d.line(v), Why: fmt.Sprintf("%q is %s", pointer(tokens[:i]), v.kind())}
	switch {
	case i+1 == len(tokens) && appends(tokens):
		e.Why += ", and only an array can be added to"
	case v.open() != nil:
		e.Why += ", and only /- leads into one"
	default:
		e.Why += ", and only an object has names"
	}
	return e
}

// element adds to the array at a spot.
func (d *document) element(r Record, e abi.JSONEdit, here spot, form string) (Record, error) {
	b := here.value.open()
	if b == nil || b.object {
		tokens, _ := parsePointer(e.At)
		return r, d.wrong(here.value, tokens, len(tokens)-1)
	}
	if b.element(form) != nil {
		r.New = d.plain(e.Value)
		return r, nil
	}
	r.Kind = Add
	it, slot := d.style.add(here, "", func(indent string, inline bool) []byte { return d.style.format(e.Value, indent, inline) })
	r.New, r.Slot = ref(it.value.text()), slot
	return r, nil
}

// member adds the member tokens[i] to the object at a spot, with whatever is missing between it and the value.
func (d *document) member(r Record, e abi.JSONEdit, here spot, tokens []string, i int) Record {
	v := e.Value
	for j := len(tokens) - 1; j > i; j-- {
		if tokens[j] == "-" && j == len(tokens)-1 {
			v = []any{v}
		} else {
			v = map[string]any{tokens[j]: v}
		}
	}
	it, slot := d.style.add(here, tokens[i], func(indent string, inline bool) []byte { return d.style.format(v, indent, inline) })
	r.Kind, r.Slot = Add, slot
	for j := i; j < len(tokens)-1; j++ {
		r.Made = append(r.Made, Made{At: pointer(tokens[:j+1]), Slot: r.Slot})
		r.Slot = nil
	}
	for _, token := range tokens[i+1:] {
		b := it.value.open()
		if it = b.last; b.object {
			it = b.byName[token]
		}
	}
	r.New = ref(it.value.text())
	return r
}
