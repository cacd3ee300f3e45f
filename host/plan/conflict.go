package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// conflicts finds intents that touch one path, or one beneath another's. Touches are sorted by folded path with NUL between
// components, so whatever lies beneath a path follows it at once and one stack of ancestors is enough.
//
// A path that is or lies beneath a delete's path does not conflict with that delete. Equal writes of different proposals
// are one write with several owners.
func (j *judge) conflicts() {
	order := make([]int, len(j.touches))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &j.touches[a], &j.touches[b]
		return cmp.Or(strings.Compare(x.key, y.key), cmp.Compare(x.proposal, y.proposal), cmp.Compare(x.intent, y.intent))
	})
	var above []int // positions of touches whose paths are ancestors of, or the same as, the one at hand
	for _, at := range order {
		t := &j.touches[at]
		for len(above) > 0 && !covers(j.touches[above[len(above)-1]].key, t.key) {
			above = above[:len(above)-1]
		}
		// One conflict per touch is enough to refuse it, and keeps this linear when thousands name one path.
		clash := false
		for _, a := range above {
			if clash = j.meet(&j.touches[a], t); clash || t.dropped {
				break
			}
		}
		if !t.dropped {
			above = append(above, at)
		}
	}
}

// covers reports whether the key b is a or lies beneath it.
func covers(a, b string) bool {
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == 0)
}

// meet judges two touches of which the second is at or beneath the first, and reports whether they conflict.
func (j *judge) meet(a, b *touch) bool {
	if a.dropped {
		return false
	}
	same := a.key == b.key
	switch {
	case same && a.op == abi.OpDelete && b.op == abi.OpDelete && a.path == b.path:
		b.dropped = true
	case same && a.path == b.path && a.op == abi.OpDelete && b.op == abi.OpWrite:
		a.dropped = true // the write replaces what the delete would remove
	case same && a.path == b.path && a.op == abi.OpWrite && b.op == abi.OpDelete:
		b.dropped = true
	case !same && a.op == abi.OpDelete:
	case same && a.path == b.path && a.op == abi.OpWrite && b.op == abi.OpWrite && a.proposal != b.proposal &&
		a.digest == b.digest && a.mode == b.mode && sameExpect(a.expect, b.expect):
		a.owners = append(a.owners, b.owners...)
		b.dropped = true
	case same:
		j.conflict(RuleSamePath, a, b, fmt.Sprintf("%q and %q are one path on some file system", a.path, b.path))
		return true
	default:
		j.conflict(RuleNestedPath, a, b, fmt.Sprintf("%q lies beneath %q", b.path, a.path))
		return true
	}
	return false
}

func (j *judge) conflict(rule string, a, b *touch, message string) {
	if a.proposal != b.proposal {
		message += fmt.Sprintf(", which extension %q touches", j.proposals[a.proposal].Owner)
		j.find(b.proposal, b.intent, Finding{Rule: rule, Path: b.path, Message: message})
		return
	}
	j.find(b.proposal, a.intent, Finding{Rule: rule, Path: b.path, Message: message, Intents: []int{b.intent}})
}

func sameExpect(a, b abi.Expect) bool {
	if a.Absent != b.Absent || (a.Digest == nil) != (b.Digest == nil) {
		return false
	}
	return a.Digest == nil || *a.Digest == *b.Digest
}
