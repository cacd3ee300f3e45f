package edit

import (
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// Key says which part of a file one edit is about and what it makes of it. Keys of one file can be compared; those of
// different files cannot.
type Key struct {
	// Place is the part: a key's place is a prefix of another's if and only if the second's part is that of the first, or
	// lies within. Bytewise order therefore puts parts behind the part they lie in, which [Conflicts] makes use of.
	Place string
	// Want is a digest of what the part becomes; equal for equal values, whatever the order of their names.
	Want abi.Digest
}

// Keys returns the keys of an edit intent in the order of its edits, none for other intents. A pointer that is none, or a
// value that JSON cannot have, is an *[Error].
//
// `/list/-` names a place of its own per value: two edits that add different values to one array get along.
func Keys(in abi.Intent) ([]Key, error) {
	switch in := in.(type) {
	case abi.EditBlock:
		k := Key{Place: blockPlace(in.ID)}
		if in.Text != nil {
			k.Want = abi.DigestOf([]byte("text " + *in.Text))
		}
		return []Key{k}, nil
	case abi.EditJSON:
		keys := make([]Key, 0, len(in.Edits))
		for _, e := range in.Edits {
			k, err := keyOf(e)
			if err != nil {
				return nil, err
			}
			keys = append(keys, k)
		}
		return keys, nil
	}
	return nil, nil
}

func keyOf(e abi.JSONEdit) (Key, error) {
	tokens, err := parsePointer(e.At)
	if err != nil {
		return Key{}, err
	}
	var k Key
	if e.Set {
		form, err := canonicalValue(e.Value)
		if err != nil {
			return Key{}, &Error{At: e.At, Why: err.Error()}
		}
		k.Want = abi.DigestOf([]byte("set " + form))
	}
	k.Place = place(tokens, k.Want)
	return k, nil
}

const element = "\xff" // begins an added element in a place: no UTF-8 text holds it

// place ends each token with two zero bytes, and follows a zero byte within one by 1.
func place(tokens []string, want abi.Digest) string {
	var b strings.Builder
	b.WriteString("json\x00")
	for i, t := range tokens {
		if i+1 == len(tokens) && t == "-" {
			b.WriteString(element + want.String())
		} else {
			b.WriteString(strings.ReplaceAll(t, "\x00", "\x00\x01"))
		}
		b.WriteString("\x00\x00")
	}
	return b.String()
}

func blockPlace(id string) string { return "block\x00" + id + "\x00\x00" }

func (k Key) block() bool { return strings.HasPrefix(k.Place, "block") }

// Overlaps reports whether two edits of one file are about one part of it, or one about a part within the other's, or one
// needs an array where the other needs an object. An edit of values and one of a block always overlap.
func (k Key) Overlaps(o Key) bool {
	return k.block() != o.block() || strings.HasPrefix(k.Place, o.Place) || strings.HasPrefix(o.Place, k.Place) ||
		names(k.array(), o) || names(o.array(), k)
}

// array returns the place of the array that an edit adds to, empty if it does not.
func (k Key) array() string {
	at, _, found := strings.Cut(k.Place, element)
	if !found {
		return ""
	}
	return at
}

// names reports whether an edit names a member of what is at a place.
func names(at string, k Key) bool {
	return at != "" && strings.HasPrefix(k.Place, at) && !strings.HasPrefix(k.Place[len(at):], element)
}

// objects calls f with the places of the objects that an edit's pointer leads through.
func (k Key) objects(f func(at string)) {
	begin := strings.IndexByte(k.Place, 0) + 1
	for i := begin; i+1 < len(k.Place); i++ {
		if k.Place[i] == element[0] {
			return
		}
		if k.Place[i] != 0 {
			continue
		}
		if i++; k.Place[i] == 0 {
			f(k.Place[:begin])
			begin = i + 1
		}
	}
}

// Conflict is two edits of one file that overlap.
type Conflict struct {
	A, B int // positions of the edits, A < B
	// Same is set if both ask for one and the same thing. Of one owner this is one edit said twice; two owners share it.
	Same bool
}

// Conflicts finds overlaps among the edits of one file, in time near-linear in their number. It does not list every pair:
// if an edit overlaps others, it is in at least one conflict, and if it overlaps one that asks for something else, there
// is a conflict without Same. They are sorted by B, then A.
func Conflicts(keys []Key) []Conflict {
	order := make([]int, len(keys))
	values, blocks := -1, -1
	for i, k := range keys {
		order[i] = i
		if k.block() && blocks < 0 {
			blocks = i
		} else if !k.block() && values < 0 {
			values = i
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := strings.Compare(keys[a].Place, keys[b].Place); c != 0 {
			return c
		}
		return a - b
	})
	var found []Conflict
	add := func(a, b int) {
		found = append(found, Conflict{A: min(a, b), B: max(a, b), Same: keys[a] == keys[b]})
	}
	if values >= 0 && blocks >= 0 {
		for i, k := range keys {
			if k.block() {
				add(values, i)
			} else if i != values {
				add(blocks, i)
			}
		}
	}
	outer := -1 // the edit that those at hand may lie within
	for _, i := range order {
		switch {
		case outer < 0 || !strings.HasPrefix(keys[i].Place, keys[outer].Place):
			outer = i
		default:
			// Once an edit conflicts with what lies around it, what lies within that one conflicts with the same.
			add(outer, i)
		}
	}
	arrays, objects := map[string]int{}, map[string]int{} // the first edit that adds to each, that leads through each
	for i, k := range keys {
		if at := k.array(); at != "" {
			if _, there := arrays[at]; !there {
				arrays[at] = i
			}
		}
	}
	if len(arrays) > 0 {
		for i, k := range keys {
			k.objects(func(at string) {
				if a, there := arrays[at]; there {
					add(a, i)
					if _, there := objects[at]; !there {
						objects[at] = i
					}
				}
			})
		}
		for i, k := range keys {
			if o, there := objects[k.array()]; there && arrays[k.array()] != i {
				add(o, i)
			}
		}
	}
	slices.SortFunc(found, func(a, b Conflict) int {
		if a.B != b.B {
			return a.B - b.B
		}
		return a.A - b.A
	})
	return found
}

// Overlap reports whether two edit intents of one file overlap. Where there are more than two, [Conflicts] is quicker. An
// intent that is no edit, or a malformed one, overlaps nothing here: it is refused elsewhere.
func Overlap(a, b abi.Intent) bool {
	x, err := Keys(a)
	if err != nil {
		return false
	}
	y, err := Keys(b)
	if err != nil {
		return false
	}
	for _, c := range Conflicts(slices.Concat(x, y)) {
		if c.A < len(x) && c.B >= len(x) {
			return true
		}
	}
	return false
}
