// Package abitest holds conformance vectors for requests and plans: one file per case, one defect per file, readable by an
// implementation in any language.
//
//	vectors, err := abitest.Vectors()
//	for _, v := range vectors {
//		got := decode(v.Payload) // the implementation under test
//		if got.class != v.Expect { ... }
//	}
//
// A file under testdata is named <subject>_<defect>. It begins with lines "key: value", then an empty line, then the payload:
// the JSON form as it is, CBOR as hexadecimal words, in which "#" starts a comment to the end of the line and "81*100" stands
// for the byte 0x81 a hundred times. The keys are in the fields of [Vector]; the reader stops at a key that it does not know.
//
// The vectors say nothing about which of several defects is reported, and nothing about what a host refuses later (paths,
// rights, conflicts). Until the first release they change with SPEC.md; afterwards they are only added to.
package abitest

import (
	"bytes"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/lola-ext/lola/abi"
)

//go:embed testdata
var testdata embed.FS

// Valid is what [Vector.Expect] says of a payload that must be accepted.
const Valid = "valid"

// The forms of a payload.
const (
	FormCBOR = "cbor"
	FormJSON = "json"
)

// The subjects of a payload.
const (
	SubjectPlan    = "plan"
	SubjectRequest = "request"
)

// Vector is one case.
type Vector struct {
	// Name is the file's name.
	Name string
	// Expect is [Valid] or the class of refusal.
	Expect string
	// Sized is the class that a decoder reports which knows the payload's size before it reads. It is Expect unless the
	// file says otherwise, which only cut-off payloads do.
	Sized string
	// Form is [FormCBOR] or [FormJSON].
	Form string
	// Subject is [SubjectPlan] or [SubjectRequest].
	Subject string
	// SameAs names a valid vector in the other form that decodes to the same; empty: none.
	SameAs string
	// Limits holds what the case overrides; other fields are zero, which means the default.
	Limits abi.Limits
	// Comment says what the case is about, in a line.
	Comment string
	// Payload is the bytes to decode. A valid payload re-encodes to exactly these bytes, unless Respell is set.
	Payload []byte
	// Respell marks a valid JSON payload that an encoder spells differently (white space, key order, escapes).
	Respell bool
}

// Files returns the vector files as they are, for a test that regenerates them.
func Files() fs.FS {
	sub, err := fs.Sub(testdata, "testdata")
	if err != nil {
		panic("abitest: open embedded testdata: " + err.Error()) // the embed directive above names it
	}
	return sub
}

// Vectors reads all vectors, sorted by name. No vector at all is an error.
func Vectors() ([]Vector, error) {
	files := Files()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("list vectors: %w", err)
	}
	var vectors []Vector
	for _, e := range entries {
		b, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read vector %q: %w", e.Name(), err)
		}
		v, err := Parse(e.Name(), b)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		return nil, fmt.Errorf("list vectors: none found")
	}
	return vectors, nil
}

// Parse reads one vector file.
func Parse(name string, b []byte) (Vector, error) {
	v := Vector{Name: name}
	head, payload, ok := bytes.Cut(b, []byte("\n\n"))
	if !ok {
		return v, fmt.Errorf("parse vector %q: no empty line after the header", name)
	}
	for i, line := range strings.Split(string(head), "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return v, fmt.Errorf("parse vector %q: header line %d: want \"key: value\"", name, i+1)
		}
		if err := v.set(key, value); err != nil {
			return v, fmt.Errorf("parse vector %q: header line %d: %w", name, i+1, err)
		}
	}
	if v.Sized == "" {
		v.Sized = v.Expect
	}
	if v.Expect == "" || v.Subject == "" || v.Form == "" {
		return v, fmt.Errorf("parse vector %q: expect, subject and form must all be said", name)
	}
	v.Payload = payload
	if v.Form == FormCBOR {
		var err error
		if v.Payload, err = parseHex(string(payload)); err != nil {
			return v, fmt.Errorf("parse vector %q: payload: %w", name, err)
		}
	}
	return v, nil
}

func (v *Vector) set(key, value string) error {
	oneOf := func(dst *string, list ...string) error {
		for _, s := range list {
			if s == value {
				*dst = value
				return nil
			}
		}
		return fmt.Errorf("key %q: %q is none of %q", key, value, list)
	}
	switch key {
	case "expect":
		v.Expect = value
	case "sized":
		v.Sized = value
	case "form":
		return oneOf(&v.Form, FormCBOR, FormJSON)
	case "subject":
		return oneOf(&v.Subject, SubjectPlan, SubjectRequest)
	case "same-as":
		v.SameAs = value
	case "respell":
		v.Respell = value == "true"
	case "limit":
		return v.setLimit(value)
	case "comment":
		v.Comment = value
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

// setLimit reads "name=number".
func (v *Vector) setLimit(s string) error {
	name, number, _ := strings.Cut(s, "=")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return fmt.Errorf("limit %q: %w", s, err)
	}
	switch name {
	case "plan":
		v.Limits.Plan = n
	case "request":
		v.Limits.Request = n
	case "intents":
		v.Limits.Intents = int(n)
	case "content":
		v.Limits.Content = n
	case "item":
		v.Limits.Item = n
	case "values":
		v.Limits.Values = int(n)
	case "messages":
		v.Limits.Messages = int(n)
	default:
		return fmt.Errorf("unknown limit %q", name)
	}
	return nil
}

// parseHex reads hexadecimal words, "word*count", and "#" comments.
func parseHex(s string) ([]byte, error) {
	out := []byte{}
	for line := range strings.Lines(s) {
		code, _, _ := strings.Cut(line, "#")
		for _, word := range strings.Fields(code) {
			digits, count, repeated := strings.Cut(word, "*")
			b, err := hex.DecodeString(digits)
			if err != nil {
				return nil, fmt.Errorf("word %q: %w", word, err)
			}
			n := 1
			if repeated {
				if n, err = strconv.Atoi(count); err != nil {
					return nil, fmt.Errorf("word %q: %w", word, err)
				}
			}
			out = append(out, bytes.Repeat(b, n)...)
		}
	}
	return out, nil
}
