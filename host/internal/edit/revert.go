package edit

import (
	"bytes"
	"fmt"
	"slices"
)

// Revert takes back what records say from a file as it is now, and nothing else: what was added goes, with the objects that
// were made for it and are empty; what was replaced or removed is back, byte for byte. Records are those of one owner of
// one file, in the order in which the edits were made.
//
// A file that nobody touched since is again what it was, byte for byte. One that the user worked on keeps all of that:
// a value or block that is not as it was put stays and is named in left, as does an object that holds a comment; one that
// the user removed is done. empty is set if the edits made the file and nothing is left in it, for the caller to delete.
//
// Errors are those of [Check], and *[Error] for a file that cannot be edited any more; now is to stay then.
func Revert(path string, now []byte, records []Record) (reverted []byte, empty bool, left []Left, err error) {
	if err := Check(records); err != nil {
		return nil, false, nil, err
	}
	if len(records) == 0 {
		return now, false, nil, nil
	}
	if records[0].ID != "" {
		return revertBlocks(path, now, records)
	}
	d, err := parse(now)
	if err != nil {
		return nil, false, nil, err
	}
	var file *File
	for _, r := range slices.Backward(records) {
		left = append(left, d.revert(&r)...)
		if r.File != nil {
			file = r.File
		}
	}
	if file != nil {
		empty = d.end(file)
	}
	slices.Reverse(left)
	reverted, err = d.finish()
	switch {
	case err != nil:
		return nil, false, nil, err
	case empty:
		return nil, true, left, nil
	case bytes.Equal(reverted, now):
		reverted = now
	}
	return reverted, false, left, nil
}

// formOf is the canonical form of a record's text. Precondition: it has passed [Check].
func formOf(text string) string { return canonicalTree(mustParse([]byte(text))) }

const changed = "it was changed since"

// revert takes back one edit, and what was made on the way to it.
func (d *document) revert(r *Record) (left []Left) {
	tokens, _ := parsePointer(r.At)
	leave := func(at, why string) { left = append(left, Left{What: at, Why: why}) }
	here, b, twice := d.find(tokens)
	switch last := tokens[len(tokens)-1]; {
	case r.Kind == Same:
	case twice:
		leave(r.At, "a name on the way to it is there more than once")
		return left
	case b == nil || b.object == appends(tokens):
	case appends(tokens):
		it := b.element(formOf(*r.New))
		switch {
		case it == nil:
		case commented(it.value.text()):
			leave(r.At, "it holds a comment now")
		default:
			b.drop(it, r.Slot)
		}
	default:
		it, there := b.byName[last]
		switch {
		case there && it == nil:
			leave(r.At, "its name is there more than once")
		case r.Kind == Remove && !there:
			d.restore(here, last, r.Slot, *r.Old)
		case r.Kind == Remove:
			if it.value.form() != formOf(*r.Old) {
				leave(r.At, "it is there again, with another value")
			}
		case !there:
		case !it.value.is(formOf(*r.New)):
			leave(r.At, changed)
		case r.Kind == Add:
			b.drop(it, r.Slot)
		default:
			b.set(it, []byte(*r.Old))
		}
	}
	for _, m := range slices.Backward(r.Made) {
		tokens, _ := parsePointer(m.At)
		_, b, _ := d.find(tokens)
		if b == nil || !b.object {
			continue
		}
		it := b.byName[tokens[len(tokens)-1]]
		if it == nil {
			continue
		}
		inner := it.value.open()
		if inner == nil || inner.first != nil {
			break
		}
		if commented(inner.tail) {
			leave(m.At, "it holds a comment now")
			break
		}
		b.drop(it, m.Slot)
	}
	return left
}

// find returns the object or array that the last token is about, nil if it is not there, and whether a name on the way
// is there twice.
func (d *document) find(tokens []string) (here spot, b *box, twice bool) {
	if d.root == nil {
		return here, nil, false
	}
	here = spot{value: d.root}
	for _, token := range tokens[:len(tokens)-1] {
		b := here.value.open()
		if b == nil || !b.object {
			return here, nil, false
		}
		it, there := b.byName[token]
		if it == nil {
			return here, nil, there
		}
		here = here.into(it)
	}
	return here, here.value.open(), false
}

// end takes back what [document.begin] did, if the object or array is empty again, and reports whether a file that was
// made has nothing in it.
func (d *document) end(f *File) bool {
	if d.root == nil {
		return f.Made && isSpace(string(d.before))
	}
	b := d.root.open()
	if b == nil || b.first != nil || commented(b.tail) {
		return false
	}
	if f.Made {
		return isSpace(string(d.before)) && isSpace(string(d.after))
	}
	before := bytes.TrimSuffix(d.before, []byte(f.Lead))
	if string(d.after) == f.Tail && !d.padded {
		d.before = join(before, f.Was)
	} else {
		d.before = slices.Concat(d.before, d.after)
		if d.padded {
			d.before = d.before[:len(d.before)-1]
		}
	}
	d.root, d.after, d.padded = nil, nil, false
	return false
}

func revertBlocks(path string, now []byte, records []Record) (reverted []byte, empty bool, left []Left, err error) {
	f, err := readLines(path, now)
	if err != nil {
		return nil, false, nil, asBlock(err, records[0].ID)
	}
	made := false
	for _, r := range slices.Backward(records) {
		made = made || r.File != nil
		b := f.find(r.ID)
		switch {
		case r.Kind == Same:
		case r.Kind == Remove && b == nil:
			f.restore(r.ID, *r.Old, r.Place)
		case r.Kind == Remove:
			if !sameLines(f.text[b.body:b.bodyEnd], *r.Old) {
				left = append(left, Left{What: r.ID, Why: "it is there again, with another text"})
			}
		case b == nil:
		case !sameLines(f.text[b.body:b.bodyEnd], *r.New):
			left = append(left, Left{What: r.ID, Why: changed})
		case r.Kind == Add:
			f.cut(*b, r.Place)
		default:
			f.text = f.text[:b.body] + *r.Old + f.text[b.bodyEnd:]
		}
		if f.blocks, err = sections(f.text, f.marker); err != nil {
			return nil, false, nil, fmt.Errorf("reverting block %q: %w", r.ID, err)
		}
	}
	slices.Reverse(left)
	if made && isSpace(f.text) {
		return nil, true, left, nil
	}
	if reverted = f.bytes(); bytes.Equal(reverted, now) {
		reverted = now
	}
	return reverted, false, left, nil
}
