package lockdown

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

const keepsData = true

// withC: the program is linked with C, so Go does not know all of its threads. Set by enter, before the lists are made.
var withC bool

// enter puts the walls up in the one order in which each can still be put up after those before it.
func enter(spec Spec) (Report, error) {
	var r Report
	// A timer makes the runtime's poller, so that no list needs the calls that make descriptors.
	time.AfterFunc(time.Hour, func() {}).Stop()
	// Nobody of the same user reads the memory of this process, and its files in /proc are root's.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return Report{}, fmt.Errorf("making the process not dumpable: %w", err)
	}
	process := true
	if spec.has(policy.WallNoNewPrivs) || spec.has(policy.WallLandlock) || spec.has(policy.WallSeccomp) { // both need it
		everywhere, err := noNewPrivs()
		if err != nil {
			return Report{}, err
		}
		if everywhere {
			r.add(policy.WallNoNewPrivs, true, "")
		} else {
			r.add(policy.WallNoNewPrivs, false, "the program is linked with C, so it is set for all threads only with seccomp")
		}
	} else {
		r.add(policy.WallNoNewPrivs, false, leftOut)
		process = false
	}
	if spec.has(policy.WallLimits) {
		lost, err := setLimits(spec.Stage, spec)
		if err != nil {
			return Report{}, err
		}
		why := ""
		if len(lost) > 0 {
			why = "not kept: " + strings.Join(lost, ", ")
		}
		r.add(policy.WallLimits, true, "%s", why)
	} else {
		r.add(policy.WallLimits, false, leftOut)
		process = false
	}
	if spec.has(policy.WallLandlock) {
		version, why, err := restrictFiles(spec)
		if err != nil {
			return Report{}, fmt.Errorf("putting Landlock up: %w", err)
		}
		r.Landlock = version
		r.add(policy.WallLandlock, version > 0, "%s", why)
	} else {
		r.add(policy.WallLandlock, false, leftOut)
	}
	if spec.has(policy.WallSeccomp) {
		why, err := restrictCalls(spec.Stage)
		if err != nil {
			return Report{}, fmt.Errorf("putting seccomp up: %w", err)
		}
		r.Seccomp = why == ""
		r.add(policy.WallSeccomp, r.Seccomp, "%s", why)
	} else {
		r.add(policy.WallSeccomp, false, leftOut)
	}
	if r.Seccomp && !r.Details[0].Up && spec.has(policy.WallNoNewPrivs) { // it took the bit to all threads
		r.Details[0] = Detail{Wall: policy.WallNoNewPrivs, Up: true}
	}
	r.Level = policy.Reached(process && r.Details[0].Up, r.Landlock > 0, r.Seccomp)
	return r, nil
}

// guest puts the smaller list up. Where there is none, what can still be taken is: the folder, and the size of files.
func guest(spec Spec, r Report) error {
	if r.Seccomp {
		if _, err := restrictCalls(policy.Guest); err != nil {
			return fmt.Errorf("putting seccomp up for a guest: %w", err)
		}
		return nil
	}
	if r.Landlock > 0 && spec.Stage.Folder() {
		if err := landlock(r.Landlock, policy.Guest, ""); err != nil {
			return fmt.Errorf("closing the folder %q: %w", spec.Folder, err)
		}
	}
	if spec.has(policy.WallLimits) {
		_, err := setLimits(policy.Guest, spec)
		return err
	}
	return nil
}

// noNewPrivs sets the bit of that name, and reports whether for all threads. Authority: prctl(2), PR_SET_NO_NEW_PRIVS.
func noNewPrivs() (everywhere bool, err error) {
	runtime.LockOSThread() // the bit is a thread's
	defer runtime.UnlockOSThread()
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	if errno == syscall.ENOTSUP { // what Go answers when the program is linked with C
		withC = true
		errno = 0
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return false, fmt.Errorf("setting no-new-privs: %w", err)
		}
	}
	if errno != 0 {
		return false, fmt.Errorf("setting no-new-privs: %w", errno)
	}
	if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set != 1 {
		return false, fmt.Errorf("setting no-new-privs: it is not set afterwards (%d, %w)", set, err)
	}
	return !withC, nil
}
