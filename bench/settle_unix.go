//go:build unix

package main

import "syscall"

// settle waits until what was written before lies on the disks, so that nothing pays for another.
func settle() { syscall.Sync() }
