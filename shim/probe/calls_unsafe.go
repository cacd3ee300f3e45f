//go:build linux

package probe

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockAsk asks for the version, or for the errata that are fixed.
func landlockAsk(what uintptr) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, what)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// seccompHas asks whether the kernel knows an action.
func seccompHas(action uint32) error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	return nil
}
