package audit

import (
	"os"

	"golang.org/x/sys/windows"
)

const nonBlocking = 0

// tryLock takes LockFileEx over one byte, which goes with the handle.
func tryLock(f *os.File, write bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if write {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION {
		return errBusy
	}
	return err
}
