//go:build linux

package lockdown

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls that x/sys/unix has no function for. Authority: landlock_create_ruleset(2), landlock_add_rule(2), seccomp(2).

func landlockCreate(attr *unix.LandlockRulesetAttr) (fd int, err error) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr), 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

func landlockAllow(rules int, attr *unix.LandlockPathBeneathAttr) error {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// seccompFilter puts a program up for all threads. A thread for which it could not be is returned.
func seccompFilter(program []unix.SockFilter) (thread int, err error) {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: unsafe.SliceData(program)}
	n, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&p)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
