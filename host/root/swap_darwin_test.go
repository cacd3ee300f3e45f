package root_test

import "golang.org/x/sys/unix"

// swap exchanges two names in one step.
func swap(a, b string) error {
	return unix.RenameatxNp(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_SWAP)
}
