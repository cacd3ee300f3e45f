package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// sight is a touch with what lies at its path now.
type sight struct {
	*touch
	Before
	text  []byte          // of a file that is to be edited
	link  *root.LinkError // a parent is no directory
	err   error           // it cannot be looked at
	under *removal        // what the same plans take away at the path or above it
	at    string          // where that is
}

// covered reports whether nothing will lie at the path once the deletes are done.
func (s *sight) covered() bool { return s.under != nil }

// replaced reports whether the file at the path is deleted and written anew, which makes an update.
func (s *sight) replaced() bool { return s.covered() && s.at == s.path && !s.under.dir }

// diskRules are the rules about one touch and what lies at its path. The first that is broken ends the judgement of a touch.
var diskRules = []row[func(*judge, *sight) string]{
	{RuleUnreadable, func(_ *judge, s *sight) string {
		if s.err != nil {
			return fmt.Sprintf("looking at %q: %v", s.path, s.err)
		}
		return ""
	}},
	{RuleProtected, func(j *judge, s *sight) string {
		if at := j.protected(s.path, s.Info); at != "" {
			return fmt.Sprintf("%q is, under another name, the folder for state or the running program", at)
		}
		return ""
	}},
	{RuleLink, func(_ *judge, s *sight) string {
		switch {
		case s.link != nil && s.link.Kind != "regular file":
			return fmt.Sprintf("the path %q passes %q, which is a %s", s.path, s.link.Path, s.link.Kind)
		case s.Exists && !s.Regular() && !s.Type.IsDir() && s.Link == "":
			return fmt.Sprintf("%q is a %s", s.path, s.Kind())
		}
		return ""
	}},
	{RuleInTheWay, func(_ *judge, s *sight) string {
		op := s.in.Op()
		switch {
		case deletes(s.touch) || s.leaves() || s.covered():
		case s.link != nil:
			return fmt.Sprintf("the path %q needs a directory where %q is a regular file", s.path, s.link.Path)
		case op == abi.OpClone && s.Exists:
			return fmt.Sprintf("%q is there, and a repository is to be cloned to it", s.path)
		case op != abi.OpRename && s.Type.IsDir():
			return fmt.Sprintf("%q is a directory, and a file is to be written there", s.path)
		}
		return ""
	}},
	{RuleExpect, func(_ *judge, s *sight) string {
		w, _ := s.in.(abi.Write)
		switch e := w.Expect; {
		case e.Absent && s.Exists:
			return fmt.Sprintf("%q is expected to be absent, and is there", s.path)
		case e.Digest != nil && !s.Exists:
			return fmt.Sprintf("%q is expected to have the digest %s, and is not there", s.path, e.Digest)
		case e.Digest != nil && s.Digest != *e.Digest:
			return fmt.Sprintf("%q is expected to have the digest %s, and has %s", s.path, e.Digest, s.Digest)
		}
		return ""
	}},
	{RuleRenameSource, func(_ *judge, s *sight) string {
		if s.leaves() && !s.Exists {
			return fmt.Sprintf("%q is to be renamed, and is not there", s.path)
		}
		return ""
	}},
	{RuleRenameTarget, func(_ *judge, s *sight) string {
		if s.arrives && s.Exists && !s.covered() {
			return fmt.Sprintf("%q is to be renamed to %q, and a %s is there", s.in.(abi.Rename).From, s.path, s.Kind())
		}
		return ""
	}},
}

// look holds what the intents touch against what lies there now and turns them into steps: deletes first, outer ones before
// inner ones, since what else is to be seen depends on what goes.
func (j *judge) look() {
	j.gone, j.cleared, j.entries = map[string]*removal{}, map[string]bool{}, j.Limits.NewEntries
	j.steps = make([]Step, 0, len(j.order))
	for _, deleting := range []bool{true, false} {
		for _, t := range j.order {
			if t.dropped || deletes(t) != deleting {
				continue
			}
			if j.full {
				return
			}
			if deleting {
				if _, outer := j.goneAbove(t.path); outer != nil && outer.dir {
					continue // it goes with what lies around it
				}
			}
			s := j.see(t)
			if r := slices.IndexFunc(diskRules, func(r row[func(*judge, *sight) string]) bool {
				why := r.broken(j, s)
				if why != "" {
					f := t.finding(why)
					if r.id == RuleLink {
						f.Fix = j.linkFix(s)
					}
					j.find(t.proposal, r.finding(f))
				}
				return why != ""
			}); r < 0 {
				j.step(s)
			}
		}
	}
	j.unchanged()
}

// maxLooks is how often a path is looked at whose file goes while it is read. Where two entries cannot be exchanged in one
// call, as on Windows, another command that replaces a file takes it away for a moment.
const maxLooks = 10

// see looks at a touch's path.
func (j *judge) see(t *touch) *sight {
	for looks := 1; ; looks++ {
		if s := j.lookOnce(t); !errors.Is(s.err, fs.ErrNotExist) || looks == maxLooks {
			return s
		}
	}
}

func (j *judge) lookOnce(t *touch) *sight {
	s := &sight{touch: t}
	s.at, s.under = j.goneAbove(t.path)
	s.Info, s.err = j.view.stat(t.path)
	if errors.As(s.err, &s.link) {
		s.err = nil
	}
	w, _ := t.in.(abi.Write)
	switch {
	case s.err != nil:
	case s.Type.IsDir() || !s.Exists:
	case s.Regular() && t.edits != nil && !s.covered():
		s.text, s.err = j.read(t.path)
		s.Digest = abi.DigestOf(s.text)
	case s.Regular():
		s.Digest, s.err = j.view.digest(t.path)
	case w.ReplaceSymlink:
		s.Link, s.err = j.view.readlink(t.path)
	}
	return s
}

// maxRead bounds what is read of a file that is only compared: by nothing but what a size can be.
const maxRead = math.MaxInt64 - 1

// read reads a file that is to be edited.
func (j *judge) read(path string) ([]byte, error) {
	f, err := j.root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, j.Limits.Content+1))
	if n := int64(len(text)); err == nil && n > j.Limits.Content {
		return nil, &abi.LimitError{Limit: "content", Bound: j.Limits.Content, Got: n}
	}
	return text, err
}

// step adds the step that a touch comes to.
func (j *judge) step(s *sight) {
	g := j.grant(s.proposal)
	step := Step{Path: s.path, Owners: s.owners, Before: s.Before, Guarded: shown(g, j.names([]string{s.path})...)}
	switch in := s.in.(type) {
	case abi.Delete:
		if !s.Exists {
			return // deleting what is absent is no error
		}
		step.Action = Remove
		j.remove(s, step)
		return
	case abi.Rename:
		if s.arrives {
			return // the other end makes the step
		}
		step.Action, step.To, step.Dir = Move, in.To, s.Type.IsDir()
		step.Guarded = append(step.Guarded, shown(g, j.names([]string{in.To})...)...)
		if !step.Dir {
			step.Foreign = j.foreign(s.path, s.Before)
		} else if !j.tree(s.touch, &step) {
			return
		}
	case abi.Fetch:
		step.Action, step.Remote = Fetch, &Remote{URL: in.URL, Intent: in}
		if s.covered() {
			step.Before = Before{}
		}
		step.Foreign = j.foreign(s.path, step.Before)
	case abi.Clone:
		step.Action, step.Remote, step.Before = Clone, &Remote{URL: in.Repo, Ref: in.Ref, Intent: in}, Before{}
	case abi.Write:
		step.Mode, step.Content = in.Mode, s.content
		j.put(s, step, s.digest)
		return
	default:
		j.putEdited(s, step)
		return
	}
	j.steps = append(j.steps, step)
}

// putEdited adds the step that the edits of a file come to. In a file that goes they start from nothing.
func (j *judge) putEdited(s *sight, step Step) {
	exists := s.Exists && !s.covered()
	result, did, left, err := j.edit(s.touch, s.text, exists)
	if err != nil {
		j.find(s.proposal, row[struct{}]{id: RuleEditFile}.finding(s.finding(fmt.Sprintf("editing %q: %v", s.path, err))))
		return
	}
	if !exists && !result.Changed {
		if s.replaced() {
			step.Action, step.Foreign = Remove, j.foreign(s.path, s.Before)
			j.steps = append(j.steps, step)
		}
		return
	}
	step.Mode, step.Content, step.Edits, step.Left = 0o644, abi.Bytes(result.New), did, left
	if exists {
		step.Mode = s.Mode
	}
	j.put(s, step, step.Content.Digest())
}

// put adds the step that makes a file what it is to be.
func (j *judge) put(s *sight, step Step, digest abi.Digest) {
	switch {
	case s.covered() && !s.replaced():
		step.Action, step.Before = Create, Before{}
		s.under.put(s.path[min(len(s.at)+1, len(s.path)):], digest, step.Mode, len(j.steps))
	case !s.Exists:
		step.Action = Create
	case s.Regular() && s.Digest == digest && SameMode(s.Mode, step.Mode):
		step.Action, step.Guarded = Keep, nil
	default:
		step.Action = Update
		switch {
		case s.Digest == digest && s.Regular(): // the same bytes are adopted
		case step.Edits != nil && !s.covered():
			step.Foreign = j.foreignEdits(step)
		default:
			step.Foreign = j.foreign(s.path, s.Before)
		}
	}
	j.steps = append(j.steps, step)
}

// SameMode reports whether two modes are the same as far as this platform keeps modes at all.
func SameMode(a, b abi.Mode) bool { return runtime.GOOS == "windows" || a == b }

// protected returns the first of path and the directories above it that is one of [Options.Protected], "" if none is. info is
// what lies at path.
func (j *judge) protected(path string, info root.Info) string {
	if len(j.Protected) == 0 {
		return ""
	}
	if j.isProtected(info) {
		return path
	}
	for at, _ := root.Split(path); at != "" && !j.cleared[at]; at, _ = root.Split(at) {
		if info, err := j.view.stat(at); err == nil && j.isProtected(info) {
			return at
		}
		j.cleared[at] = true
	}
	return ""
}

func (j *judge) isProtected(info root.Info) bool {
	for _, p := range j.Protected {
		if info.Same(p) {
			return true
		}
	}
	return false
}

// goneAbove returns what the deletes take away at path or above it, and where that is.
func (j *judge) goneAbove(path string) (string, *removal) {
	for at := path; ; {
		if r := j.gone[at]; r != nil {
			return at, r
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return "", nil
		}
		at = at[:i]
	}
}
