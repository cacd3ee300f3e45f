package plantest

import (
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/lola-ext/lola/abi"
)

// The rules that a pair of intents can break.
const (
	SamePath    = "same-path"    // both touch one path
	NestedPath  = "nested-path"  // one touches a path beneath the other's
	EditOverlap = "edit-overlap" // both edit one file, at pointers or ids that overlap, or in two formats
	Spelling    = "spelling"     // they would do, but spell one path in two ways
	EditShared  = "edit-shared"  // they overlap only where they ask for one value at one pointer, each in a plan of its own
)

// Ref names an intent by the positions of its proposal and of itself in that, from 0.
type Ref struct{ Proposal, Intent int }

// Pair is two intents that conflict, A before B, or one intent that conflicts with itself, which is then both.
type Pair struct {
	A, B Ref
	Rule string
}

// Conflicts returns every conflict among proposals that are to be applied in one transaction, in the order of their
// intents, one for each rule that two intents break. It takes time with the square of the number of intents.
//
// It follows the letter of SPEC section 5, quoted beside each line of code, with one addition. The letter alone would let
// these pass, and each means another thing on a file system that compares without case than on one that does not:
//
//   - delete FOO, write foo (or edit, fetch, clone it, or rename to it): foo is "a path that is a delete's path". Where case
//     counts and both are there, two files become one; elsewhere one is replaced.
//   - delete FOO, write foo/x: foo/x "lies beneath a delete's path". Where case counts, the rest of foo stays; elsewhere it
//     goes.
//   - delete FOO, delete foo or foo/x: where case counts more goes than elsewhere.
//   - edit FOO, edit foo at pointers that do not overlap: "two paths are one if they fold alike", so this is one edit of
//     one file; where case counts it makes two files.
//
// The safe answer is to refuse them, and row P07 gives it: "`FOO` and `foo`, NFC and NFD spellings, in one plan: one path
// on every OS, plan refused". They are reported under a rule of their own, [Spelling], so that a test can tell the letter
// of section 5 from the addition.
//
// Neither text refuses directories that are spelled in two ways above paths that differ: write Foo/a, write foo/b makes
// one directory on some file systems and two on others. No file takes the place of another by that, so it passes here.
//
// There is also one pair that the letter refuses and a wider reading lets pass, [EditShared]: "equal intents are one file
// with several owners". By the letter the intent is the whole edit, and two that share a pointer and are not equal
// overlap. Whoever counts each change of a value as one finds the shared change equal, and so without a conflict. It does
// no harm if each owner's changes are recorded apart, as the value then goes with its last owner.
//
// Nor does the letter compare what a write by module name copies: two proposals that ask for equal writes of a module
// file are equal intents, though their modules may differ. Whoever resolves the names must compare the bytes.
func Conflicts(proposals [][]abi.Intent) []Pair {
	type placed struct {
		ref     Ref
		intent  abi.Intent
		touches []touch
	}
	var all []placed
	for p, intents := range proposals {
		for i, in := range intents {
			all = append(all, placed{Ref{p, i}, in, touches(in)})
		}
	}
	var pairs []Pair
	for i, a := range all {
		for _, rule := range within(a.intent, a.touches) {
			pairs = append(pairs, Pair{a.ref, a.ref, rule})
		}
		for _, b := range all[i+1:] {
			// "When several targets install in one transaction, equal intents are one file with several owners." Within
			// one plan equal intents have no such excuse: two intents may not touch one path.
			if a.ref.Proposal != b.ref.Proposal && Equal(a.intent, b.intent) {
				continue
			}
			for _, rule := range between(a.intent, b.intent, a.touches, b.touches, a.ref.Proposal == b.ref.Proposal) {
				pairs = append(pairs, Pair{a.ref, b.ref, rule})
			}
		}
	}
	return pairs
}

// Participants returns the intents that take part in any of the conflicts.
func Participants(pairs []Pair) map[Ref]bool {
	set := map[Ref]bool{}
	for _, p := range pairs {
		set[p.A], set[p.B] = true, true
	}
	return set
}

// part is what an intent has to do with a path that it touches.
type part int

const (
	makes   part = iota // writes, edits, fetches or clones it, or renames something to it
	deletes             // deletes it, and all beneath it
	takes               // renames it away, and all beneath it
)

// touch is one path that an intent touches.
type touch struct {
	spelled string
	folded  []string // by component
	part    part
}

// touches returns the paths that an intent touches: one, or two for a rename.
func touches(in abi.Intent) []touch {
	at := func(path string, p part) touch { return touch{path, FoldPath(path), p} }
	switch in := in.(type) {
	case abi.Write:
		return []touch{at(in.Path, makes)}
	case abi.EditJSON:
		return []touch{at(in.Path, makes)}
	case abi.EditBlock:
		return []touch{at(in.Path, makes)}
	case abi.Delete:
		return []touch{at(in.Path, deletes)}
	case abi.Rename: // "`rename` touches both ends."
		return []touch{at(in.From, takes), at(in.To, makes)}
	case abi.Fetch:
		return []touch{at(in.Dest, makes)}
	case abi.Clone:
		return []touch{at(in.Dest, makes)}
	}
	panic("plantest: an intent of unknown type")
}

// within returns the rules that an intent breaks by itself. The letter speaks of two intents; these are the two readings
// without which it would have a hole:
//
//   - a rename "touches both ends", and they may not be one path, nor one beneath the other, any more than those of two
//     intents: rename a to a/b cannot be done, a to A does nothing where case does not count, and a to a does nothing anywhere;
//   - the `edits` of one intent may stand "in any order" (abi/SPEC.md), so they too are one edit only "if their pointers or
//     ids do not overlap": of /a = 1 and /a = 2 either could win. Equal ones overlap as well.
func within(in abi.Intent, touched []touch) []string {
	switch in := in.(type) {
	case abi.Rename:
		return clash(touched[0], touched[1])
	case abi.EditJSON:
		for i, e := range in.Edits {
			for _, f := range in.Edits[i+1:] {
				if pointersOverlap(e, f) {
					return []string{EditOverlap}
				}
			}
		}
	}
	return nil
}

// between returns the rules that two intents break, unequal or of one proposal.
func between(a, b abi.Intent, touchedByA, touchedByB []touch, samePlan bool) (rules []string) {
	if a.Op() == abi.OpEdit && b.Op() == abi.OpEdit {
		x, y := touchedByA[0], touchedByB[0]
		if !slices.Equal(x.folded, y.folded) {
			return clash(x, y)
		}
		// "Several `edit`s of one file are one edit if their pointers or ids do not overlap."
		if rule := overlap(a, b, samePlan); rule != "" {
			rules = append(rules, rule)
		}
		if x.spelled != y.spelled {
			rules = append(rules, Spelling) // P07; see Conflicts
		}
		return rules
	}
	for _, x := range touchedByA {
		for _, y := range touchedByB {
			for _, rule := range clash(x, y) {
				if !slices.Contains(rules, rule) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules
}

// clash returns the rule that two touched paths break, or nothing.
func clash(x, y touch) []string {
	// "Exception: a path that is or lies beneath a `delete`'s `path` does not conflict with that delete, unless it is a
	// `rename` source." So a path above the delete's does conflict, whatever is done there, and two deletes do not if they
	// are one path or one lies beneath the other: it is the inner delete's path that lies beneath the outer one's.
	excepted := func(d, other touch) bool {
		return d.part == deletes && other.part != takes && isOrBeneath(other.folded, d.folded)
	}
	spelledAlike := func(d, other touch) bool {
		return other.spelled == d.spelled || strings.HasPrefix(other.spelled, d.spelled+"/")
	}
	switch {
	case excepted(x, y) && spelledAlike(x, y) || excepted(y, x) && spelledAlike(y, x):
		return nil
	case excepted(x, y) || excepted(y, x):
		return []string{Spelling} // P07; see Conflicts
	// "Two intents may not touch one path, nor one beneath another."
	case slices.Equal(x.folded, y.folded):
		return []string{SamePath}
	case isOrBeneath(x.folded, y.folded) || isOrBeneath(y.folded, x.folded):
		return []string{NestedPath}
	}
	return nil
}

// isOrBeneath reports whether path is top or lies beneath it.
func isOrBeneath(path, top []string) bool {
	return len(path) >= len(top) && slices.Equal(path[:len(top)], top)
}

// FoldPath returns the folded components of a path: "two paths are one if they fold alike (Unicode NFD, full case fold,
// NFC)".
func FoldPath(path string) []string {
	parts := strings.Split(path, "/")
	for i, c := range parts {
		c = norm.NFD.String(c)
		c = cases.Fold().String(c)
		c = strings.Map(foldCherokee, c)
		parts[i] = norm.NFC.String(c)
	}
	return parts
}

// foldCherokee corrects cases.Fold, which folds the capitals of Cherokee to its small letters (golang/go issue 46101) and
// some of these to capitals. CaseFolding.txt folds that script alone the other way: U+13F8 to U+13FD to U+13F0 to U+13F5,
// and U+AB70 to U+ABBF to U+13A0 to U+13EF.
func foldCherokee(r rune) rune {
	switch {
	case '\u13f8' <= r && r <= '\u13fd':
		return r - '\u13f8' + '\u13f0'
	case '\uab70' <= r && r <= '\uabbf':
		return r - '\uab70' + '\u13a0'
	}
	return r
}
