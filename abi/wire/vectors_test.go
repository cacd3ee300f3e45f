package wire_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/abitest"
	"github.com/lola-ext/lola/abi/wire"
)

// decode reads a vector's payload as its header says and returns the request or plan.
func decode(v abitest.Vector, r io.Reader, sp *wire.Spool, size int64) (any, error) {
	opts := wire.Options{Limits: v.Limits, Size: size}
	switch {
	case v.Subject == abitest.SubjectPlan && v.Form == abitest.FormCBOR:
		return some(wire.DecodePlan(r, sp, opts))
	case v.Subject == abitest.SubjectPlan:
		return some(wire.DecodePlanJSON(r, sp, opts))
	case v.Form == abitest.FormCBOR:
		return some(wire.DecodeRequest(r, opts))
	default:
		return some(wire.DecodeRequestJSON(r, opts))
	}
}

func some[T any](v *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func encode(v abitest.Vector, form string, got any) ([]byte, error) {
	var buf bytes.Buffer
	opts := wire.Options{Limits: v.Limits}
	var err error
	switch got := got.(type) {
	case *abi.Plan:
		if form == abitest.FormCBOR {
			err = opts.EncodePlan(&buf, got)
		} else {
			err = opts.EncodePlanJSON(&buf, got)
		}
	case *abi.Request:
		if form == abitest.FormCBOR {
			err = opts.EncodeRequest(&buf, got)
		} else {
			err = opts.EncodeRequestJSON(&buf, got)
		}
	}
	return buf.Bytes(), err
}

// classOf returns the class of err, "valid" for nil.
func classOf(err error) string {
	var form *abi.FormError
	switch {
	case err == nil:
		return abitest.Valid
	case errors.As(err, &form):
		return string(form.Class)
	default:
		return "no form error: " + err.Error()
	}
}

func vectors(t testing.TB) []abitest.Vector {
	t.Helper()
	vs, err := abitest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

// TestVectors holds the decoders to every vector: read whole and byte by byte, with and without a spool, with the size
// known and not. Rows D01 to D04 of the list of hostile inputs are among them; their comments name them.
func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			sp := wire.NewSpool(t.TempDir())
			defer sp.Close()
			for _, way := range []struct {
				name string
				r    io.Reader
				sp   *wire.Spool
				size int64
				want string
			}{
				{"whole", bytes.NewReader(v.Payload), sp, 0, v.Expect},
				{"byte by byte", iotest.OneByteReader(bytes.NewReader(v.Payload)), sp, 0, v.Expect},
				{"end with data", iotest.DataErrReader(bytes.NewReader(v.Payload)), nil, 0, v.Expect},
				{"sized", bytes.NewReader(v.Payload), nil, int64(len(v.Payload)), v.Sized},
			} {
				got, err := decode(v, way.r, way.sp, way.size)
				if c := classOf(err); c != way.want {
					t.Errorf("%s: got %s (%v), want %s", way.name, c, err, way.want)
				}
				if err != nil {
					continue
				}
				again, err := encode(v, v.Form, got)
				if err != nil {
					t.Errorf("%s: encode again: %v", way.name, err)
				} else if !v.Respell && !bytes.Equal(again, v.Payload) {
					t.Errorf("%s: encoded again:\n%q\nwant\n%q", way.name, again, v.Payload)
				}
			}
		})
	}
}

// TestTwins decodes vectors of the JSON form and what they are said to mean, and turns each valid vector into the other
// form and back.
func TestTwins(t *testing.T) {
	byName := map[string]abitest.Vector{}
	for _, v := range vectors(t) {
		byName[v.Name] = v
	}
	twins := 0
	for _, v := range byName {
		if v.Expect != abitest.Valid {
			continue
		}
		got, err := decode(v, bytes.NewReader(v.Payload), nil, 0)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if v.SameAs != "" {
			twins++
			twin := byName[v.SameAs]
			want, err := decode(twin, bytes.NewReader(twin.Payload), nil, 0)
			if err != nil {
				t.Errorf("%s: twin %q: %v", v.Name, v.SameAs, err)
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s is\n%+v\nbut %s is\n%+v", v.Name, got, v.SameAs, want)
			}
		}
		other := v
		other.Limits = abi.Limits{}
		if other.Form = abitest.FormJSON; v.Form == abitest.FormJSON {
			other.Form = abitest.FormCBOR
		}
		b, err := encode(other, other.Form, got)
		if err != nil {
			t.Errorf("%s: encode as %s: %v", v.Name, other.Form, err)
			continue
		}
		back, err := decode(other, bytes.NewReader(b), nil, 0)
		if err != nil {
			t.Errorf("%s: decode its %s form %q: %v", v.Name, other.Form, b, err)
		} else if !reflect.DeepEqual(got, back) {
			t.Errorf("%s: through %s is\n%+v\nwant\n%+v", v.Name, other.Form, back, got)
		}
	}
	if twins == 0 {
		t.Error("no vector has a twin")
	}
}

// TestVectorsCoverClasses finds at least one CBOR vector for each class.
func TestVectorsCoverClasses(t *testing.T) {
	have := map[string]int{}
	for _, v := range vectors(t) {
		if v.Form == abitest.FormCBOR {
			have[v.Expect]++
			have[v.Sized]++
		}
	}
	for _, c := range abi.Classes {
		if c == abi.ClassLimitDiagnostics {
			continue // about a guest's error text: no bytes of a plan or request can cause it
		}
		if have[string(c)] == 0 {
			t.Errorf("class %q has no vector", c)
		}
		delete(have, string(c))
	}
	delete(have, abitest.Valid)
	for c := range have {
		t.Errorf("vectors expect %q, which is no class", c)
	}
}
