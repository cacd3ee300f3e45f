package ext

import (
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// encodePlan turns a plan into the bytes that a host reads: a header and each intent, in core deterministic CBOR. A plan
// that no host would decode is an error that names the intent.
func encodePlan(p *abi.Plan) ([]byte, error) {
	e := new(encoder)
	e.header(p)
	if e.err != nil {
		return nil, errors.New("writing the plan's header: " + e.err.Error())
	}
	for i, in := range p.Intents {
		e.intent(in)
		if e.err != nil {
			return nil, errors.New("writing intent " + strconv.Itoa(i) + " of the plan: " + e.err.Error())
		}
	}
	return e.b, nil
}

// encoder appends to b. The first error sticks. Keys of a map must be written in the order of their encodings, the shorter
// first, then bytewise; the functions below do so by hand and the vectors hold them to it.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) refuse(cause string) {
	if e.err == nil {
		e.err = errors.New(cause)
	}
}

func (e *encoder) head(major byte, arg uint64) {
	major <<= 5
	switch {
	case arg < 24:
		e.b = append(e.b, major|byte(arg))
	case arg < 1<<8:
		e.b = append(e.b, major|24, byte(arg))
	case arg < 1<<16:
		e.b = append(e.b, major|25, byte(arg>>8), byte(arg))
	case arg < 1<<32:
		e.b = append(e.b, major|26, byte(arg>>24), byte(arg>>16), byte(arg>>8), byte(arg))
	default:
		e.b = append(e.b, major|27, byte(arg>>56), byte(arg>>48), byte(arg>>40), byte(arg>>32),
			byte(arg>>24), byte(arg>>16), byte(arg>>8), byte(arg))
	}
}

func (e *encoder) int(n int64) {
	if n < 0 {
		e.head(majorNint, uint64(-1-n))
	} else {
		e.head(majorUint, uint64(n))
	}
}

func (e *encoder) text(s string) {
	if !utf8.ValidString(s) {
		e.refuse("text " + strconv.Quote(s) + " is not UTF-8")
	}
	e.head(majorText, uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) bytes(b []byte) {
	e.head(majorBytes, uint64(len(b)))
	e.b = append(e.b, b...)
}

func (e *encoder) bool(v bool) {
	arg := uint64(simpleFalse)
	if v {
		arg = simpleTrue
	}
	e.head(majorSimple, arg)
}

// mapOf writes the head of a map: n keys that are always there, and one for each condition that holds.
func (e *encoder) mapOf(n int, optional ...bool) {
	for _, there := range optional {
		if there {
			n++
		}
	}
	e.head(majorMap, uint64(n))
}

func (e *encoder) pair(key, value string) {
	e.text(key)
	e.text(value)
}

// pairIf writes a key whose absence is the empty text.
func (e *encoder) pairIf(key, value string) {
	if value != "" {
		e.pair(key, value)
	}
}

func (e *encoder) digestIf(key string, d *abi.Digest) {
	if d != nil {
		e.text(key)
		e.bytes(d[:])
	}
}

func (e *encoder) header(p *abi.Plan) {
	e.mapOf(2, p.Result != nil, p.Messages != nil)
	e.text("abi")
	e.int(abi.Version)
	e.text("count")
	e.int(int64(len(p.Intents)))
	if p.Result != nil {
		e.text("result")
		e.result(p.Result)
	}
	if p.Messages != nil {
		e.text("messages")
		e.head(majorArray, uint64(len(p.Messages)))
		for _, m := range p.Messages {
			switch m.Level {
			case abi.LevelDebug, abi.LevelInfo, abi.LevelWarn, abi.LevelError:
			default:
				e.refuse("a message has the level " + strconv.Quote(string(m.Level)) + ", which is none of debug, info, warn, error")
			}
			e.mapOf(2)
			e.pair("text", m.Text)
			e.pair("level", string(m.Level))
		}
	}
}

func (e *encoder) result(r abi.Result) {
	switch r := r.(type) {
	case abi.Entries:
		e.mapOf(1)
		e.text("entries")
		e.head(majorArray, uint64(len(r)))
		for _, entry := range r {
			e.mapOf(2, entry.Version != "", entry.Description != "")
			e.pair("name", entry.Name)
			e.pair("source", entry.Source)
			e.pairIf("version", entry.Version)
			e.pairIf("description", entry.Description)
		}
	case abi.Resolved:
		e.mapOf(1, r.Version != "", r.Digest != nil)
		e.digestIf("digest", r.Digest)
		e.pair("source", r.Source)
		e.pairIf("version", r.Version)
	case abi.Scan:
		switch r.Verdict {
		case abi.VerdictPass, abi.VerdictWarn, abi.VerdictFail:
		default:
			e.refuse("the verdict is " + strconv.Quote(string(r.Verdict)) + ", which is none of pass, warn, fail")
		}
		e.mapOf(2)
		e.pair("verdict", string(r.Verdict))
		e.text("findings")
		e.head(majorArray, uint64(len(r.Findings)))
		for _, f := range r.Findings {
			e.mapOf(3, f.Path != "")
			e.pairIf("path", f.Path)
			e.pair("rule", f.Rule)
			e.pair("text", f.Text)
			e.pair("severity", f.Severity)
		}
	default:
		e.refuse("the result is of a type that the protocol does not have")
	}
}

func (e *encoder) intent(in abi.Intent) {
	switch in := in.(type) {
	case abi.Write:
		e.write(in)
	case abi.EditJSON:
		e.editJSON(in)
	case abi.EditBlock:
		e.mapOf(4, in.Text != nil)
		e.pair("id", in.ID)
		e.pair("op", string(abi.OpEdit))
		e.pair("path", in.Path)
		if in.Text != nil {
			e.pair("text", *in.Text)
		}
		e.pair("format", "block")
	case abi.Delete:
		e.mapOf(2)
		e.pair("op", string(abi.OpDelete))
		e.pair("path", in.Path)
	case abi.Rename:
		e.mapOf(3)
		e.pair("op", string(abi.OpRename))
		e.pair("to", in.To)
		e.pair("from", in.From)
	case abi.Fetch:
		e.mapOf(4, in.Headers != nil, in.Digest != nil)
		e.pair("op", string(abi.OpFetch))
		e.pair("url", in.URL)
		e.pair("dest", in.Dest)
		e.digestIf("digest", in.Digest)
		e.pair("method", in.Method)
		if in.Headers != nil {
			e.text("headers")
			e.head(majorArray, uint64(len(in.Headers)))
			for _, h := range in.Headers {
				e.head(majorArray, 2)
				e.text(h.Name)
				e.text(h.Value)
			}
		}
	case abi.Clone:
		if in.Depth < 0 {
			e.refuse("clone into " + strconv.Quote(in.Dest) + ": its depth is negative")
		}
		e.mapOf(4, in.Depth != 0, in.Commit != "")
		e.pair("op", string(abi.OpClone))
		e.pair("ref", in.Ref)
		e.pair("dest", in.Dest)
		e.pair("repo", in.Repo)
		if in.Depth != 0 {
			e.text("depth")
			e.int(int64(in.Depth))
		}
		e.pairIf("commit", in.Commit)
	default:
		e.refuse("it is nil")
	}
}

func (e *encoder) write(w abi.Write) {
	problem := func(cause string) { e.refuse("write " + strconv.Quote(w.Path) + ": " + cause) }
	if w.Mode&^abi.ModeMask != 0 {
		problem("its mode has more than permission bits")
	}
	if (w.Content == nil) == (w.Module == "") {
		problem("it wants either content or a file of the module")
		return
	}
	if w.Expect.Absent && w.Expect.Digest != nil {
		problem("it expects both nothing and a file")
	}
	e.mapOf(4, w.Expect != abi.Expect{}, w.ReplaceSymlink)
	e.pair("op", string(abi.OpWrite))
	e.text("mode")
	e.int(int64(w.Mode))
	e.pair("path", w.Path)
	if w.Expect.Absent {
		e.pair("expect", "absent")
	}
	e.digestIf("expect", w.Expect.Digest)
	if w.Module != "" {
		e.pair("module", w.Module)
	} else {
		content, err := read(w.Content)
		if err != nil {
			problem(err.Error())
		}
		e.text("content")
		e.bytes(content)
	}
	if w.ReplaceSymlink {
		e.text("replace_symlink")
		e.bool(true)
	}
}

// read returns all bytes of a content. An extension's contents lie in memory; others work too.
func read(c abi.Content) ([]byte, error) {
	if b, ok := c.(abi.Bytes); ok {
		return b, nil
	}
	r, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (e *encoder) editJSON(in abi.EditJSON) {
	if len(in.Edits) == 0 {
		e.refuse("edit " + strconv.Quote(in.Path) + ": it has no changes")
	}
	e.mapOf(4)
	e.pair("op", string(abi.OpEdit))
	e.pair("path", in.Path)
	e.text("edits")
	e.head(majorArray, uint64(len(in.Edits)))
	for _, edit := range in.Edits {
		e.mapOf(1, edit.Set)
		e.pair("at", edit.At)
		if edit.Set {
			e.text("value")
			// The intent, its edits and this edit lie around the value.
			if cause := e.json(edit.Value, 4); cause != "" {
				e.refuse("edit " + strconv.Quote(in.Path) + " at " + strconv.Quote(edit.At) + ": " + cause)
			}
		}
	}
	e.pair("format", "json")
}

// json writes a JSON value, or says why it cannot. depth is what the value would be at if it were an array or a map.
func (e *encoder) json(v any, depth int) (cause string) {
	switch v := v.(type) {
	case nil:
		e.head(majorSimple, simpleNull)
	case bool:
		e.bool(v)
	case int64:
		e.int(v)
	case int: // what an untyped constant becomes in a literal
		e.int(int64(v))
	case string:
		e.text(v)
	case []any:
		if depth > abi.MaxDepth {
			return "a value nests too deep"
		}
		e.head(majorArray, uint64(len(v)))
		for _, item := range v {
			if cause := e.json(item, depth+1); cause != "" {
				return cause
			}
		}
	case map[string]any:
		if depth > abi.MaxDepth {
			return "a value nests too deep"
		}
		e.head(majorMap, uint64(len(v)))
		for _, k := range sortedKeys(v) {
			e.text(k)
			if cause := e.json(v[k], depth+1); cause != "" {
				return cause
			}
		}
	default:
		return "a value is of a type that JSON on the wire does not have; use nil, bool, int64, string, []any, map[string]any"
	}
	return ""
}

// sortedKeys returns the keys in the order of their encodings: the shorter first, then bytewise. It inserts one by one, for
// such maps are small and package slices is not.
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		at := len(keys)
		for at > 0 && (len(keys[at-1]) > len(k) || len(keys[at-1]) == len(k) && keys[at-1] > k) {
			at--
		}
		keys = append(keys, "")
		copy(keys[at+1:], keys[at:])
		keys[at] = k
	}
	return keys
}
