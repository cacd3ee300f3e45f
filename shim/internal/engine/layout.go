package engine

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxTable is how many entries the tables of a module may begin with, together: each costs a word outside linear memory. A
// Go guest of 4 MB has some ten thousand.
const maxTable = 1 << 20

// layout is what must be known of a module before wazero gets to see it: its imports, of which wazero tells functions and
// memories only, and the sizes that it allocates to begin with.
type layout struct {
	imports              []importEntry
	memoryMin, memoryMax uint64 // pages; memoryMax 0: not said
	tableMin             uint64 // entries of all tables
	memories             int    // memories of its own
}

type importEntry struct {
	module, name string
	kind         byte // index into importKinds
}

// importKinds are the words for the kinds of imports (WebAssembly Core 1.0, 5.5.5; the last from the exception proposal).
var importKinds = [...]string{"func", "table", "memory", "global", "tag"}

// The sections that matter (5.5.2).
const (
	sectionImport = 2
	sectionTable  = 4
	sectionMemory = 5
)

var errCutOff = errors.New("it is cut off")

// readLayout walks over the sections of a module. It looks into three of them; wazero judges the rest.
func readLayout(module []byte) (l layout, err error) {
	const magic, version = "\x00asm", "\x01\x00\x00\x00"
	if len(module) < 8 || string(module[:4]) != magic {
		return l, errors.New("it is no WebAssembly module")
	}
	if string(module[4:8]) != version {
		return l, errors.New("it is no WebAssembly module of version 1; components are not taken")
	}
	c := cursor{b: module[8:]}
	for len(c.b) > 0 && c.err == nil {
		id := c.byte()
		body := cursor{b: c.take(c.u32())}
		if c.err != nil {
			break
		}
		switch id {
		case sectionImport:
			for range body.count() {
				l.imports = append(l.imports, body.importEntry())
			}
		case sectionTable:
			for range body.count() {
				l.tableMin += body.table()
			}
		case sectionMemory:
			for range body.count() {
				l.memoryMin, l.memoryMax = body.limits()
				l.memories++
			}
		default:
			continue
		}
		if body.err == nil && len(body.b) > 0 {
			body.err = errors.New("it has bytes after its last entry")
		}
		if body.err != nil {
			return l, fmt.Errorf("section %d: %w", id, body.err)
		}
	}
	return l, c.err
}

// cursor reads the binary format. The first failure stays, and everything after it is zero.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = nil
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail(errCutOff)
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

// take returns the next n bytes.
func (c *cursor) take(n uint32) []byte {
	if uint64(n) > uint64(len(c.b)) {
		c.fail(errCutOff)
		return nil
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

// u32 reads an unsigned LEB128 number of at most 32 bits (5.2.2), which takes at most 5 bytes.
func (c *cursor) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	c.fail(errors.New("a number is over 32 bits"))
	return 0
}

// count reads the length of a vector. Each entry takes a byte at least, so more than there are bytes left is a lie.
func (c *cursor) count() uint32 {
	n := c.u32()
	if uint64(n) > uint64(len(c.b)) {
		c.fail(errCutOff)
		return 0
	}
	return n
}

func (c *cursor) name() string {
	b := c.take(c.u32())
	if !utf8.Valid(b) {
		c.fail(errors.New("a name is not UTF-8"))
	}
	return string(b)
}

// limits reads the limits of a memory or table (5.3.4). Shared and 64-bit ones are not taken.
func (c *cursor) limits() (min, max uint64) {
	switch flags := c.byte(); flags {
	case 0:
		return uint64(c.u32()), 0
	case 1:
		return uint64(c.u32()), uint64(c.u32())
	default:
		c.fail(fmt.Errorf("limits of kind %d are not taken", flags))
		return 0, 0
	}
}

func (c *cursor) table() uint64 {
	c.byte() // the type of its entries
	min, _ := c.limits()
	return min
}

func (c *cursor) importEntry() importEntry {
	e := importEntry{module: c.name(), name: c.name(), kind: c.byte()}
	switch e.kind {
	case 0:
		c.u32()
	case 1:
		c.table()
	case 2:
		c.limits()
	case 3:
		c.byte()
		c.byte()
	case 4:
		c.byte()
		c.u32()
	default:
		c.fail(fmt.Errorf("an import is of the unknown kind %d", e.kind))
		e.kind = 0
	}
	return e
}
