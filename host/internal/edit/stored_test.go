package edit_test

import (
	"encoding/json"
	"testing"

	"github.com/lola-ext/lola/host/internal/edit"
)

// stored is what records are after they have been kept.
func stored(t testing.TB, records []edit.Record) []edit.Record {
	t.Helper()
	b := storedBytes(t, records)
	read, err := edit.Decode(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return read
}

func storedBytes(t testing.TB, records []edit.Record) []byte {
	t.Helper()
	b, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
