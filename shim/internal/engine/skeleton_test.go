package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// TestLoadedIsCompiled: a module whose code is loaded does what it does when it is compiled, whatever it is. None of what ends
// by itself is left out.
func TestLoadedIsCompiled(t *testing.T) {
	for _, g := range wasmbuild.Guests() {
		t.Run(g.Name, func(t *testing.T) {
			want, wantErr := run(t, g.Module, request, config)
			defer want.Close()
			cfg := config
			cfg.Code, cfg.Digest = t.TempDir(), sha256.Sum256(g.Module)
			if _, err := Store(t.Context(), g.Module, cfg); err != nil {
				if wantErr == nil {
					t.Error(err)
				}
				return // it cannot be run at all, which TestStoreRefuses looks at
			}
			got, err := run(t, g.Module, request, cfg)
			defer got.Close()
			if !sameFailure(err, wantErr) || !bytes.Equal(got.Plan, want.Plan) || got.Memory != want.Memory {
				t.Errorf("got %d bytes of plan, %d of memory, %v\nwant %d bytes of plan, %d of memory, %v", len(got.Plan), got.Memory, err, len(want.Plan), want.Memory, wantErr)
			}
		})
	}
}

// sameFailure compares outcomes and words.
func sameFailure(a, b error) bool {
	var f, g *Failure
	if !errors.As(a, &f) || !errors.As(b, &g) {
		return a == nil && b == nil
	}
	return *f == *g
}

// TestSkeletonRegressions: what once broke a skeleton. (The fuzzer looks at more than it keeps here.)
func TestSkeletonRegressions(t *testing.T) {
	for _, r := range []struct{ id, module, broke string }{
		{"22_section_of_no_tables", "\x00asm\x01\x00\x00\x00\x04\x01\x00", "what they may have together was divided among no tables"},
	} {
		t.Run(r.id, func(t *testing.T) {
			m, err := Compile(t.Context(), []byte(r.module), config)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			bones, err := Compile(t.Context(), skeletonOf(t, []byte(r.module)), config)
			if err != nil {
				t.Fatalf("%v; what broke: %s", err, r.broke)
			}
			bones.Close()
		})
	}
}

// TestJoinedData: memory begins the same whether pieces of data were joined or not: in order or not, apart, touching,
// overlapping, empty, or over the end.
func TestJoinedData(t *testing.T) {
	const seed1, seed2 = 1, 2
	r := rand.New(rand.NewPCG(seed1, seed2))
	var joined int
	for range 60 {
		whole := wasmbuild.Reactor(wasmbuild.Parts{
			Before: func(m *wasmbuild.Builder) {
				at := uint32(r.IntN(3000))
				for range 1 + r.IntN(60) {
					b := make([]byte, r.IntN(40))
					for i := range b {
						b[i] = byte(1 + r.IntN(255))
					}
					m.Data(at, b)
					switch at += uint32(len(b)); r.IntN(12) {
					case 0: // elsewhere
						at = uint32(r.IntN(pageSize))
					case 1: // a little before the end of the last
						at -= min(at, uint32(r.IntN(50)))
					case 2, 3: // it touches
					case 4: // about as far away as may be
						at += maxDataGap - 1 + uint32(r.IntN(3))
					default:
						at += uint32(r.IntN(30))
					}
				}
			},
			Ptr: wasmbuild.I32Const(0), Len: wasmbuild.I32Const(pageSize),
		})
		want, wantErr := run(t, whole, request, config)
		folder, _ := stored(t, whole)
		cfg := config
		cfg.Code = folder
		got, err := run(t, whole, request, cfg)
		// The engine tells which piece is over the end, by its number.
		if (err == nil) != (wantErr == nil) || !bytes.Equal(got.Plan, want.Plan) {
			t.Fatalf("got %d bytes, %v\nwant %d bytes, %v\n%x", len(got.Plan), err, len(want.Plan), wantErr, whole)
		}
		got.Close()
		want.Close()
		if before, after := dataOf(t, whole), dataOf(t, skeletonOf(t, whole)); after < before {
			joined++
		} else if after > before {
			t.Errorf("%d pieces became %d", before, after)
		}
	}
	if joined < 30 {
		t.Errorf("of 60 modules only %d have fewer pieces: that is no test", joined)
	}
}

// dataOf counts the pieces of data that a module has.
func dataOf(t *testing.T, module []byte) (n uint32) {
	t.Helper()
	c := cursor{b: module[8:]}
	for len(c.b) > 0 && c.err == nil {
		id, body := c.byte(), cursor{b: c.take(c.u32())}
		if id == sectionData {
			n = body.u32()
		}
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
	return n
}

// TestDataThatIsLeftAlone: only what is nothing but bytes at a constant address is joined, and not to more than twice its size.
func TestDataThatIsLeftAlone(t *testing.T) {
	section := func(pieces ...string) []byte {
		b := []byte{byte(len(pieces))}
		for _, p := range pieces {
			b = append(b, p...)
		}
		return b
	}
	const one, next = "\x00\x41\x05\x0b\x03abc", "\x00\x41\x0a\x0b\x03def" // at 5 and 10
	if got, want := joinData(section(one, next)), []byte("\x01\x00\x41\x05\x0b\x08abc\x00\x00def"); !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, s := range map[string][]byte{
		"passive":          section(one, "\x01\x03def"),
		"another memory":   section(one, "\x02\x00\x41\x0a\x0b\x03def"),
		"a global address": section(one, "\x00\x23\x00\x0b\x03def"),
		"a sum":            section(one, "\x00\x41\x0a\x41\x0a\x6a\x0b\x03def"),
		"mostly gaps":      section("\x00\x41\x05\x0b\x01a", "\x00\x41\xf0\x00\x0b\x01b"),
		"cut off":          section(one, next)[:12],
	} {
		if got := joinData(s); !bytes.Equal(got, s) {
			t.Errorf("%s: got %q, want %q", name, got, s)
		}
	}
}

// TestI32 holds the numbers of addresses to their form.
func TestI32(t *testing.T) {
	for _, v := range []int32{0, 1, -1, 63, 64, -64, -65, 8191, 8192, -8192, -8193, 1 << 30, math.MaxInt32, math.MinInt32} {
		b := appendI32(nil, v)
		if want := wasmbuild.S64(int64(v)); !bytes.Equal(b, want) {
			t.Errorf("%d: got %x, want %x", v, b, want)
		}
		c := cursor{b: b}
		if got, ok := c.i32(); got != v || !ok || len(c.b) != 0 {
			t.Errorf("%x: got %d, %t, %d bytes left", b, got, ok, len(c.b))
		}
	}
	for _, b := range [][]byte{{}, {0x80}, {0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, {0xff, 0xff, 0xff, 0xff, 0x0f}, binary.AppendUvarint(nil, 1<<40)} {
		c := cursor{b: b}
		if got, ok := c.i32(); ok {
			t.Errorf("%x: got %d", b, got)
		}
	}
}
