//go:build unix

package runner

import "syscall"

// childrenLeft reports whether there are children that were not reaped (wait(2), ECHILD).
func childrenLeft() bool {
	var status syscall.WaitStatus
	_, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	return err != syscall.ECHILD
}
