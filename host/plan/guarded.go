package plan

import (
	"fmt"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
)

// guardedPaths finds paths that other programs obey without being asked and that the grant does not name literally.
func guardedPaths(s *said) []Finding {
	var found []Finding
	for _, path := range s.denied {
		if g, ok := s.grant.Guarded(path); ok {
			found = append(found, guarded(g, path))
		}
	}
	if in, ok := s.in.(abi.Clone); ok && found == nil {
		for name := range strings.SplitSeq(in.Dest, "/") {
			if strings.HasPrefix(name, ".") {
				return when(true, in.Dest, "a repository cloned into %q can bring any file, and programs obey many that lie in a folder like %q", in.Dest, name)
			}
		}
	}
	return found
}

func guarded(g grant.Guard, path string) Finding {
	return Finding{
		Path: path, Message: fmt.Sprintf("the path %q is guarded and not granted by name: %s", path, g.Why),
		Fix: fmt.Sprintf("the manifest must ask for it literally (writes: %q) and the user must grant it", path),
	}
}

// shown returns the guarded ones of paths that appear, move or vanish, for the preview.
func shown(g grant.Set, paths ...string) []Guarded {
	var all []Guarded
	for _, path := range paths {
		if guard, ok := g.Guarded(path); ok {
			all = append(all, Guarded{Path: path, Why: guard.Why})
		}
	}
	return all
}
