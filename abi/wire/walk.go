package wire

import (
	"bytes"
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
