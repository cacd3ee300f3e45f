package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/root"
)

// Check judges the proposals as one transaction beneath r. It changes nothing and reads every file that the plans would
// replace, edit, move or remove. The error is a *[RefusedError].
//
// Equal intents of several proposals become one step with several owners.
//
// The judgement has four stages, each with its table of rules: each intent alone ([intentRules], [pathRules]), pairs of
// intents ([pairRules]), each intent against what lies in the root ([diskRules], [treeRules]), and what all of them would
// make of the root ([resultRules]). A later stage sees only what earlier ones have accepted.
func Check(r *root.Root, o Options, proposals ...Proposal) (Checked, error) {
	j := judge{Options: o, root: r, view: view{root: r, dead: map[string]error{}}, proposals: proposals, links: admitted(r, o)}
	defer j.view.close()
	intents := 0
	for _, p := range proposals {
		intents += len(p.Plan.Intents)
	}
	j.touches = make([]touch, 0, intents)
	for i := range proposals {
		j.proposal(i)
	}
	if !j.full {
		j.conflicts()
		j.look()
	}
	slices.SortStableFunc(j.steps, func(a, b Step) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(order(a.Action), order(b.Action)))
	})
	for _, r := range resultRules {
		for _, f := range r.broken(&j) {
			j.keep(r.finding(f))
		}
	}
	if len(j.found) > 0 {
		owners := make(map[string]int, len(proposals))
		for i, p := range proposals {
			owners[p.Owner] = i
		}
		slices.SortStableFunc(j.found, compareFindings(owners))
		return Checked{}, &RefusedError{Findings: j.found, Truncated: j.full}
	}
	return Checked{&checked{root: r, steps: j.steps}}, nil
}

// order is the order in which steps at one path are done.
func order(a Action) int {
	if a == Remove {
		return 0
	}
	return 1
}

// MaxFindings bounds the findings of one refusal. A person reads some tens; a plan of 64 MiB can have a million, with
// gigabytes of text.
const MaxFindings = 10_000

// judge carries one call of Check.
type judge struct {
	Options
	root      *root.Root
	view      view
	proposals []Proposal
	links     map[string]string   // admitted links, and the paths that they stand for
	touches   []touch             // what the intents of acceptable form touch
	order     []*touch            // the same, sorted: what lies beneath a path comes behind it
	gone      map[string]*removal // what deletes take away, by path as spelled: another spelling may be another file
	cleared   map[string]bool     // directories that are known not to be protected
	entries   int                 // how many more entries of removed and moved directories may be read
	edited    int64               // bytes of edited files so far
	steps     []Step
	found     []Finding
	full      bool // there were more than MaxFindings
}

// touch is one path that one intent touches. A rename has two.
type touch struct {
	proposal, intent int
	in               abi.Intent
	path, key        string      // key is the folded path, with NUL between components
	arrives          bool        // of a rename: this is the path at which it arrives
	content          abi.Content // of a write
	digest           abi.Digest  // of a write's content
	edits            []edited    // of the first edit of a file: the edits of them all
	rewritten        bool        // of a delete: a write or edit puts another file at its path
	dropped          bool        // it is part of an equal touch
	owners           []string
	last             int // the last proposal that is an owner
}

// leaves reports whether the touch is the path that a rename moves away.
func (t *touch) leaves() bool { return t.in.Op() == abi.OpRename && !t.arrives }

// finding is about the touch.
func (t *touch) finding(message string) Finding {
	return Finding{Path: t.path, Message: message, Intents: []int{t.intent}}
}

// row is one row of a table of rules: an id and what judges by it.
type row[F any] struct {
	id     string
	broken F
}

// maxMessage bounds a finding's message, in bytes: four paths are in it at most, and what else a plan says can be any length.
const maxMessage = 4 << 10

// finding completes a finding by the rule.
func (r row[F]) finding(f Finding) Finding {
	f.Rule, f.Message = r.id, cut(f.Message, maxMessage)
	f.Fix = cmp.Or(f.Fix, ruleByID[r.id].Fix)
	return f
}

// cut shortens a text to at most n bytes and a mark.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// find keeps a finding about a proposal.
func (j *judge) find(proposal int, f Finding) {
	f.Owner = j.proposals[proposal].Owner
	j.keep(f)
}

func (j *judge) keep(f Finding) {
	if len(j.found) == MaxFindings {
		j.full = true
		return
	}
	j.found = append(j.found, f)
}

// grant is what a proposal may do, in the folder that the root is.
func (j *judge) grant(proposal int) grant.Set {
	g := j.proposals[proposal].Grant
	if j.Folder != "" {
		g = g.In(j.Folder)
	}
	return g
}

// compareFindings orders findings: by owner as given by position, then first intent, rule, path. owner maps a name to its
// position among the proposals.
func compareFindings(owner map[string]int) func(a, b Finding) int {
	first := func(f Finding) int {
		if len(f.Intents) == 0 {
			return -1
		}
		return f.Intents[0]
	}
	return func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(owner[a.Owner], owner[b.Owner]),
			cmp.Compare(first(a), first(b)),
			cmp.Compare(ruleByID[a.Rule].order, ruleByID[b.Rule].order),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Message, b.Message),
		)
	}
}

// newEntries bounds the directory entries that the steps would make, missing parents counted.
func newEntries(j *judge) []Finding {
	made := map[string]bool{}
	for _, s := range j.steps {
		at := s.Path
		switch s.Action {
		case Move:
			at = s.To
		case Create, Fetch, Clone:
		default:
			continue
		}
		for made[at], at = true, parent(at); at != "" && !made[at] && !j.stays(at); at = parent(at) {
			made[at] = true
		}
		if len(made) > j.Limits.NewEntries {
			return []Finding{{Message: fmt.Sprintf("the plan would make more than %d directory entries", j.Limits.NewEntries)}}
		}
	}
	return nil
}

func parent(path string) string { dir, _ := root.Split(path); return dir }

// stays reports whether something lies at path and no step takes it away.
func (j *judge) stays(path string) bool {
	if _, gone := j.goneAbove(path); gone != nil {
		return false
	}
	info, err := j.view.stat(path)
	return err == nil && info.Exists
}
