//go:build unix && !darwin

package root

import "golang.org/x/sys/unix"

// syncFD makes a descriptor's file or directory durable (fsync(2)).
func syncFD(fd int) error {
	_, err := eintr(func() (int, error) { return 0, unix.Fsync(fd) })
	return err
}
