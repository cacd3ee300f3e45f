package ext

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
)

// minimal is {abi: 1, action: "install", extension: {name: "x", version: "1"}}.
const minimal = "\xa3\x63abi\x01\x66action\x67install\x69extension\xa2\x64name\x61x\x67version\x611"

func TestRun(t *testing.T) {
	greet := func(req *Request, plan *Plan) error {
		plan.Info("hello " + req.Extension.Name)
		return nil
	}
	tests := []struct {
		name    string
		handler Handler
		request string
		code    int
		stdout  string
		stderr  string
	}{
		{"answers", greet, minimal, 0, "\xa3\x63abi\x01\x65count\x00\x68messages\x81\xa2\x64text\x67hello x\x65level\x64info", ""},
		{"empty plan", func(*Request, *Plan) error { return nil }, minimal, 0, "\xa2\x63abi\x01\x65count\x00", ""},
		{"handler's error", func(*Request, *Plan) error { return errors.New("no") }, minimal, 1, "", "no"},
		{"no handler", nil, minimal, 1, "", ErrNoHandler.Error()},
		{"nothing", greet, "", 1, "", "reading the request: empty at byte 0"},
		{"trailing", greet, minimal + "\x00", 1, "", "reading the request: trailing at byte 49"},
		{"nil intent", func(_ *Request, p *Plan) error { p.Add(nil); return nil }, minimal, 1, "", "writing intent 0 of the plan: it is nil"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(tt.handler, strings.NewReader(tt.request), &stdout, &stderr)
			if code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("got status %d, stdout %q, stderr %q; want %d, %q, %q", code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	deep := func(n int) any {
		var v any
		for range n {
			v = []any{v}
		}
		return v
	}
	set := func(v any) Intent {
		return EditJSON{Path: "a.json", Edits: []JSONEdit{{At: "/x", Set: true, Value: v}}}
	}
	digest := new(Digest)
	tests := []struct {
		intent Intent
		want   string // "": encodes
	}{
		{set(deep(5)), ""},
		{set(map[string]any{"bb": 1, "a": int64(-1), "aa": nil}), ""},
		{set(deep(6)), `edit "a.json" at "/x": a value nests too deep`},
		{set(1.5), `edit "a.json" at "/x": a value is of a type that JSON on the wire does not have; use nil, bool, int64, string, []any, map[string]any`},
		{EditJSON{Path: "a.json"}, `edit "a.json": it has no changes`},
		{Write{Path: "a"}, `write "a": it wants either content or a file of the module`},
		{Write{Path: "a", Content: Bytes("x"), Module: "m"}, `write "a": it wants either content or a file of the module`},
		{Write{Path: "a", Content: Bytes("x"), Mode: 0o4755}, `write "a": its mode has more than permission bits`},
		{Write{Path: "a", Content: Bytes("x"), Expect: Expect{Absent: true, Digest: digest}}, `write "a": it expects both nothing and a file`},
		{Delete{Path: "\xff"}, `text "\xff" is not UTF-8`},
		{Clone{Dest: "d", Depth: -1}, `clone into "d": its depth is negative`},
	}
	for _, tt := range tests {
		_, err := encodePlan(&abi.Plan{Intents: []Intent{tt.intent}})
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "writing intent 0 of the plan: ")
		}
		if got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.intent, got, tt.want)
		}
	}
	for _, p := range []abi.Plan{
		{Messages: []Message{{Level: "loud"}}},
		{Result: Scan{Verdict: "perhaps"}},
	} {
		if _, err := encodePlan(&p); err == nil {
			t.Errorf("%+v: encoded", p)
		}
	}
}

func TestContentsThatAreNotBytes(t *testing.T) {
	got, err := encodePlan(&abi.Plan{Intents: []Intent{Write{Path: "a", Content: other{abi.Bytes("hi")}}}})
	if err != nil || !bytes.HasSuffix(got, []byte("\x67content\x42hi")) {
		t.Errorf("got %q, %v", got, err)
	}
}

// other is a content of a type that the encoder does not know.
type other struct{ abi.Content }

func TestRegisterTwice(t *testing.T) {
	t.Cleanup(func() { registered = nil })
	Register(func(*Request, *Plan) error { return nil })
	defer func() {
		if recover() == nil {
			t.Error("a second Register did not panic")
		}
	}()
	Register(func(*Request, *Plan) error { return nil })
}

func TestLookups(t *testing.T) {
	req := &Request{Action: "install", Params: map[string]Param{"a": "b", "n": int64(1)}}
	if _, err := ModuleOf(req); err == nil || err.Error() != "install: the request has no module" {
		t.Errorf("got %v", err)
	}
	if Text(req, "a", "x") != "b" || Text(req, "n", "x") != "x" || Text(req, "z", "x") != "x" {
		t.Error("Text")
	}
	req.Module = &Module{Files: []File{{Path: "f", Size: 3}}}
	if f, ok := FileOf(req.Module, "f"); !ok || f.Size != 3 {
		t.Error("FileOf")
	}
	if _, ok := FileOf(req.Module, "g"); ok {
		t.Error("FileOf found what is not there")
	}
}
