//go:build unix

package main

import (
	"syscall"
	"time"
)

func spent() (u usage) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			u.cpu += time.Duration(r.Utime.Nano() + r.Stime.Nano())
			u.faults += int64(r.Minflt) //nolint:unconvert // it is 32 bits wide on some systems
		}
	}
	return u
}
