package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

const (
	// maxTable is how many entries the tables of a module may have, together: each costs a word outside linear memory. A Go
	// guest of 3 MB has six thousand.
	maxTable = 1 << 20
	// maxTables is how many tables there may be: compilers make one.
	maxTables = 16
	// maxEntries is how many entries a section may have: types, functions, globals, data and the like, each of which costs
	// the engine much more than the byte or two it has in the file. A Go guest of 3 MB has two thousand functions and 34
	// thousand pieces of data.
	maxEntries = 1 << 18
)

// layout is what must be known of a module before wazero gets to see it: its imports, of which wazero tells functions and
// memories only, and the sizes that it allocates to begin with.
type layout struct {
	types                uint32 // of functions
	functions            uint32 // of its own
	imports              []importEntry
	memoryMin, memoryMax uint64 // pages
	memoryBounded        bool   // it says a memoryMax
	memories             int    // memories of its own
	tables               []table
	tableMin             uint64 // entries that all tables begin with
	tableFrom, tableTo   int    // the whole section in the file
	dataNamed            bool   // its code may name pieces of data by their number
}

type importEntry struct {
	module, name string
	kind         byte // index into importKinds
}

// importKinds are the words for the kinds of imports (WebAssembly Core 1.0, 5.5.5; the last from the exception proposal).
var importKinds = [...]string{"func", "table", "memory", "global", "tag"}

type table struct {
	element  byte // the type of its entries
	min, max uint64
	bounded  bool // it says a max
}

// The sections (5.5.2), in the order of their numbers.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// The types of references that tables are of (5.3.3).
const (
	refFunc   = 0x70
	refExtern = 0x6f
)

var errCutOff = errors.New("it is cut off")

// readLayout walks over the sections of a module. It keeps what is in three of them and checks the lengths in all; wazero
// judges the rest.
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
		at := len(module) - len(c.b)
		id := c.byte()
		body := cursor{b: c.take(c.u32())}
		if c.err != nil {
			break
		}
		switch id {
		case sectionImport:
			body.entries(func() { l.imports = append(l.imports, body.importEntry(l.types)) })
		case sectionTable:
			if l.tableTo > 0 {
				return l, errors.New("it has two sections of tables")
			}
			l.tableFrom, l.tableTo = at, len(module)-len(c.b)
			body.entries(func() {
				t := body.table()
				l.tables = append(l.tables, t)
				l.tableMin += t.min
			})
			if len(l.tables) > maxTables {
				body.fail(fmt.Errorf("%d tables, there may be %d", len(l.tables), maxTables))
			}
		case sectionMemory:
			body.entries(func() {
				l.memoryMin, l.memoryMax, l.memoryBounded = body.limits()
				l.memories++
			})
		default:
			body.section(id, &l)
		}
		if body.err == nil && len(body.b) > 0 {
			body.err = errAfter
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
func (c *cursor) limits() (min, max uint64, bounded bool) {
	switch flags := c.byte(); flags {
	case 0:
		return uint64(c.u32()), 0, false
	case 1:
		return uint64(c.u32()), uint64(c.u32()), true
	default:
		c.fail(fmt.Errorf("limits of kind %d are not taken", flags))
		return 0, 0, false
	}
}

func (c *cursor) table() (t table) {
	t.element = c.byte()
	if t.element != refFunc && t.element != refExtern { // others can have more than one byte
		c.fail(fmt.Errorf("a table of type %#x is not taken", t.element))
	}
	t.min, t.max, t.bounded = c.limits()
	return t
}

// boundTables returns the module with a max for each table, such that all together cannot grow over maxTable entries: the
// engine has no such bound of its own, and a table may say none. A guest can tell only by growing that far.
//
// Preconditions: l.tableMin is at most maxTable.
func (l layout) boundTables(module []byte) []byte {
	if len(l.tables) == 0 {
		return module
	}
	return slices.Concat(module[:l.tableFrom], appendSection(nil, sectionTable, l.boundedTables()), module[l.tableTo:])
}

// boundedTables is the section of tables that boundTables has.
func (l layout) boundedTables() []byte {
	if len(l.tables) == 0 {
		return []byte{0}
	}
	share := (maxTable - l.tableMin) / uint64(len(l.tables))
	body := binary.AppendUvarint(nil, uint64(len(l.tables)))
	for _, t := range l.tables {
		most := t.min + share
		if t.bounded {
			most = min(most, t.max) // which may be less than t.min, for wazero to judge
		}
		body = append(body, t.element, 1)
		body = binary.AppendUvarint(body, t.min)
		body = binary.AppendUvarint(body, most)
	}
	return body
}

func appendSection(to []byte, id byte, body []byte) []byte {
	to = binary.AppendUvarint(append(to, id), uint64(len(body)))
	return append(to, body...)
}

func (c *cursor) importEntry(types uint32) importEntry {
	e := importEntry{module: c.name(), name: c.name(), kind: c.byte()}
	switch e.kind {
	case 0:
		c.typeIndex(types)
	case 1:
		c.table()
	case 2:
		c.limits()
	case 3:
		c.globalType()
	case 4:
		c.byte()
		c.u32()
	default:
		c.fail(fmt.Errorf("an import is of the unknown kind %d", e.kind))
		e.kind = 0
	}
	return e
}
