//go:build unix

package home

import (
	"os"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// tryLock takes flock(2), which belongs to the open file and goes with it.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return errBusy
	}
	return err
}
