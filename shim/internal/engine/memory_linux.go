package engine

import "golang.org/x/sys/unix"

// hugePage is the size of a huge page on most machines. Memory that grows beyond it is asked for in such pages (madvise(2),
// MADV_HUGEPAGE): a Go guest then faults twenty times where it did five hundred. For one that stays below, such as most in
// Rust, clearing the one page would take longer than its run.
const hugePage = 2 << 20

// commit has nothing to make usable.
func commit(space []byte, from, to uint64) error {
	if from <= hugePage && to > hugePage {
		_ = unix.Madvise(space, unix.MADV_HUGEPAGE) // a wish: where it is not granted, pages are small
	}
	return nil
}

// noReserve is MAP_NORESERVE of mmap(2).
const noReserve = unix.MAP_NORESERVE
