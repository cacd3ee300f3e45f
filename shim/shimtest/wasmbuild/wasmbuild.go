// Package wasmbuild writes small WebAssembly modules byte by byte, for tests that need a guest with an exact defect and no
// compiler.
//
//	m := wasmbuild.New().Memory(1, 2)
//	m.Func("lola_plan_len", nil, wasmbuild.I32s(1), wasmbuild.I32Const(-1))
//	module := m.Bytes()
//
// It checks nothing: a module that makes no sense is what it is for. The binary format is that of the WebAssembly Core
// Specification 1.0, section 5; what may change is which instructions are at hand. It is for tests only.
package wasmbuild

import "slices"

// ValType is a value type.
type ValType byte

// The value types.
const (
	I32 ValType = 0x7f
	I64 ValType = 0x7e
)

// I32s returns n times I32.
func I32s(n int) []ValType { return slices.Repeat([]ValType{I32}, n) }

// Kinds of imports and exports.
const (
	KindFunc   byte = 0
	KindTable  byte = 1
	KindMemory byte = 2
	KindGlobal byte = 3
)

// Builder collects the parts of a module. Imports of functions come before functions, because both share one numbering.
type Builder struct {
	types, imports, funcs, tables, memories, exports, start, elements, code, data [][]byte
	nfuncs                                                                        uint32
	tail                                                                          []byte
}

// New returns an empty module.
func New() *Builder { return &Builder{} }

// U32 returns v in unsigned LEB128.
func U32(v uint32) (b []byte) {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// S64 returns v in signed LEB128.
func S64(v int64) (b []byte) {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func name(s string) []byte { return append(U32(uint32(len(s))), s...) }

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func vector(items [][]byte) []byte {
	return append(U32(uint32(len(items))), slices.Concat(items...)...)
}

func (m *Builder) typeOf(params, results []ValType) []byte {
	t := []byte{0x60}
	for _, list := range [][]ValType{params, results} {
		t = append(t, U32(uint32(len(list)))...)
		for _, v := range list {
			t = append(t, byte(v))
		}
	}
	m.types = append(m.types, t)
	return U32(uint32(len(m.types) - 1))
}

// Import adds an imported function and returns its index.
func (m *Builder) Import(module, field string, params, results []ValType) uint32 {
	m.imports = append(m.imports, join(name(module), name(field), []byte{KindFunc}, m.typeOf(params, results)))
	m.nfuncs++
	return m.nfuncs - 1
}

// ImportOther adds an import of another kind with its encoded type.
func (m *Builder) ImportOther(module, field string, kind byte, desc ...byte) *Builder {
	m.imports = append(m.imports, join(name(module), name(field), []byte{kind}, desc))
	return m
}

// Memory adds a memory that is exported as "memory". A max of 0 means none.
func (m *Builder) Memory(min, max uint32) *Builder { return m.MemoryAs("memory", min, max) }

// MemoryAs adds a memory under another name; an empty one is not exported.
func (m *Builder) MemoryAs(export string, min, max uint32) *Builder {
	limits := join([]byte{0}, U32(min))
	if max > 0 {
		limits = join([]byte{1}, U32(min), U32(max))
	}
	m.memories = append(m.memories, limits)
	if export != "" {
		m.Export(export, KindMemory, 0)
	}
	return m
}

// Table adds a table of functions. A max of 0 means none.
func (m *Builder) Table(min, max uint32) *Builder {
	t := join([]byte{0x70, 0}, U32(min))
	if max > 0 {
		t = join([]byte{0x70, 1}, U32(min), U32(max))
	}
	m.tables = append(m.tables, t)
	return m
}

// Export adds an export of something that is there already.
func (m *Builder) Export(as string, kind byte, index uint32) *Builder {
	m.exports = append(m.exports, join(name(as), []byte{kind}, U32(index)))
	return m
}

// Func adds a function without locals and returns its index. An empty name is not exported.
func (m *Builder) Func(as string, params, results []ValType, body ...[]byte) uint32 {
	return m.FuncLocals(as, params, results, 0, body...)
}

// FuncLocals is Func with n locals of type i32 after the parameters.
func (m *Builder) FuncLocals(as string, params, results []ValType, n uint32, body ...[]byte) uint32 {
	m.funcs = append(m.funcs, m.typeOf(params, results))
	locals := []byte{0}
	if n > 0 {
		locals = join([]byte{1}, U32(n), []byte{byte(I32)})
	}
	code := join(locals, slices.Concat(body...), []byte{0x0b})
	m.code = append(m.code, join(U32(uint32(len(code))), code))
	index := m.nfuncs
	m.nfuncs++
	if as != "" {
		m.Export(as, KindFunc, index)
	}
	return index
}

// Repeat adds n functions of one type, without parameters and results, all with the same body and with groups of so many
// locals of type i32. It returns the index of the first.
func (m *Builder) Repeat(n int, locals []uint32, body ...[]byte) uint32 {
	kind := m.typeOf(nil, nil)
	code := U32(uint32(len(locals)))
	for _, n := range locals {
		code = join(code, U32(n), []byte{byte(I32)})
	}
	code = join(code, slices.Concat(body...), []byte{0x0b})
	code = join(U32(uint32(len(code))), code)
	for range n {
		m.funcs = append(m.funcs, kind)
		m.code = append(m.code, code)
	}
	m.nfuncs += uint32(n)
	return m.nfuncs - uint32(n)
}

// Elements places functions in table 0 from offset on.
func (m *Builder) Elements(offset int32, funcs ...uint32) *Builder {
	e := join([]byte{0}, I32Const(offset), []byte{0x0b}, U32(uint32(len(funcs))))
	for _, f := range funcs {
		e = append(e, U32(f)...)
	}
	m.elements = append(m.elements, e)
	return m
}

// Start names the function that runs when the module is instantiated.
func (m *Builder) Start(index uint32) *Builder {
	m.start = [][]byte{U32(index)}
	return m
}

// Data places bytes in memory.
func (m *Builder) Data(offset uint32, b []byte) *Builder {
	m.data = append(m.data, join([]byte{0}, I32Const(int32(offset)), []byte{0x0b}, U32(uint32(len(b))), b))
	return m
}

// Tail adds raw bytes after the last section.
func (m *Builder) Tail(b ...byte) *Builder {
	m.tail = append(m.tail, b...)
	return m
}

// Bytes returns the module.
func (m *Builder) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items [][]byte) {
		if len(items) > 0 {
			body := vector(items)
			if id == 8 { // the start section is one index and no vector
				body = items[0]
			}
			out = append(out, join([]byte{id}, U32(uint32(len(body))), body)...)
		}
	}
	section(1, m.types)
	section(2, m.imports)
	section(3, m.funcs)
	section(4, m.tables)
	section(5, m.memories)
	section(7, m.exports)
	section(8, m.start)
	section(9, m.elements)
	section(10, m.code)
	section(11, m.data)
	return append(out, m.tail...)
}

// The instructions that tests need.

// I32Const pushes v.
func I32Const(v int32) []byte { return append([]byte{0x41}, S64(int64(v))...) }

// Call calls a function.
func Call(index uint32) []byte { return append([]byte{0x10}, U32(index)...) }

// CallIndirect pops a number of table 0 and calls the function there, which must have the type of that index.
func CallIndirect(kind uint32) []byte { return join([]byte{0x11}, U32(kind), []byte{0}) }

// I64Const pushes v.
func I64Const(v int64) []byte { return append([]byte{0x42}, S64(v)...) }

// LocalGet pushes a parameter or local.
func LocalGet(i uint32) []byte { return append([]byte{0x20}, U32(i)...) }

// LocalSet pops into a parameter or local.
func LocalSet(i uint32) []byte { return append([]byte{0x21}, U32(i)...) }

// Unreachable traps.
func Unreachable() []byte { return []byte{0x00} }

// Drop pops.
func Drop() []byte { return []byte{0x1a} }

// Add adds two i32.
func Add() []byte { return []byte{0x6a} }

// Div divides one i32 by another, signed.
func Div() []byte { return []byte{0x6d} }

// Load pops an address and pushes the i32 there.
func Load() []byte { return []byte{0x28, 2, 0} }

// LoadAt is Load with a constant offset that is added to the address.
func LoadAt(offset uint32) []byte { return append([]byte{0x28, 2}, U32(offset)...) }

// Store pops a value and an address and stores the i32.
func Store() []byte { return []byte{0x36, 2, 0} }

// Store8 is Store of the lowest byte only.
func Store8() []byte { return []byte{0x3a, 0, 0} }

// Grow pops a number of pages, grows memory, pushes the old size or -1.
func Grow() []byte { return []byte{0x40, 0} }

// GrowTable pops a number and, from below it, a reference; it grows a table by so many of it, and pushes the old size or -1.
func GrowTable(table uint32) []byte { return append([]byte{0xfc, 0x0f}, U32(table)...) }

// NullFunc pushes a null reference to a function.
func NullFunc() []byte { return []byte{0xd0, 0x70} }

// Equal compares two i32.
func Equal() []byte { return []byte{0x46} }

// Zero tells whether an i32 is 0.
func Zero() []byte { return []byte{0x45} }

// Return returns.
func Return() []byte { return []byte{0x0f} }

// Forever repeats the body without end.
func Forever(body ...[]byte) []byte {
	return join([]byte{0x03, 0x40}, slices.Concat(body...), []byte{0x0c, 0, 0x0b})
}

// If pops a condition and runs the body if it is not 0.
func If(body ...[]byte) []byte { return join([]byte{0x04, 0x40}, slices.Concat(body...), []byte{0x0b}) }
