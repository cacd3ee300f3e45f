//go:build linux || darwin

package lockdown

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

// limitNumber returns the number of a limit of package policy, if this platform keeps it.
func limitNumber(name string) (int, bool) {
	switch name {
	case "CORE":
		return unix.RLIMIT_CORE, true
	case "CPU":
		return unix.RLIMIT_CPU, true
	case "FSIZE":
		return unix.RLIMIT_FSIZE, true
	case "NOFILE":
		return unix.RLIMIT_NOFILE, true
	case "DATA":
		return unix.RLIMIT_DATA, keepsData
	}
	return 0, false
}

// setLimits lowers the limits of this process. Where one is lower already it stays. It returns those that the system takes
// and does not keep, as qemu-user does with memory.
func setLimits(stage policy.Stage, spec Spec) (lost []string, err error) {
	for _, l := range policy.Limits(stage, spec.Memory, spec.CPU) {
		n, ok := limitNumber(l.Name)
		if !ok {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(n, &now); err != nil {
			return nil, fmt.Errorf("reading the limit %s: %w", l.Name, err)
		}
		want := unix.Rlimit{Cur: min(l.Soft, now.Cur, now.Max), Max: min(l.Hard, now.Max)}
		if err := unix.Setrlimit(n, &want); err != nil {
			return nil, fmt.Errorf("setting the limit %s to %d: %w", l.Name, want.Max, err)
		}
		if err := unix.Getrlimit(n, &now); err != nil || now != want {
			lost = append(lost, l.Name)
		}
	}
	return lost, nil
}
