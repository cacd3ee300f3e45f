package edit

import (
	"strings"

	"github.com/lola-ext/lola/abi"
)

// An upgrade is
//
//	drop, keep := edit.Drop(old, intent)     // what the new version does not ask for any more
//	now, _, left, err := edit.Revert(path, now, drop)
//	result, err := edit.JSON(now, exists, intent.Edits)
//	records := edit.Merge(keep, result.Records)
//
// and where one of several owners of a file goes, what it shares with the others stays:
//
//	gone, others := edit.Release(gone, others)
//	now, empty, left, err := edit.Revert(path, now, gone)

// Merge returns the records of an upgrade: those of the new version, each with what was there before the old version put
// its value or block. If somebody else has changed the value in between, that is what was there before. Old records that
// the new version has no part in are left out: see [Drop]. Precondition: old and new have passed [Check].
func Merge(old, new []Record) []Record {
	before := byKey(old)
	merged := make([]Record, len(new))
	for i, n := range new {
		merged[i] = n
		if j, ok := before[n.key()]; ok {
			merged[i] = old[j].then(n)
			delete(before, n.key()) // one value added twice goes once
		}
	}
	settle(merged, map[string]Slot{})
	return merged
}

// settle gives each object that was made to the first record on whose way it lies, and what stood in brackets that held
// nothing to the first record that put something between them; empty is what other records knew of that. Records are
// reverted from the last to the first, so all else that was put there is gone by then.
func settle(records []Record, empty map[string]Slot) {
	first := ways(records)
	for i := range records {
		made := records[i].Made
		records[i].Made = nil
		for _, m := range made {
			j, there := first[m.At]
			if !there {
				j = i
			}
			records[j] = records[j].inherit(m)
		}
	}
	for i := range records {
		records[i].slots(func(at string, s *Slot) *Slot {
			if s.Alone {
				empty[at] = *s
				s = &Slot{Was: s.Tail, Lead: s.Lead, Tail: s.Tail}
			}
			return s
		})
	}
	for i := range records {
		records[i].slots(func(at string, s *Slot) *Slot {
			if e, there := empty[at]; there {
				delete(empty, at)
				s = &Slot{Was: e.Was, Lead: e.Lead, Tail: s.Tail, Alone: true}
			}
			return s
		})
	}
}

// slots replaces each slot of what was added by what f makes of it. f gets the pointer of the object or array around it.
func (r *Record) slots(f func(at string, s *Slot) *Slot) {
	made := append([]Made(nil), r.Made...)
	for i, m := range made {
		if m.Slot != nil {
			made[i].Slot = f(m.At[:strings.LastIndexByte(m.At, '/')], m.Slot)
		}
	}
	r.Made = made
	if r.Slot != nil && r.Kind != Remove {
		r.Slot = f(r.At[:strings.LastIndexByte(r.At, '/')], r.Slot)
	}
}

// ways maps each pointer that leads to what a record put to the first such record.
func ways(records []Record) map[string]int {
	first := map[string]int{}
	for i, r := range records {
		for at := r.At; at != "" && r.New != nil; {
			at = at[:strings.LastIndexByte(at, '/')]
			if _, there := first[at]; !there {
				first[at] = i
			}
		}
	}
	return first
}

// then is what two edits of one place, one after the other, did together.
func (r Record) then(n Record) Record {
	both := n
	switch {
	case r.Kind == Same || !n.found(r.New):
	case n.Kind == Same:
		both = r
	case r.Kind == Add && n.Kind == Replace:
		both = r
		both.New = n.New
	case r.Kind == Add && n.Kind == Remove:
		both = Record{Kind: Same, At: n.At, ID: n.ID}
	case r.Kind == Replace && n.Kind == Replace:
		both.Old = r.Old
	case r.Kind == Replace && n.Kind == Remove:
		both.Old = r.Old
		if n.Place != nil { // the place that was cut holds another text
			place := *n.Place
			place.Cut, place.Rest = "", ""
			both.Place = &place
		}
	case r.Kind == Remove && n.Kind == Add:
		both = Record{Kind: Replace, At: n.At, ID: n.ID, Old: r.Old, New: n.New}
	}
	both.Made, both.File = n.Made, n.File
	for _, m := range r.Made {
		both = both.inherit(m)
	}
	if both.File == nil {
		both.File = r.File
	}
	return both
}

// found reports whether an edit found what another one had left: text, or nothing if text is nil.
func (r Record) found(text *string) bool {
	was := r.Old
	if r.Kind == Same {
		was = r.New
	}
	switch {
	case was == nil || text == nil:
		return was == nil && text == nil
	case r.ID != "":
		return sameLines(*was, *text)
	}
	return formOf(*was) == formOf(*text)
}

// inherit adds an object or array that another edit made to what this one answers for, the outer before the inner: both
// lie on the way of one pointer, so the outer has the shorter one.
func (r Record) inherit(m Made) Record {
	made := make([]Made, 0, len(r.Made)+1)
	for _, o := range r.Made {
		if o.At == m.At {
			return r
		}
		if m.At != "" && len(m.At) < len(o.At) {
			made = append(made, m)
			m.At = ""
		}
		made = append(made, o)
	}
	if m.At != "" {
		made = append(made, m)
	}
	r.Made = made
	return r
}

// key is that of the edit which made the record.
func (r Record) key() string {
	if r.ID != "" {
		return blockPlace(r.ID)
	}
	tokens, err := parsePointer(r.At)
	if err != nil {
		return "\x00" + r.At
	}
	var want abi.Digest
	if appends(tokens) && r.New != nil {
		if v, err := parseText([]byte(*r.New)); err == nil {
			want = abi.DigestOf([]byte("set " + canonicalTree(v.Value)))
		}
	}
	return place(tokens, want)
}

// byKey finds records by place. Of one value added twice to an array, the first record is the one that counts.
func byKey(records []Record) map[string]int {
	m := make(map[string]int, len(records))
	for i, r := range records {
		if _, there := m[r.key()]; !there {
			m[r.key()] = i
		}
	}
	return m
}

// Drop divides the records of an old version by whether the edits of the new one are about the same places. Those that are
// not are to be reverted, before the new edits are applied; the others are for [Merge]. What the former made and the latter
// still need passes to these.
func Drop(old []Record, next ...abi.Intent) (drop, keep []Record) {
	wanted := map[string]bool{}
	for _, in := range next {
		keys, err := Keys(in)
		if err != nil {
			continue // refused when it is applied
		}
		for _, k := range keys {
			wanted[k.Place] = true
		}
	}
	for _, r := range old {
		if wanted[r.key()] {
			keep = append(keep, r)
		} else {
			drop = append(drop, r)
		}
	}
	return Release(drop, keep)
}

// Release divides what goes from what stays when one owner of a file goes and others stay: a value or block that another
// owner asked for too is not to be reverted, and what was there before it, the objects made on the way to it and the file
// itself pass to that owner. It returns the records to revert and those of the others, with what they took over.
func Release(gone, others []Record) (revert, kept []Record) {
	kept = append(kept, others...)
	shared := byKey(kept)
	first, empty := ways(kept), map[string]Slot{}
	for _, g := range gone {
		if i, ok := shared[g.key()]; ok {
			kept[i] = g.then(kept[i])
			continue
		}
		made := g.Made
		g.Made = nil
		for _, m := range made {
			if i, ok := first[m.At]; ok {
				kept[i] = kept[i].inherit(m)
			} else {
				g.Made = append(g.Made, m)
			}
		}
		if g.File != nil && len(kept) > 0 {
			if kept[0].File == nil {
				kept[0].File = g.File
			}
			g.File = nil
		}
		if g.Kind == Add && g.Place != nil {
			if i := behind(kept, g.Place.Offset); i >= 0 {
				kept[i].Place = g.Place
			}
		}
		g.slots(func(at string, s *Slot) *Slot {
			if s.Alone {
				empty[at] = *s
			}
			return s
		})
		revert = append(revert, g)
	}
	settle(kept, empty)
	return revert, kept
}

// behind returns the record of the added block that was put next behind an offset, -1 if there is none. That block will stand
// where the one at the offset stood.
func behind(records []Record, offset int64) int {
	next := -1
	for i, r := range records {
		if r.Kind == Add && r.Place != nil && r.Place.Offset > offset && (next < 0 || r.Place.Offset < records[next].Place.Offset) {
			next = i
		}
	}
	return next
}
