package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

// Edited is what a step's edits did for one extension. What two extensions ask for alike stands with both.
type Edited struct {
	Owner   string
	Records []edit.Record
}

// edited is one edit of one value or block of a file.
type edited struct {
	proposal, intent int
	key              edit.Key
	in               abi.Intent
	at               int   // which of the intent's edits
	owners           []int // the proposals that ask for it, in order
	shared           bool  // an earlier edit of another proposal says the same, and stands for this one too
}

// maxBlocks bounds the blocks of one file: each is a pass over it. A person reads some.
const maxBlocks = 64

// editsOf returns the edits of an intent; nil if it edits nothing, so that what it replaces is hashed and not held in memory.
func editsOf(proposal, intent int, in abi.Intent, keys []edit.Key) []edited {
	if in.Op() != abi.OpEdit {
		return nil
	}
	all := make([]edited, len(keys))
	for i, k := range keys {
		all[i] = edited{proposal: proposal, intent: intent, key: k, in: in, at: i, owners: []int{proposal}}
	}
	return all
}

// overlaps finds edits of one file that are about one part of it. Equal ones of different proposals are one edit.
func (j *judge) overlaps(t *touch) {
	r := row[struct{}]{id: RuleEditOverlap}
	keys := make([]edit.Key, len(t.edits))
	for i, e := range t.edits {
		keys[i] = e.key
	}
	for _, c := range edit.Conflicts(keys) {
		a, b := &t.edits[c.A], &t.edits[c.B]
		if c.Same && a.owners[len(a.owners)-1] != b.proposal {
			a.owners, b.shared = append(a.owners, b.proposal), true
			continue
		}
		t.dropped = true // what they would make of the file is not to be known
		j.conflict(r.finding(Finding{Path: t.path, Message: fmt.Sprintf("%s and %s of %q overlap", a, b, t.path)}),
			&touch{proposal: a.proposal, intent: a.intent}, &touch{proposal: b.proposal, intent: b.intent})
	}
}

// maxPointerShown bounds what a message says of a pointer, in bytes: one can stand in as many messages as there are edits.
const maxPointerShown = 200

// String names the part that the edit is about.
func (e *edited) String() string {
	if in, ok := e.in.(abi.EditJSON); ok {
		return fmt.Sprintf("the value at %q", cut(in.Edits[e.at].At, maxPointerShown))
	}
	return fmt.Sprintf("the block %q", e.in.(abi.EditBlock).ID)
}

// edit works out what the edits make of a file, and what they did for whom.
func (j *judge) edit(t *touch, old []byte, exists bool) (_ edit.Result, did []Edited, left []edit.Left, err error) {
	edits := slices.DeleteFunc(slices.Clone(t.edits), func(e edited) bool { return e.shared })
	if records := j.Revert[t.path]; exists && len(records) > 0 {
		now, empty, kept, err := edit.Revert(t.path, old, records)
		if err != nil {
			return edit.Result{}, nil, nil, err
		}
		old, exists, left = now, !empty, kept
	}
	result, err := run(t.path, edits, old, exists)
	if err != nil {
		return edit.Result{}, nil, nil, err
	}
	n := int64(len(result.New))
	if n > j.Limits.Content {
		return edit.Result{}, nil, nil, &abi.LimitError{Limit: "content", Bound: j.Limits.Content, Got: n}
	}
	if j.edited += n; j.edited > j.Limits.Plan { // they are kept in memory, as a plan's contents are not
		return edit.Result{}, nil, nil, &abi.LimitError{Limit: "edited files in all", Bound: j.Limits.Plan, Got: j.edited}
	}
	for p := range j.proposals {
		var records []edit.Record
		for i, e := range edits {
			if slices.Contains(e.owners, p) {
				records = append(records, result.Records[i])
			}
		}
		if records != nil {
			did = append(did, Edited{Owner: j.proposals[p].Owner, Records: records})
		}
	}
	return result, did, left, nil
}

// run makes the edits, which do not overlap, of a file.
func run(path string, edits []edited, old []byte, exists bool) (edit.Result, error) {
	if _, blocks := edits[0].in.(abi.EditBlock); !blocks {
		var values []abi.JSONEdit
		for _, e := range edits {
			in, ok := e.in.(abi.EditJSON)
			if !ok {
				return edit.Result{}, errors.New("it is edited as JSON and as text with blocks")
			}
			values = append(values, in.Edits[e.at])
		}
		return edit.JSON(old, exists, values)
	}
	if len(edits) > maxBlocks {
		return edit.Result{}, &abi.LimitError{Limit: "blocks of one file", Bound: maxBlocks, Got: int64(len(edits))}
	}
	all := edit.Result{New: old}
	for _, e := range edits {
		in, ok := e.in.(abi.EditBlock)
		if !ok {
			return edit.Result{}, errors.New("it is edited as JSON and as text with blocks")
		}
		r, err := edit.Block(path, all.New, exists || all.Changed, in)
		if err != nil {
			return edit.Result{}, err
		}
		all.New, all.Changed, all.Records = r.New, all.Changed || r.Changed, append(all.Records, r.Records...)
	}
	return all, nil
}
