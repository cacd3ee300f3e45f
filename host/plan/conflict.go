package plan

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// pairRules are the rules about two intents, of which the second touches the path of the first or one beneath it. Pairs that
// are excepted, or that are one intent, never come here.
var pairRules = []row[func(a, b *touch) string]{
	{RuleSamePath, func(a, b *touch) string {
		switch {
		case a.key == b.key && a.path == b.path:
			return fmt.Sprintf("%q is touched twice", a.path)
		case a.key == b.key:
			return fmt.Sprintf("%q and %q are one path on some file system", a.path, b.path)
		case deletes(a) && !b.leaves():
			return fmt.Sprintf("%q is deleted, and %q lies beneath it by another spelling: on some file system that is another folder", a.path, b.path)
		}
		return ""
	}},
	{RuleNestedPath, func(a, b *touch) string {
		if a.key == b.key {
			return ""
		}
		return fmt.Sprintf("%q lies beneath %q", b.path, a.path)
	}},
}

// conflicts finds intents that touch one path, or one beneath another's. Touches are sorted by folded path with NUL between
// components, so whatever lies beneath a path follows it at once and one stack of ancestors is enough.
func (j *judge) conflicts() {
	j.order = make([]*touch, len(j.touches))
	for i := range j.touches {
		j.order[i] = &j.touches[i]
	}
	slices.SortFunc(j.order, func(a, b *touch) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.proposal, b.proposal), cmp.Compare(a.intent, b.intent))
	})
	var above []*touch // touches whose paths are ancestors of, or the same as, the one at hand
	for _, t := range j.order {
		if j.full {
			return
		}
		for len(above) > 0 && !covers(above[len(above)-1].key, t.key) {
			above = above[:len(above)-1]
		}
		// One conflict per touch is enough to refuse it, and keeps this linear when thousands name one path: each that is
		// above and no conflict is a delete, and there is one of those to a path.
		for _, a := range above {
			if j.meet(a, t) || t.dropped {
				break
			}
		}
		if !t.dropped {
			above = append(above, t)
		}
	}
	for _, t := range j.order {
		if !t.dropped && len(t.edits) > 0 {
			j.overlaps(t)
		}
	}
}

// covers reports whether the key b is a or lies beneath it.
func covers(a, b string) bool {
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == 0)
}

// meet judges two touches of which the second is at or beneath the first, and reports whether they conflict.
func (j *judge) meet(a, b *touch) bool {
	switch {
	case together(a, b):
		b.dropped = true
		if a.edits != nil {
			a.edits = append(a.edits, b.edits...) // whether they overlap is seen once all are there
		}
		if a.last != b.proposal {
			a.owners = append(a.owners, b.owners...)
			a.last = b.proposal
		}
		return false
	case excepted(a, b):
		if a.path == b.path {
			a.rewritten = a.rewritten || rewrites(b)
			b.rewritten = b.rewritten || rewrites(a)
		}
		return false
	}
	for _, r := range pairRules {
		if why := r.broken(a, b); why != "" {
			j.conflict(r.finding(Finding{Path: b.path, Message: why}), a, b)
			return true
		}
	}
	return false
}

func deletes(t *touch) bool { return t.in.Op() == abi.OpDelete }

func rewrites(t *touch) bool { op := t.in.Op(); return op == abi.OpWrite || op == abi.OpEdit }

// excepted holds for a delete and a path that is, or lies beneath, the delete's path, unless that is a path that a rename
// moves away. Spelled another way it would be beneath the delete on one file system and beside it on another.
func excepted(a, b *touch) bool {
	switch {
	case deletes(a) && !b.leaves():
		return a.path == b.path || strings.HasPrefix(b.path, a.path+"/")
	case deletes(b) && !a.leaves():
		return a.path == b.path
	}
	return false
}

// together holds for touches that are one: edits of one file, deletes of one path, and equal intents of several proposals.
func together(a, b *touch) bool {
	switch {
	case a.path != b.path || a.in.Op() != b.in.Op() || a.arrives != b.arrives:
		return false
	case deletes(a) || a.in.Op() == abi.OpEdit:
		return true
	case a.last == b.proposal:
		return false
	}
	w, ok := a.in.(abi.Write)
	if !ok {
		return reflect.DeepEqual(a.in, b.in)
	}
	v := b.in.(abi.Write)
	return a.digest == b.digest && w.Mode == v.Mode && w.ReplaceSymlink == v.ReplaceSymlink && sameExpect(w.Expect, v.Expect)
}

// conflict keeps a finding about two touches: by both intents if one plan has both, else by the other extension's name.
func (j *judge) conflict(f Finding, a, b *touch) {
	if a.proposal == b.proposal {
		f.Intents = []int{a.intent, b.intent}
	} else {
		f.Intents = []int{b.intent}
		f.Message += fmt.Sprintf(", which extension %q touches", j.proposals[a.proposal].Owner)
	}
	j.find(b.proposal, f)
}

func sameExpect(a, b abi.Expect) bool {
	if a.Absent != b.Absent || (a.Digest == nil) != (b.Digest == nil) {
		return false
	}
	return a.Digest == nil || *a.Digest == *b.Digest
}
