package root

import "golang.org/x/sys/unix"

// syncFD makes a descriptor's file or directory durable. fsync(2) alone leaves it in the disk's own memory here; a file
// system that has no better call says so.
func syncFD(fd int) error {
	_, err := eintr(func() (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0) })
	if err == unix.ENOTSUP {
		_, err = eintr(func() (int, error) { return 0, unix.Fsync(fd) })
	}
	return err
}
