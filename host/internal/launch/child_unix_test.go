//go:build unix

package launch

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownSession makes a process escape from every group of its parent.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// inheritedDescriptors returns the open descriptors without close-on-exec. What the Go runtime opens for itself has the
// mark, what came through an exec has not.
func inheritedDescriptors() (fds []int) {
	for fd := range 1024 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}
