// Package wire turns requests and plans into bytes and back, strictly.
//
//	spool := wire.NewSpool("")
//	defer spool.Close()
//	plan, err := wire.DecodePlan(stdout, spool, wire.Options{})
//
// A plan is read item by item: a walker checks the form, the bounds and the keys of one item on the stream and sends its
// content to the spool, then the CBOR library decodes what is left, which is small. Memory follows the bytes that have
// arrived and are kept, never a length that is only declared. Every refusal is an [*abi.FormError] with one class; an error
// of another type came from the reader, the spool or, marked [ErrBroken], from this package.
//
// The package says nothing about what a plan may do: paths are text here, and kinds, grants and conflicts are unknown. Package
// host/plan judges those. What may change before the first release is the wire itself, with SPEC.md and the vectors.
package wire

import (
	"fmt"
	"io"

	"github.com/lola-ext/lola/abi"
)

// Options says how strictly to decode or encode. The zero value has the default limits. It may be copied and shared.
type Options struct {
	// Limits that are zero have their defaults. A limit out of range is an error of every call.
	Limits abi.Limits
	// Size is how many bytes the input has, if that is known before it is read; 0: not known. It lets a decoder refuse a
	// length that passes the end at once, with [abi.ClassLengthOverRest], rather than at the end. The JSON form declares no
	// lengths and does not use it.
	Size int64
}

// A Decoder reads one plan, item by item. It is not safe for concurrent use. An error of Next is final: every
// later call of it returns the same.
type Decoder struct {
	w      walker
	json   *lineReader // nil: the CBOR form
	header *abi.Header
	left   int // intents to come
	err    error
}

// NewDecoder returns a decoder of the CBOR form that puts contents into sp. If sp is nil they stay in memory. The decoder
// reads ahead. It does not close r or sp.
func NewDecoder(r io.Reader, sp *Spool, opts Options) *Decoder {
	d := newDecoder(sp, opts)
	if d.err == nil && opts.Size > d.w.src.max {
		d.err = d.w.failLimit(abi.ClassLimitPlan, "plan", d.w.src.max, uint64(opts.Size))
	}
	d.w.src = newSource(r, d.w.lim.Plan, opts.Size)
	return d
}

// NewJSONDecoder is [NewDecoder] for the JSON form.
func NewJSONDecoder(r io.Reader, sp *Spool, opts Options) *Decoder {
	d := newDecoder(sp, opts)
	d.json = newLineReader(r, "plan", d.w.lim.Plan, &d.w)
	return d
}

func newDecoder(sp *Spool, opts Options) *Decoder {
	lim, err := opts.Limits.Resolve()
	d := &Decoder{err: err}
	d.w = planWalker(lim)
	d.w.sp = sp
	return d
}

func planWalker(lim abi.Limits) walker {
	return walker{lim: lim, what: "plan", keepMax: lim.Item, keepOver: abi.ClassLimitItem, divert: true, src: source{max: lim.Plan}}
}

// Header returns the plan's header. It may be called at any time and any number of times; once it has been read, no later
// error takes it away.
func (d *Decoder) Header() (*abi.Header, error) {
	if d.header != nil {
		return d.header, nil
	}
	if d.err != nil {
		return nil, d.err
	}
	h, err := d.readHeader()
	if err != nil {
		d.err = err
		return nil, err
	}
	d.header, d.left = h, h.Count
	return h, nil
}

// Next returns the next intent. After the last one, and only if no byte follows it, the error is [io.EOF].
func (d *Decoder) Next() (abi.Intent, error) {
	if d.err != nil {
		return nil, d.err
	}
	if _, err := d.Header(); err != nil {
		return nil, err
	}
	in, err := d.readIntent()
	if err != nil {
		d.err = err
	}
	return in, err
}

// item walks the next item of the sequence. It reports [io.EOF] if there is none.
func (d *Decoder) item(s *shape) error {
	d.w.content = nil
	if d.json == nil {
		return d.w.next(s)
	}
	return d.json.next(s)
}

// atEnd refuses bytes after the last item.
func (d *Decoder) atEnd() error {
	src := &d.w.src
	if d.json != nil {
		src = &d.json.src
	}
	if len(src.ahead()) > 0 {
		d.w.path, d.w.at = nil, src.offset()
		if d.json != nil {
			d.w.at = 0 // of that line
		}
		return d.w.fail(abi.ClassTrailing, "bytes follow the last item")
	}
	if src.err != io.EOF {
		return fmt.Errorf("read %s: %w", d.w.what, src.err)
	}
	return io.EOF
}

func (d *Decoder) readHeader() (*abi.Header, error) {
	if err := d.item(headerShape); err == io.EOF {
		return nil, d.w.fail(abi.ClassEmpty, "no bytes; a plan without intents is a header with count 0")
	} else if err != nil {
		return nil, err
	}
	var raw wireHeader
	if err := unmarshal(d.w.keep, &raw); err != nil {
		return nil, err
	}
	h := &abi.Header{Count: raw.Count}
	if raw.Messages != nil {
		h.Messages = make([]abi.Message, len(raw.Messages))
		for i, m := range raw.Messages {
			h.Messages[i] = abi.Message(m)
		}
	}
	if raw.Result != nil {
		h.Result = raw.Result.result()
	}
	return h, nil
}

func (r *wireResult) result() abi.Result {
	switch {
	case r.Entries != nil:
		entries := make(abi.Entries, len(r.Entries))
		for i, e := range r.Entries {
			entries[i] = abi.Entry(e)
		}
		return entries
	case r.Source != nil:
		return abi.Resolved{Source: *r.Source, Version: r.Version, Digest: r.Digest}
	default:
		scan := abi.Scan{Verdict: r.Verdict, Findings: make([]abi.ScanFinding, len(r.Findings))}
		for i, f := range r.Findings {
			scan.Findings[i] = abi.ScanFinding(f)
		}
		return scan
	}
}

func (d *Decoder) readIntent() (abi.Intent, error) {
	if d.left == 0 {
		return nil, d.atEnd()
	}
	d.w.item++
	if err := d.item(intentShape); err == io.EOF {
		return nil, d.w.fail(abi.ClassTruncated, "the plan ends after %d of %d intents", d.header.Count-d.left, d.header.Count)
	} else if err != nil {
		return nil, err
	}
	d.left--
	switch d.w.op {
	case abi.OpWrite:
		return d.readWrite()
	case abi.OpEdit:
		return d.readEdit()
	case abi.OpDelete:
		var raw wireDelete
		err := unmarshal(d.w.keep, &raw)
		return abi.Delete{Path: raw.Path}, err
	case abi.OpRename:
		var raw wireRename
		err := unmarshal(d.w.keep, &raw)
		return abi.Rename{From: raw.From, To: raw.To}, err
	case abi.OpFetch:
		return d.readFetch()
	case abi.OpClone:
		var raw wireClone
		err := unmarshal(d.w.keep, &raw)
		return abi.Clone{Repo: raw.Repo, Ref: raw.Ref, Depth: raw.Depth, Dest: raw.Dest, Commit: raw.Commit}, err
	}
	return nil, fmt.Errorf("%w: no decoder for op %q", ErrBroken, d.w.op)
}

// The keys of a write in intentShape.
var (
	writePath    = intentShape.find(0, []byte("path"))
	writeMode    = intentShape.find(0, []byte("mode"))
	writeModule  = intentShape.find(0, []byte("module"))
	writeExpect  = intentShape.find(0, []byte("expect"))
	writeReplace = intentShape.find(0, []byte("replace_symlink"))
)

// readWrite takes a write from where the walker saw its values. Nearly all intents of a large plan are writes, and the
// library would take as long for one as everything else together; package fuzz holds what comes out here to what the library
// says.
func (d *Decoder) readWrite() (abi.Intent, error) {
	w := &d.w
	in := abi.Write{Path: w.textAt(writePath), Content: w.content, ReplaceSymlink: w.seen&(1<<writeReplace) != 0}
	_, mode, _ := w.valueAt(writeMode)
	in.Mode = abi.Mode(mode)
	if w.seen&(1<<writeModule) != 0 {
		in.Module = w.textAt(writeModule)
	}
	if w.seen&(1<<writeExpect) != 0 {
		if major, _, b := w.valueAt(writeExpect); major == majorText { // the walker has seen that it is "absent"
			in.Expect.Absent = true
		} else {
			digest := abi.Digest(b)
			in.Expect.Digest = &digest
		}
	}
	return in, nil
}

func (d *Decoder) readEdit() (abi.Intent, error) {
	var raw wireEdit
	if err := unmarshal(d.w.keep, &raw); err != nil {
		return nil, err
	}
	if raw.ID != nil {
		return abi.EditBlock{Path: raw.Path, ID: *raw.ID, Text: raw.Text}, nil
	}
	in := abi.EditJSON{Path: raw.Path, Edits: make([]abi.JSONEdit, len(raw.Edits))}
	if len(d.w.sets) != len(raw.Edits) {
		return nil, fmt.Errorf("%w: %d edits, %d were walked", ErrBroken, len(raw.Edits), len(d.w.sets))
	}
	for i, e := range raw.Edits {
		in.Edits[i] = abi.JSONEdit{At: e.At, Set: d.w.sets[i]}
		if e.Value != nil {
			in.Edits[i].Value = *e.Value
		}
	}
	return in, nil
}

func (d *Decoder) readFetch() (abi.Intent, error) {
	var raw wireFetch
	if err := unmarshal(d.w.keep, &raw); err != nil {
		return nil, err
	}
	in := abi.Fetch{URL: raw.URL, Method: raw.Method, Dest: raw.Dest, Digest: raw.Digest}
	if raw.Headers != nil {
		in.Headers = make([]abi.HTTPHeader, len(raw.Headers))
		for i, h := range raw.Headers {
			in.Headers[i] = abi.HTTPHeader{Name: h[0], Value: h[1]}
		}
	}
	return in, nil
}

// DecodePlan reads a whole plan of the CBOR form. Contents go to sp, or stay in memory if it is nil. Callers that can
// handle intents one by one use [NewDecoder].
func DecodePlan(r io.Reader, sp *Spool, opts Options) (*abi.Plan, error) {
	return NewDecoder(r, sp, opts).plan()
}

// DecodePlanJSON is [DecodePlan] for the JSON form.
func DecodePlanJSON(r io.Reader, sp *Spool, opts Options) (*abi.Plan, error) {
	return NewJSONDecoder(r, sp, opts).plan()
}

func (d *Decoder) plan() (*abi.Plan, error) {
	h, err := d.Header()
	if err != nil {
		return nil, err
	}
	p := &abi.Plan{Result: h.Result, Messages: h.Messages}
	for { // Intents grows with what arrives: count is only declared
		in, err := d.Next()
		if err == io.EOF {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		p.Intents = append(p.Intents, in)
	}
}
