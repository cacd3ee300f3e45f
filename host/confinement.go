package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// Confinement is what stands around the child of an extension, beside the WASM runtime in it.
type Confinement struct {
	Level policy.Level `json:"level"`
	// Landlock is the version of Landlock's ABI that is in force, 0: none. Seccomp says that a list of system calls is.
	Landlock int  `json:"landlock,omitempty"`
	Seccomp  bool `json:"seccomp,omitempty"`
	// Open says in words what stays open to an extension that got out of the WASM runtime.
	Open []string `json:"open"`
}

// Words returns the level and what it consists of, as "full (Landlock 7, seccomp)" or "seccomp".
func (c Confinement) Words() string {
	var walls []string
	if c.Landlock > 0 {
		walls = append(walls, fmt.Sprintf("Landlock %d", c.Landlock))
	}
	if c.Seccomp && c.Level != policy.Seccomp { // which says it
		walls = append(walls, "seccomp")
	}
	if len(walls) == 0 {
		return string(c.Level)
	}
	return fmt.Sprintf("%s (%s)", c.Level, strings.Join(walls, ", "))
}

// Confined says how the child of one extension was confined.
type Confined struct {
	Extension string `json:"extension"`
	Confinement
}

// Wall is what this machine has of one thing that can stand around a child.
type Wall struct {
	Name    policy.Wall  `json:"name"`
	Up      probe.Answer `json:"up"` // "yes", "no" or "unknown"
	Version int          `json:"version,omitempty"`
	Why     string       `json:"why,omitempty"`  // why not, or what of it is missing
	Help    string       `json:"help,omitempty"` // what would help
}

// Machine is what this machine can put around a child, without one being started. What cannot be told without counts as
// missing.
type Machine struct {
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Release  string `json:"release,omitempty"`  // of the kernel
	Emulator string `json:"emulator,omitempty"` // "qemu-user" or "wine"
	Walls    []Wall `json:"walls"`
	Confinement
}

// ThisMachine looks at the machine. Nothing of the process changes. It takes less than a millisecond and may be called
// concurrently. What a child really reached stands in a [Report]; [Diagnose] compares the two.
func ThisMachine() Machine {
	r := probe.System()
	m := Machine{OS: r.OS, Arch: r.Arch, Release: r.Release, Emulator: r.Emulator, Walls: []Wall{}}
	m.Level, m.Open = r.Level, r.Open
	for _, w := range r.Walls {
		m.Walls = append(m.Walls, Wall{Name: w.Name, Up: w.Enforced, Version: w.Version, Why: w.Why, Help: w.Help})
		switch {
		case w.Enforced != probe.Yes:
		case w.Name == policy.WallLandlock:
			m.Landlock = w.Version
		case w.Name == policy.WallSeccomp:
			m.Seccomp = true
		}
	}
	return m
}

// lacks returns the walls that a level is made of and this machine does not have.
func (m Machine) lacks(level policy.Level) []Wall {
	var missing []Wall
	lack := func(name policy.Wall, known bool) {
		for _, w := range m.Walls {
			if w.Name == name {
				if w.Up != probe.Yes {
					missing = append(missing, w)
				}
				return
			}
		}
		if !known {
			missing = append(missing, Wall{Name: name, Up: probe.No, Why: m.OS + " has no such thing"})
		}
	}
	if level != policy.None {
		lack(policy.WallLimits, true)
		lack(policy.WallNoNewPrivs, true) // Windows has its token instead, which makes no level
	}
	if level == policy.Landlock || level == policy.Full {
		lack(policy.WallLandlock, false)
	}
	if level.AtLeast(policy.Landlock) { // for Landlock's level, a list of system calls does too
		lack(policy.WallSeccomp, false)
	}
	return missing
}

// ConfinementError says that an extension was not run because this machine confines it less than [Options].RequireConfinement
// asks for. It was given nothing.
type ConfinementError struct {
	Extension string
	Level     policy.Level // what its child reached
	Required  policy.Level
	Missing   []Wall // what this machine lacks of what is required; none: it seems to have all, and the child had not

	Err error // the *[ExtensionError]
}

// Error implements error: both levels, and each wall that is missing with the reason.
func (e *ConfinementError) Error() string {
	return fmt.Sprintf("extension %q was not run: it would be confined to the level %q, and %q is required: %s",
		e.Extension, e.Level, e.Required, whyMissing(e.Missing))
}

// Unwrap returns the cause.
func (e *ConfinementError) Unwrap() error { return e.Err }

func whyMissing(missing []Wall) string {
	var why []string
	for _, w := range missing {
		text := fmt.Sprintf("%s is missing: %s", w.Name, w.Why)
		if w.Help != "" {
			text += " (what helps: " + w.Help + ")"
		}
		why = append(why, text)
	}
	if len(why) == 0 {
		return "this machine seems to have what it takes, and the child could not use it"
	}
	return strings.Join(why, "; ")
}

// confinementError tells what a child that was refused for its level lacked. Other errors stay as they are.
func confinementError(err error) error {
	var (
		failed *runner.Error
		level  *runner.LevelError
	)
	if !errors.As(err, &failed) || !errors.As(err, &level) {
		return err
	}
	return &ConfinementError{
		Extension: failed.Extension, Level: level.Level, Required: level.Required, Missing: ThisMachine().lacks(level.Required), Err: failed,
	}
}
