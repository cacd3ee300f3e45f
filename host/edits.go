package host

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// owner is who asked for edits: one target of one module.
type owner = home.Owner

// going collects edits that are to be taken back, by path.
type going struct {
	p    *Pending
	gone map[string][]edit.Record
}

// add marks records of one owner for taking back. What another owner asked for too stays, and what was there before passes
// to that one. Precondition: the owner's records of the path are out of p.after already.
func (g *going) add(path string, records []edit.Record) {
	for _, m := range slices.Sorted(maps.Keys(g.p.after.Modules)) {
		for _, t := range slices.Sorted(maps.Keys(g.p.after.Modules[m].Targets)) {
			if others := g.p.after.Modules[m].Targets[t].Edits[path]; len(others) > 0 && len(records) > 0 {
				records, others = edit.Release(records, others)
				g.p.after.Modules[m].Targets[t].Edits[path] = others
			}
		}
	}
	g.gone[path] = append(g.gone[path], records...)
}

// intents proposes what takes the edits of the given paths back from the files as they are now. What cannot be taken back
// stays and is named in the report.
func (g *going) intents(paths []string) ([]abi.Intent, error) {
	var list []abi.Intent
	for _, path := range paths {
		in, err := g.p.revert(path, g.gone[path])
		if err != nil {
			return nil, err
		}
		if in != nil {
			list = append(list, in)
		}
	}
	return list, nil
}

// revert proposes how one file becomes what it was without the records; nil if there is nothing to do.
func (p *Pending) revert(path string, records []edit.Record) (abi.Intent, error) {
	text, info, err := p.readFile(path)
	var why string
	switch link := (*root.LinkError)(nil); {
	case errors.As(err, &link):
		why = err.Error()
	case err != nil:
		return nil, fmt.Errorf("looking at %q: %w", path, err)
	case !info.Exists:
		return nil, nil
	}
	if why == "" {
		now, empty, left, err := edit.Revert(path, text, records)
		for _, l := range left {
			p.stays(path, fmt.Sprintf("%s: %s", l.What, l.Why))
		}
		switch {
		case err != nil:
			why = err.Error()
		case empty:
			return abi.Delete{Path: path}, nil
		case string(now) == string(text):
			return nil, nil
		default:
			was := abi.DigestOf(text)
			return abi.Write{Path: path, Mode: info.Mode, Content: abi.Bytes(now), Expect: abi.Expect{Digest: &was}}, nil
		}
	}
	p.stays(path, why)
	return nil, nil
}

func (p *Pending) stays(path, why string) {
	p.report.Stays = append(p.report.Stays, Stay{Path: path, Why: why})
}

// readFile reads a file of the root whole, up to what an edit takes; nothing there is no error.
func (p *Pending) readFile(path string) ([]byte, root.Info, error) {
	info, err := p.root.Stat(path)
	if err != nil || !info.Exists {
		return nil, info, err
	}
	f, err := p.root.Open(path)
	if err != nil {
		return nil, info, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, edit.MaxFile+1))
	if err == nil && len(text) > edit.MaxFile {
		err = &abi.LimitError{Limit: "content", Bound: edit.MaxFile, Got: int64(len(text))}
	}
	return text, info, err
}

// editIntents returns the edit intents of a plan by path.
func editIntents(p *abi.Plan) map[string][]abi.Intent {
	all := map[string][]abi.Intent{}
	for _, in := range p.Intents {
		switch in := in.(type) {
		case abi.EditJSON:
			all[in.Path] = append(all[in.Path], in)
		case abi.EditBlock:
			all[in.Path] = append(all[in.Path], in)
		}
	}
	return all
}

// upgradeEdits divides what older versions of the module put into shared files for the targets of the proposals: what the
// new plans do not ask for goes, what they ask for again is kept for [Pending.recordEdits].
func (p *Pending) upgradeEdits(name string, proposals []plan.Proposal) (g *going, kept map[owner]map[string][]edit.Record) {
	g, kept = &going{p: p, gone: map[string][]edit.Record{}}, map[owner]map[string][]edit.Record{}
	m := p.after.Modules[name]
	if m == nil {
		return g, kept
	}
	for _, q := range proposals {
		t := m.Targets[q.Owner]
		if t == nil {
			continue
		}
		next := editIntents(q.Plan)
		old := t.Edits
		t.Edits = nil
		keeps := map[string][]edit.Record{}
		for _, path := range slices.Sorted(maps.Keys(old)) {
			drop, keep := edit.Drop(old[path], next[path]...)
			if len(keep) > 0 {
				keeps[path] = keep
			}
			if len(drop) > 0 {
				g.add(path, drop)
			}
		}
		kept[owner{Module: name, Target: q.Owner}] = keeps
	}
	return g, kept
}
