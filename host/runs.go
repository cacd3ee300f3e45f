package host

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/module"
	"github.com/lola-ext/lola/host/plan"
)

// runsOf lists what a judged change makes run by itself, from what it puts where: a target can make something else of a module
// than what that shows, and a saved plan comes without its module. What moves comes to where it goes as much as what is
// written there. What goes makes nothing run, nor does what the host takes back.
//
// known is what the module shows itself, which is not said again, and looked are the digests of its files that were looked at
// whole; nil for a saved plan.
func (p *Pending) runsOf(known []module.Run, looked map[abi.Digest]bool) ([]module.Run, error) {
	servers := module.ServersOf(known)
	var runs []module.Run
	for _, s := range p.checked.Steps() {
		if s.Action == plan.Keep || s.Action == plan.Remove || slices.Equal(s.Owners, []string{self}) {
			continue
		}
		guards := arrives(s)
		for _, g := range guards {
			made, err := p.guardedRuns(s, g, servers)
			if err != nil {
				return nil, err
			}
			runs = append(runs, made...)
		}
		if len(guards) > 0 && s.Action != plan.Move || s.Content != nil && looked[s.Content.Digest()] {
			continue // shown whole, or looked at
		}
		for _, came := range p.comesTo(s) {
			if ext := strings.ToLower(path.Ext(came.path)); ext != ".md" && ext != ".mdc" && ext != ".toml" {
				continue
			}
			text, err := readUpTo(came.open, p.host.limits.Content)
			if err != nil {
				return nil, fmt.Errorf("reading what comes to %q: %w", came.path, err)
			}
			// A link that the user admitted is another name for the folder, and it may be the one that counts.
			commands := module.MayCommand(came.path) || len(p.agreed.Follow) > 0
			made := module.TextRuns(came.path, text, commands)
			if s.Edits != nil { // what the user has there is no doing of the module
				was, _, err := p.readFile(s.Path)
				if err != nil {
					return nil, fmt.Errorf("looking at %q: %w", s.Path, err)
				}
				known = slices.Concat(known, module.TextRuns(s.Path, was, commands))
			}
			if int64(len(text)) > p.host.limits.Content {
				made = append(made, module.Run{What: "a text too long to be read", Path: came.path})
			}
			for _, m := range made {
				if !slices.ContainsFunc(known, func(k module.Run) bool { return k.What == m.What && k.Text == m.Text }) {
					runs = append(runs, m)
				}
			}
		}
	}
	return runs, nil
}

// arrives returns the guarded paths at which something appears or changes by a step. What only leaves one makes nothing run; a
// name by which an admitted link knows a path counts, whichever end it is of.
func arrives(s plan.Step) []plan.Guarded {
	return slices.DeleteFunc(slices.Clone(s.Guarded), func(g plan.Guarded) bool {
		in := func(dir string) bool { return g.Path == dir || strings.HasPrefix(g.Path, dir+"/") }
		return s.Action == plan.Move && in(s.Path) && !in(s.To)
	})
}

// guardedRuns says what a step puts at a guarded path, and which targets asked for it.
func (p *Pending) guardedRuns(s plan.Step, g plan.Guarded, servers module.Servers) ([]module.Run, error) {
	what := func(owners []string) string {
		return fmt.Sprintf("%s (put there by %s)", g.Why, strings.Join(owners, ", "))
	}
	switch {
	case s.Edits != nil:
		var runs []module.Run
		for _, e := range editsByOwners(s, servers) {
			runs = append(runs, module.Run{What: what(e.owners), Path: g.Path, Text: e.text})
		}
		return runs, nil
	case s.Remote != nil:
		return []module.Run{{What: what(s.Owners), Path: g.Path, Text: "(from " + s.Remote.URL + ")\n"}}, nil
	case len(s.Foreign) > 0 && s.Action == plan.Move:
		// It is the user's, as a file with tokens in it can be, and previews end in logs.
		return []module.Run{{What: what(s.Owners), Path: g.Path, Text: fmt.Sprintf("(what lies at %q now, which is not shown: it may hold secrets)\n", s.Path)}}, nil
	}
	text := "(it is no regular file)\n"
	for _, came := range p.comesTo(s) {
		if came.path != g.Path && s.Action == plan.Move && s.Dir {
			continue
		}
		raw, err := readUpTo(came.open, module.MaxShown)
		if err != nil {
			return nil, fmt.Errorf("reading what comes to %q: %w", came.path, err)
		}
		text = shown(string(raw))
	}
	return []module.Run{{What: what(s.Owners), Path: g.Path, Text: text}}, nil
}

// shown is a text that stands among what runs, unless that is more than a person reads.
func shown(text string) string {
	if len(text) > module.MaxShown {
		return "(too long to be shown here)\n"
	}
	return text
}

// ownedText is what targets put into a file by edits.
type ownedText struct {
	owners []string
	text   string
}

// editsByOwners says what edits put into a file, a line each, those together that the same targets asked for. Edits that remove,
// or that find the file so, put nothing there; servers that the module shows itself are left out.
func editsByOwners(s plan.Step, servers module.Servers) []ownedText {
	var (
		lines  []string
		owners = map[string][]string{} // by line
	)
	for _, e := range s.Edits {
		for _, r := range e.Records {
			if r.New == nil || r.Kind != edit.Add && r.Kind != edit.Replace || r.ID == "" && servers.Say(r.At, *r.New) {
				continue
			}
			line := fmt.Sprintf("%s%s: %s\n", r.At, r.ID, strings.TrimSuffix(shown(*r.New), "\n"))
			if owners[line] == nil {
				lines = append(lines, line)
			}
			owners[line] = append(owners[line], e.Owner)
		}
	}
	var all []ownedText
	for _, line := range lines {
		if i := len(all) - 1; i >= 0 && slices.Equal(all[i].owners, owners[line]) {
			all[i].text += line
			continue
		}
		all = append(all, ownedText{owners[line], line})
	}
	return all
}

// comes is a file that a step brings to a path.
type comes struct {
	path string
	open func() (io.ReadCloser, error)
}

func (p *Pending) comesTo(s plan.Step) []comes {
	if s.Action != plan.Move {
		if s.Content == nil {
			return nil
		}
		return []comes{{s.Path, s.Content.Open}}
	}
	from := func(path string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return p.root.Open(path) }
	}
	if !s.Dir {
		return []comes{{s.To, from(s.Path)}}
	}
	var all []comes
	for _, n := range s.Tree {
		if n.Regular() {
			all = append(all, comes{s.To + "/" + n.Path, from(s.Path + "/" + n.Path)})
		}
	}
	return all
}

// readUpTo reads a file up to one byte beyond a bound.
func readUpTo(open func() (io.ReadCloser, error), bound int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, bound+1))
}
