package engine

import (
	"errors"
	"fmt"
)

// wazero allocates by the lengths that a file declares, before it looks whether so many bytes are there: a file of 14 bytes
// can have it ask for 4 GiB. So each length is checked here first, by reading all that stands before the next one. What
// wazero would refuse anyway need not be refused here; but what is read here must be read as wazero reads it, lest the two
// disagree where the next length is.

const (
	// maxFuncLocals is how many locals a function may have: browsers take no more (WebAssembly JavaScript Interface, limits).
	maxFuncLocals = 50_000
	// maxParams is how many parameters or results a type may have, as in browsers: any number of functions can have the type.
	maxParams = 1000
	// maxWords is how many words of the engine's memory, or two or three, a section may take by a byte each or, as locals
	// do, by next to nothing: "four thousand million locals" takes six bytes. A Go guest of 3 MB has eight thousand locals
	// and two thousand elements of tables.
	maxWords = 1 << 20
)

var errAfter = errors.New("it has bytes after its last entry")

// section reads the sections of which nothing but the lengths matters.
func (c *cursor) section(id byte, l *layout) {
	switch id {
	case sectionCustom:
		c.custom()
	case sectionType:
		left, params := budget(maxEntries), budget(maxWords)
		c.entries(func() { c.types(&left, &params) })
		l.types = uint32(maxEntries - left)
	case sectionFunction:
		c.entries(func() { c.typeIndex(l.types); l.functions++ })
	case sectionGlobal:
		c.entries(func() { c.globalType(); c.constant() })
	case sectionExport:
		c.entries(func() { c.name(); c.byte(); c.u32() })
	case sectionStart:
		c.u32()
	case sectionDataCount:
		c.u32()
		l.dataNamed = true
	case sectionElement:
		elements := budget(maxWords)
		c.entries(func() { c.element(&elements) })
	case sectionCode:
		locals := budget(maxWords)
		c.entries(func() { c.inside(func(body *cursor) { body.function(&locals) }) })
	case sectionData:
		c.entries(c.data)
	default:
		c.fail(errors.New("no section of this kind is taken"))
	}
}

// typeIndex reads which of the module's types a function has. wazero looks there for the sake of a call before it checks it.
func (c *cursor) typeIndex(types uint32) {
	if i := c.u32(); c.err == nil && i >= types {
		c.fail(fmt.Errorf("a function is of type %d, there are %d", i, types))
	}
}

// budget is what is left of a bound that the vectors of a section have together.
type budget uint64

func (c *cursor) spend(from *budget, n uint64) {
	if n > uint64(*from) {
		c.fail(fmt.Errorf("it has %d entries over what there may be together", n-uint64(*from)))
		return
	}
	*from -= budget(n)
}

// list reads a vector: its length, which it spends, and as many times what entry reads.
func (c *cursor) list(from *budget, entry func()) {
	n := c.count()
	c.spend(from, uint64(n))
	for ; n > 0 && c.err == nil; n-- {
		entry()
	}
}

// entries reads the vector that a section is.
func (c *cursor) entries(entry func()) {
	left := budget(maxEntries)
	c.list(&left, entry)
}

// inside reads a length and has read take as many bytes, all of them.
func (c *cursor) inside(read func(*cursor)) {
	in := cursor{b: c.take(c.u32())}
	if c.err != nil {
		return
	}
	read(&in)
	if in.err == nil && len(in.b) > 0 {
		in.err = errAfter
	}
	if in.err != nil {
		c.fail(in.err)
	}
}

// custom reads a custom section. wazero skips all of them but "name", which gives the functions in the trace of a trap their
// names.
func (c *cursor) custom() {
	if c.name() != "name" {
		c.b = nil
		return
	}
	left := budget(maxWords)
	names := func(c *cursor) { c.list(&left, func() { c.u32(); c.name() }) }
	for len(c.b) > 0 && c.err == nil {
		id := c.byte()
		c.inside(func(c *cursor) {
			switch id {
			case 0:
				c.name()
			case 1: // of functions
				names(c)
			case 2: // of locals, for each function
				c.list(&left, func() { c.u32(); names(c) })
			default:
				c.b = nil
			}
		})
	}
}

// types reads a function type, or several that refer to each other: wazero takes these without being asked to.
func (c *cursor) types(left, params *budget) {
	form := c.byte()
	if form == 0x4e {
		c.list(left, func() { c.funcType(c.byte(), params) })
		return
	}
	c.spend(left, 1)
	c.funcType(form, params)
}

// funcType reads what follows the first byte of a function type (5.3.3).
func (c *cursor) funcType(form byte, left *budget) {
	if form != 0x60 {
		c.fail(fmt.Errorf("a type of the form %#x is not taken", form))
	}
	for range 2 { // parameters, results
		n := 0
		c.list(left, func() {
			if n++; n > maxParams {
				c.fail(fmt.Errorf("a type has over %d parameters or results", maxParams))
			}
			c.valueType()
		})
	}
}

// valueType reads the type of a value (5.3.1), of which references to a type of the module have more than one byte.
func (c *cursor) valueType() {
	switch t := c.byte(); t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, refFunc, refExtern, 0x69: // numbers, vectors, references, the last to exceptions
	case 0x63, 0x64:
		c.signed(33)
	default:
		c.fail(fmt.Errorf("a value of type %#x is not taken", t))
	}
}

func (c *cursor) globalType() {
	c.valueType()
	c.byte() // whether it can be changed
}

// constant reads a constant expression (5.4.9), up to its end.
func (c *cursor) constant() {
	for c.err == nil {
		switch op := c.byte(); op {
		case 0x0b: // end
			return
		case 0x41: // i32.const
			c.signed(32)
		case 0x42: // i64.const
			c.signed(64)
		case 0x43: // f32.const
			c.take(4)
		case 0x44: // f64.const
			c.take(8)
		case 0x23, 0xd0, 0xd2: // global.get, ref.null, ref.func
			c.u32()
		case 0xfd: // of vectors
			if op := c.byte(); op != 0x0c { // v128.const
				c.fail(fmt.Errorf("vector instruction %#x in a constant is not taken", op))
			}
			c.take(16)
		default:
			c.fail(fmt.Errorf("instruction %#x in a constant is not taken", op))
		}
	}
}

// signed skips a signed LEB128 number of so many bits (5.2.2).
func (c *cursor) signed(bits int) {
	for ; bits > 0; bits -= 7 {
		if c.byte()&0x80 == 0 {
			return
		}
	}
	c.fail(errors.New("a number is too long"))
}

// element reads a segment of elements (5.5.12): bits of its kind say which parts it has.
func (c *cursor) element(left *budget) {
	const (
		notActive = 1 << iota // else it has an offset,
		explicit              // and a table if it is explicit
		constants             // its entries are no bare numbers of functions
	)
	kind := c.u32()
	if kind > notActive|explicit|constants {
		c.fail(fmt.Errorf("elements of kind %d are not taken", kind))
	}
	if kind&notActive == 0 {
		if kind&explicit != 0 {
			c.u32()
		}
		c.constant()
	}
	switch {
	case kind&(notActive|explicit) == 0: // functions, without a word
	case kind&constants != 0:
		c.valueType()
	default:
		c.byte() // the kind of its entries: functions
	}
	c.list(left, func() {
		if kind&constants != 0 {
			c.constant()
		} else {
			c.u32()
		}
	})
}

// function reads the locals of a function (5.5.13), which wazero lays out one by one, and skips its instructions: they
// declare no length that is allocated.
func (c *cursor) function(left *budget) {
	var locals uint64
	for n := c.count(); n > 0 && c.err == nil; n-- { // groups of locals, each of a type
		locals += uint64(c.u32())
		c.valueType()
	}
	if locals > maxFuncLocals {
		c.fail(fmt.Errorf("a function has %d locals, there may be %d", locals, maxFuncLocals))
	}
	c.spend(left, locals)
	c.b = nil
}

// data reads a segment of data (5.5.14).
func (c *cursor) data() {
	switch kind := c.u32(); kind {
	case 0:
		c.constant()
	case 1: // passive
	case 2: // with the number of its memory
		c.u32()
		c.constant()
	default:
		c.fail(fmt.Errorf("data of kind %d is not taken", kind))
	}
	c.take(c.u32())
}
