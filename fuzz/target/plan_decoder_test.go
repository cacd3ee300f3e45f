package target

import (
	"bytes"
	"errors"
	"reflect"
	"runtime/metrics"
	"testing"
	"testing/iotest"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/abitest"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/fuzz/gen"
	"github.com/lola-ext/lola/fuzz/oracle"
)

// addVectors seeds f with the payloads of the vectors of one form and subject.
func addVectors(f *testing.F, form, subject string) {
	f.Helper()
	vectors, err := abitest.Vectors()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		if v.Form == form && v.Subject == subject && len(v.Payload) < 20_000 {
			f.Add(v.Payload)
		}
	}
}

// formError fails the test unless err is a refusal: nothing that is read may bring another error about.
func formError(t *testing.T, err error) *abi.FormError {
	t.Helper()
	var form *abi.FormError
	if !errors.As(err, &form) {
		t.Fatalf("the error is no refusal: %v", err)
	}
	return form
}

// allocated returns how many bytes have been allocated since the process began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Memory may follow the input, by what a Go value needs for a byte of CBOR at most (an empty map in a list), beside the
// buffers that every decoder has.
const (
	bytesPerByte = 400
	bytesAtStart = 2 << 20
)

// decodePlan decodes a plan and checks what must hold whatever the bytes are: a refusal is a form error; it does not depend
// on how the bytes arrive or where contents go; memory follows the input.
func decodePlan(t *testing.T, data []byte) (*abi.Plan, *abi.FormError) {
	t.Helper()
	sp := wire.NewSpool("")
	t.Cleanup(func() { sp.Close() })
	before := allocated()
	plan, err := wire.DecodePlan(bytes.NewReader(data), sp, wire.Options{})
	if used := allocated() - before; used > bytesAtStart+bytesPerByte*uint64(len(data)) {
		t.Fatalf("%d bytes were allocated for an input of %d", used, len(data))
	}
	slow, slowErr := wire.DecodePlan(iotest.OneByteReader(bytes.NewReader(data)), nil, wire.Options{})
	_, sizedErr := wire.DecodePlan(bytes.NewReader(data), nil, wire.Options{Size: int64(len(data))})
	if err == nil {
		if slowErr != nil || sizedErr != nil {
			t.Fatalf("accepted whole, but byte by byte: %v; with its size known: %v", slowErr, sizedErr)
		}
		if why := oracle.PlanDiffers(data, slow); why != "" {
			t.Fatalf("read byte by byte: %s", why)
		}
		return plan, nil
	}
	form := formError(t, err)
	if slow := formError(t, slowErr); slow.Class != form.Class {
		t.Fatalf("refused whole: %v; byte by byte: %v", form, slow)
	}
	// A length over the rest is seen before what else may be wrong with the bytes that are there.
	if sized := formError(t, sizedErr); sized.Class != form.Class && sized.Class != abi.ClassLengthOverRest {
		t.Fatalf("refused without its size: %v; with it: %v", form, sized)
	}
	return nil, form
}

// FuzzPlanDecoder: what is accepted encodes again to the same bytes, and the CBOR library, asked independently, decodes
// each item to what the plan says and encodes it to the same bytes; what the library refuses is refused.
func FuzzPlanDecoder(f *testing.F) {
	addVectors(f, abitest.FormCBOR, abitest.SubjectPlan)
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, refused := decodePlan(t, data)
		if refused != nil {
			return
		}
		if why := oracle.PlanDiffers(data, plan); why != "" {
			t.Fatal(why)
		}
		var again bytes.Buffer
		if err := wire.EncodePlan(&again, plan); err != nil {
			t.Fatalf("accepted, but cannot be encoded: %v", err)
		}
		if !bytes.Equal(again.Bytes(), data) {
			t.Fatalf("encoded again:\n%x\nwant\n%x", again.Bytes(), data)
		}
	})
}

// FuzzPlanRoundTrip: a plan that can be encoded is decoded to itself, in both forms; what cannot be encoded is refused with a
// form error; the bytes of a plan with a few of them changed hold to FuzzPlanDecoder's property.
func FuzzPlanRoundTrip(f *testing.F) {
	f.Add([]byte{}, []byte{})
	for op := range byte(8) {
		f.Add([]byte{0, 0, 4, op, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []byte{1, op * 16, 0, op})
	}
	f.Fuzz(func(t *testing.T, data, changes []byte) {
		plan := gen.Plan(data)
		var encoded, lines bytes.Buffer
		err, jsonErr := wire.EncodePlan(&encoded, plan), wire.EncodePlanJSON(&lines, plan)
		if err != nil {
			if form, line := formError(t, err), formError(t, jsonErr); form.Class != line.Class {
				t.Fatalf("cannot be encoded: %v; as JSON: %v", form, line)
			}
			return
		}
		if jsonErr != nil {
			t.Fatalf("can be encoded, but not as JSON: %v", jsonErr)
		}
		back, refused := decodePlan(t, encoded.Bytes())
		if refused != nil {
			t.Fatalf("encoded to what is refused: %v", refused)
		}
		if why := oracle.PlanDiffers(encoded.Bytes(), back); why != "" {
			t.Fatal(why)
		}
		if why := oracle.PlanDiffers(encoded.Bytes(), plan); why != "" {
			t.Fatalf("the plan that was encoded: %s", why)
		}
		fromLines, err := wire.DecodePlanJSON(&lines, nil, wire.Options{})
		if err != nil {
			t.Fatalf("encoded as JSON to what is refused: %v", err)
		}
		if why := oracle.PlanDiffers(encoded.Bytes(), fromLines); why != "" {
			t.Fatalf("through JSON: %s", why)
		}
		changed := gen.Mutate(encoded.Bytes(), changes)
		if plan, refused := decodePlan(t, changed); refused == nil {
			if why := oracle.PlanDiffers(changed, plan); why != "" {
				t.Fatal(why)
			}
		}
	})
}

// FuzzRequestDecoder: what is accepted encodes again to the same bytes, which the CBOR library too holds for deterministic,
// and survives the JSON form.
func FuzzRequestDecoder(f *testing.F) {
	addVectors(f, abitest.FormCBOR, abitest.SubjectRequest)
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := wire.DecodeRequest(bytes.NewReader(data), wire.Options{})
		if err != nil {
			formError(t, err)
			return
		}
		if _, why := oracle.Items(data); why != "" {
			t.Fatal(why)
		}
		var again, lines bytes.Buffer
		if err := wire.EncodeRequest(&again, req); err != nil {
			t.Fatalf("accepted, but cannot be encoded: %v", err)
		}
		if !bytes.Equal(again.Bytes(), data) {
			t.Fatalf("encoded again:\n%x\nwant\n%x", again.Bytes(), data)
		}
		if err := wire.EncodeRequestJSON(&lines, req); err != nil {
			t.Fatalf("accepted, but cannot be encoded as JSON: %v", err)
		}
		back, err := wire.DecodeRequestJSON(&lines, wire.Options{})
		if err != nil {
			t.Fatalf("encoded as JSON to what is refused: %v", err)
		}
		if !reflect.DeepEqual(back, req) {
			t.Fatalf("through JSON:\n%+v\nwant\n%+v", back, req)
		}
	})
}
