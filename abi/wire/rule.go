package wire

import "github.com/lola-ext/lola/abi"

// A rule says which keys of a map go together.
type rule uint8

const (
	ruleNone   rule = iota
	ruleIntent      // the keys of one op
	ruleResult      // the keys of one kind of result
	ruleEdit        // any; whether there is a value is noted
	ruleInput       // what is absent has nothing but its path
)

// An opRow says which keys of intentShape one op has. An edit has a row for each format.
type opRow struct {
	op             abi.Op
	format         string
	need, may, one []string // required; optional; exactly one of these
}

var ops = []opRow{
	{op: abi.OpWrite, need: []string{"op", "path", "mode"}, may: []string{"expect", "replace_symlink"}, one: []string{"content", "module"}},
	{op: abi.OpEdit, format: "json", need: []string{"op", "path", "format", "edits"}},
	{op: abi.OpEdit, format: "block", need: []string{"op", "path", "format", "id"}, may: []string{"text"}},
	{op: abi.OpDelete, need: []string{"op", "path"}},
	{op: abi.OpRename, need: []string{"op", "from", "to"}},
	{op: abi.OpFetch, need: []string{"op", "url", "method", "dest"}, may: []string{"headers", "digest"}},
	{op: abi.OpClone, need: []string{"op", "repo", "ref", "dest"}, may: []string{"depth", "commit"}},
}

func opNames() []string {
	var names []string
	for _, r := range ops {
		if len(names) == 0 || names[len(names)-1] != string(r.op) {
			names = append(names, string(r.op))
		}
	}
	return names
}

// An opMask is an opRow as masks of intentShape's keys.
type opMask struct {
	op                 abi.Op
	format             string
	need, allowed, one uint32
}

var opMasks = func() []opMask {
	var masks []opMask
	for _, r := range ops {
		m := opMask{op: r.op, format: r.format, need: intentShape.bits(r.need...), one: intentShape.bits(r.one...)}
		m.allowed = m.need | m.one | intentShape.bits(r.may...)
		masks = append(masks, m)
	}
	return masks
}()

var (
	bitFormat   = intentShape.bits("format")
	bitValue    = jsonEditShape.bits("value")
	ofAbsent    = inputShape.bits("path", "state")
	resultOne   = resultShape.bits("entries", "source", "verdict")
	resultMasks = map[string]uint32{ // what each may have beside it
		"entries": 0,
		"source":  resultShape.bits("digest", "version"),
		"verdict": resultShape.bits("findings"),
	}
)

// opAllowed is what each of opNames may have in any format.
var opAllowed = func() []uint32 {
	allowed := make([]uint32, len(opNames()))
	for i, name := range opNames() {
		for _, m := range opMasks {
			if string(m.op) == name {
				allowed[i] |= m.allowed
			}
		}
	}
	return allowed
}()

// end judges a map that is over by the keys that were seen in it.
func (w *walker) end(s *shape, seen uint32) error {
	if missing := s.required &^ seen; missing != 0 {
		return w.failKey(s.firstOf(missing), abi.ClassMissingKey, "it is required")
	}
	switch s.rule {
	case ruleIntent:
		return w.endIntent(seen)
	case ruleResult:
		return w.endResult(seen)
	case ruleEdit:
		// The value may be null, so that the value itself cannot say whether it is there.
		w.sets = append(w.sets, seen&bitValue != 0)
	case ruleInput:
		if w.state == string(abi.InputAbsent) && seen&^ofAbsent != 0 {
			return w.fail(abi.ClassExclusive, `state "absent" excludes "mode", "digest" and "content"`)
		}
	}
	return nil
}

func (w *walker) endIntent(seen uint32) error {
	if w.op == abi.OpEdit && seen&bitFormat == 0 {
		return w.failKey("format", abi.ClassMissingKey, "op %q needs it", w.op)
	}
	for i := range opMasks {
		m := &opMasks[i]
		if m.op != w.op || m.format != w.format && m.op == abi.OpEdit {
			continue
		}
		if extra := seen &^ m.allowed; extra != 0 {
			return w.failKey(intentShape.firstOf(extra), abi.ClassUnknownKey, "op %q has no such key", w.op)
		}
		if missing := m.need &^ seen; missing != 0 {
			return w.failKey(intentShape.firstOf(missing), abi.ClassMissingKey, "op %q needs it", w.op)
		}
		if one := seen & m.one; m.one != 0 && (one == 0 || one&(one-1) != 0) {
			return w.fail(abi.ClassExclusive, `op %q has exactly one of "content" and "module"`, w.op)
		}
		return nil
	}
	panic("wire: op " + string(w.op) + " has no row for format " + w.format) // both are closed lists
}

func (w *walker) endResult(seen uint32) error {
	one := seen & resultOne
	if one == 0 || one&(one-1) != 0 {
		return w.fail(abi.ClassExclusive, `a result has exactly one of "entries", "source" and "verdict"`)
	}
	name := resultShape.firstOf(one)
	if extra := seen &^ (one | resultMasks[name]); extra != 0 {
		return w.failKey(resultShape.firstOf(extra), abi.ClassUnknownKey, "a result with %q has no such key", name)
	}
	if name == "verdict" && seen == one {
		return w.failKey("findings", abi.ClassMissingKey, "a verdict needs it")
	}
	return nil
}
