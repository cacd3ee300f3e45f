package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// writeLine writes an item in the JSON form.
func writeLine(w io.Writer, s *shape, keep []byte, contentAt int, content abi.Content) error {
	line, at := appendLine(nil, keep, s)
	if contentAt < 0 {
		_, err := w.Write(line)
		return err
	}
	if _, err := w.Write(line[:at]); err != nil {
		return err
	}
	if err := writeContent(w, content); err != nil {
		return err
	}
	_, err := w.Write(line[at:])
	return err
}

// writeContent writes a content's key and value: text if it is text, else base64. It reads the content twice.
func writeContent(w io.Writer, c abi.Content) error {
	text, err := isText(c)
	if err != nil {
		return fmt.Errorf("read content: %w", err)
	}
	if text {
		if _, err := io.WriteString(w, `"content":"`); err != nil {
			return err
		}
		if err := copyContent(escaper{w}, c); err != nil {
			return err
		}
	} else {
		if _, err := io.WriteString(w, `"content_base64":"`); err != nil {
			return err
		}
		enc := base64.NewEncoder(base64.StdEncoding, w)
		if err := copyContent(enc, c); err != nil {
			return err
		}
		if err := enc.Close(); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, `"`)
	return err
}

// isText reports whether a content is UTF-8.
func isText(c abi.Content) (bool, error) {
	r, err := c.Open()
	if err != nil {
		return false, err
	}
	defer r.Close()
	buf := make([]byte, 32<<10)
	kept := 0 // the beginning of a character at the end of the last piece
	for {
		n, err := r.Read(buf[kept:])
		b := buf[:kept+n]
		if err != nil {
			if err == io.EOF {
				return utf8.Valid(b), nil
			}
			return false, err
		}
		cut := cutRune(b)
		if !utf8.Valid(b[:len(b)-cut]) {
			return false, nil
		}
		kept = copy(buf, b[len(b)-cut:])
	}
}

// An escaper writes the inside of a JSON string.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := e.w.Write(appendEscaped(nil, p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// appendEscaped escapes what JSON demands (RFC 8259, section 7) and no more.
func appendEscaped(dst, s []byte) []byte {
	for _, c := range s {
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			if c < 0x20 {
				dst = fmt.Appendf(dst, `\u%04x`, c)
			} else {
				dst = append(dst, c)
			}
		}
	}
	return dst
}

// appendLine appends an item of shape s, which has been checked, as a line. contentAt is where in the line the key and value
// of an intent's content must be put.
func appendLine(dst, item []byte, s *shape) (line []byte, contentAt int) {
	p := printer{in: item, out: dst, contentAt: -1}
	p.value(&key{kind: kindMap, sub: s})
	return append(p.out, '\n'), p.contentAt
}

// A printer turns checked CBOR into JSON.
type printer struct {
	in, out   []byte
	contentAt int
}

func (p *printer) head() (major byte, arg uint64) {
	first := p.in[0]
	size, arg := 1, uint64(first&31)
	if arg >= 24 {
		size += 1 << (arg - 24)
		arg = argument(p.in[1:size])
	}
	p.in = p.in[size:]
	return first >> 5, arg
}

func (p *printer) take(n uint64) []byte {
	b := p.in[:n]
	p.in = p.in[n:]
	return b
}

func (p *printer) quoted(b []byte) {
	p.out = append(appendEscaped(append(p.out, '"'), b), '"')
}

func (p *printer) value(k *key) {
	major, n := p.head()
	switch major {
	case majorUint:
		if k != nil && k.kind == kindMode {
			p.out = fmt.Appendf(p.out, "%q", abi.Mode(n).String())
			return
		}
		p.out = strconv.AppendUint(p.out, n, 10)
	case majorNeg:
		p.out = strconv.AppendInt(p.out, -1-int64(n), 10)
	case majorBytes: // a digest: contents are written with their key
		p.out = append(hex.AppendEncode(append(p.out, '"'), p.take(n)), '"')
	case majorText:
		p.quoted(p.take(n))
	case majorArray:
		var element *key
		if k != nil && k.kind == kindList {
			element = &key{kind: kindMap, sub: k.sub}
		}
		p.out = append(p.out, '[')
		for i := range n {
			if i > 0 {
				p.out = append(p.out, ',')
			}
			p.value(element)
		}
		p.out = append(p.out, ']')
	case majorMap:
		p.object(k, n)
	case majorSimple:
		p.out = append(p.out, [...]string{"false", "true", "null"}[n-simpleFalse]...)
	}
}

func (p *printer) object(k *key, n uint64) {
	var s *shape
	if k != nil && k.kind == kindMap {
		s = k.sub
	}
	p.out = append(p.out, '{')
	for i := range n {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		_, size := p.head()
		name := p.take(size)
		var under *key
		if s != nil {
			under = &s.keys[s.find(0, name)]
		}
		if under != nil && under.kind == kindContent {
			p.content(s)
			continue
		}
		p.quoted(name)
		p.out = append(p.out, ':')
		p.value(under)
	}
	p.out = append(p.out, '}')
}

// content prints a request's content, or notes where an intent's belongs.
func (p *printer) content(s *shape) {
	_, size := p.head()
	b := p.take(size)
	if s == intentShape {
		p.contentAt = len(p.out)
		return
	}
	var buf bytes.Buffer // writes to it do not fail, nor does reading bytes
	_ = writeContent(&buf, abi.Bytes(b))
	p.out = append(p.out, buf.Bytes()...)
}
