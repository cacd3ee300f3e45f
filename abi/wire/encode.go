package wire

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/lola-ext/lola/abi"
)

func orderError(key, a, b string) error {
	return &abi.FormError{Class: abi.ClassOrder, Key: key, Detail: fmt.Sprintf("path %q comes after %q; want bytewise order, each once", b, a)}
}

// EncodePlan writes a plan in the CBOR form. It refuses what a decoder with default limits would refuse, with the same
// errors; what it wrote before it noticed is a cut-off plan.
func EncodePlan(w io.Writer, p *abi.Plan) error { return Options{}.EncodePlan(w, p) }

// EncodeRequest writes a request in the CBOR form, or nothing if a decoder with default limits would refuse it, with the
// same errors.
func EncodeRequest(w io.Writer, req *abi.Request) error { return Options{}.EncodeRequest(w, req) }

// EncodePlanJSON is [EncodePlan] for the JSON form.
func EncodePlanJSON(w io.Writer, p *abi.Plan) error { return Options{}.EncodePlanJSON(w, p) }

// EncodeRequestJSON is [EncodeRequest] for the JSON form.
func EncodeRequestJSON(w io.Writer, req *abi.Request) error {
	return Options{}.EncodeRequestJSON(w, req)
}

// EncodePlan is the function of that name under o's limits. Size is not used.
func (o Options) EncodePlan(w io.Writer, p *abi.Plan) error {
	return o.encodePlan(w, p, writeItem)
}

// EncodePlanJSON is the function of that name under o's limits. Size is not used.
func (o Options) EncodePlanJSON(w io.Writer, p *abi.Plan) error {
	return o.encodePlan(w, p, writeLine)
}

// EncodeRequest is the function of that name under o's limits. Size is not used.
func (o Options) EncodeRequest(w io.Writer, req *abi.Request) error {
	item, err := o.requestItem(req)
	if err != nil {
		return err
	}
	if _, err := w.Write(item); err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	return nil
}

// EncodeRequestJSON is the function of that name under o's limits. Size is not used.
func (o Options) EncodeRequestJSON(w io.Writer, req *abi.Request) error {
	item, err := o.requestItem(req)
	if err != nil {
		return err
	}
	lim, err := o.Limits.Resolve()
	if err != nil {
		return err
	}
	line, _ := appendLine(nil, item, requestShape)
	if int64(len(line)) > lim.Request {
		chk := requestWalker(lim)
		return chk.failLimit(abi.ClassLimitPlan, "request", lim.Request, uint64(len(line)))
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	return nil
}

// requestItem encodes and checks a request.
func (o Options) requestItem(req *abi.Request) ([]byte, error) {
	lim, err := o.Limits.Resolve()
	if err != nil {
		return nil, err
	}
	if err := checkOrder(req); err != nil {
		return nil, err
	}
	for name, v := range req.Params {
		if !shallow(v, 3) {
			return nil, &abi.FormError{Class: abi.ClassDepth, Key: "params." + clip([]byte(name)), Detail: "nested too deep"}
		}
	}
	var buf bytes.Buffer
	if err := encMode.MarshalToBuffer(rawRequest(req), &buf); err != nil {
		return nil, &abi.FormError{Class: abi.ClassType, Detail: err.Error()}
	}
	chk := requestWalker(lim)
	chk.src.reset(buf.Bytes(), lim.Request)
	if err := chk.next(requestShape); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// An itemWriter writes an item that has been checked: keep with content in the place of the stand-in at contentAt.
type itemWriter func(w io.Writer, s *shape, keep []byte, contentAt int, content abi.Content) error

func (o Options) encodePlan(w io.Writer, p *abi.Plan, write itemWriter) error {
	lim, err := o.Limits.Resolve()
	if err != nil {
		return err
	}
	chk := planWalker(lim)
	out := &boundedWriter{w: w, chk: &chk}
	var buf bytes.Buffer
	emit := func(s *shape, raw any, content abi.Content) error {
		buf.Reset()
		if err := encMode.MarshalToBuffer(raw, &buf); err != nil {
			return chk.fail(abi.ClassType, "%v", err)
		}
		if content != nil && content.Size() > lim.Content {
			return chk.failLimit(abi.ClassLimitContent, "content", lim.Content, uint64(content.Size()))
		}
		chk.src.reset(buf.Bytes(), math.MaxInt64) // out minds the plan's limit, with the content
		chk.content = content
		if err := chk.next(s); err != nil {
			return err
		}
		return write(out, s, chk.keep, chk.contentAt, content)
	}
	head, err := rawHeader(p)
	if err != nil {
		return err
	}
	if err := emit(headerShape, head, nil); err != nil {
		return err
	}
	for _, in := range p.Intents {
		chk.item++
		raw, content, err := chk.rawIntent(in)
		if err != nil {
			return err
		}
		if err := emit(intentShape, raw, content); err != nil {
			return err
		}
	}
	return nil
}

// boundedWriter refuses to pass the limit of a plan.
type boundedWriter struct {
	w   io.Writer
	chk *walker
	n   int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.n += int64(len(p)); b.n > b.chk.lim.Plan {
		return 0, b.chk.failLimit(abi.ClassLimitPlan, "plan", b.chk.lim.Plan, uint64(b.n))
	}
	n, err := b.w.Write(p)
	if err != nil {
		err = fmt.Errorf("write plan: %w", err)
	}
	return n, err
}

// writeItem writes an item in the CBOR form.
func writeItem(w io.Writer, _ *shape, keep []byte, contentAt int, content abi.Content) error {
	if contentAt < 0 {
		_, err := w.Write(keep)
		return err
	}
	start := make([]byte, 0, contentAt+9)
	start = appendHead(append(start, keep[:contentAt]...), majorBytes, uint64(content.Size()))
	if _, err := w.Write(start); err != nil {
		return err
	}
	if err := copyContent(w, content); err != nil {
		return err
	}
	if rest := keep[contentAt+1:]; len(rest) > 0 {
		_, err := w.Write(rest)
		return err
	}
	return nil
}

// copyContent writes exactly as many bytes as the content says it has.
func copyContent(w io.Writer, c abi.Content) error {
	r, err := c.Open()
	if err != nil {
		return fmt.Errorf("open content: %w", err)
	}
	defer r.Close()
	if n, err := io.CopyN(w, r, c.Size()); err == io.EOF {
		return fmt.Errorf("read content: has %d bytes, said %d", n, c.Size())
	} else if err != nil {
		return err
	}
	return nil
}

// appendHead appends the shortest head with argument n.
func appendHead(b []byte, major byte, n uint64) []byte {
	m := major << 5
	switch headSize(n) {
	case 1:
		return append(b, m|byte(n))
	case 2:
		return append(b, m|24, byte(n))
	case 3:
		return append(b, m|25, byte(n>>8), byte(n))
	case 5:
		return append(b, m|26, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	default:
		return append(b, m|27, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
}

func rawHeader(p *abi.Plan) (*wireHeader, error) {
	h := &wireHeader{ABI: abi.Version, Count: len(p.Intents)}
	if p.Messages != nil {
		h.Messages = make([]wireMessage, len(p.Messages))
		for i, m := range p.Messages {
			h.Messages[i] = wireMessage(m)
		}
	}
	switch r := p.Result.(type) {
	case nil:
	case abi.Entries:
		h.Result = &wireResult{Entries: make([]wireEntry, len(r))}
		for i, e := range r {
			h.Result.Entries[i] = wireEntry(e)
		}
	case abi.Resolved:
		h.Result = &wireResult{Source: &r.Source, Version: r.Version, Digest: r.Digest}
	case abi.Scan:
		h.Result = &wireResult{Verdict: r.Verdict, Findings: make([]wireFinding, len(r.Findings))}
		for i, f := range r.Findings {
			h.Result.Findings[i] = wireFinding(f)
		}
	default:
		return nil, &abi.FormError{Class: abi.ClassType, Key: "result", Detail: fmt.Sprintf("no result is a %T", r)}
	}
	return h, nil
}

// rawIntent returns the intent as the library encodes it, and its content.
func (w *walker) rawIntent(in abi.Intent) (any, abi.Content, error) {
	w.path, w.at = nil, 0
	switch in := in.(type) {
	case abi.Write:
		raw := &wireWrite{Op: abi.OpWrite, Path: in.Path, Mode: in.Mode, Module: in.Module, ReplaceSymlink: in.ReplaceSymlink}
		if in.Content != nil {
			raw.Content = []byte{}
		}
		switch {
		case in.Expect.Absent && in.Expect.Digest != nil:
			return nil, nil, w.failKey("expect", abi.ClassExclusive, "both absent and a digest")
		case in.Expect.Absent:
			raw.Expect = "absent"
		case in.Expect.Digest != nil:
			raw.Expect = in.Expect.Digest[:]
		}
		return raw, in.Content, nil
	case abi.EditJSON:
		raw := &wireEdit{Op: abi.OpEdit, Path: in.Path, Format: "json", Edits: make([]wireJSONEdit, len(in.Edits))}
		for i, e := range in.Edits {
			raw.Edits[i].At = e.At
			if !e.Set {
				continue
			}
			if !shallow(e.Value, 4) {
				return nil, nil, w.failKey("edits.value", abi.ClassDepth, "nested too deep")
			}
			raw.Edits[i].Value = &e.Value
		}
		return raw, nil, nil
	case abi.EditBlock:
		return &wireEdit{Op: abi.OpEdit, Path: in.Path, Format: "block", ID: &in.ID, Text: in.Text}, nil, nil
	case abi.Delete:
		return &wireDelete{Op: abi.OpDelete, Path: in.Path}, nil, nil
	case abi.Rename:
		return &wireRename{Op: abi.OpRename, From: in.From, To: in.To}, nil, nil
	case abi.Fetch:
		raw := &wireFetch{Op: abi.OpFetch, URL: in.URL, Method: in.Method, Dest: in.Dest, Digest: in.Digest}
		if in.Headers != nil {
			raw.Headers = make([][2]string, len(in.Headers))
			for i, h := range in.Headers {
				raw.Headers[i] = [2]string{h.Name, h.Value}
			}
		}
		return raw, nil, nil
	case abi.Clone:
		return &wireClone{Op: abi.OpClone, Repo: in.Repo, Ref: in.Ref, Depth: in.Depth, Dest: in.Dest, Commit: in.Commit}, nil, nil
	default:
		return nil, nil, w.fail(abi.ClassType, "no intent is a %T", in)
	}
}

// shallow reports whether a value that would lie at depth nests within bounds. The library would follow a value that holds
// itself until the stack ends.
func shallow(v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		if depth > abi.MaxDepth {
			return false
		}
		for _, e := range v {
			if !shallow(e, depth+1) {
				return false
			}
		}
	case map[string]any:
		if depth > abi.MaxDepth {
			return false
		}
		for _, e := range v {
			if !shallow(e, depth+1) {
				return false
			}
		}
	}
	return true
}
