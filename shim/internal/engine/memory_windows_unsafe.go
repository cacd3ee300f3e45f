//go:build windows

package engine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserve takes address space (VirtualAlloc, MEM_RESERVE): nothing of it can be used yet.
func reserve(size uint64) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, err
	}
	// The address is no pointer of Go's heap. It is read as what it is, because a conversion from a number is what a checker
	// has to take for a mistake.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), size), nil
}

// commit makes the bytes from one offset to another usable (MEM_COMMIT), which counts them against what the system has.
func commit(space []byte, from, to uint64) error {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(space))) + uintptr(from)
	_, err := windows.VirtualAlloc(p, uintptr(to-from), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

func free(space []byte) {
	_ = windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(space))), 0, windows.MEM_RELEASE)
}
