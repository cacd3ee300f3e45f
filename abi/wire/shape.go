package wire

import (
	"fmt"
	"math"
)

// A kind is what may stand under a key.
type kind uint8

const (
	kindText    kind = iota // text, held to check
	kindEnum                // text out of list
	kindUint                // an integer from min to max
	kindVersion             // the abi version; another one is a class of its own
	kindCount               // how many intents follow
	kindMode                // an integer; four octal digits in the JSON form
	kindDigest              // a byte string of 32; hexadecimal in the JSON form
	kindExpect              // a digest or "absent"
	kindContent             // a byte string
	kindTrue                // true alone: the absent key says false
	kindJSON                // a JSON value
	kindParams              // a map of text to text, integer, boolean
	kindMap                 // a map of shape sub
	kindList                // an array of maps of shape sub, at least min
	kindPairs               // an array of pairs of texts
)

// A key is one key of a shape.
type key struct {
	name     string
	enc      string // the name as it stands on the wire
	kind     kind
	need     bool // required
	list     []string
	check    func([]byte) string // what is wrong with a text; empty: nothing
	min, max uint64
	sub      *shape
}

// A shape is the keys that one kind of map may have, in core deterministic order: by length, then bytewise.
type shape struct {
	keys     []key
	required uint32 // a bit for each key that must be there
	rule     rule   // which keys go together, judged when the map ends
}

// maxKeys is how many keys a shape may have at most.
const maxKeys = 24

func newShape(r rule, keys ...key) *shape {
	s := &shape{keys: keys, rule: r}
	if len(keys) > maxKeys {
		panic(fmt.Sprintf("wire: a shape with %d keys", len(keys)))
	}
	for i, k := range keys {
		s.keys[i].enc = string(append(appendHead(nil, majorText, uint64(len(k.name))), k.name...))
		if k.need {
			s.required |= 1 << i
		}
		if i > 0 && !keyLess(keys[i-1].name, k.name) {
			panic(fmt.Sprintf("wire: shape keys %q and %q are out of order", keys[i-1].name, k.name))
		}
	}
	return s
}

func keyLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// bits returns the mask of the named keys.
func (s *shape) bits(names ...string) uint32 {
	var m uint32
	for _, n := range names {
		i := s.find(0, []byte(n))
		if i < 0 {
			panic(fmt.Sprintf("wire: shape has no key %q", n))
		}
		m |= 1 << i
	}
	return m
}

// find returns the index of the key called name at or after from, or -1.
func (s *shape) find(from int, name []byte) int {
	for i := from; i < len(s.keys); i++ {
		if s.keys[i].name == string(name) {
			return i
		}
	}
	return -1
}

// match returns the index of the key at or after from that b begins with, or -1. It is find for bytes that have not been
// judged yet: what equals a key as it is encoded is in good form, and in order if from is right.
func (s *shape) match(from int, b []byte) int {
	if len(b) < 2 {
		return -1
	}
	for i := from; i < len(s.keys); i++ {
		enc := s.keys[i].enc
		if enc[0] == b[0] && enc[1] == b[1] && len(enc) <= len(b) && enc == string(b[:len(enc)]) {
			return i
		}
	}
	return -1
}

// firstOf names the first key in mask.
func (s *shape) firstOf(mask uint32) string {
	for i, k := range s.keys {
		if mask&(1<<i) != 0 {
			return k.name
		}
	}
	return ""
}

// The shapes of SPEC.md, one for each kind of map.
var (
	messageShape = newShape(ruleNone,
		key{name: "text", need: true},
		key{name: "level", kind: kindEnum, need: true, list: []string{"debug", "info", "warn", "error"}})
	entryShape = newShape(ruleNone,
		key{name: "name", need: true},
		key{name: "source", need: true},
		key{name: "version", check: notEmpty},
		key{name: "description", check: notEmpty})
	findingShape = newShape(ruleNone,
		key{name: "path", check: notEmpty},
		key{name: "rule", need: true},
		key{name: "text", need: true},
		key{name: "severity", need: true})
	resultShape = newShape(ruleResult,
		key{name: "digest", kind: kindDigest},
		key{name: "source"},
		key{name: "entries", kind: kindList, sub: entryShape},
		key{name: "verdict", kind: kindEnum, list: []string{"pass", "warn", "fail"}},
		key{name: "version", check: notEmpty},
		key{name: "findings", kind: kindList, sub: findingShape})
	headerShape = newShape(ruleNone,
		key{name: "abi", kind: kindVersion, need: true},
		key{name: "count", kind: kindCount, need: true},
		key{name: "result", kind: kindMap, sub: resultShape},
		key{name: "messages", kind: kindList, sub: messageShape})

	jsonEditShape = newShape(ruleEdit,
		key{name: "at", need: true, check: badPointer},
		key{name: "value", kind: kindJSON})
	// intentShape has the keys of all ops; a key means the same wherever it is allowed, and ops says where that is.
	intentShape = newShape(ruleIntent,
		key{name: "id", check: badBlockID},
		key{name: "op", kind: kindEnum, need: true, list: opNames()},
		key{name: "to"},
		key{name: "ref"},
		key{name: "url"},
		key{name: "dest"},
		key{name: "from"},
		key{name: "mode", kind: kindMode},
		key{name: "path"},
		key{name: "repo"},
		key{name: "text", check: badBlockText},
		key{name: "depth", kind: kindUint, min: 1, max: math.MaxInt32},
		key{name: "edits", kind: kindList, sub: jsonEditShape, min: 1},
		key{name: "commit", check: badCommit},
		key{name: "digest", kind: kindDigest},
		key{name: "expect", kind: kindExpect},
		key{name: "format", kind: kindEnum, list: []string{"json", "block"}},
		key{name: "method", kind: kindEnum, list: []string{"GET", "HEAD"}},
		key{name: "module", check: notEmpty},
		key{name: "content", kind: kindContent},
		key{name: "headers", kind: kindPairs},
		key{name: "replace_symlink", kind: kindTrue})

	extensionShape = newShape(ruleNone,
		key{name: "name", need: true},
		key{name: "version", need: true})
	fileShape = newShape(ruleNone,
		key{name: "mode", kind: kindMode, need: true},
		key{name: "path", need: true},
		key{name: "size", kind: kindUint, max: math.MaxInt64, need: true},
		key{name: "digest", kind: kindDigest, need: true},
		key{name: "content", kind: kindContent})
	moduleShape = newShape(ruleNone,
		key{name: "name", need: true},
		key{name: "files", kind: kindList, sub: fileShape, need: true},
		key{name: "digest", kind: kindDigest, need: true},
		key{name: "version", need: true})
	inputShape = newShape(ruleInput,
		key{name: "mode", kind: kindMode},
		key{name: "path", need: true},
		key{name: "state", kind: kindEnum, need: true, list: []string{"absent", "file"}},
		key{name: "digest", kind: kindDigest},
		key{name: "content", kind: kindContent})
	requestShape = newShape(ruleNone,
		key{name: "abi", kind: kindVersion, need: true},
		key{name: "scope", kind: kindEnum, list: []string{"project", "user"}},
		key{name: "action", need: true},
		key{name: "inputs", kind: kindList, sub: inputShape},
		key{name: "module", kind: kindMap, sub: moduleShape},
		key{name: "params", kind: kindParams},
		key{name: "extension", kind: kindMap, sub: extensionShape, need: true})
)
