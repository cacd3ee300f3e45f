package plantest

import (
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// overlap returns the rule that two edits of one file break, "" if they are one edit: "Several `edit`s of one file are one
// edit if their pointers or ids do not overlap." A pointer and an id cannot be compared, and no file is both JSON and text
// of lines, so two formats overlap.
func overlap(a, b abi.Intent, samePlan bool) string {
	switch a := a.(type) {
	case abi.EditJSON:
		b, ok := b.(abi.EditJSON)
		if !ok {
			return EditOverlap
		}
		shared := ""
		for _, e := range a.Edits {
			for _, f := range b.Edits {
				switch {
				case !pointersOverlap(e, f):
				case !samePlan && equalEdits(e, f):
					shared = EditShared
				default:
					return EditOverlap
				}
			}
		}
		return shared
	case abi.EditBlock:
		if b, ok := b.(abi.EditBlock); ok && a.ID != b.ID {
			return ""
		}
		return EditOverlap
	}
	panic("plantest: an edit of unknown type")
}

// equalEdits reports whether two edits ask for the same change of the same value.
func equalEdits(e, f abi.JSONEdit) bool {
	return slices.Equal(tokens(e.At), tokens(f.At)) && e.Set == f.Set && (!e.Set || equalValues(e.Value, f.Value))
}

// pointersOverlap reports whether two edits change one value, or one a value within the other's: one pointer is the other
// or a prefix of it, token by token.
//
// "`/-` adds a value to an array unless it is there; other array positions are refused." It names the value that it adds
// and no position, so two additions of different values to one array do not overlap. And it says that its parent is an
// array, so an edit at any other place in that parent cannot be done with it: either sets what the other needs.
func pointersOverlap(e, f abi.JSONEdit) bool {
	x, y := tokens(e.At), tokens(f.At)
	switch {
	case adds(e, x) && adds(f, y) && slices.Equal(x, y):
		return equalValues(e.Value, f.Value)
	case adds(e, x) && hasPrefix(y, x[:len(x)-1]):
		return true
	case adds(f, y) && hasPrefix(x, y[:len(y)-1]):
		return true
	}
	return hasPrefix(x, y) || hasPrefix(y, x)
}

func hasPrefix(pointer, prefix []string) bool {
	return len(pointer) >= len(prefix) && slices.Equal(pointer[:len(prefix)], prefix)
}

// adds reports whether an edit adds a value to an array.
func adds(e abi.JSONEdit, at []string) bool {
	return e.Set && len(at) > 0 && at[len(at)-1] == "-"
}

// tokens returns the reference tokens of a JSON pointer (RFC 6901).
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	list := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range list {
		t = strings.ReplaceAll(t, "~1", "/")
		list[i] = strings.ReplaceAll(t, "~0", "~") // in this order: ~01 is ~1
	}
	return list
}

// Equal reports whether two intents ask for the same in every field, contents byte for byte. The order of edits and of
// headers counts: additions to one array are made in it.
func Equal(a, b abi.Intent) bool {
	switch a := a.(type) {
	case abi.Write:
		b, ok := b.(abi.Write)
		return ok && a.Path == b.Path && a.Mode == b.Mode && equalContents(a.Content, b.Content) && a.Module == b.Module &&
			a.Expect.Absent == b.Expect.Absent && equalPointers(a.Expect.Digest, b.Expect.Digest) && a.ReplaceSymlink == b.ReplaceSymlink
	case abi.EditJSON:
		b, ok := b.(abi.EditJSON)
		return ok && a.Path == b.Path && slices.EqualFunc(a.Edits, b.Edits, func(e, f abi.JSONEdit) bool {
			return e.At == f.At && e.Set == f.Set && (!e.Set || equalValues(e.Value, f.Value))
		})
	case abi.EditBlock:
		b, ok := b.(abi.EditBlock)
		return ok && a.Path == b.Path && a.ID == b.ID && equalPointers(a.Text, b.Text)
	case abi.Delete:
		b, ok := b.(abi.Delete)
		return ok && a.Path == b.Path
	case abi.Rename:
		b, ok := b.(abi.Rename)
		return ok && a.From == b.From && a.To == b.To
	case abi.Fetch:
		b, ok := b.(abi.Fetch)
		return ok && a.URL == b.URL && a.Method == b.Method && slices.Equal(a.Headers, b.Headers) && a.Dest == b.Dest &&
			equalPointers(a.Digest, b.Digest)
	case abi.Clone:
		b, ok := b.(abi.Clone)
		return ok && a.Repo == b.Repo && a.Ref == b.Ref && a.Depth == b.Depth && a.Dest == b.Dest && a.Commit == b.Commit
	}
	panic("plantest: an intent of unknown type")
}

func equalContents(a, b abi.Content) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.Digest() == b.Digest()
}

func equalPointers[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// equalValues reports whether two JSON values are the same; the order of members does not count.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalValues)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !equalValues(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}
