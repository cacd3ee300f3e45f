package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
)

// sized is content that says it has another size than it has.
type sized struct {
	abi.Bytes
	size int64
}

func (s sized) Size() int64 { return s.size }

func write(change func(*abi.Write)) *abi.Plan {
	w := abi.Write{Path: "a", Mode: 0o644, Content: abi.Bytes("x")}
	change(&w)
	return &abi.Plan{Intents: []abi.Intent{abi.Delete{Path: "first"}, w}}
}

func one(in abi.Intent) *abi.Plan { return &abi.Plan{Intents: []abi.Intent{in}} }

func edit(v any) *abi.Plan {
	return one(abi.EditJSON{Path: "a", Edits: []abi.JSONEdit{{At: "/a", Set: true, Value: v}}})
}

// TestEncodeRefuses: an encoder refuses what a decoder would, in both forms, by the same class.
func TestEncodeRefuses(t *testing.T) {
	loop := []any{nil}
	loop[0] = loop
	deep := any(nil)
	for range 6 {
		deep = map[string]any{"a": deep}
	}
	many := &abi.Plan{}
	for range 5 {
		many.Messages = append(many.Messages, abi.Message{Level: abi.LevelInfo})
		many.Intents = append(many.Intents, abi.Delete{})
	}
	for _, tt := range []struct {
		name string
		plan *abi.Plan
		lim  abi.Limits
		want abi.Class
	}{
		{"mode", write(func(w *abi.Write) { w.Mode = 0o4755 }), abi.Limits{}, abi.ClassValue},
		{"no content", write(func(w *abi.Write) { w.Content = nil }), abi.Limits{}, abi.ClassExclusive},
		{"content and module", write(func(w *abi.Write) { w.Module = "m" }), abi.Limits{}, abi.ClassExclusive},
		{"expect both", write(func(w *abi.Write) { w.Expect = abi.Expect{Absent: true, Digest: &abi.Digest{}} }), abi.Limits{}, abi.ClassExclusive},
		{"path not UTF-8", write(func(w *abi.Write) { w.Path = "\xff" }), abi.Limits{}, abi.ClassUTF8},
		{"content over", write(func(w *abi.Write) { w.Content = abi.Bytes("xxxx") }), abi.Limits{Content: 3}, abi.ClassLimitContent},
		{"plan over", write(func(w *abi.Write) { w.Content = abi.Bytes(strings.Repeat("x", 300)) }), abi.Limits{Plan: 200}, abi.ClassLimitPlan},
		{"item over", write(func(w *abi.Write) { w.Path = strings.Repeat("x", 300) }), abi.Limits{Item: 200}, abi.ClassLimitItem},
		{"intents over", many, abi.Limits{Intents: 4}, abi.ClassLimitIntents},
		{"messages over", many, abi.Limits{Messages: 4}, abi.ClassLimitMessages},
		{"values over", edit([]any{int64(1), int64(2)}), abi.Limits{Values: 3}, abi.ClassLimitValues},
		{"value float", edit(1.5), abi.Limits{}, abi.ClassFloat},
		{"value float within", edit([]any{map[string]any{"a": 0.0}}), abi.Limits{}, abi.ClassFloat},
		{"value bytes", edit([]byte("x")), abi.Limits{}, abi.ClassType},
		{"value channel", edit(make(chan int)), abi.Limits{}, abi.ClassType},
		{"value uint64", edit(uint64(1 << 63)), abi.Limits{}, abi.ClassValue},
		{"value deep", edit(deep), abi.Limits{}, abi.ClassDepth},
		{"value that holds itself", edit(loop), abi.Limits{}, abi.ClassDepth},
		{"value not UTF-8", edit("\xff"), abi.Limits{}, abi.ClassUTF8},
		{"no edits", one(abi.EditJSON{Path: "a"}), abi.Limits{}, abi.ClassValue},
		{"pointer", one(abi.EditJSON{Path: "a", Edits: []abi.JSONEdit{{At: "a"}}}), abi.Limits{}, abi.ClassValue},
		{"block ID", one(abi.EditBlock{Path: "a", ID: "A"}), abi.Limits{}, abi.ClassValue},
		{"method", one(abi.Fetch{URL: "u", Method: "PUT", Dest: "d"}), abi.Limits{}, abi.ClassValue},
		{"depth", one(abi.Clone{Repo: "r", Ref: "m", Dest: "d", Depth: -1}), abi.Limits{}, abi.ClassValue},
		{"commit", one(abi.Clone{Repo: "r", Ref: "m", Dest: "d", Commit: "abc"}), abi.Limits{}, abi.ClassValue},
		{"nil intent", one(nil), abi.Limits{}, abi.ClassType},
		{"pointer to an intent", one(&abi.Delete{}), abi.Limits{}, abi.ClassType},
		{"level", &abi.Plan{Messages: []abi.Message{{Level: "loud"}}}, abi.Limits{}, abi.ClassValue},
		{"verdict", &abi.Plan{Result: abi.Scan{}}, abi.Limits{}, abi.ClassExclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := wire.Options{Limits: tt.lim}
			for form, encode := range map[string]func(io.Writer, *abi.Plan) error{"CBOR": opts.EncodePlan, "JSON": opts.EncodePlanJSON} {
				err := encode(io.Discard, tt.plan)
				if !errors.Is(err, &abi.FormError{Class: tt.want}) {
					t.Errorf("%s: got %v, want class %s", form, err, tt.want)
				}
			}
		})
	}
}

func TestEncodeRequestRefuses(t *testing.T) {
	req := func(change func(*abi.Request)) *abi.Request {
		r := &abi.Request{Action: "install", Extension: abi.Identity{Name: "n", Version: "1"}}
		change(r)
		return r
	}
	var loop map[string]any
	loop = map[string]any{"a": &loop}
	loop["b"] = loop
	for _, tt := range []struct {
		name string
		req  *abi.Request
		lim  abi.Limits
		want abi.Class
	}{
		{"scope", req(func(r *abi.Request) { r.Scope = "global" }), abi.Limits{}, abi.ClassValue},
		{"parameter float", req(func(r *abi.Request) { r.Params = map[string]abi.Param{"a": 1.5} }), abi.Limits{}, abi.ClassFloat},
		{"parameter nil", req(func(r *abi.Request) { r.Params = map[string]abi.Param{"a": nil} }), abi.Limits{}, abi.ClassNull},
		{"parameter list", req(func(r *abi.Request) { r.Params = map[string]abi.Param{"a": []any{}} }), abi.Limits{}, abi.ClassType},
		{"parameter that holds itself", req(func(r *abi.Request) { r.Params = map[string]abi.Param{"a": loop} }), abi.Limits{}, abi.ClassDepth},
		{"input state", req(func(r *abi.Request) { r.Inputs = []abi.Input{{Path: "a"}} }), abi.Limits{}, abi.ClassValue},
		{"absent with content", req(func(r *abi.Request) { r.Inputs = []abi.Input{{Path: "a", State: abi.InputAbsent, Content: []byte{}}} }),
			abi.Limits{}, abi.ClassExclusive},
		{"inputs out of order", req(func(r *abi.Request) {
			r.Inputs = []abi.Input{{Path: "b", State: abi.InputAbsent}, {Path: "a", State: abi.InputAbsent}}
		}), abi.Limits{}, abi.ClassOrder},
		{"files twice", req(func(r *abi.Request) { r.Module = &abi.Module{Files: []abi.File{{Path: "a"}, {Path: "a"}}} }),
			abi.Limits{}, abi.ClassOrder},
		{"file size", req(func(r *abi.Request) { r.Module = &abi.Module{Files: []abi.File{{Path: "a", Size: -1}}} }), abi.Limits{}, abi.ClassValue},
		{"request over", req(func(r *abi.Request) { r.Action = strings.Repeat("x", 200) }), abi.Limits{Request: 200}, abi.ClassLimitPlan},
		{"content over", req(func(r *abi.Request) { r.Module = &abi.Module{Files: []abi.File{{Path: "a", Content: []byte("xx")}}} }),
			abi.Limits{Content: 1}, abi.ClassLimitContent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := wire.Options{Limits: tt.lim}
			for form, encode := range map[string]func(io.Writer, *abi.Request) error{"CBOR": opts.EncodeRequest, "JSON": opts.EncodeRequestJSON} {
				var buf bytes.Buffer
				if err := encode(&buf, tt.req); !errors.Is(err, &abi.FormError{Class: tt.want}) {
					t.Errorf("%s: got %v, want class %s", form, err, tt.want)
				}
				if buf.Len() > 0 {
					t.Errorf("%s: %d bytes were written", form, buf.Len())
				}
			}
		})
	}
}

// TestEncodeContentSize: a content that has fewer bytes than it says is an error, and no refusal of the plan; one that has
// more is cut, for it has said how many it is.
func TestEncodeContentSize(t *testing.T) {
	short := write(func(w *abi.Write) { w.Content = sized{abi.Bytes("x"), 2} })
	for form, encode := range map[string]func(io.Writer, *abi.Plan) error{"CBOR": wire.EncodePlan, "JSON": wire.EncodePlanJSON} {
		err := encode(io.Discard, short)
		var formErr *abi.FormError
		if err == nil || errors.As(err, &formErr) {
			t.Errorf("%s: got %v, want an error that is no form error", form, err)
		}
	}
}

type failing struct{ after int }

var errFull = errors.New("no space")

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestEncodeWriterFails(t *testing.T) {
	plan := write(func(*abi.Write) {})
	for after := range 60 {
		for form, encode := range map[string]func(io.Writer, *abi.Plan) error{"CBOR": wire.EncodePlan, "JSON": wire.EncodePlanJSON} {
			if err := encode(&failing{after}, plan); !errors.Is(err, errFull) {
				t.Errorf("%s, %d bytes: got %v, want %v", form, after, err, errFull)
			}
		}
	}
	if err := wire.EncodeRequest(&failing{3}, &abi.Request{}); !errors.Is(err, errFull) {
		t.Errorf("request: got %v, want %v", err, errFull)
	}
	if err := wire.EncodeRequestJSON(&failing{3}, &abi.Request{}); !errors.Is(err, errFull) {
		t.Errorf("request as JSON: got %v, want %v", err, errFull)
	}
}

// TestBadLimits: a limit out of range is an error of every call, never a default.
func TestBadLimits(t *testing.T) {
	opts := wire.Options{Limits: abi.Limits{Content: -1}}
	var formErr *abi.FormError
	for name, call := range map[string]func() error{
		"DecodePlan":        func() error { _, err := wire.DecodePlan(strings.NewReader("x"), nil, opts); return err },
		"DecodePlanJSON":    func() error { _, err := wire.DecodePlanJSON(strings.NewReader("x"), nil, opts); return err },
		"Next":              func() error { _, err := wire.NewDecoder(strings.NewReader("x"), nil, opts).Next(); return err },
		"DecodeRequest":     func() error { _, err := wire.DecodeRequest(strings.NewReader("x"), opts); return err },
		"DecodeRequestJSON": func() error { _, err := wire.DecodeRequestJSON(strings.NewReader("x"), opts); return err },
		"EncodePlan":        func() error { return opts.EncodePlan(io.Discard, &abi.Plan{}) },
		"EncodePlanJSON":    func() error { return opts.EncodePlanJSON(io.Discard, &abi.Plan{}) },
		"EncodeRequest":     func() error { return opts.EncodeRequest(io.Discard, &abi.Request{}) },
		"EncodeRequestJSON": func() error { return opts.EncodeRequestJSON(io.Discard, &abi.Request{}) },
	} {
		if err := call(); err == nil || errors.As(err, &formErr) || !strings.Contains(err.Error(), `"content"`) {
			t.Errorf("%s: got %v, want an error that names the limit", name, err)
		}
	}
}
