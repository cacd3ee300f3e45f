package launch

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// checkProgram has nothing to refuse here.
func checkProgram(string) error { return nil }

// baseEnv adds nothing here.
func baseEnv(env []string) []string { return environ(env) }

// donate appends the files to those the child gets; its descriptors have their numbers in order (os.ProcAttr.Files).
func donate(attr *os.ProcAttr, donations []Donation) (numbers []uintptr, release func(), err error) {
	for _, d := range donations {
		numbers = append(numbers, uintptr(len(attr.Files)))
		attr.Files = append(attr.Files, d.File)
	}
	return numbers, func() {}, nil
}

// sealDescriptors marks all descriptors from 3 up close-on-exec: by close_range(2) with CLOSE_RANGE_CLOEXEC (Linux 5.11),
// and by name through /proc/self/fd where that is not there (proc_pid_fd(5)). Go's own start of a process takes the mark
// away again from those that it donates, in the child.
func sealDescriptors() error {
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	names, derr := os.ReadDir("/proc/self/fd")
	if derr != nil {
		return fmt.Errorf("%w, and %w", err, derr)
	}
	for _, entry := range names {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= 3 {
			syscall.CloseOnExec(fd) // one that is closed by now fails, which is as well
		}
	}
	return nil
}

// interrupt makes a Read or Write of the pipe that waits return now.
func interrupt(pipe *os.File) { _ = pipe.SetDeadline(time.Unix(1, 0)) }

// readerGone reports whether a write failed because nobody reads the pipe (write(2), EPIPE).
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// peakRSS is ru_maxrss, which Linux counts in KiB (getrusage(2)).
func peakRSS(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return int64(usage.Maxrss) << 10
	}
	return 0
}
