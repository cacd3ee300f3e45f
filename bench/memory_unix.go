//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// memory returns the peak resident set in bytes and the minor faults of a process that has ended, see getrusage(2).
func memory(state *os.ProcessState) (peak, faults int64) {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0
	}
	peak = int64(usage.Maxrss) //nolint:unconvert // it is 32 bits wide on some systems
	if runtime.GOOS != "darwin" {
		peak <<= 10 // kilobytes everywhere else
	}
	return peak, int64(usage.Minflt) //nolint:unconvert // as above
}
