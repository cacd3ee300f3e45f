//go:build !unix

package main

import "os"

// memory returns zeros: package os has no such figures of a process that has ended here.
func memory(*os.ProcessState) (peak, faults int64) { return 0, 0 }
