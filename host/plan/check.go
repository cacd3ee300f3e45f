package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// Check judges the proposals as one transaction beneath r. It changes nothing and reads every file
// that the plans would replace or remove. The error is a *[RefusedError], or one that says why the root cannot be read.
//
// Equal writes of several proposals become one step with several owners.
func Check(r *root.Root, o Options, proposals ...Proposal) (Checked, error) {
	j := judge{root: r, lim: o.Limits, proposals: proposals}
	for i := range proposals {
		j.proposal(i)
	}
	if !j.full {
		j.conflicts()
	}
	steps := j.look()
	slices.SortFunc(steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	j.bareRepositories(steps)
	j.newEntries(steps)
	if len(j.found) > 0 {
		owners := make(map[string]int, len(proposals))
		for i, p := range proposals {
			owners[p.Owner] = i
		}
		slices.SortStableFunc(j.found, compareFindings(owners))
		return Checked{}, &RefusedError{Findings: j.found, Truncated: j.full}
	}
	return Checked{&checked{root: r, steps: steps}}, nil
}

// MaxFindings bounds the findings of one refusal. A person reads some tens; a plan of 64 MiB can have a million, with
// gigabytes of text.
const MaxFindings = 10_000

// maxGrantShown bounds what a message says of a grant, in bytes: it stands in many messages.
const maxGrantShown = 200

// judge carries one call of Check.
type judge struct {
	root      *root.Root
	lim       abi.Limits
	proposals []Proposal
	touches   []touch // the intents whose form is acceptable
	found     []Finding
	full      bool // there were more than MaxFindings
}

// touch is one path that one intent touches.
type touch struct {
	proposal, intent int
	op               abi.Op
	path, key        string      // key is the folded path, with NUL between components
	mode             abi.Mode    // of a write
	content          abi.Content // of a write
	digest           abi.Digest  // of a write's content
	expect           abi.Expect
	dropped          bool // in conflict, or merged into another touch
	owners           []string
}

func (j *judge) find(proposal, intent int, f Finding) {
	f.Owner = j.proposals[proposal].Owner
	if intent >= 0 {
		f.Intents = append([]int{intent}, f.Intents...)
	}
	j.keep(f)
}

func (j *judge) keep(f Finding) {
	if len(j.found) == MaxFindings {
		j.full = true
		return
	}
	j.found = append(j.found, f)
}

// proposal judges what needs neither the root nor other intents.
func (j *judge) proposal(i int) {
	p := &j.proposals[i]
	right, ok := abi.RightOf(p.Kind, p.Action)
	if !ok {
		j.find(i, -1, Finding{Rule: RuleOpNotAllowed, Message: fmt.Sprintf("an extension of kind %q has no action %q", p.Kind, p.Action)})
		return
	}
	switch {
	case right.Result && p.Plan.Result == nil:
		j.find(i, -1, Finding{Rule: RuleResult, Message: fmt.Sprintf("the action %q is answered with a result, and there is none", p.Action)})
	case !right.Result && p.Plan.Result != nil:
		j.find(i, -1, Finding{Rule: RuleResult, Message: fmt.Sprintf("the action %q has no result, and there is one", p.Action)})
	}
	granted := p.Grant.String()
	if len(granted) > maxGrantShown {
		granted = strings.ToValidUTF8(granted[:maxGrantShown], "") + "…"
	}
	for n, in := range p.Plan.Intents {
		if j.full {
			return
		}
		j.intent(i, n, right, granted, in)
	}
}

func (j *judge) intent(i, n int, right abi.Right, granted string, in abi.Intent) {
	p := &j.proposals[i]
	before := len(j.found)
	if !slices.Contains(right.Ops, in.Op()) {
		j.find(i, n, Finding{Rule: RuleOpNotAllowed, Message: fmt.Sprintf("an extension of kind %q may not %s in action %q", p.Kind, in.Op(), p.Action)})
	}
	for _, path := range paths(in) {
		for _, f := range CheckPath(path, j.lim) {
			j.find(i, n, f)
		}
		if len(path) <= j.lim.Path && !p.Grant.MayWrite(path) { // a longer one is refused already, and would be quoted whole
			j.find(i, n, Finding{
				Rule: RuleNotGranted, Path: path, Message: fmt.Sprintf("the path %q is not covered by the grant (%s)", path, granted),
				Fix: "the manifest must ask for it under \"writes\" and the user must grant it",
			})
		}
	}
	switch in := in.(type) {
	case abi.Write:
		j.write(i, n, in, before)
	case abi.Delete:
		if len(j.found) == before {
			j.touch(touch{proposal: i, intent: n, op: abi.OpDelete, path: in.Path})
		}
	default:
		j.find(i, n, Finding{Rule: RuleOpUnsupported, Message: fmt.Sprintf("this version of the host cannot apply %q yet", in.Op())})
	}
}

func (j *judge) write(i, n int, in abi.Write, before int) {
	if in.Mode&^abi.ModeMask != 0 {
		j.find(i, n, Finding{Rule: RuleMode, Path: in.Path, Message: fmt.Sprintf("mode %#o of %q has more than permission bits", uint16(in.Mode), in.Path)})
	}
	if in.ReplaceSymlink {
		j.find(i, n, Finding{Rule: RuleOpUnsupported, Path: in.Path, Message: fmt.Sprintf("the write of %q asks to replace a symlink, which this version of the host cannot do yet", in.Path)})
	}
	content := in.Content
	if in.Module != "" {
		ok := false
		if m := j.proposals[i].Module; m != nil {
			content, ok = m.File(in.Module)
		}
		if !ok {
			j.find(i, n, Finding{Rule: RuleModuleFile, Path: in.Path, Message: fmt.Sprintf("the write of %q copies %q, which the module does not have", in.Path, in.Module)})
			return
		}
	}
	if content == nil {
		j.find(i, n, Finding{Rule: RuleModuleFile, Path: in.Path, Message: fmt.Sprintf("the write of %q has neither content nor a module file", in.Path)})
		return
	}
	if len(j.found) == before {
		j.touch(touch{proposal: i, intent: n, op: abi.OpWrite, path: in.Path, mode: in.Mode, content: content, digest: content.Digest(), expect: in.Expect})
	}
}

func (j *judge) touch(t touch) {
	t.key = strings.ReplaceAll(fold(t.path), "/", "\x00")
	t.owners = []string{j.proposals[t.proposal].Owner}
	j.touches = append(j.touches, t)
}

// paths returns the paths of the root that an intent names.
func paths(in abi.Intent) []string {
	switch in := in.(type) {
	case abi.Write:
		return []string{in.Path}
	case abi.EditJSON:
		return []string{in.Path}
	case abi.EditBlock:
		return []string{in.Path}
	case abi.Delete:
		return []string{in.Path}
	case abi.Rename:
		return []string{in.From, in.To}
	case abi.Fetch:
		return []string{in.Dest}
	case abi.Clone:
		return []string{in.Dest}
	}
	return nil
}

// look holds what the intents touch against what lies there now and turns them into steps.
func (j *judge) look() []Step {
	removed := make(map[string]bool) // paths of files that go, as spelled: another spelling may be another file that stays
	for _, t := range j.touches {
		if t.op == abi.OpDelete && !t.dropped {
			removed[t.path] = true
		}
	}
	var steps []Step
	for _, t := range j.touches {
		if t.dropped || j.full {
			continue
		}
		if s, ok := j.lookAt(t, removed); ok {
			steps = append(steps, s)
		}
	}
	return steps
}

func (j *judge) lookAt(t touch, removed map[string]bool) (Step, bool) {
	fail := func(rule, fix, format string, args ...any) (Step, bool) {
		j.find(t.proposal, t.intent, Finding{Rule: rule, Path: t.path, Message: fmt.Sprintf(format, args...), Fix: fix})
		return Step{}, false
	}
	s := Step{Path: t.path, Mode: t.mode, Content: t.content, Owners: t.owners}
	info, err := j.root.Stat(t.path)
	if link := (*root.LinkError)(nil); errors.As(err, &link) {
		switch {
		case link.Kind == "regular file" && t.op == abi.OpDelete:
			info, err = root.Info{}, nil // nothing lies beneath a file
		case link.Kind == "regular file" && removed[link.Path]:
			info, err = root.Info{}, nil // the file in the way goes first
		case link.Kind == "regular file":
			return fail(RuleInTheWay, "move it away", "the path %q needs a directory where %q is a regular file", t.path, link.Path)
		default:
			return fail(RuleLink, "put a real directory there, or install elsewhere", "the path %q passes %q, which is a %s", t.path, link.Path, link.Kind)
		}
	}
	if err != nil {
		return fail(RuleUnreadable, "", "looking at %q: %v", t.path, err)
	}
	s.Before.Info = info
	switch {
	case !info.Exists:
	case info.Type.IsDir() && t.op == abi.OpDelete:
		return fail(RuleOpUnsupported, "", "%q is a directory, and this version of the host cannot delete one yet", t.path)
	case info.Type.IsDir():
		return fail(RuleInTheWay, "move it away", "%q is a directory, and a file is to be written there", t.path)
	case !info.Regular():
		return fail(RuleLink, "move it away", "%q is a %s", t.path, info.Kind())
	default:
		if s.Before.Digest, _, err = j.root.Digest(t.path, math.MaxInt64-1); err != nil {
			return fail(RuleUnreadable, "", "reading %q: %v", t.path, err)
		}
	}
	switch e := t.expect; {
	case e.Absent && info.Exists:
		return fail(RuleExpect, "", "%q is expected to be absent, and is there", t.path)
	case e.Digest != nil && !info.Exists:
		return fail(RuleExpect, "", "%q is expected to have the digest %s, and is not there", t.path, e.Digest)
	case e.Digest != nil && s.Before.Digest != *e.Digest:
		return fail(RuleExpect, "", "%q is expected to have the digest %s, and has %s", t.path, e.Digest, s.Before.Digest)
	}
	switch {
	case t.op == abi.OpDelete && !info.Exists:
		return Step{}, false // deleting what is absent is no error
	case t.op == abi.OpDelete:
		s.Action = Remove
	case !info.Exists:
		s.Action = Create
	case s.Before.Digest == t.digest && SameMode(info.Mode, t.mode):
		s.Action = Keep
	default:
		s.Action = Update
	}
	return s, true
}

// SameMode reports whether two modes are the same as far as this platform keeps modes at all.
func SameMode(a, b abi.Mode) bool { return runtime.GOOS == "windows" || a == b }

// gitMarks are the folded names by which git knows a directory for a repository, each with its bit, and those that it obeys
// in one.
var gitMarks = map[string]int{
	"head": 1, "objects": 2, "refs": 4, "commondir": 8,
	"config": 0, "config.worktree": 0, "hooks": 0,
}

// bareRepositories refuses a result in which HEAD, objects and refs lie side by side, or HEAD and commondir, which says
// where the other two are: git reads such a directory's config wherever it stands, and its fsmonitor runs a program at the
// next "git status" (setup.c, is_git_directory). What lies there already counts, as soon as a step adds to it. Directories
// that some file system takes for one are one. The steps are sorted.
func (j *judge) bareRepositories(steps []Step) {
	planned := map[string]int{} // bits, by folded directory
	first := map[string]int{}   // the first step that brings a mark, by directory as spelled
	for n, s := range steps {
		if s.Action == Remove {
			continue
		}
		for at := 0; at < len(s.Path); {
			name, _, _ := strings.Cut(s.Path[at:], "/")
			if bit, ok := gitMarks[fold(name)]; ok {
				dir := s.Path[:at]
				planned[fold(dir)] |= bit
				if _, ok := first[dir]; !ok {
					first[dir] = n
				}
			}
			at += len(name) + 1
		}
	}
	for dir, n := range first {
		have := planned[fold(dir)]
		for _, name := range [...]string{"HEAD", "objects", "refs", "commondir"} {
			if bit := gitMarks[fold(name)]; have&bit == 0 {
				if info, err := j.root.Stat(dir + name); err == nil && info.Exists {
					have |= bit
				}
			}
		}
		if have&1 != 0 && (have&6 == 6 || have&8 != 0) {
			j.keep(Finding{Rule: RuleBareRepo, Owner: steps[n].Owners[0], Path: steps[n].Path,
				Message: fmt.Sprintf("the directory %q would hold HEAD beside objects and refs, or beside commondir", cmp.Or(strings.TrimSuffix(dir, "/"), "."))})
		}
	}
}

// newEntries bounds the directory entries that the steps would make, missing parents counted.
func (j *judge) newEntries(steps []Step) {
	made := map[string]bool{}
	for _, s := range steps {
		if s.Action != Create {
			continue
		}
		made[s.Path] = true
		for dir, _ := root.Split(s.Path); dir != "" && !made[dir]; dir, _ = root.Split(dir) {
			if info, err := j.root.Stat(dir); err == nil && info.Exists {
				break
			}
			made[dir] = true
		}
		if len(made) > j.lim.NewEntries {
			j.keep(Finding{Rule: RuleNewEntries, Message: fmt.Sprintf("the plan would make more than %d directory entries", j.lim.NewEntries)})
			return
		}
	}
}
