package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/lola-ext/lola/shim/job"
)

// maxSkeleton is the most bytes of a skeleton. One is smaller than its module, but for data that was joined.
const maxSkeleton = 2 * job.MaxModule

// skeleton returns what wazero must see of a module whose code it takes from its cache: all that the module declares, with
// bounds on its tables, and functions that end at once, none of which ever runs. Reading and judging the real ones again would
// take most of the time of a start; they were judged when they were compiled. It ends with the module's digest, so that wazero
// looks for the code of this module alone.
//
// Preconditions: the module has this layout, of which readLayout found no fault. l.tableMin is at most maxTable.
func (l layout) skeleton(module []byte, digest [sha256.Size]byte) []byte {
	const magicAndVersion = 8
	parts := [][]byte{module[:magicAndVersion]}
	add := func(id byte, body []byte) {
		parts = append(parts, binary.AppendUvarint([]byte{id}, uint64(len(body))), body)
	}
	c := cursor{b: module[magicAndVersion:]}
	for len(c.b) > 0 && c.err == nil {
		id := c.byte()
		body := c.take(c.u32())
		switch id {
		case sectionTable:
			body = l.boundedTables()
		case sectionCode:
			body = stubs(l.functions)
		case sectionData:
			if !l.dataNamed {
				body = joinData(body)
			}
		case sectionCustom: // "name" alone is of use: it names the functions in the trace of a trap
			if named := (&cursor{b: body}); named.name() != "name" {
				continue
			}
		}
		add(id, body)
	}
	return slices.Concat(append(parts, skeletonEnd(digest))...)
}

// skeletonEnd is the custom section that says whose skeleton it is.
func skeletonEnd(digest [sha256.Size]byte) []byte {
	const name = "lola.skeleton"
	return appendSection(nil, sectionCustom, slices.Concat([]byte{byte(len(name))}, []byte(name), digest[:]))
}

// stubs is a section of code in which each function ends at once, whatever its type.
func stubs(functions uint32) []byte {
	const unreachable = 0x00
	body := make([]byte, 0, 5+4*functions)
	body = binary.AppendUvarint(body, uint64(functions))
	for range functions {
		body = append(body, 3, 0, unreachable, opEnd) // its length in bytes, no locals
	}
	return body
}

// maxDataGap is how many zeros may come between two pieces of data that become one. A compiler leaves out longer runs to save
// room; what each piece costs the engine is some hundred bytes.
const maxDataGap = 128

// joinData joins the pieces of a section of data that lie close together and in order: a Go guest has tens of thousands, which
// are there only because zeros between them were left out. In memory that is zero the same comes of it. A section that has any
// piece of another kind than "at a constant address" is left as it is.
//
// Preconditions: nothing names a piece by its number; no fault was found in the section.
func joinData(section []byte) []byte {
	type piece struct {
		at, size uint64
		of       int // how many pieces it was
	}
	var pieces []piece
	read := func(each func(at uint64, bytes []byte)) (ok bool) {
		c := cursor{b: section}
		for n := c.u32(); n > 0; n-- {
			at, ok := c.constantAddress()
			if !ok {
				return false
			}
			each(uint64(at), c.take(c.u32()))
		}
		return c.err == nil
	}
	var top uint64 // the end of the highest piece so far; beyond it all is zero
	if !read(func(at uint64, bytes []byte) {
		size := uint64(len(bytes))
		if n := len(pieces); n > 0 && at >= top && at-top <= maxDataGap && pieces[n-1].at+pieces[n-1].size == top {
			pieces[n-1].size = at - pieces[n-1].at + size
			pieces[n-1].of++
		} else {
			pieces = append(pieces, piece{at, size, 1})
		}
		top = max(top, at+size)
	}) {
		return section
	}
	room := 5
	for _, p := range pieces {
		room += 16 + int(p.size)
	}
	if room > 2*len(section) {
		return section
	}
	to := binary.AppendUvarint(make([]byte, 0, room), uint64(len(pieces)))
	var left int   // how many are to come of the piece that is being written
	var end uint64 // where what was written of it ends
	read(func(at uint64, bytes []byte) {
		if left == 0 {
			to = appendI32(append(to, 0, opI32Const), int32(uint32(at)))
			to = binary.AppendUvarint(append(to, opEnd), pieces[0].size)
			left, end, pieces = pieces[0].of, at, pieces[1:]
		}
		to = append(to, zeros[:at-end]...)
		to = append(to, bytes...)
		left, end = left-1, at+uint64(len(bytes))
	})
	return to
}

var zeros [maxDataGap]byte

// The instructions that a constant address is made of (5.4.9).
const (
	opI32Const = 0x41
	opEnd      = 0x0b
)

// constantAddress reads what stands before the bytes of a piece of data for the first memory at a constant address. A false
// result says that it is something else.
func (c *cursor) constantAddress() (at uint32, ok bool) {
	if kind, op := c.u32(), c.byte(); c.err != nil || kind != 0 || op != opI32Const {
		return 0, false
	}
	v, ok := c.i32()
	return uint32(v), ok && c.byte() == opEnd
}

// i32 reads a signed LEB128 number of 32 bits (5.2.2).
func (c *cursor) i32() (v int32, ok bool) {
	var bits int64
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		bits |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			bits = bits << (57 - shift) >> (57 - shift) // the sign is the highest bit of the last byte
			return int32(bits), c.err == nil && int64(int32(bits)) == bits
		}
	}
	return 0, false
}

func appendI32(to []byte, v int32) []byte {
	for v < -64 || v > 63 {
		to = append(to, byte(v)|0x80)
		v >>= 7
	}
	return append(to, byte(v)&0x7f)
}
