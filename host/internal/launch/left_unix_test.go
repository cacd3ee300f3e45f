//go:build unix

package launch

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openDescriptors counts the open descriptors of this process.
func openDescriptors() (n int) {
	for fd := range 1024 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

// children counts the children that were not reaped: 0 or, as far as wait(2) tells, at least 1.
func children() int {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err == syscall.ECHILD {
		return 0
	}
	return 1
}

// leakDescriptor opens a file without close-on-exec.
func leakDescriptor(t *testing.T) int {
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	return fd
}

// warmUp makes the Go runtime open what it opens for itself once and keeps.
func warmUp() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	_ = r.SetDeadline(time.Now())
	_ = r.Close()
	_ = w.Close()
}

func descriptorPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
