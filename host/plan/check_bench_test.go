package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// BenchmarkCheck judges plans up to the limit of 65,536 intents. The cost of one intent must not grow with their number;
// look at ns/intent.
func BenchmarkCheck(b *testing.B) {
	shapes := []struct {
		name string
		path func(i int) string
		make func(path string, i int) abi.Intent // nil: a write
	}{
		{"apart", func(i int) string { return fmt.Sprintf("d%d/e%d/f%d.md", i%10, i%100, i) }, nil},
		{"one path", func(int) string { return "a/b/c" }, nil},
		{"a chain", func(i int) string { return strings.Repeat("a/", i%32) + "a" }, nil},
		{"one folded path", func(i int) string { return strings.Map(upperBits(i), "abcdefghijklmnop") }, nil},
		{"markers", func(i int) string { return fmt.Sprintf("d%d/HEAD", i) }, nil},
		{"deletes", func(i int) string { return fmt.Sprintf("d%d/f%d", i%100, i) }, func(p string, _ int) abi.Intent { return abi.Delete{Path: p} }},
		{"values of one file", func(int) string { return "f.json" }, func(p string, i int) abi.Intent { return set(p, fmt.Sprintf("/servers/s%d", i), "x") }},
		{"values that overlap", func(int) string { return "f.json" }, func(p string, i int) abi.Intent { return set(p, strings.Repeat("/a", i%100+1), "x") }},
		{"edits of many files", func(i int) string { return fmt.Sprintf("d%d/f%d.json", i%100, i) }, func(p string, _ int) abi.Intent { return set(p, "/x", "y") }},
	}
	for _, s := range shapes {
		for _, n := range []int{1 << 10, 1 << 13, 1 << 16} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				r := openTree(b, nil)
				lim, err := abi.Limits{NewEntries: 1_000_000}.Resolve()
				if err != nil {
					b.Fatal(err)
				}
				in := make([]abi.Intent, n)
				for i := range in {
					if in[i] = write(s.path(i), ""); s.make != nil {
						in[i] = s.make(s.path(i), i)
					}
				}
				p := installs(b, "x", in...)
				b.ReportAllocs()
				for b.Loop() {
					_, _ = plan.Check(r, plan.Options{Limits: lim}, p)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/intent")
			})
		}
	}
}

// upperBits makes the nth letter upper case where bit n of i is set.
func upperBits(i int) func(rune) rune {
	return func(r rune) rune {
		if i&(1<<(r-'a')) != 0 {
			return r - 'a' + 'A'
		}
		return r
	}
}
