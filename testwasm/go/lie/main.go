//go:build wasip1

// Lie speaks the guest ABI by itself and answers with something that is not so. The text parameter "lie" says what; see
// package testwasm for the list.
package main

import (
	"bytes"
	"unsafe"
)

func main() {}

var (
	request   []byte
	ptr, size uint32
	plan      []byte // keeps what ptr means
)

//go:wasmexport lola_abi_version
func abiVersion() int32 { return 1 }

//go:wasmexport lola_alloc
func alloc(n uint32) uint32 {
	request = make([]byte, n+1)
	return address(request)
}

//go:wasmexport lola_run
func run(_, _ uint32) int32 {
	switch which() {
	case "length": // from a good place to far beyond
		answer("\xa2\x63abi\x01\x65count\x00")
		size = 0x7fff_ffff
	case "huge": // all that 32 bits can say
		ptr, size = 0, 0xffff_ffff
	case "pointer": // short, but nowhere
		ptr, size = 0xffff_0000, 16
	case "wrap": // whose sum is small again
		ptr, size = 0xffff_fff0, 0x20
	case "limit": // there, but more than a plan may be
		plan = make([]byte, 65<<20)
		ptr, size = address(plan), 65<<20
	case "nothing": // success without an answer
		ptr, size = 0, 0
	case "garbage": // no CBOR
		answer("\xff\xff\xff\xff")
	case "count": // more intents than follow
		answer("\xa2\x63abi\x01\x65count\x02\xa2\x62op\x66delete\x64path\x61x")
	case "trailing": // fewer than follow
		answer("\xa2\x63abi\x01\x65count\x00\xa2\x62op\x66delete\x64path\x61x")
	case "error-length": // error text that is not there
		ptr, size = 0x100, 0xffff_ffff
		return 1
	case "error-utf8": // error text that is no text
		answer("no \xff\xfe text")
		return 1
	case "error-control": // error text that would play with a terminal
		answer("\x1b[2Jno\r\n::error::yes\u202e")
		return 1
	default: // no such lie
		answer("lie: the parameter \"lie\" names none")
		return 1
	}
	return 0
}

//go:wasmexport lola_plan_ptr
func planPtr() uint32 { return ptr }

//go:wasmexport lola_plan_len
func planLen() uint32 { return size }

func answer(s string) {
	plan = []byte(s)
	ptr, size = address(plan), uint32(len(plan))
}

// which finds the parameter without decoding: the key "lie" and a short text after it.
func which() string {
	_, rest, ok := bytes.Cut(request, []byte("\x63lie"))
	if !ok || len(rest) == 0 {
		return ""
	}
	n := int(rest[0]) - 0x60
	if n < 0 || n > 23 || n >= len(rest) {
		return ""
	}
	return string(rest[1 : 1+n])
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
