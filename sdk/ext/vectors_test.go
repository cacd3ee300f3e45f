package ext

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/abitest"
)

// vectors returns those that a guest can meet: CBOR, and no limit of the host's.
func vectors(t *testing.T, subject string) []abitest.Vector {
	t.Helper()
	all, err := abitest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	var some []abitest.Vector
	for _, v := range all {
		if v.Form == abitest.FormCBOR && v.Subject == subject && !strings.HasPrefix(v.Expect, "limit-") {
			some = append(some, v)
		}
	}
	if len(some) < 20 {
		t.Fatalf("only %d vectors about a %s", len(some), subject)
	}
	return some
}

func TestRequestVectors(t *testing.T) {
	for _, v := range vectors(t, abitest.SubjectRequest) {
		t.Run(v.Name, func(t *testing.T) {
			got := abitest.Valid
			req, err := decodeRequest(v.Payload)
			if err != nil {
				var form *formError
				if !errors.As(err, &form) {
					t.Fatalf("got %v, which is no *formError", err)
				}
				got = string(form.class)
			}
			if got != v.Sized { // the whole request lies before this decoder
				t.Fatalf("%s: want %s, got %s (%v)", v.Comment, v.Sized, got, err)
			}
			if err == nil && req.Action == "" {
				t.Error("a valid request has no action")
			}
		})
	}
}

func TestPlanVectors(t *testing.T) {
	count := 0
	for _, v := range vectors(t, abitest.SubjectPlan) {
		if v.Expect != abitest.Valid {
			continue
		}
		count++
		t.Run(v.Name, func(t *testing.T) {
			plan := readPlan(v.Payload)
			got, err := encodePlan(plan)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, v.Payload) {
				t.Errorf("%s: plan %+v\n got %x\nwant %x", v.Comment, plan, got, v.Payload)
			}
		})
	}
	if count < 20 {
		t.Fatalf("only %d valid plans", count)
	}
}

func TestDecodeKeepsEverything(t *testing.T) {
	digest := bytes.Repeat([]byte{7}, 32)
	// Built by hand, so that a mistake that encoder and decoder share would show.
	request := cat("\xa7",
		"\x63abi\x01",
		"\x65scope\x64user",
		"\x66action\x67install",
		"\x66inputs\x82",
		"\xa2\x64path\x61a\x65state\x66absent",
		"\xa5\x64mode\x19\x01\xff\x64path\x61b\x65state\x64file\x66digest\x58\x20", digest, "\x67content\x42hi",
		"\x66module\xa4\x64name\x63kit\x65files\x82",
		"\xa4\x64mode\x19\x01\xa4\x64path\x61x\x64size\x1a\x00\x01\x00\x00\x66digest\x58\x20", digest,
		"\xa5\x64mode\x19\x01\xed\x64path\x61y\x64size\x00\x66digest\x58\x20", digest, "\x67content\x40",
		"\x66digest\x58\x20", digest,
		"\x67version\x631.0",
		"\x66params\xa4\x61a\x20\x61b\xf5\x61c\x64text\x61d\x3b\x7f\xff\xff\xff\xff\xff\xff\xff",
		"\x69extension\xa2\x64name\x61e\x67version\x612",
	)
	req, err := decodeRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	d := abi.Digest(digest)
	switch {
	case req.Action != "install", req.Scope != abi.ScopeUser, req.Extension != (abi.Identity{Name: "e", Version: "2"}):
		t.Errorf("got %+v", req)
	case len(req.Params) != 4, req.Params["a"] != int64(-1), req.Params["b"] != true, req.Params["c"] != "text", req.Params["d"] != int64(-1<<63):
		t.Errorf("params: got %+v", req.Params)
	case req.Module.Name != "kit", req.Module.Version != "1.0", req.Module.Digest != d, len(req.Module.Files) != 2:
		t.Errorf("module: got %+v", req.Module)
	}
	x, y := req.Module.Files[0], req.Module.Files[1]
	if x.Path != "x" || x.Mode != 0o644 || x.Size != 65536 || x.Digest != d || x.Content != nil {
		t.Errorf("file x: got %+v", x)
	}
	if y.Path != "y" || y.Mode != 0o755 || y.Size != 0 || y.Content == nil {
		t.Errorf("file y: got %+v; an empty content that is given must differ from one that is withheld", y)
	}
	a, b := req.Inputs[0], req.Inputs[1]
	if a.State != abi.InputAbsent || a.Mode != nil || a.Content != nil || a.Digest != nil {
		t.Errorf("input a: got %+v", a)
	}
	if b.State != abi.InputFile || *b.Mode != 0o777 || string(b.Content) != "hi" || *b.Digest != d {
		t.Errorf("input b: got %+v", b)
	}
}

func cat(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p...)
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

// FuzzDecodeRequest: no input makes the decoder fail otherwise than with a *formError, or accept what has bytes after it.
func FuzzDecodeRequest(f *testing.F) {
	all, err := abitest.Vectors()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range all {
		if v.Subject == abitest.SubjectRequest && v.Form == abitest.FormCBOR {
			f.Add(v.Payload)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := decodeRequest(b); err != nil {
			if _, ok := err.(*formError); !ok {
				t.Fatalf("got %v, which is no *formError", err)
			}
			return
		}
		var form *formError
		if _, err := decodeRequest(append(bytes.Clone(b), 0)); !errors.As(err, &form) || form.class != abi.ClassTrailing {
			t.Fatalf("with a byte more: got %v", err)
		}
	})
}
