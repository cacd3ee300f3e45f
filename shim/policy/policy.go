// Package policy says what a child that runs a guest may still do, as plain data: levels, stages, system calls by name,
// rights, limits. It imports only the standard library and makes no system calls; package shim/internal/lockdown turns it
// into walls, package shim/probe says which of them this machine has.
//
//	level, err := policy.ParseLevel("seccomp")
//	if !reached.AtLeast(level) { ... }
//	fmt.Println(policy.Open(reached, abi)) // what stays open, in words
//
// What it does not protect against: a flaw in the kernel, which all the walls are made of; time and memory up to the
// limits; what the allowed calls can do to each other, such as a guest that keeps the processor busy.
//
// What may change: the tables, in both directions, with Go's runtime and the engine. The levels and their order stay.
// All of it may be read concurrently.
package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Level says how much stands around a guest beside the WebAssembly runtime. The levels are ordered; a report names the
// highest that is wholly there.
type Level string

// The levels, from the lowest.
const (
	None     Level = "none"     // the WebAssembly runtime alone
	Process  Level = "process"  // limits that need no filter: rlimits, no-new-privs; on Windows a job object and what a process can give away
	Landlock Level = "landlock" // Process, and Landlock
	Seccomp  Level = "seccomp"  // Process, and a list of system calls
	Full     Level = "full"     // both
)

// Levels returns all of them, in order.
func Levels() []Level { return []Level{None, Process, Landlock, Seccomp, Full} }

// Rank returns the level's place in the order, 0 for None. What is no level has the rank of None.
func (l Level) Rank() int { return max(slices.Index(Levels(), l), 0) }

// AtLeast reports whether l is as high as want. What is no level is below every level, and no level reaches it.
func (l Level) AtLeast(want Level) bool {
	return slices.Contains(Levels(), l) && slices.Contains(Levels(), want) && l.Rank() >= want.Rank()
}

// ParseLevel reads the name of a level.
func ParseLevel(s string) (Level, error) {
	if l := Level(s); slices.Contains(Levels(), l) {
		return l, nil
	}
	names := make([]string, 0, len(Levels()))
	for _, l := range Levels() {
		names = append(names, string(l))
	}
	return "", fmt.Errorf("there is no confinement level %q, want one of %s", s, strings.Join(names, ", "))
}

// Reached returns the level that these walls make.
func Reached(process, landlock, seccomp bool) Level {
	switch {
	case !process:
		return None
	case landlock && seccomp:
		return Full
	case seccomp:
		return Seccomp
	case landlock:
		return Landlock
	default:
		return Process
	}
}

// Wall is one of the things that stand around a guest.
type Wall string

// The walls.
const (
	WallLimits      Wall = "limits"       // rlimits; on Windows the job object
	WallNoNewPrivs  Wall = "no-new-privs" // nothing that is executed gains rights
	WallLandlock    Wall = "landlock"
	WallSeccomp     Wall = "seccomp"
	WallToken       Wall = "token"       // Windows: the process gave up privileges and integrity
	WallMitigations Wall = "mitigations" // Windows: mitigation policies
)

// Stage is what a child is about to do. Each has its own list of system calls and its own rights to files.
type Stage string

// The stages. A child enters one of the first three, then Guest.
const (
	Compile Stage = "compile" // compile a module; nothing is stored and nothing opened
	Store   Stage = "store"   // compile a module and write the code into one folder
	Load    Stage = "load"    // read code from one folder
	Guest   Stage = "guest"   // a guest runs
)

// Folder reports whether the stage has a folder.
func (s Stage) Folder() bool { return s == Store || s == Load }

// Known reports whether s is a stage.
func (s Stage) Known() bool { return s == Compile || s == Store || s == Load || s == Guest }

// Open says in words for a person what stays open to a guest that got out of the WebAssembly runtime, at a level on
// Linux with so high a version of Landlock (0: none, or unknown). Nothing that the list leaves out is known to be open.
func Open(level Level, abi int) []string {
	if level.AtLeast(Seccomp) { // Landlock then stands behind it, and closes nothing more
		return []string{"processor time and memory up to the limits", "flaws of the kernel in the few calls that Go itself needs"}
	}
	if level != Landlock {
		open := []string{"files that you may read and write", "the network", "signals to your other processes", "reading the memory of your other processes, where the system allows it"}
		if level == None {
			return append(open, "starting programs", "processor time and memory up to the deadline")
		}
		return append(open, "starting programs, without gaining rights", "processor time and memory up to the limits")
	}
	open := []string{"names, sizes and times of files", "changing modes, owners, times and attributes of files that are yours", "starting no file, but processes", "sockets other than TCP, such as raw and netlink ones", "processor time and memory up to the limits", "flaws of the kernel in any call"}
	for _, v := range landlockVersions {
		if abi < v.Version && v.Closes != "" {
			open = append(open, fmt.Sprintf("%s (Landlock %d closes it)", v.Closes, v.Version))
		}
	}
	return open
}
