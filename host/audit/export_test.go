package audit

import (
	"bytes"
	"context"
	"maps"
	"slices"
)

// VerifyBytes verifies files of these names and contents.
func VerifyBytes(o VerifyOptions, files map[string][]byte) (Report, error) {
	var sources []source
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sources = append(sources, source{name, bytes.NewReader(files[name])})
	}
	return verify(context.Background(), sources, o)
}

// Encode returns the line of rec with the given place in the chain.
func Encode(rec Record) ([]byte, error) { return encode(rec) }
