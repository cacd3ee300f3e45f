package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
)

func encoded(t testing.TB, p *abi.Plan) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := wire.EncodePlan(&buf, p); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestDecoderSteps(t *testing.T) {
	p := &abi.Plan{Messages: []abi.Message{{Level: abi.LevelInfo, Text: "hi"}}, Intents: []abi.Intent{abi.Delete{Path: "a"}, abi.Rename{From: "b", To: "c"}}}
	d := wire.NewDecoder(bytes.NewReader(encoded(t, p)), nil, wire.Options{})
	for i, want := range p.Intents { // without asking for the header first
		if got, err := d.Next(); err != nil || got != want {
			t.Errorf("intent %d: got %v (%v), want %v", i, got, err, want)
		}
	}
	for range 2 {
		h, err := d.Header()
		if err != nil || !reflect.DeepEqual(h, &abi.Header{Count: 2, Messages: p.Messages}) {
			t.Errorf("header: got %v (%v)", h, err)
		}
		if _, err := d.Next(); err != io.EOF {
			t.Errorf("after the last intent: got %v, want %v", err, io.EOF)
		}
	}
}

// TestErrorsStay: after an error every call returns it.
func TestErrorsStay(t *testing.T) {
	d := wire.NewDecoder(strings.NewReader("\x00"), nil, wire.Options{})
	_, first := d.Next()
	_, second := d.Next()
	_, third := d.Header()
	if first == nil || first != second || second != third {
		t.Errorf("got %v, %v, %v", first, second, third)
	}
}

// TestReaderFails: what the reader says is no refusal of the plan, wherever it comes.
func TestReaderFails(t *testing.T) {
	p := write(func(w *abi.Write) { w.Content = abi.Bytes("some text") })
	var lines bytes.Buffer
	if err := wire.EncodePlanJSON(&lines, p); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("pipe broke")
	var form *abi.FormError
	data := encoded(t, p)
	for n := range len(data) + 1 {
		_, err := wire.DecodePlan(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)), nil, wire.Options{})
		if !errors.Is(err, broken) || errors.As(err, &form) {
			t.Errorf("CBOR, %d bytes: got %v", n, err)
		}
	}
	for n := range lines.Len() + 1 {
		_, err := wire.DecodePlanJSON(io.MultiReader(bytes.NewReader(lines.Bytes()[:n]), iotest.ErrReader(broken)), nil, wire.Options{})
		if !errors.Is(err, broken) || errors.As(err, &form) {
			t.Errorf("JSON, %d bytes: got %v", n, err)
		}
	}
	if _, err := wire.DecodePlan(stuck{}, nil, wire.Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: got %v, want %v", err, io.ErrNoProgress)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestCutAnywhere: a plan that is cut off is truncated, wherever the cut is.
func TestCutAnywhere(t *testing.T) {
	p := write(func(w *abi.Write) { w.Content = abi.Bytes(strings.Repeat("é", 300)) })
	p.Result = abi.Entries{{Name: "n", Source: "s"}}
	data := encoded(t, p)
	var lines bytes.Buffer
	if err := wire.EncodePlanJSON(&lines, p); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(data); n++ {
		if _, err := wire.DecodePlan(bytes.NewReader(data[:n]), nil, wire.Options{}); classOf(err) != string(abi.ClassTruncated) {
			t.Errorf("CBOR, %d bytes: got %v", n, err)
		}
	}
	for n := 1; n < lines.Len()-1; n++ { // the last newline is optional
		if _, err := wire.DecodePlanJSON(bytes.NewReader(lines.Bytes()[:n]), nil, wire.Options{}); classOf(err) != string(abi.ClassTruncated) {
			t.Errorf("JSON, %d bytes: got %v", n, err)
		}
	}
}

// TestErrorsSayWhere: an error names the item, the byte and the key.
func TestErrorsSayWhere(t *testing.T) {
	p := edit(map[string]any{"a": "\xff"})
	data := encoded(t, edit(map[string]any{"a": "!"}))
	at := bytes.LastIndexByte(data, '!')
	data[at] = 0xff
	_, err := wire.DecodePlan(bytes.NewReader(data), nil, wire.Options{})
	var form *abi.FormError
	if !errors.As(err, &form) || form.Item != 1 || form.Offset != int64(at-1) || form.Key != "edits.value" {
		t.Errorf("got %v, want item 1, byte %d, key edits.value", err, at-1)
	}
	if err := wire.EncodePlan(io.Discard, p); !errors.As(err, &form) || form.Item != 1 || form.Key != "edits.value" {
		t.Errorf("encode: got %v, want item 1, key edits.value", err)
	}
	_, err = wire.DecodePlan(bytes.NewReader(encoded(t, write(func(*abi.Write) {}))), nil, wire.Options{Limits: abi.Limits{Intents: 1}})
	var limit *abi.LimitError
	if !errors.As(err, &limit) || *limit != (abi.LimitError{Limit: "intents", Bound: 1, Got: 2}) {
		t.Errorf("got %v, want the limit", err)
	}
}

// TestSizeOverLimit: an input that is known to be too large is refused before a byte is read.
func TestSizeOverLimit(t *testing.T) {
	unread := iotest.ErrReader(errors.New("was read"))
	if _, err := wire.DecodePlan(unread, nil, wire.Options{Size: 65 << 20}); classOf(err) != string(abi.ClassLimitPlan) {
		t.Errorf("plan: got %v", err)
	}
	if _, err := wire.DecodeRequest(unread, wire.Options{Size: 65 << 20}); classOf(err) != string(abi.ClassLimitPlan) {
		t.Errorf("request: got %v", err)
	}
}

// zeros gives n zero bytes.
type zeros int64

func (z *zeros) Read(p []byte) (int, error) {
	if *z == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), int64(*z))
	clear(p[:n])
	*z -= zeros(n)
	return int(n), nil
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// repeating gives one byte for ever and counts.
type repeating struct {
	b byte
	n int
}

func (r *repeating) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.b
	}
	r.n += len(p)
	return len(p), nil
}

// TestD01Nesting: nesting without end is refused at the ninth level, of whichever form, and nothing more is read than the
// buffer held by then.
func TestD01Nesting(t *testing.T) {
	for name, tt := range map[string]struct {
		b      byte
		decode func(io.Reader) error
	}{
		"plan":         {0x81, func(r io.Reader) error { _, err := wire.DecodePlan(r, nil, wire.Options{}); return err }},
		"request":      {0x81, func(r io.Reader) error { _, err := wire.DecodeRequest(r, wire.Options{}); return err }},
		"JSON plan":    {'[', func(r io.Reader) error { _, err := wire.DecodePlanJSON(r, nil, wire.Options{}); return err }},
		"JSON request": {'[', func(r io.Reader) error { _, err := wire.DecodeRequestJSON(r, wire.Options{}); return err }},
	} {
		r := &repeating{b: tt.b}
		if err := tt.decode(r); classOf(err) != string(abi.ClassDepth) {
			t.Errorf("%s: got %v", name, err)
		}
		if r.n > 64<<10 {
			t.Errorf("%s: %d bytes were read", name, r.n)
		}
	}
}

// TestD02MemoryFollowsTheInput: 48 MiB of contents pass without being held (the spool keeps 4 MiB of them), and D02, a length
// that is declared only, costs nothing.
func TestD02MemoryFollowsTheInput(t *testing.T) {
	const size = 16 << 20
	head := func(r io.Reader) io.Reader {
		start := []byte("\xa4\x62op\x65write\x64mode\x00\x64path\x61a\x67content\x5a")
		return io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32(start, size)), r)
	}
	z1, z2, z3 := zeros(size), zeros(size), zeros(size)
	plan := io.MultiReader(strings.NewReader("\xa2\x63abi\x01\x65count\x03"), head(&z1), head(&z2), head(&z3))
	sp := wire.NewSpool(t.TempDir())
	defer sp.Close()
	before := allocated()
	p, err := wire.DecodePlan(plan, sp, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if used := allocated() - before; used > 6<<20 {
		t.Errorf("%d bytes were allocated for 48 MiB of contents", used)
	}
	if c := p.Intents[2].(abi.Write).Content; c.Size() != size || c.Digest() != abi.DigestOf(make([]byte, size)) {
		t.Errorf("the third content has %d bytes and digest %v", c.Size(), c.Digest())
	}

	header := "\xa2\x63abi\x01\x65count\x01"
	for name, data := range map[string]string{
		"text":    header + "\xa2\x62op\x66delete\x64path\x7a\x00\x3f\xff\xf0",
		"content": header + "\xa4\x62op\x65write\x64mode\x00\x64path\x61a\x67content\x5a\x01\x00\x00\x00",
		"array":   header + "\xa4\x62op\x64edit\x64path\x61a\x65edits\x9a\x00\x03\x00\x00",
		"map":     header + "\xba\x00\x01\x00\x00",
		"huge":    header + "\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		before := allocated()
		if _, err := wire.DecodePlan(strings.NewReader(data), nil, wire.Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if used := allocated() - before; used > 128<<10 { // the read buffer is 64 KiB
			t.Errorf("%s: %d bytes were allocated for a length that is only declared", name, used)
		}
	}
}

// TestCountIsNotBelieved: what a plan allocates follows what arrived, not the count in its header.
func TestCountIsNotBelieved(t *testing.T) {
	before := allocated()
	_, err := wire.DecodePlan(strings.NewReader("\xa2\x63abi\x01\x65count\x1a\x00\x01\x00\x00"), nil, wire.Options{})
	if classOf(err) != string(abi.ClassTruncated) {
		t.Errorf("got %v", err)
	}
	if used := allocated() - before; used > 128<<10 {
		t.Errorf("%d bytes were allocated for a count", used)
	}
}

// TestJSONPieces reads strings whose characters, escapes and groups of base64 lie across the edges of the read buffer.
func TestJSONPieces(t *testing.T) {
	const around = 64 << 10
	start := `{"op":"edit","path":"p","format":"json","edits":[{"at":"","value":"`
	head := `{"abi":1,"count":1}` + "\n"
	for pad := around - len(head) - len(start) - 8; pad < around-len(head)-len(start)+2; pad++ {
		line := head + start + strings.Repeat("x", pad) + "\U0001F600é\\ud83d\\ude00\\n" + `"}]}`
		p, err := wire.DecodePlanJSON(strings.NewReader(line), nil, wire.Options{})
		if err != nil {
			t.Fatalf("pad %d: %v", pad, err)
		}
		got := p.Intents[0].(abi.EditJSON).Edits[0].Value.(string)
		if want := strings.Repeat("x", pad) + "\U0001F600é\U0001F600\n"; got != want {
			t.Errorf("pad %d: got ...%q", pad, got[pad:])
		}
	}
	sp := wire.NewSpool(t.TempDir())
	defer sp.Close()
	content := abi.Bytes(bytes.Repeat([]byte{0xff, 0, 1, 2, 3}, 100_000))
	var lines bytes.Buffer
	if err := wire.EncodePlanJSON(&lines, write(func(w *abi.Write) { w.Content = content })); err != nil {
		t.Fatal(err)
	}
	p, err := wire.DecodePlanJSON(&lines, sp, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Intents[1].(abi.Write).Content; got.Size() != content.Size() || got.Digest() != content.Digest() {
		t.Errorf("another content came back, of %d bytes", got.Size())
	}
}
