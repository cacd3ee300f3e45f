package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// The major types of CBOR (RFC 8949, section 3.1).
const (
	majorUint   = 0
	majorNeg    = 1
	majorBytes  = 2
	majorText   = 3
	majorArray  = 4
	majorMap    = 5
	majorTag    = 6
	majorSimple = 7
)

// The simple values that there are.
const (
	simpleFalse = 20
	simpleTrue  = 21
	simpleNull  = 22
)

// emptyBytes stands in keep for a content that went elsewhere.
const emptyBytes = 0x40

// A walker reads one item after another from a stream and holds each to the form (core deterministic CBOR), the bounds,
// and a shape. What it has checked it copies into keep, which then holds a small item that any decoder can be trusted
// with; the content of an intent goes to the spool instead. Nothing is allocated for a length that is only declared.
type walker struct {
	src source
	lim abi.Limits

	what     string    // "plan" or "request"
	keepMax  int64     // what keep may hold
	keepOver abi.Class // the class of more
	divert   bool      // contents leave the item: those of intents do, those of requests do not
	sp       *Spool    // nil: diverted contents stay in memory

	item   int // of the sequence
	values int // list elements and map entries so far, over all items

	// Of the current item:
	keep      []byte
	content   abi.Content // what stood under "content"; preset by the JSON form
	contentAt int         // where in keep its stand-in lies; -1: nowhere
	op        abi.Op
	mayHave   uint32 // the keys of op
	format    string
	state     string
	count     int
	sets      []bool        // for each JSON edit, whether it has a value
	spans     [maxKeys]span // where in keep the value of each key of an intent lies, if it has that key
	seen      uint32        // the keys that an intent has

	at   int64    // where the head lies that is looked at
	path []string // the keys above it
}

// A span is a part of keep.
type span struct{ start, end int }

// next walks one item of shape s. It reports [io.EOF] if there is no more byte.
func (w *walker) next(s *shape) error {
	w.keep, w.sets, w.path = w.keep[:0], w.sets[:0], w.path[:0]
	w.op, w.format, w.state, w.mayHave, w.seen = "", "", "", math.MaxUint32, 0
	w.contentAt = -1
	w.at = w.src.offset()
	if len(w.src.ahead()) == 0 {
		if w.src.err != io.EOF {
			return fmt.Errorf("read %s: %w", w.what, w.src.err)
		}
		return io.EOF
	}
	return w.value(&key{kind: kindMap, sub: s}, 1)
}

// fail returns the error of class c about the current key.
func (w *walker) fail(c abi.Class, format string, args ...any) error {
	return &abi.FormError{Class: c, Item: w.item, Offset: w.at, Key: strings.Join(w.path, "."), Detail: fmt.Sprintf(format, args...)}
}

// failKey is fail about a key of the current map.
func (w *walker) failKey(name string, c abi.Class, format string, args ...any) error {
	w.path = append(w.path, name)
	return w.fail(c, format, args...)
}

// failLimit is fail about a limit.
func (w *walker) failLimit(c abi.Class, name string, bound int64, got uint64) error {
	l := &abi.LimitError{Limit: name, Bound: bound, Got: int64(min(got, math.MaxInt64))}
	return &abi.FormError{Class: c, Item: w.item, Offset: w.at, Key: strings.Join(w.path, "."), Detail: l.Error(), Limit: l}
}

// need makes sure that n bytes lie in the buffer and may be consumed.
func (w *walker) need(n int) error {
	if !w.src.fill(n) {
		return w.short()
	}
	return w.within(uint64(n))
}

// within refuses n more bytes if they pass the limit of the whole.
func (w *walker) within(n uint64) error {
	if left := w.src.max - w.src.offset(); left < 0 || n > uint64(left) {
		return w.failLimit(abi.ClassLimitPlan, w.what, w.src.max, uint64(w.src.offset())+n)
	}
	return nil
}

// short says why there are no more bytes.
func (w *walker) short() error {
	if w.src.err != io.EOF {
		return fmt.Errorf("read %s: %w", w.what, w.src.err)
	}
	return w.fail(abi.ClassTruncated, "the %s ends within item %d", w.what, w.item)
}

// room refuses to keep n more bytes of the item if they pass its limit.
func (w *walker) room(n uint64) error {
	if n > uint64(w.keepMax-int64(len(w.keep))) {
		name := "item"
		if w.keepOver == abi.ClassLimitPlan {
			name = w.what
		}
		return w.failLimit(w.keepOver, name, w.keepMax, uint64(len(w.keep))+n)
	}
	return nil
}

// head reads an initial byte and its argument and keeps them. Of a simple value the argument is its number.
func (w *walker) head() (major byte, arg uint64, err error) {
	s := &w.src
	w.at = s.offset()
	if s.pos == s.end || s.offset() >= s.max {
		if err := w.need(1); err != nil {
			return 0, 0, err
		}
	}
	first := s.buf[s.pos]
	major, info := first>>5, first&31
	size := 1
	if info < 24 {
		arg = uint64(info)
	} else if info < 28 {
		n := 1 << (info - 24)
		size += n
		if err := w.need(size); err != nil {
			return 0, 0, err
		}
		arg = argument(s.buf[s.pos+1 : s.pos+size])
	}
	if info >= 24 || major >= majorTag {
		if err := w.headForm(major, info, arg); err != nil {
			return 0, 0, err
		}
	}
	if err := w.room(uint64(size)); err != nil {
		return 0, 0, err
	}
	w.keep = append(w.keep, s.buf[s.pos:s.pos+size]...)
	s.pos += size
	return major, arg, nil
}

func argument(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	default:
		return binary.BigEndian.Uint64(b)
	}
}

// headForm refuses a head that is not well-formed, not deterministic, or of a kind that this protocol has no use for.
func (w *walker) headForm(major, info byte, arg uint64) error {
	switch {
	case info == 31 && major >= majorBytes && major <= majorMap:
		return w.fail(abi.ClassIndefinite, "major type %d of indefinite length", major)
	case info >= 28:
		return w.fail(abi.ClassMalformed, "additional information %d of major type %d", info, major)
	case major == majorTag:
		return w.fail(abi.ClassTag, "tag %d", arg)
	case major == majorSimple && info >= 25:
		return w.fail(abi.ClassFloat, "a floating-point number")
	case major == majorSimple && info == 24 && arg < 32:
		return w.fail(abi.ClassMalformed, "simple value %d in two bytes", arg)
	case major == majorSimple && (arg < simpleFalse || arg > simpleNull):
		return w.fail(abi.ClassSimple, "simple value %d", arg)
	case major < majorTag && (info == 24 && arg < 24 || info == 25 && arg < 1<<8 || info == 26 && arg < 1<<16 || info == 27 && arg < 1<<32):
		return w.fail(abi.ClassNonMinimal, "%d in %d bytes", arg, 1+1<<(info-24))
	}
	return nil
}

// declared judges the length n of a string, or n as the least number of bytes of an array or map, before anything is
// read or allocated for it.
func (w *walker) declared(n uint64) error {
	if err := w.room(n); err != nil {
		return err
	}
	return w.declaredRest(n)
}

func (w *walker) declaredRest(n uint64) error {
	if rest, known := w.src.rest(); known && n > uint64(max(rest, 0)) {
		return w.fail(abi.ClassLengthOverRest, "%d bytes are declared, %d are left", n, rest)
	}
	return w.within(n)
}

// str keeps n bytes and returns where in keep they begin.
func (w *walker) str(n uint64) (int, error) {
	if src := &w.src; n <= uint64(src.end-src.pos) && int64(n) <= src.max-src.offset() && int64(n) <= w.keepMax-int64(len(w.keep)) {
		start := len(w.keep) // all of it is here, and allowed
		w.keep = append(w.keep, src.buf[src.pos:src.pos+int(n)]...)
		src.pos += int(n)
		return start, nil
	}
	if err := w.declared(n); err != nil {
		return 0, err
	}
	start := len(w.keep)
	for left := int(n); left > 0; {
		b := w.src.ahead()
		if len(b) == 0 {
			return 0, w.short()
		}
		b = b[:min(len(b), left)]
		w.keep = append(w.keep, b...)
		w.src.pos += len(b)
		left -= len(b)
	}
	return start, nil
}

// text is str of text.
func (w *walker) text(n uint64) (int, error) {
	start, err := w.str(n)
	if err == nil && !utf8.Valid(w.keep[start:]) {
		err = w.fail(abi.ClassUTF8, "the text %q", clip(w.keep[start:]))
	}
	return start, err
}

// enter judges the length of an array or map that would lie at depth.
func (w *walker) enter(major byte, n uint64, depth int) error {
	if depth > abi.MaxDepth {
		return w.fail(abi.ClassDepth, "arrays and maps nested over %d deep", abi.MaxDepth)
	}
	least := n
	if major == majorMap {
		if least = 2 * n; n > math.MaxUint64/2 {
			least = n
		}
	}
	if err := w.declared(least); err != nil {
		return err
	}
	if depth > 1 && w.divert {
		if w.values += int(n); w.values > w.lim.Values {
			return w.failLimit(abi.ClassLimitValues, "values", int64(w.lim.Values), uint64(w.values))
		}
	}
	return nil
}

// fields walks the n entries of a map of shape s at depth.
func (w *walker) fields(s *shape, n uint64, depth int) error {
	var seen uint32
	index, prev, prevEnd := -1, 0, 0
	for range n {
		start, name := len(w.keep), []byte(nil)
		found, err := w.knownKey(s, index+1)
		if err == nil && found < 0 {
			start, name, err = w.key(prev, prevEnd)
			found = s.find(index+1, name)
		}
		if err != nil {
			return err
		}
		prev, prevEnd = start, len(w.keep)
		if found < 0 {
			return w.failKey(clip(name), abi.ClassUnknownKey, "there is no such key here")
		}
		if s == intentShape && w.mayHave&(1<<found) == 0 {
			return w.failKey(s.keys[found].name, abi.ClassUnknownKey, "op %q has no such key", w.op)
		}
		index = found
		seen |= 1 << index
		w.path = append(w.path, s.keys[index].name)
		if err := w.value(&s.keys[index], depth+1); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
		if s == intentShape {
			w.spans[index] = span{prevEnd, len(w.keep)}
		}
	}
	if s == intentShape {
		w.seen = seen
	}
	return w.end(s, seen)
}

// knownKey walks a map key if it lies in the buffer and is one of s at or after from, which is nearly always so, and
// returns -1 if not.
func (w *walker) knownKey(s *shape, from int) (int, error) {
	src := &w.src
	i := s.match(from, src.buf[src.pos:src.end])
	if i < 0 {
		return -1, nil
	}
	w.at = src.offset()
	n := uint64(len(s.keys[i].enc))
	if err := w.within(n); err != nil {
		return -1, err
	}
	if err := w.room(n); err != nil {
		return -1, err
	}
	w.keep = append(w.keep, s.keys[i].enc...)
	src.pos += int(n)
	return i, nil
}

// key walks a map key. The key before it lies at keep[prev:prevEnd], if prevEnd is not 0.
func (w *walker) key(prev, prevEnd int) (start int, name []byte, err error) {
	start = len(w.keep)
	major, n, err := w.head()
	if err != nil {
		return 0, nil, err
	}
	at := w.at
	if major != majorText {
		return 0, nil, w.fail(abi.ClassKeyType, "a map key of major type %d", major)
	}
	from, err := w.text(n)
	if err != nil {
		return 0, nil, err
	}
	w.at = at
	if prevEnd > 0 {
		switch c := bytes.Compare(w.keep[prev:prevEnd], w.keep[start:]); {
		case c == 0:
			return 0, nil, w.failKey(clip(w.keep[from:]), abi.ClassDuplicateKey, "it is there twice")
		case c > 0:
			return 0, nil, w.failKey(clip(w.keep[from:]), abi.ClassUnsortedKey, "it comes after a key that it sorts before")
		}
	}
	return start, w.keep[from:], nil
}

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

// valueAt returns the value of a key that an intent has: its major type, its argument, and what follows the head.
func (w *walker) valueAt(i int) (major byte, arg uint64, rest []byte) {
	b := w.keep[w.spans[i].start:w.spans[i].end]
	major, arg, rest = b[0]>>5, uint64(b[0]&31), b[1:]
	if arg >= 24 {
		size := 1 << (arg - 24)
		arg, rest = argument(rest[:size]), rest[size:]
	}
	return major, arg, rest
}

// textAt returns the text of a key that an intent has.
func (w *walker) textAt(i int) string {
	_, _, b := w.valueAt(i)
	return string(b)
}

// clip shortens foreign text for an error.
func clip(b []byte) string {
	const most = 64
	if len(b) > most {
		return string(b[:most]) + "..."
	}
	return string(b)
}
