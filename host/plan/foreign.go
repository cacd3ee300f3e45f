package plan

import (
	"fmt"

	"github.com/lola-ext/lola/host/internal/edit"
)

// foreign says why overwriting, moving or removing what lies at path needs consent; nil if it does not, or nothing is there.
// RuleForeign documents it; it refuses nothing by itself.
func (j *judge) foreign(path string, b Before) []Foreign {
	if !b.Exists {
		return nil
	}
	was, ok := Installed{}, false
	if j.Installed != nil {
		was, ok = j.Installed(path)
	}
	switch {
	case !ok:
		return []Foreign{{path, "it was not installed by lola"}}
	case b.Type.IsDir() != was.Dir, b.Regular() && b.Digest != was.Digest, !b.Regular() && !b.Type.IsDir():
		return []Foreign{{path, "it was changed since lola installed it"}}
	}
	return nil
}

// foreignEdits says which edits of a file give another value to something that is there and that lola did not put there.
// Adding is not foreign.
func (j *judge) foreignEdits(s Step) []Foreign {
	ours := map[string]string{} // by pointer or id, what lola put there
	if j.Installed != nil {
		was, _ := j.Installed(s.Path)
		for _, r := range was.Edits {
			if r.New != nil {
				ours[r.At+"\x00"+r.ID] = *r.New
			}
		}
	}
	var all []Foreign
	seen := map[string]bool{}
	for _, e := range s.Edits {
		for _, r := range e.Records {
			at := r.At + "\x00" + r.ID
			if was, ok := ours[at]; r.Kind == edit.Add || r.Kind == edit.Same || seen[at] || ok && r.Old != nil && was == *r.Old {
				continue
			}
			seen[at] = true
			what := fmt.Sprintf("the value at %q", r.At)
			if r.ID != "" {
				what = fmt.Sprintf("the block %q", r.ID)
			}
			all = append(all, Foreign{s.Path, what + " is there, and lola did not put it there so"})
		}
	}
	return all
}
