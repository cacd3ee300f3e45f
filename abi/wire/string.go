package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// stringOf reads a string as what k makes of it.
func (j *lineReader) stringOf(k *key) error {
	if k != nil && k.kind == kindContent {
		return j.contentOf(k.name == contentBase64)
	}
	start := len(j.out)
	from, err := j.text()
	if err != nil || k == nil {
		return err
	}
	s := j.out[from:]
	switch k.kind {
	case kindMode:
		if len(s) != 4 {
			return j.fail(abi.ClassValue, "%q has not four octal digits", clip(s))
		}
		mode := uint64(0)
		for _, c := range s {
			if c < '0' || c > '7' {
				return j.fail(abi.ClassValue, "%q has not four octal digits", clip(s))
			}
			mode = mode<<3 | uint64(c-'0')
		}
		j.out = appendHead(j.out[:start], majorUint, mode)
	case kindDigest, kindExpect:
		if k.kind == kindExpect && string(s) == "absent" {
			return nil
		}
		d, err := abi.ParseDigest(clip(s))
		if err != nil {
			return j.fail(abi.ClassValue, "%v", err)
		}
		j.out = append(appendHead(j.out[:start], majorBytes, uint64(len(d))), d[:]...)
	}
	return nil
}

// text reads a string as a CBOR text and returns where in out its bytes begin.
func (j *lineReader) text() (int, error) {
	start := len(j.out)
	if err := j.str(func(b []byte) error { return j.emit(b...) }); err != nil {
		return 0, err
	}
	n := uint64(len(j.out) - start)
	return start + headSize(n), j.prefix(start, majorText, n)
}

// str reads a string and hands its bytes to sink, which are UTF-8 and no escapes any more, in pieces that cut no character.
func (j *lineReader) str(sink func([]byte) error) error {
	j.src.pos++ // the quote
	for {
		b, err := j.ahead()
		if err != nil {
			return err
		}
		i := 0
		for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
			i++
		}
		if i == len(b) {
			i -= cutRune(b)
			if i == 0 { // nothing but the beginning of a character: look further
				if !j.src.fill(len(b)+1) || j.src.max-j.src.offset() <= int64(len(b)) {
					j.src.pos += len(b) // then ahead says why there is no more
				}
				continue
			}
		}
		if i > 0 {
			// What comes before a broken character is judged first, so that of two defects the same one is named however
			// the input is cut into reads.
			valid := validPrefix(b[:i])
			if valid > 0 {
				if err := sink(b[:valid]); err != nil {
					return err
				}
			}
			if valid < i {
				return j.fail(abi.ClassUTF8, "the text %q", clip(b[:i]))
			}
			j.src.pos += i
			continue
		}
		j.src.pos++
		switch b[0] {
		case '"':
			return nil
		case '\\':
			var buf [utf8.UTFMax]byte
			r, err := j.escape()
			if err != nil {
				return err
			}
			if err := sink(utf8.AppendRune(buf[:0], r)); err != nil {
				return err
			}
		default:
			return j.fail(abi.ClassMalformed, "the control character %q in a string", b[0])
		}
	}
}

// validPrefix returns how many bytes at the beginning of b are UTF-8.
func validPrefix(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size <= 1 {
			return n
		}
		n += size
	}
}

// cutRune returns how many bytes at the end of b begin a character that is not whole.
func cutRune(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// escape reads what follows a backslash.
func (j *lineReader) escape() (rune, error) {
	c, err := j.byte()
	if err != nil {
		return 0, err
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return j.unicode()
	default:
		return 0, j.fail(abi.ClassMalformed, "the escape \\%q", c)
	}
}

// unicode reads four digits, and a second escape if they are half of a pair.
func (j *lineReader) unicode() (rune, error) {
	r, err := j.hex4()
	switch {
	case err != nil || r < 0xd800 || r > 0xdfff:
		return r, err
	case r >= 0xdc00:
		return 0, j.fail(abi.ClassUTF8, "the second half of a surrogate pair alone")
	}
	for _, want := range []byte(`\u`) {
		c, err := j.byte()
		if err != nil {
			return 0, err
		}
		if c != want {
			return 0, j.fail(abi.ClassUTF8, "the first half of a surrogate pair alone")
		}
	}
	low, err := j.hex4()
	if err != nil {
		return 0, err
	}
	if low < 0xdc00 || low > 0xdfff {
		return 0, j.fail(abi.ClassUTF8, "two first halves of surrogate pairs")
	}
	return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), nil
}

func (j *lineReader) hex4() (rune, error) {
	var digits [4]byte
	for i := range digits {
		c, err := j.byte()
		if err != nil {
			return 0, err
		}
		digits[i] = c
	}
	var b [2]byte
	if _, err := hex.Decode(b[:], digits[:]); err != nil {
		return 0, j.fail(abi.ClassMalformed, "the escape \\u%q", digits)
	}
	return rune(b[0])<<8 | rune(b[1]), nil
}

// A contentSink takes the bytes of one content as they come.
type contentSink struct {
	n      int64
	start  int64     // in the spool
	memory abi.Bytes // without a spool
	quad   []byte    // base64 that waits for its group of four
	bytes  []byte
	ended  bool // padding has been seen
}

// contentOf reads a content. An intent's goes to the spool, a request's into the item.
func (j *lineReader) contentOf(isBase64 bool) error {
	j.content = contentSink{quad: j.content.quad[:0], bytes: j.content.bytes}
	start := len(j.out)
	if j.w.divert && j.w.sp != nil {
		j.content.start = j.w.sp.end
	}
	sink := j.contentBytes
	if isBase64 {
		sink = j.contentQuads
	}
	if err := j.str(sink); err != nil {
		return err
	}
	if len(j.content.quad) > 0 {
		return j.fail(abi.ClassValue, "base64 that is no whole number of groups of four; padding is due")
	}
	switch {
	case !j.w.divert:
		return j.prefix(start, majorBytes, uint64(j.content.n))
	case j.w.sp != nil:
		j.w.content = j.w.sp.content(j.content.start)
	default:
		j.w.content = append(abi.Bytes{}, j.content.memory...)
	}
	return j.emit(emptyBytes)
}

func (j *lineReader) contentBytes(b []byte) error {
	c := &j.content
	if c.n += int64(len(b)); c.n > j.w.lim.Content {
		j.w.at = j.src.offset() - j.line
		return j.w.failLimit(abi.ClassLimitContent, "content", j.w.lim.Content, uint64(c.n))
	}
	switch {
	case !j.w.divert:
		return j.emit(b...)
	case j.w.sp != nil:
		return j.w.sp.append(b)
	}
	c.memory = append(c.memory, b...)
	return nil
}

func (j *lineReader) contentQuads(b []byte) error {
	c := &j.content
	if c.ended {
		return j.fail(abi.ClassValue, "base64 goes on after its padding")
	}
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 { // the library would skip them
		return j.fail(abi.ClassValue, "%q in base64", b[i])
	}
	c.quad = append(c.quad, b...)
	whole := len(c.quad) / 4 * 4
	c.bytes = slices.Grow(c.bytes[:0], whole)[:whole]
	n, err := base64.StdEncoding.Strict().Decode(c.bytes, c.quad[:whole])
	if err != nil {
		return j.fail(abi.ClassValue, "decode base64: %v", err)
	}
	c.ended = n < whole/4*3
	if c.ended && whole < len(c.quad) {
		return j.fail(abi.ClassValue, "base64 goes on after its padding")
	}
	c.quad = append(c.quad[:0], c.quad[whole:]...)
	return j.contentBytes(c.bytes[:n])
}
