//go:build unix

package audit

import (
	"os"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// tryLock takes flock(2), which belongs to the open file and goes with it.
func tryLock(f *os.File, write bool) error {
	how := syscall.LOCK_SH
	if write {
		how = syscall.LOCK_EX
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return errBusy
		default:
			return err
		}
	}
}
