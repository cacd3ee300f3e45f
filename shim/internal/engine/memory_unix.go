//go:build unix

package engine

import "golang.org/x/sys/unix"

// reserve maps anonymous memory (mmap(2)). It can be used at once: pages come when they are touched, and noReserve keeps the
// system from counting on all of them. A guest that grows then needs no call of the system, and no right to change
// what may be done with memory.
func reserve(size uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
}

func free(space []byte) { _ = unix.Munmap(space) }
