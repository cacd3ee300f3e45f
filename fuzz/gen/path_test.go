package gen_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/fuzz/gen"
	"github.com/lola-ext/lola/fuzz/oracle"
)

// TestPath proves that the generator earns its place: much of what it makes is acceptable, much is not, every sentence of
// the rules is met, and the same bytes give the same path.
func TestPath(t *testing.T) {
	t.Parallel()
	lim, err := abi.Limits{}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20_000
	source := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test wants the same numbers every time
	accepted, distinct := 0, map[string]bool{}
	for range rounds {
		data := make([]byte, source.IntN(24))
		for i := range data {
			data[i] = byte(source.Uint32())
		}
		path := gen.Path(data)
		if again := gen.Path(data); again != path {
			t.Fatalf("Path(%x) = %q, then %q", data, path, again)
		}
		distinct[path] = true
		if oracle.PathRefused(path, lim) == "" {
			accepted++
		}
	}
	if accepted < rounds/10 || accepted > rounds*9/10 {
		t.Errorf("%d of %d paths are acceptable, want a mix", accepted, rounds)
	}
	if len(distinct) < rounds/2 {
		t.Errorf("%d distinct paths of %d", len(distinct), rounds)
	}
	t.Logf("%d of %d acceptable, %d distinct", accepted, rounds, len(distinct))
}

func TestPathOfNothing(t *testing.T) {
	t.Parallel()
	if got := gen.Path(nil); got != "a" {
		t.Errorf("Path(nil) = %q, want the most ordinary path", got)
	}
}
