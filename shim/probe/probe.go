// Package probe says which walls this machine can put around a guest, and why not the others.
//
//	r := probe.System()
//	fmt.Println(r.Level, r.Open)
//
// It looks and does not try: nothing of the calling process changes. What can only be known by trying is told so. A known
// defect of the kernel that makes a wall useless counts as its absence.
//
// What it does not tell: what a child really reached, which the child tells itself (a sandbox around the host may differ
// from one around the child, and a program linked with C has less).
//
// What may change: the texts, which are for people, and the walls. Its functions may be called concurrently.
package probe

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/lola-ext/lola/shim/policy"
)

// Answer is yes, no or cannot tell.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// Wall is what is known of one wall.
type Wall struct {
	Name     policy.Wall
	Enforced Answer
	Version  int    // of Landlock's ABI; 0 for others
	Why      string // why not, or what of it is missing; "" if there is nothing to say
	Help     string // what would help, for a person; "" if nothing does
}

// Report is what is known of this machine.
type Report struct {
	OS, Arch, Release string // of the kernel
	Emulator          string // "qemu-user" or "wine", if this program runs under it; ""
	Walls             []Wall
	// Level is what a child is expected to reach. What cannot be told counts as missing.
	Level policy.Level
	Open  []string // what stays open at it, in words
}

// Missing says that a wall is not to be had.
type Missing struct {
	Why, Help string
	Err       error // of the system; nil if it said nothing
}

// Error implements error.
func (m *Missing) Error() string {
	if m.Err != nil {
		return fmt.Sprintf("%s: %v", m.Why, m.Err)
	}
	return m.Why
}

// Unwrap returns the system's error.
func (m *Missing) Unwrap() error { return m.Err }

// Has reports whether a wall is known to be there.
func (r Report) Has(wall policy.Wall) bool {
	for _, w := range r.Walls {
		if w.Name == wall {
			return w.Enforced == Yes
		}
	}
	return false
}

// System looks at this machine. It takes well under a millisecond.
func System() Report {
	r := Report{OS: runtime.GOOS, Arch: runtime.GOARCH}
	look(&r)
	up := func(name policy.Wall) (bool, int) {
		for _, w := range r.Walls {
			if w.Name == name {
				return w.Enforced == Yes, w.Version
			}
		}
		return false, 0
	}
	process, _ := up(policy.WallLimits)
	if privs, _ := up(policy.WallNoNewPrivs); r.OS == "linux" {
		process = process && privs
	}
	landlock, version := up(policy.WallLandlock)
	seccomp, _ := up(policy.WallSeccomp)
	r.Level = policy.Reached(process, landlock, seccomp)
	r.Open = policy.Open(r.Level, version)
	return r
}

// missing makes a wall of what an error says about it.
func missing(name policy.Wall, err error) Wall {
	w := Wall{Name: name, Enforced: No, Why: err.Error()}
	var m *Missing
	if errors.As(err, &m) {
		w.Help = m.Help
	}
	return w
}
