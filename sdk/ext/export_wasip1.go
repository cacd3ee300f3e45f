//go:build wasip1

package ext

import (
	"syscall"
	"unsafe"
)

// The guest's side of the ABI, reactor form (abi/SPEC.md, "Guest ABI"). One instance answers one request, from one thread.

// buffers keeps what lola_alloc handed out until lola_run takes it: the host's pointer is no reference that Go's collector
// sees, and unpinned memory is used again, silently.
var buffers = map[uint32][]byte{}

// answered is what lola_plan_ptr and lola_plan_len tell of: a plan, or error text.
var answered []byte

// Status of lola_run. Any but statusOK means that error text lies where the plan would.
const (
	statusOK    = 0
	statusError = 1
)

// Main is there so that the same program builds for every platform. A module of the reactor form runs init functions and no
// main; one of the command form, built without -buildmode=c-shared, answers on standard input and output here, and exits.
//
// It calls package syscall, since os would be a tenth of a small module.
func Main() {
	var request []byte
	piece := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(0, piece)
		if err != nil || n <= 0 {
			break // what is cut off does not decode
		}
		request = append(request, piece[:n]...)
	}
	plan, err := answer(registered, request)
	if err != nil {
		writeAll(2, []byte(err.Error()))
		syscall.Exit(1)
	}
	if !writeAll(1, plan) {
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

func writeAll(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err != nil || n <= 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

//go:wasmexport lola_abi_version
func exportABIVersion() int32 { return 1 }

//go:wasmexport lola_alloc
func exportAlloc(size uint32) uint32 {
	if size > 1<<30 {
		return 0 // make would panic; the host asks for no such thing
	}
	b := make([]byte, max(size, 1)) // one byte at the least, so that an empty request has an address
	p := address(b)
	buffers[p] = b
	return p
}

//go:wasmexport lola_run
func exportRun(ptr, size uint32) int32 {
	b, ok := buffers[ptr]
	if !ok || uint64(size) > uint64(len(b)) {
		answered = []byte("running: the request does not lie where lola_alloc put it")
		return statusError
	}
	delete(buffers, ptr)
	plan, err := answer(registered, b[:size])
	if err != nil {
		answered = []byte(err.Error())
		return statusError
	}
	answered = plan
	return statusOK
}

//go:wasmexport lola_plan_ptr
func exportPlanPtr() uint32 { return address(answered) }

//go:wasmexport lola_plan_len
func exportPlanLen() uint32 { return uint32(len(answered)) }

// address is where b begins in linear memory; 0 if it is empty.
func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
