package audit_test

import (
	"fmt"
	"testing"

	"github.com/lola-ext/lola/host/audit"
)

// BenchmarkAppend: one record of so many intents, durable. Nearly all of it is fsync.
func BenchmarkAppend(b *testing.B) {
	for _, intents := range []int{1, 100, 1000, 65536} {
		b.Run(fmt.Sprint(intents), func(b *testing.B) {
			rec := sample(1)
			rec.Intents = nil
			for i := range intents {
				rec.Intents = append(rec.Intents, audit.Intent{Extension: "claude-code", Op: "write", Path: fmt.Sprintf(".claude/skills/s%d/SKILL.md", i), Digest: audit.Digest{4}, Mode: "0644"})
			}
			l := at(b, b.TempDir(), audit.Options{}, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(b.Context(), rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkVerify: a log of four thousand records of an ordinary install.
func BenchmarkVerify(b *testing.B) {
	home := b.TempDir()
	l := at(b, home, audit.Options{}, nil)
	appendN(b, l, 1, sample)
	line := files(b, home)[one]
	text := make([]byte, 0, 4000*len(line))
	prev, seq := "", 1
	for seq <= 4000 {
		if seq == 1 {
			text = append(text, line...)
			prev = string(sealed.FindSubmatch(line)[6])
		} else {
			var next []byte
			next, prev = seal(b, line, seq, prev)
			text = append(text, next...)
		}
		seq++
	}
	put(b, home, one, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if r := verify(b, l, audit.Head{}); !r.OK() || r.Records != 4000 {
			b.Fatal(r.Broken)
		}
	}
}
