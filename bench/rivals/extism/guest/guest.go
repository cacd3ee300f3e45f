//go:build wasip1

// Guest is an Extism plug-in of the Go toolchain. It does what Extism's own library for guests does, of which the module proxy has
// no copy: it speaks the functions of "extism:host/env" (https://extism.org/docs/concepts/memory).
package main

import (
	"encoding/binary"

	"github.com/lola-ext/lola/bench/rivals/answer"
)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func inputByte(at uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func inputWord(at uint64) uint64

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env store_u8
func storeByte(at uint64, b uint32)

//go:wasmimport extism:host/env store_u64
func storeWord(at, word uint64)

//go:wasmimport extism:host/env output_set
func outputSet(at, n uint64)

func main() {}

//go:wasmexport plan
func plan() int32 {
	n := inputLength()
	request := make([]byte, 0, n)
	for at := uint64(0); at < n; {
		if n-at >= 8 {
			request = binary.LittleEndian.AppendUint64(request, inputWord(at))
			at += 8
			continue
		}
		request = append(request, byte(inputByte(at)))
		at++
	}
	reply, err := answer.Make(request)
	if err != nil {
		return 1
	}
	room := alloc(uint64(len(reply)))
	at := room
	for ; len(reply) >= 8; reply = reply[8:] {
		storeWord(at, binary.LittleEndian.Uint64(reply))
		at += 8
	}
	for _, b := range reply {
		storeByte(at, uint32(b))
		at++
	}
	outputSet(room, at-room)
	return 0
}
