package edit

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// set replaces an item's value.
func (b *box) set(it *item, raw []byte) { it.value = &value{raw: raw, ours: true} }

// remove takes an item out and returns where it stood. Comments around it stay.
func (b *box) remove(it *item) *Slot {
	slot := &Slot{Lead: string(it.lead), Head: string(it.head), After: string(it.after), Alone: it.prev == nil && it.next == nil}
	if it.prev != nil {
		slot.Prev = ref(it.prev.literal())
	}
	if it.next != nil {
		slot.Next = ref(it.next.literal())
		slot.Was = string(it.next.lead)
	} else {
		slot.Was, slot.Comma = string(b.tail), b.comma
		if it.prev != nil && !b.comma {
			slot.Moved = string(it.prev.after)
		}
	}
	b.drop(it, nil)
	if next := it.next; next != nil {
		slot.Tail = string(next.lead)
	} else {
		slot.Tail = string(b.tail)
	}
	return slot
}

// literal is a member's name as it is written.
func (it *item) literal() []byte { return it.head[:skipString(it.head, 0)] }

// drop takes an item out. If it was put into slot and nothing around it has changed, what stood there before is back;
// otherwise one of its two neighbouring stretches of white space goes with it. Comments stay.
func (b *box) drop(it *item, slot *Slot) {
	lead, own := splitSpace(it.lead)
	between, _ := splitSpace(it.after)
	next := it.next
	b.unlink(it)
	if next != nil {
		next.lead = close(it.lead, between, next.lead)
		return
	}
	tail := b.tail
	switch {
	case slot != nil && slot.Alone == (b.last == nil) && len(it.after) == 0 &&
		string(own) == slot.Lead && string(tail) == slot.Tail:
		tail = join(lead, slot.Was)
	case bytes.IndexByte(it.lead, '\n') >= 0 && sameLine(tail):
		// A comment on the removed item's line must not end up on the line of the item before.
		tail = close(it.lead, between, tail)
	case len(lead)+len(between) > 0:
		comments := join(lead, string(between))
		if bytes.HasSuffix(comments, []byte("\n")) {
			tail = cutLineEnd(tail)
		}
		tail = join(comments, string(tail))
	case b.last == nil && !commented(tail):
		tail = nil
	}
	if b.last == nil {
		b.comma = false
	} else if !b.comma {
		// Without a comma behind it, what stood before the comma stands before the bracket.
		tail, b.last.after = join(b.last.after, string(tail)), nil
	}
	b.tail = tail
}

// close joins what stood before and behind a removed item, in front of what follows.
func close(lead, between, rest []byte) []byte {
	joined := lead
	if len(between) > 0 {
		joined = join(joined, string(bytes.TrimLeft(between, " \t\r\n")))
		if !bytes.HasSuffix(joined, []byte("\n")) {
			joined = join(joined, " ")
		}
	}
	if comments, _ := splitSpace(rest); len(comments) > 0 {
		joined = join(joined, string(bytes.TrimLeft(rest, " \t\r\n")))
	}
	return joined
}

// sameLine reports whether a comment begins before the first line end.
func sameLine(extra []byte) bool {
	slash, end := bytes.IndexByte(extra, '/'), bytes.IndexByte(extra, '\n')
	return slash >= 0 && (end < 0 || slash < end)
}

func cutLineEnd(extra []byte) []byte {
	if rest, ok := bytes.CutPrefix(extra, []byte("\r\n")); ok {
		return rest
	}
	return bytes.TrimPrefix(extra, []byte("\n"))
}

// restore puts a removed member back, to where it stood if that place is as it was left, else last.
func (d *document) restore(s spot, name string, slot *Slot, old string) {
	b := s.value.box
	it := &item{
		lead: []byte(slot.Lead), name: name, head: []byte(slot.Head), after: []byte(slot.After),
		value: &value{raw: []byte(old), ours: true},
	}
	is := func(it *item, literal *string) bool {
		if it == nil || literal == nil {
			return it == nil && literal == nil
		}
		return string(it.literal()) == *literal
	}
	if slot.Next != nil {
		next := b.byName[text(hujson.Literal(*slot.Next))]
		if next != nil && is(next, slot.Next) && is(next.prev, slot.Prev) && string(next.lead) == slot.Tail {
			b.link(it, next)
			next.lead = []byte(slot.Was)
			return
		}
	} else if is(b.last, slot.Prev) && string(b.tail) == slot.Tail && (b.last == nil || b.comma == slot.Comma) {
		if b.last != nil && !b.comma {
			b.last.after = []byte(slot.Moved)
		}
		b.link(it, nil)
		b.tail, b.comma = []byte(slot.Was), slot.Comma
		return
	}
	it, _ = d.style.add(s, name, func(string, bool) []byte { return []byte(old) })
	it.head = []byte(slot.Head)
}
