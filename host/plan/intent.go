package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/edit"
)

// said is one intent as the rules about intents see it, links followed.
type said struct {
	*Proposal
	in      abi.Intent
	grant   grant.Set
	right   abi.Right
	paths   []string    // the paths of the root that it names
	denied  []string    // those of them that the grant does not cover
	content abi.Content // of a write; nil if there is none
	keys    []edit.Key  // of an edit
	keysErr error
}

// intentRules are the rules about one intent alone. pathRules come on top for each of its paths.
var intentRules = []row[func(*said) []Finding]{
	{RuleOpUnknown, func(s *said) []Finding {
		return when(s.paths == nil, "", "the intent %T is none that this host knows", s.in)
	}},
	{RuleOpNotAllowed, func(s *said) []Finding {
		return when(!slices.Contains(s.right.Ops, s.in.Op()), "", "an extension of kind %q may not %s in action %q", s.Kind, s.in.Op(), s.Action)
	}},
	{RuleDestination, outsideDestination},
	{RuleGuarded, guardedPaths},
	{RuleNotGranted, ungrantedPaths},
	{RuleReplaceLink, func(s *said) []Finding {
		w, ok := s.in.(abi.Write)
		return when(ok && w.ReplaceSymlink && !s.grant.MayReplaceSymlink(), w.Path, "the write of %q may replace a symlink, which is not granted", w.Path)
	}},
	{RuleURL, badURL},
	{RuleRef, badRef},
	{RuleRemoteNotGranted, ungrantedURL},
	{RuleMode, func(s *said) []Finding {
		w, ok := s.in.(abi.Write)
		return when(ok && w.Mode&^abi.ModeMask != 0, w.Path, "mode %#o of %q has more than permission bits", uint16(w.Mode), w.Path)
	}},
	{RuleModuleFile, func(s *said) []Finding {
		w, ok := s.in.(abi.Write)
		if ok && s.content == nil && w.Module != "" {
			return when(true, w.Path, "the write of %q copies %q, which the module does not have", w.Path, w.Module)
		}
		return when(ok && s.content == nil, w.Path, "the write of %q has neither content nor a module file", w.Path)
	}},
	{RuleEditForm, func(s *said) []Finding { return when(s.keysErr != nil, first(s.paths), "%v", s.keysErr) }},
	{RuleSamePath, func(s *said) []Finding {
		in, ok := s.in.(abi.Rename)
		return when(ok && Fold(in.From) == Fold(in.To), in.From, "%q and %q are one path on some file system, and one is renamed to the other", in.From, in.To)
	}},
	{RuleNestedPath, func(s *said) []Finding {
		in, ok := s.in.(abi.Rename)
		from, to := key(in.From), key(in.To)
		return when(ok && from != to && (covers(from, to) || covers(to, from)), in.From, "one of %q and %q lies within the other, and one is renamed to the other", in.From, in.To)
	}},
}

// when is a finding if the condition holds.
func when(broken bool, path, format string, args ...any) []Finding {
	if !broken {
		return nil
	}
	return []Finding{{Path: path, Message: fmt.Sprintf(format, args...)}}
}

// proposal judges what needs neither the root nor other intents.
func (j *judge) proposal(i int) {
	p := &j.proposals[i]
	right, ok := abi.RightOf(p.Kind, p.Action)
	for _, r := range answerRules {
		if why := r.broken(p, right, ok); why != "" {
			j.find(i, r.finding(Finding{Message: why}))
		}
	}
	if !ok {
		return
	}
	g := j.grant(i)
	for n, in := range p.Plan.Intents {
		if j.full {
			return
		}
		if len(j.links) > 0 {
			in = repathed(in, j.follow)
		}
		j.intent(i, n, said{Proposal: p, in: in, grant: g, right: right})
	}
}

// answerRules are the rules about an answer as a whole.
var answerRules = []row[func(p *Proposal, right abi.Right, known bool) string]{
	{RuleOpNotAllowed, func(p *Proposal, _ abi.Right, known bool) string {
		if !known {
			return fmt.Sprintf("an extension of kind %q has no action %q", p.Kind, p.Action)
		}
		return ""
	}},
	{RuleResult, func(p *Proposal, right abi.Right, known bool) string {
		switch {
		case known && right.Result && p.Plan.Result == nil:
			return fmt.Sprintf("the action %q is answered with a result, and there is none", p.Action)
		case known && !right.Result && p.Plan.Result != nil:
			return fmt.Sprintf("the action %q has no result, and there is one", p.Action)
		}
		return ""
	}},
}

// carried reports whether the grant for a path that passes an admitted link holds where the link leads: the user admitted the
// link by name, so what may be written at CLAUDE.md may be written at the AGENTS.md that it stands for. What is guarded, by
// either name, must be granted by its real one.
func carried(g grant.Set, named, real string) bool {
	if named == real || !g.MayWrite(named) {
		return false
	}
	_, a := g.Guarded(named)
	_, b := g.Guarded(real)
	return !a && !b
}

func (j *judge) intent(i, n int, s said) {
	s.paths = paths(s.in)
	if w, ok := s.in.(abi.Write); ok {
		s.content = w.Content
		if w.Module != "" && s.Module != nil {
			if c, ok := s.Module.File(w.Module); ok {
				s.content = c
			}
		}
	}
	s.keys, s.keysErr = edit.Keys(s.in)
	named := paths(s.Plan.Intents[n])
	for k, path := range s.paths {
		// A longer one is refused already, and would be quoted whole.
		if len(path) <= j.Limits.Path && !s.grant.MayWrite(path) && !carried(s.grant, named[k], path) {
			s.denied = append(s.denied, path)
		}
		for _, alias := range j.aliases(path) { // guarded by its other name is guarded
			if _, guarded := s.grant.Guarded(alias); guarded && !s.grant.MayWrite(alias) {
				s.denied = append(s.denied, alias)
			}
		}
	}
	before := len(j.found)
	for _, r := range intentRules {
		for _, f := range r.broken(&s) {
			f.Intents = []int{n}
			j.find(i, r.finding(f))
		}
	}
	for _, path := range s.paths {
		for _, f := range CheckPath(path, j.Limits) {
			f.Intents = []int{n}
			j.find(i, f)
		}
	}
	if len(j.found) > before || j.full {
		return
	}
	for k, path := range s.paths { // the second of a rename is where it arrives
		t := touch{
			proposal: i, intent: n, in: s.in, path: path, key: key(path), arrives: k == 1,
			content: s.content, edits: editsOf(i, n, s.in, s.keys), owners: []string{s.Owner}, last: i,
		}
		if s.content != nil {
			t.digest = s.content.Digest()
		}
		j.touches = append(j.touches, t)
	}
}

// key is the folded path with NUL between components: what lies beneath a path sorts right behind it.
func key(path string) string { return strings.ReplaceAll(Fold(path), "/", "\x00") }

// paths returns the paths of the root that an intent names; nil for an intent that this host does not know.
func paths(in abi.Intent) []string {
	switch in := in.(type) {
	case abi.Write: // nearly all of a plan; the others are not worth a second list of the ops
		return []string{in.Path}
	case abi.Delete:
		return []string{in.Path}
	}
	var all []string
	repathed(in, func(p string) string {
		all = append(all, p)
		return p
	})
	return all
}

// repathed returns the intent with each path of the root that it names replaced, in order.
func repathed(in abi.Intent, by func(string) string) abi.Intent {
	switch in := in.(type) {
	case abi.Write:
		in.Path = by(in.Path)
		return in
	case abi.EditJSON:
		in.Path = by(in.Path)
		return in
	case abi.EditBlock:
		in.Path = by(in.Path)
		return in
	case abi.Delete:
		in.Path = by(in.Path)
		return in
	case abi.Rename:
		in.From, in.To = by(in.From), by(in.To)
		return in
	case abi.Fetch:
		in.Dest = by(in.Dest)
		return in
	case abi.Clone:
		in.Dest = by(in.Dest)
		return in
	}
	return in
}

func first(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[0]
}

// outsideDestination holds a source to the folder that the request asked it to fill.
func outsideDestination(s *said) []Finding {
	if s.Kind != abi.KindSource {
		return nil
	}
	for _, path := range s.paths {
		switch {
		case s.Destination == "":
			return when(true, path, "the request names no destination, so %q lies outside it", path)
		case path != s.Destination && !strings.HasPrefix(path, s.Destination+"/"):
			return when(true, path, "the path %q lies outside the destination %q", path, s.Destination)
		}
	}
	return nil
}

// maxGrantShown bounds what a message says of a grant, in bytes: it stands in many messages.
const maxGrantShown = 200

func ungrantedPaths(s *said) []Finding {
	var found []Finding
	for _, path := range s.denied {
		if _, guarded := s.grant.Guarded(path); !guarded { // else it is another rule's
			found = append(found, notGranted(s.grant, path))
		}
	}
	return found
}

// granted is the grant in words.
func granted(g grant.Set) string { return cut(g.String(), maxGrantShown) }

func notGranted(g grant.Set, path string) Finding {
	return Finding{
		Path: path, Message: fmt.Sprintf("the path %q is not covered by the grant (%s)", path, granted(g)),
		Fix: fmt.Sprintf("the manifest must ask for it (writes: %q) and the user must grant it", path),
	}
}
