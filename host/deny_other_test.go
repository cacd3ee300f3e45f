//go:build !linux

package host_test

// deny is for Linux.
func deny() {}
