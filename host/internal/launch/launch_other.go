//go:build !linux && !windows

package launch

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
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

// sealDescriptors marks all descriptors from 3 up close-on-exec, by name through /dev/fd (fd(4)). Go's own start of a
// process takes the mark away again from those that it donates, in the child.
func sealDescriptors() error {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
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

// peakRSS is ru_maxrss, which darwin counts in bytes and the others in KiB (getrusage(2)).
func peakRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return int64(usage.Maxrss)
	default:
		return int64(usage.Maxrss) << 10
	}
}
