package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

const (
	hashKey    = `,"hash":"`
	hashSuffix = len(hashKey) + 2*sha256.Size + len(`"}`)
)

// prepare returns rec as it will stand in a line: texts bounded, URLs redacted, long lists summed up; size is the length of
// that line at most. It does not change what rec points to. Its errors are mistakes of the caller, and a *[abi.LimitError]
// for what is too large even so.
func prepare(rec Record) (out Record, size int, err error) {
	for _, t := range []struct{ field, text string }{
		{"event", string(rec.Event)}, {"transaction", rec.Transaction}, {"of", rec.Of}, {"action", rec.Action},
		{"scope", rec.Scope}, {"outcome", rec.Outcome},
	} {
		if !token(t.text) && (t.text != "" || t.field == "event") {
			return Record{}, 0, fmt.Errorf("%s is %q: want a token", t.field, t.text)
		}
	}
	for _, c := range rec.Consents {
		if !token(c.Kind) || c.How != "" && !token(c.How) {
			return Record{}, 0, fmt.Errorf("a consent is of kind %q, given %q: want tokens", c.Kind, c.How)
		}
	}
	for _, in := range rec.Intents {
		if !token(in.Op) || in.Mode != "" && !token(in.Mode) {
			return Record{}, 0, fmt.Errorf("an intent has op %q and mode %q: want tokens", in.Op, in.Mode)
		}
	}
	for _, f := range rec.Findings {
		if !token(f.Rule) {
			return Record{}, 0, fmt.Errorf("a finding has rule %q: want a token", f.Rule)
		}
	}
	rec = clean(rec)
	if len(rec.Intents) > MaxList {
		if err = sumUpIntents(&rec); err != nil {
			return Record{}, 0, err
		}
	}
	if len(rec.Findings) > MaxList {
		if err = sumUpFindings(&rec); err != nil {
			return Record{}, 0, err
		}
	}
	size, err = worstSize(rec)
	if err == nil && size > MaxRecord && len(rec.Intents) > 0 {
		if err = sumUpIntents(&rec); err == nil {
			size, err = worstSize(rec)
		}
	}
	if err == nil && size > MaxRecord && len(rec.Findings) > 0 {
		if err = sumUpFindings(&rec); err == nil {
			size, err = worstSize(rec)
		}
	}
	if err == nil && size > MaxRecord {
		err = &abi.LimitError{Limit: "audit record", Bound: MaxRecord, Got: int64(size)}
	}
	return rec, size, err
}

// token reports whether s is a word of ours: it needs no escape and has no room for anybody's text.
func token(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (i == 0 || c != '-' && c != '.' && c != '_') {
			return false
		}
	}
	return true
}

// worstSize is the length of rec's line with the longest number that it can get.
func worstSize(rec Record) (int, error) {
	rec.Format, rec.Seq = Format, maxSeq
	line, err := encode(rec)
	return len(line), err
}

func sumUpIntents(rec *Record) error {
	list, err := sumUp(rec.Intents)
	rec.Intents, rec.IntentList = nil, list
	return err
}

func sumUpFindings(rec *Record) error {
	list, err := sumUp(rec.Findings)
	rec.Findings, rec.FindingList = nil, list
	return err
}

// sumUp hashes the elements as they would stand in the line, each followed by LF.
func sumUp[E any](elements []E) (*List, error) {
	h := sha256.New()
	for _, e := range elements {
		text, err := marshal(e)
		if err != nil {
			return nil, err
		}
		h.Write(append(text, '\n'))
	}
	return &List{Count: len(elements), Digest: Digest(h.Sum(nil))}, nil
}

// encode returns the line of rec, LF included, with the hash that it sets.
func encode(rec Record) ([]byte, error) {
	rec.Hash = Digest{}
	text, err := marshal(rec)
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1] // "}"
	sum := Digest(sha256.Sum256(text))
	text = append(text, hashKey...)
	text = append(text, sum.String()...)
	return append(text, "\"}\n"...), nil
}

// marshal is JSON in printable ASCII: everything else is written as \u and four digits, as a UTF-16 pair if need be.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	out := make([]byte, 0, len(text)+hashSuffix+1)
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c <= '~' {
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out, nil
}

// clean returns a deep copy of v with every text bounded and every field that is named URL redacted. It goes by
// reflection, so that a new field cannot be forgotten.
func clean[T any](v T) T {
	out := v
	cleanValue(reflect.ValueOf(&out).Elem())
	return out
}

func cleanValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(bound(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			cleanValue(fresh.Elem())
			v.Set(fresh)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		for i := range fresh.Len() {
			cleanValue(fresh.Index(i))
		}
		v.Set(fresh)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "URL" {
				v.Field(i).SetString(RedactURL(v.Field(i).String()))
			}
			cleanValue(v.Field(i))
		}
	}
}

// bound makes s valid UTF-8, each wrong byte becoming U+FFFD, and cuts what is over [MaxText]; the end then says how long it
// was and what its digest is.
func bound(s string) string {
	if len(s) <= MaxText && utf8.ValidString(s) {
		return s
	}
	head := s[:min(len(s), MaxText)]
	var b strings.Builder
	for _, r := range head { // a wrong byte is U+FFFD
		b.WriteRune(r)
	}
	if len(s) <= MaxText && b.Len() <= MaxText {
		return b.String()
	}
	mark := fmt.Sprintf("...[cut: %d bytes, sha256 %s]", len(s), abi.DigestOf([]byte(s)))
	n := MaxText - len(mark)
	for !utf8.RuneStart(b.String()[n]) {
		n--
	}
	return b.String()[:n] + mark
}

// envelope is what chains a line, read without decoding the rest.
type envelope struct {
	format int
	seq    uint64
	prev   Digest
	hash   Digest
}

// open reads the envelope of a line, without its LF, and checks its hash. why says what is wrong, in words that hold none
// of the line.
func open(line []byte) (env envelope, why string) {
	if len(line)+1 > MaxRecord {
		return env, fmt.Sprintf("it is longer than %d bytes", MaxRecord)
	}
	for _, c := range line {
		if c < ' ' || c > '~' {
			return env, "it holds a byte that is not printable ASCII"
		}
	}
	cut := len(line) - hashSuffix
	if cut < 0 || !bytes.HasPrefix(line[cut:], []byte(hashKey)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return env, "it does not end with a hash"
	}
	body, digits := line[:cut], line[cut+len(hashKey):len(line)-2]
	if env.hash.UnmarshalText(digits) != nil {
		return env, "its hash is not 64 lower-case hexadecimal digits"
	}
	if Digest(sha256.Sum256(body)) != env.hash {
		return env, "its hash is not that of its text"
	}
	rest, format, ok := number(body, `{"v":`, math.MaxInt32)
	if ok {
		rest, env.seq, ok = number(rest, `,"seq":`, maxSeq)
	}
	if ok {
		rest, ok = bytes.CutPrefix(rest, []byte(`,"prev":"`))
	}
	ok = ok && len(rest) > 2*sha256.Size && rest[2*sha256.Size] == '"' && env.prev.UnmarshalText(rest[:2*sha256.Size]) == nil
	if !ok {
		return env, "it does not begin with format, number and the hash of the record before it"
	}
	env.format = int(format)
	return env, ""
}

// number reads key and a number from 1 to max without leading zeros.
func number(text []byte, key string, max uint64) (rest []byte, n uint64, ok bool) {
	rest, ok = bytes.CutPrefix(text, []byte(key))
	if !ok || len(rest) == 0 || rest[0] == '0' {
		return nil, 0, false
	}
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		if n = n*10 + uint64(rest[0]-'0'); n > max {
			return nil, 0, false
		}
		rest = rest[1:]
	}
	return rest, n, n > 0
}

// errNewer is about a record that this program cannot judge.
func errNewer(env envelope) error {
	return fmt.Errorf("record %d has format %d, and %d is known: a newer lola wrote it", env.seq, env.format, Format)
}

// decode reads a line whose envelope is env. Its errors are about a line that no writer of this format leaves.
func decode(line []byte, env envelope) (Record, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var rec Record
	if err := dec.Decode(&rec); err != nil {
		return Record{}, errors.New("it is no record: " + foreign(err.Error()))
	}
	if dec.InputOffset() != int64(len(line)) {
		return Record{}, errors.New("it is no record: something follows it")
	}
	if rec.Format != env.format || rec.Seq != env.seq || rec.Prev != env.prev || rec.Hash != env.hash {
		return Record{}, errors.New("it says its format, number or hashes twice")
	}
	if !token(string(rec.Event)) {
		return Record{}, errors.New("its event is no token")
	}
	return rec, nil
}

// foreign makes a message that may quote a line fit for one.
func foreign(s string) string {
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return strings.Trim(fmt.Sprintf("%+q", s), `"`)
}

// lines cuts a stream into lines and holds at most one of MaxRecord bytes.
type lines struct {
	from *bufio.Reader
	buf  []byte
}

// line is what lies between two LFs.
type line struct {
	text  []byte // without its LF, valid until the next call; nil if it is longer than a record can be
	size  int64  // bytes, LF counted
	last  byte   // the last byte before the LF
	ended bool   // an LF ends it; else the stream does
}

// next returns the next line, or [io.EOF]. The bytes of one that is too long, LF included, go to over.
func (l *lines) next(over hash.Hash) (line, error) {
	var out line
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.from.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !more && !errors.Is(err, io.EOF) {
			return line{}, err
		}
		out.size += int64(len(part))
		if err == nil {
			out.ended = true
			if len(part) > 1 {
				out.last = part[len(part)-2]
			}
		} else if len(part) > 0 {
			out.last = part[len(part)-1]
		}
		if !long && len(l.buf)+len(part) > MaxRecord {
			long = true
			over.Write(l.buf)
		}
		if long {
			over.Write(part)
		} else {
			l.buf = append(l.buf, part...)
		}
		if more {
			continue
		}
		if out.size == 0 {
			return line{}, io.EOF
		}
		if !long {
			out.text = l.buf
			if out.ended {
				out.text = l.buf[:len(l.buf)-1]
			}
		}
		return out, nil
	}
}
