package regress

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
)

// plans are inputs on which the decoder of plans, or what it was held to, was once wrong.
var plans = []struct {
	id    string
	input string
	class abi.Class // without a known size
	sized abi.Class // with it
	broke string
}{
	{"16_length_before_key", "\xa2\x20", abi.ClassKeyType, abi.ClassLengthOverRest,
		"the property of FuzzPlanDecoder said that a known size turns truncated into length-over-rest and nothing else, while a length is judged before the bytes after it"},
}

func TestPlans(t *testing.T) {
	t.Parallel()
	if len(plans) == 0 {
		t.Fatal("no cases")
	}
	for _, tt := range plans {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			for _, way := range []struct {
				size int64
				want abi.Class
			}{{0, tt.class}, {int64(len(tt.input)), tt.sized}} {
				_, err := wire.DecodePlan(strings.NewReader(tt.input), nil, wire.Options{Size: way.size})
				if !errors.Is(err, &abi.FormError{Class: way.want}) {
					t.Errorf("size %d: got %v, want class %s; what broke: %s", way.size, err, way.want, tt.broke)
				}
			}
		})
	}
}

// lines are inputs in the JSON form on which the class of a refusal once hung on how the input was cut into reads.
var lines = []struct {
	id    string
	input string
	class abi.Class
	broke string
}{
	{"17_base64_before_utf8", "{\"abi\":1,\"count\":1}\n{\"op\":\"write\",\"mode\":\"0644\",\"path\":\"a\",\"content_base64\":\"aGVsbG8?\x8b", abi.ClassValue,
		"a broken character later in the same read hid that the base64 before it was wrong"},
	{"18_utf8_after_padding", "{\"abi\":1,\"count\":1}\n{\"op\":\"write\",\"mode\":\"0644\",\"path\":\"a\",\"content_base64\":\"YQ==\x80", abi.ClassUTF8,
		"read byte by byte, nothing at all counted as more base64 after the padding"},
}

func TestLines(t *testing.T) {
	t.Parallel()
	if len(lines) == 0 {
		t.Fatal("no cases")
	}
	for _, tt := range lines {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(tt.input), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.input))} {
				_, err := wire.DecodePlanJSON(r, nil, wire.Options{})
				if !errors.Is(err, &abi.FormError{Class: tt.class}) {
					t.Errorf("%s: got %v, want class %s; what broke: %s", name, err, tt.class, tt.broke)
				}
			}
		})
	}
}
