package wire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/lola-ext/lola/abi"
)

// A lineReader reads the JSON form line by line. It turns each line into the one internal form, a CBOR item with an empty
// byte string for a content, and has the walker judge that: keys, types, values and limits are not looked at twice. What
// it judges itself is JSON, the spellings that CBOR has no use for (modes, digests, base64), and keys that are there twice.
type lineReader struct {
	src  source
	w    *walker
	line int64 // where the line begins

	out     []byte // the item so far
	scratch []byte
	entries []entry // of the maps that are open, the innermost last
	content contentSink
}

// An entry is where one map entry lies in out.
type entry struct {
	start, value, end int
	base64            bool // the key was content_base64
}

func newLineReader(r io.Reader, what string, limit int64, w *walker) *lineReader {
	return &lineReader{src: newSource(r, limit, 0), w: w}
}

// next reads one line as an item of shape s. It reports [io.EOF] if there is none.
func (j *lineReader) next(s *shape) error {
	j.line = j.src.offset()
	j.out, j.entries, j.w.path = j.out[:0], j.entries[:0], j.w.path[:0]
	if len(j.src.ahead()) == 0 {
		if j.src.err != io.EOF {
			return fmt.Errorf("read %s: %w", j.w.what, j.src.err)
		}
		return io.EOF
	}
	if err := j.value(&key{kind: kindMap, sub: s}, 1); err != nil {
		return err
	}
	if err := j.endLine(); err != nil {
		return err
	}
	j.w.src.reset(j.out, math.MaxInt64)
	err := j.w.next(s)
	if e, ok := err.(*abi.FormError); ok {
		e.Offset = j.src.offset() - j.line
	}
	return err
}

func (j *lineReader) fail(c abi.Class, format string, args ...any) error {
	j.w.at = j.src.offset() - j.line
	return j.w.fail(c, format, args...)
}

// ahead returns unread bytes, one at least, as far as the limit of the whole lets.
func (j *lineReader) ahead() ([]byte, error) {
	b := j.src.ahead()
	if len(b) == 0 {
		if j.src.err != io.EOF {
			return nil, fmt.Errorf("read %s: %w", j.w.what, j.src.err)
		}
		return nil, j.fail(abi.ClassTruncated, "the %s ends within item %d", j.w.what, j.w.item)
	}
	left := j.src.max - j.src.offset()
	if left <= 0 {
		j.w.at = j.src.offset() - j.line
		return nil, j.w.failLimit(abi.ClassLimitPlan, j.w.what, j.src.max, uint64(j.src.offset())+1)
	}
	return b[:min(int64(len(b)), left)], nil
}

func (j *lineReader) peek() (byte, error) {
	b, err := j.ahead()
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (j *lineReader) byte() (byte, error) {
	c, err := j.peek()
	if err == nil {
		j.src.pos++
	}
	return c, err
}

// token skips spaces and tabs, which are all the white space that a line can hold, and peeks.
func (j *lineReader) token() (byte, error) {
	for {
		c, err := j.peek()
		if err != nil || c != ' ' && c != '\t' {
			return c, err
		}
		j.src.pos++
	}
}

// endLine reads LF, CR LF, or the end of the input.
func (j *lineReader) endLine() error {
	for {
		if len(j.src.ahead()) == 0 && j.src.err == io.EOF {
			return nil
		}
		c, err := j.byte()
		if err != nil {
			return err
		}
		switch c {
		case ' ', '\t':
			continue
		case '\r':
			if c, err = j.byte(); err != nil {
				return err
			}
		}
		if c != '\n' {
			return j.fail(abi.ClassMalformed, "%q after the value of a line", c)
		}
		return nil
	}
}

// emit appends bytes to the item.
func (j *lineReader) emit(b ...byte) error {
	if got := int64(len(j.out) + len(b)); got > j.w.keepMax {
		name := "item"
		if j.w.keepOver == abi.ClassLimitPlan {
			name = j.w.what
		}
		j.w.at = j.src.offset() - j.line
		return j.w.failLimit(j.w.keepOver, name, j.w.keepMax, uint64(got))
	}
	j.out = append(j.out, b...)
	return nil
}

// prefix puts a head before out[start:].
func (j *lineReader) prefix(start int, major byte, n uint64) error {
	size := headSize(n)
	var room [9]byte
	if err := j.emit(room[:size]...); err != nil {
		return err
	}
	copy(j.out[start+size:], j.out[start:len(j.out)-size])
	appendHead(j.out[:start], major, n)
	return nil
}

// value reads one value. k is its key if that is known, and gives strings their meaning.
func (j *lineReader) value(k *key, depth int) error {
	c, err := j.token()
	if err != nil {
		return err
	}
	switch {
	case c == '{':
		var s *shape
		if k != nil && k.kind == kindMap {
			s = k.sub
		}
		return j.object(s, depth)
	case c == '[':
		var element *key
		if k != nil && k.kind == kindList {
			element = &key{kind: kindMap, sub: k.sub}
		}
		return j.array(element, depth)
	case c == '"':
		return j.stringOf(k)
	case c == '-' || c >= '0' && c <= '9':
		if err := j.number(); err != nil {
			return err
		}
		if k != nil && k.kind == kindMode {
			return j.fail(abi.ClassType, `a number; want four octal digits as text, like "0644"`)
		}
		return nil
	case c == 't':
		return j.literal("true", majorSimple<<5|simpleTrue)
	case c == 'f':
		return j.literal("false", majorSimple<<5|simpleFalse)
	case c == 'n':
		return j.literal("null", majorSimple<<5|simpleNull)
	default:
		return j.fail(abi.ClassMalformed, "%q where a value is due", c)
	}
}

func (j *lineReader) literal(word string, code byte) error {
	for i := range len(word) {
		c, err := j.byte()
		if err != nil {
			return err
		}
		if c != word[i] {
			return j.fail(abi.ClassMalformed, "no value but %q begins so", word)
		}
	}
	return j.emit(code)
}

// open reads a bracket and judges the depth it leads to.
func (j *lineReader) open(depth int) error {
	j.src.pos++
	if depth > abi.MaxDepth {
		return j.fail(abi.ClassDepth, "arrays and objects nested over %d deep", abi.MaxDepth)
	}
	return nil
}

// more reports whether an element follows in what ends with last: the comma between elements is read here.
func (j *lineReader) more(last byte, n int) (bool, error) {
	c, err := j.token()
	switch {
	case err != nil:
		return false, err
	case c == last:
		j.src.pos++
		return false, nil
	case n == 0:
		return true, nil
	case c != ',':
		return false, j.fail(abi.ClassMalformed, "%q where a comma or %q is due", c, last)
	}
	j.src.pos++
	if c, err = j.token(); err == nil && c == last {
		err = j.fail(abi.ClassMalformed, "%q after a comma", c)
	}
	return true, err
}

func (j *lineReader) array(element *key, depth int) error {
	if err := j.open(depth); err != nil {
		return err
	}
	start, n := len(j.out), 0
	for {
		ok, err := j.more(']', n)
		if err != nil {
			return err
		}
		if !ok {
			return j.prefix(start, majorArray, uint64(n))
		}
		if err := j.value(element, depth+1); err != nil {
			return err
		}
		n++
	}
}

// object reads an object of shape s, nil: of any keys.
func (j *lineReader) object(s *shape, depth int) error {
	if err := j.open(depth); err != nil {
		return err
	}
	start, base := len(j.out), len(j.entries)
	for {
		ok, err := j.more('}', len(j.entries)-base)
		if err != nil {
			return err
		}
		if !ok {
			return j.closeObject(start, base)
		}
		if err := j.entry(s, depth); err != nil {
			return err
		}
	}
}

const contentBase64 = "content_base64"

// base64Key is what stands under content_base64.
var base64Key = key{name: contentBase64, kind: kindContent}

func (j *lineReader) entry(s *shape, depth int) error {
	c, err := j.token()
	if err != nil {
		return err
	}
	if c != '"' {
		return j.fail(abi.ClassMalformed, "%q where a key is due", c)
	}
	e := entry{start: len(j.out)}
	from, err := j.text()
	if err != nil {
		return err
	}
	name := j.out[from:]
	e.base64 = s != nil && string(name) == contentBase64 && s.find(0, []byte("content")) >= 0
	var k *key
	if e.base64 {
		k = &base64Key
		j.out = append(appendHead(j.out[:e.start], majorText, uint64(len("content"))), "content"...)
	} else if s != nil {
		if i := s.find(0, name); i >= 0 {
			k = &s.keys[i]
		}
	}
	e.value = len(j.out)
	if c, err = j.token(); err != nil {
		return err
	}
	if c != ':' {
		return j.fail(abi.ClassMalformed, "%q where a colon is due", c)
	}
	j.src.pos++
	if k != nil {
		j.w.path = append(j.w.path, k.name)
		defer func() { j.w.path = j.w.path[:len(j.w.path)-1] }()
	}
	at := len(j.entries)
	j.entries = append(j.entries, e)
	if err := j.value(k, depth+1); err != nil {
		return err
	}
	j.entries[at].end = len(j.out)
	return nil
}

// closeObject sorts the entries since base, which lie in out from start, and puts the map's head before them.
func (j *lineReader) closeObject(start, base int) error {
	entries := j.entries[base:]
	j.entries = j.entries[:base]
	keyOf := func(e entry) []byte { return j.out[e.start:e.value] }
	slices.SortStableFunc(entries, func(a, b entry) int { return bytes.Compare(keyOf(a), keyOf(b)) })
	for i := 1; i < len(entries); i++ {
		if !bytes.Equal(keyOf(entries[i-1]), keyOf(entries[i])) {
			continue
		}
		if entries[i-1].base64 != entries[i].base64 {
			return j.fail(abi.ClassExclusive, `both "content" and "content_base64"`)
		}
		return j.fail(abi.ClassDuplicateKey, "a key is there twice")
	}
	j.scratch = j.scratch[:0]
	for _, e := range entries {
		j.scratch = append(j.scratch, j.out[e.start:e.end]...)
	}
	copy(j.out[start:], j.scratch)
	return j.prefix(start, majorMap, uint64(len(entries)))
}

// number reads an integer of 64 bits with sign.
func (j *lineReader) number() error {
	c, _ := j.byte()
	negative := c == '-'
	if negative {
		var err error
		if c, err = j.byte(); err != nil {
			return err
		}
		if c < '0' || c > '9' {
			return j.fail(abi.ClassMalformed, "%q after a minus sign", c)
		}
	}
	n, zero := uint64(c-'0'), c == '0'
	for {
		if len(j.src.ahead()) == 0 && j.src.err == io.EOF {
			break
		}
		c, err := j.peek()
		if err != nil {
			return err
		}
		if c == '.' || c == 'e' || c == 'E' {
			return j.fail(abi.ClassFloat, "a number with a fraction or an exponent")
		}
		if c < '0' || c > '9' || zero {
			break // after a zero whatever follows cannot belong to the number
		}
		j.src.pos++
		digit := uint64(c - '0')
		if n > (math.MaxInt64+1-digit)/10 {
			return j.fail(abi.ClassValue, "an integer that does not fit in 64 bits with a sign")
		}
		n = n*10 + digit
	}
	switch {
	case negative && n == 0:
		return j.fail(abi.ClassFloat, "-0 is no integer")
	case negative:
		return j.emit(appendHead(nil, majorNeg, n-1)...)
	case n > math.MaxInt64:
		return j.fail(abi.ClassValue, "an integer that does not fit in 64 bits with a sign")
	}
	return j.emit(appendHead(nil, majorUint, n)...)
}
