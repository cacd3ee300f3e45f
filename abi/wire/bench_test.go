package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
)

// The benchmarks decode a plan of 10,000 writes of 1 KiB. Compare their MB/s, which count the bytes of the contents, with
// that of BenchmarkDecodeEncodingJSON in the same run; absolute numbers mean little.

const (
	benchIntents = 10_000
	benchContent = 1 << 10
)

func benchPlan(n int) *abi.Plan {
	text := bytes.Repeat([]byte("A skill says what to do, and when.\n"), benchContent/35+1)[:benchContent]
	p := &abi.Plan{}
	for i := range n {
		p.Intents = append(p.Intents, abi.Write{Path: fmt.Sprintf(".claude/skills/s%d/SKILL.md", i), Mode: 0o644, Content: abi.Bytes(text)})
	}
	return p
}

func benchBytes(b *testing.B, encode func(io.Writer, *abi.Plan) error) []byte {
	b.Helper()
	var buf bytes.Buffer
	if err := encode(&buf, benchPlan(benchIntents)); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

// decodeAll reads a plan intent by intent, as a host does, and hashes the contents if asked to.
func decodeAll(b *testing.B, d *wire.Decoder, sp *wire.Spool, digest bool) {
	for {
		in, err := d.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		if digest {
			in.(abi.Write).Content.Digest()
		}
	}
	if err := sp.Close(); err != nil {
		b.Fatal(err)
	}
}

func benchDecode(b *testing.B, data []byte, open func(io.Reader, *wire.Spool, wire.Options) *wire.Decoder, digest bool) {
	dir := b.TempDir()
	b.SetBytes(benchIntents * benchContent)
	b.ReportAllocs()
	for b.Loop() {
		sp := wire.NewSpool(dir)
		decodeAll(b, open(bytes.NewReader(data), sp, wire.Options{}), sp, digest)
	}
}

// BenchmarkDecodeRatio decodes the plan with this package and with encoding/json in turn, and reports how many times faster
// the first is: over all rounds, and by the best round of each, which a busy machine disturbs less.
func BenchmarkDecodeRatio(b *testing.B) {
	ours, theirs := benchBytes(b, wire.EncodePlan), benchBytes(b, wire.EncodePlanJSON)
	dir := b.TempDir()
	var sum, best [2]time.Duration
	add := func(i int, start time.Time) {
		d := time.Since(start)
		if sum[i] += d; best[i] == 0 || d < best[i] {
			best[i] = d
		}
	}
	for b.Loop() {
		start := time.Now()
		sp := wire.NewSpool(dir)
		decodeAll(b, wire.NewDecoder(bytes.NewReader(ours), sp, wire.Options{}), sp, false)
		add(0, start)
		start = time.Now()
		decodeEncodingJSON(b, theirs)
		add(1, start)
	}
	b.ReportMetric(float64(sum[1])/float64(sum[0]), "x-total")
	b.ReportMetric(float64(best[1])/float64(best[0]), "x-best")
}

func BenchmarkDecode(b *testing.B) {
	benchDecode(b, benchBytes(b, wire.EncodePlan), wire.NewDecoder, false)
}

// BenchmarkDecodeDigest hashes each content as well, as a host does sooner or later.
func BenchmarkDecodeDigest(b *testing.B) {
	benchDecode(b, benchBytes(b, wire.EncodePlan), wire.NewDecoder, true)
}

func BenchmarkDecodeJSONForm(b *testing.B) {
	benchDecode(b, benchBytes(b, wire.EncodePlanJSON), wire.NewJSONDecoder, false)
}

// jsonIntent is a write as a Go program without this package would decode it.
type jsonIntent struct {
	Op      string `json:"op"`
	Path    string `json:"path"`
	Mode    string `json:"mode"`
	Content string `json:"content"`
}

func decodeEncodingJSON(b *testing.B, data []byte) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var header struct{ ABI, Count int }
	if err := d.Decode(&header); err != nil {
		b.Fatal(err)
	}
	for range header.Count {
		var in jsonIntent
		if err := d.Decode(&in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeEncodingJSON decodes the same plan as lines with encoding/json, which is what the others are measured by.
func BenchmarkDecodeEncodingJSON(b *testing.B) {
	data := benchBytes(b, wire.EncodePlanJSON)
	b.SetBytes(benchIntents * benchContent)
	b.ReportAllocs()
	for b.Loop() {
		decodeEncodingJSON(b, data)
	}
}

// BenchmarkDecodeEncodingJSONBase64 is the same with contents of any bytes.
func BenchmarkDecodeEncodingJSONBase64(b *testing.B) {
	var buf bytes.Buffer
	type line struct {
		Op, Path, Mode string
		Content        []byte
	}
	enc := json.NewEncoder(&buf)
	for _, in := range benchPlan(benchIntents).Intents {
		w := in.(abi.Write)
		if err := enc.Encode(line{"write", w.Path, w.Mode.String(), w.Content.(abi.Bytes)}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(benchIntents * benchContent)
	b.ReportAllocs()
	for b.Loop() {
		d := json.NewDecoder(bytes.NewReader(buf.Bytes()))
		for range benchIntents {
			var in line
			if err := d.Decode(&in); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	p := benchPlan(benchIntents)
	b.SetBytes(benchIntents * benchContent)
	b.ReportAllocs()
	for b.Loop() {
		if err := wire.EncodePlan(io.Discard, p); err != nil {
			b.Fatal(err)
		}
	}
}

// repeated gives the header, then the same intent again and again.
type repeated struct {
	header, intent []byte
	count, pos     int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	if len(r.header) > 0 {
		n = copy(p, r.header)
		r.header = r.header[n:]
		return n, nil
	}
	if r.count == 0 {
		return 0, io.EOF
	}
	n = copy(p, r.intent[r.pos:])
	if r.pos += n; r.pos == len(r.intent) {
		r.count, r.pos = r.count-1, 0
	}
	return n, nil
}

// BenchmarkDecodePeak reports how far the heap rises over its base while 6,000 and 60,000 KiB pass through, intent by intent.
func BenchmarkDecodePeak(b *testing.B) {
	for _, n := range []int{6_000, 60_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			header, intent := onePlan(b, n)
			var base, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&base)
			peak := uint64(0)
			for b.Loop() {
				sp := wire.NewSpool(dir)
				d := wire.NewDecoder(&repeated{header: header, intent: intent, count: n}, sp, wire.Options{Limits: abi.Limits{Plan: 1 << 30}})
				for i := 0; ; i++ {
					if _, err := d.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
					if i%500 == 0 {
						runtime.ReadMemStats(&now)
						peak = max(peak, now.HeapInuse+now.StackInuse-min(base.HeapInuse+base.StackInuse, now.HeapInuse+now.StackInuse))
					}
				}
				if err := sp.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
		})
	}
}

// onePlan returns the header of a plan of n intents, and one of them.
func onePlan(b *testing.B, n int) (header, intent []byte) {
	b.Helper()
	var none, one bytes.Buffer
	if err := wire.EncodePlan(&none, &abi.Plan{}); err != nil {
		b.Fatal(err)
	}
	if err := wire.EncodePlan(&one, benchPlan(1)); err != nil {
		b.Fatal(err)
	}
	header = none.Bytes()[:none.Len()-1] // the count comes last
	return binary.BigEndian.AppendUint16(append(header, 0x19), uint16(n)), one.Bytes()[none.Len():]
}
