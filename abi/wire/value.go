package wire

import (
	"crypto/sha256"
	"math"

	"github.com/lola-ext/lola/abi"
)

// value walks what stands under k. If it is an array or a map it lies at depth.
func (w *walker) value(k *key, depth int) error {
	major, arg, err := w.head()
	if err != nil {
		return err
	}
	if major == majorSimple && arg == simpleNull && k.kind != kindJSON {
		return w.fail(abi.ClassNull, "null; leave the key out instead")
	}
	switch k.kind {
	case kindText, kindEnum:
		if major == majorText {
			return w.textOf(k, arg)
		}
	case kindUint, kindMode, kindCount, kindVersion:
		if major == majorUint || major == majorNeg {
			return w.integer(k, major, arg)
		}
	case kindDigest, kindExpect:
		if major == majorBytes {
			return w.digest(arg)
		}
		if major == majorText && k.kind == kindExpect {
			return w.textOf(k, arg)
		}
	case kindContent:
		if major == majorBytes {
			return w.contentOf(arg)
		}
	case kindTrue:
		if major == majorSimple {
			if arg == simpleFalse {
				return w.fail(abi.ClassValue, "false; leave the key out instead")
			}
			return nil
		}
	case kindJSON:
		return w.json(major, arg, depth)
	case kindParams:
		if major == majorMap {
			return w.params(arg, depth)
		}
	case kindMap:
		if major == majorMap {
			if err := w.enter(major, arg, depth); err != nil {
				return err
			}
			return w.fields(k.sub, arg, depth)
		}
	case kindList, kindPairs:
		if major == majorArray {
			return w.list(k, arg, depth)
		}
	}
	return w.wrong(major, arg, depth)
}

// wrong ends a value of the wrong type. Its form is judged first, so that hostile nesting is called what it is.
func (w *walker) wrong(major byte, arg uint64, depth int) error {
	at := w.at
	if err := w.any(major, arg, depth); err != nil {
		return err
	}
	w.at = at
	return w.fail(abi.ClassType, "it is %s", typeName(major))
}

func typeName(major byte) string {
	return [...]string{"an integer", "an integer", "a byte string", "text", "an array", "a map", "a tag", "a boolean"}[major]
}

// textOf walks a text of n bytes under k.
func (w *walker) textOf(k *key, n uint64) error {
	at := w.at
	start, err := w.text(n)
	if err != nil {
		return err
	}
	if k.kind == kindText && k.check == nil {
		return nil
	}
	w.at = at
	b := w.keep[start:]
	switch {
	case k.kind == kindExpect:
		if string(b) != "absent" {
			return w.fail(abi.ClassValue, "%q is neither a digest nor \"absent\"", clip(b))
		}
	case k.kind == kindEnum:
		for i, v := range k.list {
			if v == string(b) {
				w.note(k, i)
				return nil
			}
		}
		return w.fail(abi.ClassValue, "%q is none of %q", clip(b), k.list)
	case k.check != nil:
		if wrong := k.check(b); wrong != "" {
			return w.fail(abi.ClassValue, "%s", wrong)
		}
	}
	return nil
}

// note keeps which value of a closed list it was, if later rules turn on it.
func (w *walker) note(k *key, i int) {
	switch k.name {
	case "op":
		w.op, w.mayHave = abi.Op(k.list[i]), opAllowed[i]
	case "format":
		w.format = k.list[i]
	case "state":
		w.state = k.list[i]
	}
}

func (w *walker) integer(k *key, major byte, arg uint64) error {
	switch k.kind {
	case kindVersion:
		if major == majorNeg || arg != abi.Version {
			return w.fail(abi.ClassVersion, "this host speaks version %d", abi.Version)
		}
		return nil
	case kindCount:
		if major == majorUint && arg > uint64(w.lim.Intents) {
			return w.failLimit(abi.ClassLimitIntents, "intents", int64(w.lim.Intents), arg)
		}
		w.count = int(arg)
	}
	least, most := k.min, k.max
	switch k.kind {
	case kindMode:
		most = uint64(abi.ModeMask)
	case kindCount:
		most = uint64(w.lim.Intents)
	}
	if major == majorNeg || arg < least || arg > most {
		sign := ""
		if major == majorNeg {
			sign = "-1 - "
		}
		return w.fail(abi.ClassValue, "%s%d is not within %d and %d", sign, arg, least, most)
	}
	return nil
}

func (w *walker) digest(n uint64) error {
	at := w.at
	if _, err := w.str(n); err != nil {
		return err
	}
	w.at = at
	if n != sha256.Size {
		return w.fail(abi.ClassValue, "a digest has %d bytes, not %d", sha256.Size, n)
	}
	return nil
}

// contentOf walks a content of n bytes. Diverted, it leaves an empty byte string behind.
func (w *walker) contentOf(n uint64) error {
	if n > uint64(w.lim.Content) {
		return w.failLimit(abi.ClassLimitContent, "content", w.lim.Content, n)
	}
	if !w.divert {
		_, err := w.str(n)
		return err
	}
	if err := w.declaredRest(n); err != nil {
		return err
	}
	w.keep = w.keep[:len(w.keep)-headSize(n)]
	w.contentAt = len(w.keep)
	w.keep = append(w.keep, emptyBytes)
	if w.content != nil {
		return nil // the JSON form has brought it
	}
	if w.sp == nil {
		return w.intoMemory(n)
	}
	start := w.sp.end
	for left := n; left > 0; {
		b := w.src.ahead()
		if len(b) == 0 {
			return w.short()
		}
		b = b[:min(uint64(len(b)), left)]
		if err := w.sp.append(b); err != nil {
			return err
		}
		w.src.pos += len(b)
		left -= uint64(len(b))
	}
	w.content = w.sp.content(start)
	return nil
}

func (w *walker) intoMemory(n uint64) error {
	c := abi.Bytes{}
	for left := n; left > 0; {
		b := w.src.ahead()
		if len(b) == 0 {
			return w.short()
		}
		b = b[:min(uint64(len(b)), left)]
		c = append(c, b...)
		w.src.pos += len(b)
		left -= uint64(len(b))
	}
	w.content = c
	return nil
}

// headSize is how many bytes a minimal head with argument n has.
func headSize(n uint64) int {
	switch {
	case n < 24:
		return 1
	case n < 1<<8:
		return 2
	case n < 1<<16:
		return 3
	case n < 1<<32:
		return 5
	default:
		return 9
	}
}

// list walks an array of n maps or pairs.
func (w *walker) list(k *key, n uint64, depth int) error {
	if k.sub == messageShape && n > uint64(w.lim.Messages) {
		return w.failLimit(abi.ClassLimitMessages, "messages", int64(w.lim.Messages), n)
	}
	if err := w.enter(majorArray, n, depth); err != nil {
		return err
	}
	if n < k.min {
		return w.fail(abi.ClassValue, "%d elements; want %d at least", n, k.min)
	}
	element := key{kind: kindMap, sub: k.sub}
	for range n {
		var err error
		if k.kind == kindPairs {
			err = w.pair(depth + 1)
		} else {
			err = w.value(&element, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) pair(depth int) error {
	major, n, err := w.head()
	if err != nil {
		return err
	}
	if major == majorSimple && n == simpleNull {
		return w.fail(abi.ClassNull, "null in a list of pairs")
	}
	if major != majorArray {
		return w.wrong(major, n, depth)
	}
	at := w.at
	if err := w.enter(major, n, depth); err != nil {
		return err
	}
	for range n {
		if err := w.value(&key{kind: kindText}, depth+1); err != nil {
			return err
		}
	}
	w.at = at
	if n != 2 {
		return w.fail(abi.ClassValue, "a pair of %d", n)
	}
	return nil
}

// params walks the n parameters of a request.
func (w *walker) params(n uint64, depth int) error {
	if err := w.enter(majorMap, n, depth); err != nil {
		return err
	}
	prev, prevEnd := 0, 0
	for range n {
		start, name, err := w.key(prev, prevEnd)
		if err != nil {
			return err
		}
		prev, prevEnd = start, len(w.keep)
		w.path = append(w.path, clip(name))
		major, arg, err := w.head()
		switch {
		case err != nil:
			return err
		case major == majorSimple && arg == simpleNull:
			return w.fail(abi.ClassNull, "null as a parameter")
		case major == majorArray || major == majorMap || major == majorBytes:
			return w.wrong(major, arg, depth+1)
		}
		if err := w.json(major, arg, depth+1); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
	return nil
}

// json walks a JSON value: null, boolean, integer of 64 bits with sign, text, array, map with text keys.
func (w *walker) json(major byte, arg uint64, depth int) error {
	switch major {
	case majorUint, majorNeg:
		if arg > math.MaxInt64 {
			return w.fail(abi.ClassValue, "an integer that does not fit in 64 bits with a sign")
		}
		return nil
	case majorBytes:
		return w.wrong(major, arg, depth)
	default:
		return w.nested(major, arg, depth, w.json)
	}
}

// any walks a value of whatever type for its form alone.
func (w *walker) any(major byte, arg uint64, depth int) error {
	return w.nested(major, arg, depth, w.any)
}

// nested walks a value of which only the form counts, with walk for what lies in it.
func (w *walker) nested(major byte, arg uint64, depth int, walk func(byte, uint64, int) error) error {
	switch major {
	case majorBytes:
		_, err := w.str(arg)
		return err
	case majorText:
		_, err := w.text(arg)
		return err
	case majorArray, majorMap:
		if err := w.enter(major, arg, depth); err != nil {
			return err
		}
		prev, prevEnd := 0, 0
		for range arg {
			if major == majorMap {
				start, _, err := w.key(prev, prevEnd)
				if err != nil {
					return err
				}
				prev, prevEnd = start, len(w.keep)
			}
			m, a, err := w.head()
			if err != nil {
				return err
			}
			if err := walk(m, a, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
