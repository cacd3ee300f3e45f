package target

import (
	"bytes"
	"testing"
	"testing/iotest"

	"github.com/lola-ext/lola/abi/abitest"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/fuzz/oracle"
)

// FuzzPlanJSON: what is accepted is JSON to encoding/json too, and says the same to it as what the plan encodes to; the plan
// survives the CBOR form; memory follows the input.
func FuzzPlanJSON(f *testing.F) {
	addVectors(f, abitest.FormJSON, abitest.SubjectPlan)
	f.Fuzz(func(t *testing.T, data []byte) {
		sp := wire.NewSpool("")
		defer sp.Close()
		before := allocated()
		plan, err := wire.DecodePlanJSON(bytes.NewReader(data), sp, wire.Options{})
		if used := allocated() - before; used > bytesAtStart+bytesPerByte*uint64(len(data)) {
			t.Fatalf("%d bytes were allocated for an input of %d", used, len(data))
		}
		_, slowErr := wire.DecodePlanJSON(iotest.OneByteReader(bytes.NewReader(data)), nil, wire.Options{})
		if err != nil {
			if form, slow := formError(t, err), formError(t, slowErr); form.Class != slow.Class {
				t.Fatalf("refused whole: %v; byte by byte: %v", form, slow)
			}
			return
		}
		if slowErr != nil {
			t.Fatalf("accepted whole, but byte by byte: %v", slowErr)
		}
		var lines, again, encoded bytes.Buffer
		if err := wire.EncodePlanJSON(&lines, plan); err != nil {
			t.Fatalf("accepted, but cannot be encoded: %v", err)
		}
		if why := oracle.LinesDiffer(data, lines.Bytes()); why != "" {
			t.Fatal(why)
		}
		if err := wire.EncodePlan(&encoded, plan); err != nil {
			t.Fatalf("accepted, but cannot be encoded as CBOR: %v", err)
		}
		back, refused := decodePlan(t, encoded.Bytes())
		if refused != nil {
			t.Fatalf("encoded as CBOR to what is refused: %v", refused)
		}
		if why := oracle.PlanDiffers(encoded.Bytes(), plan); why != "" {
			t.Fatal(why)
		}
		if err := wire.EncodePlanJSON(&again, back); err != nil {
			t.Fatalf("cannot be encoded after CBOR: %v", err)
		}
		if !bytes.Equal(again.Bytes(), lines.Bytes()) {
			t.Fatalf("through CBOR:\n%s\nwant\n%s", again.Bytes(), lines.Bytes())
		}
	})
}
