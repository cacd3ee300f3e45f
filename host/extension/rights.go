package extension

import (
	"fmt"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
)

// needs says which op a right is for: an extension of a kind that has no such op would have no use of it, and a person would
// be asked for nothing.
var needs = map[string]abi.Op{grant.SymlinkReplace: abi.OpWrite, grant.NetHTTP: abi.OpFetch, grant.NetGit: abi.OpClone}

// asks turns what a manifest asks for into a set. What would grant nothing is an error: a pattern whose wildcards lie among
// guarded paths, one that only matches what is never supplied, a right that the kind cannot use.
func (m Manifest) asks(r grant.Rights) (grant.Set, error) {
	s, err := grant.Parse(r)
	if err != nil {
		return grant.Set{}, fmt.Errorf("field %w", err)
	}
	if len(r.Writes) > 0 && !m.can(abi.OpWrite) {
		return grant.Set{}, fmt.Errorf("field writes: an extension of kind %q writes no files", m.Kind)
	}
	for _, text := range r.Writes {
		g, err := grant.ParseGlob(text)
		if err != nil {
			return grant.Set{}, fmt.Errorf("field writes: %w", err)
		}
		if guard, ok := s.GuardedGlob(g); ok && !g.Literal() {
			return grant.Set{}, fmt.Errorf("field writes: glob %q lies among guarded paths (%s: %s), which no wildcard grants; name each file", text, guard.Pattern, guard.Why)
		}
	}
	for _, text := range r.Reads {
		g, err := grant.ParseGlob(text)
		if err != nil {
			return grant.Set{}, fmt.Errorf("field reads: %w", err)
		}
		if secret, ok := s.SecretGlob(g); ok {
			return grant.Set{}, fmt.Errorf("field reads: glob %q is for files that are never supplied (%s: %s)", text, secret.Pattern, secret.Why)
		}
	}
	for _, text := range r.Capabilities {
		c, err := grant.ParseCapability(text)
		if err != nil {
			return grant.Set{}, fmt.Errorf("field capabilities: %w", err)
		}
		if c.Name == grant.Unconfined {
			return grant.Set{}, fmt.Errorf("field capabilities: %q is for the user to grant; a manifest cannot ask for it", text)
		}
		if op := needs[c.Name]; !m.can(op) {
			return grant.Set{}, fmt.Errorf("field capabilities: %q is for the op %q, which an extension of kind %q does not have", text, op, m.Kind)
		}
	}
	return s, nil
}

// can reports whether any action of the kind has the op.
func (m Manifest) can(op abi.Op) bool {
	return slices.ContainsFunc(abi.Rights, func(r abi.Right) bool { return r.Kind == m.Kind && slices.Contains(r.Ops, op) })
}
