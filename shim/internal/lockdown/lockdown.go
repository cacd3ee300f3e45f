// Package lockdown puts walls around this process, once and for good. What they let through is data of package policy.
//
//	report, err := lockdown.Enter(lockdown.Spec{Stage: policy.Compile, Memory: 256 << 20, CPU: 30 * time.Second})
//	... compile ...
//	err = lockdown.Guest()
//	... a guest runs ...
//
// Enter goes up in a fixed order, for all threads that there are and will be: the process is not dumpable, gains no rights
// by executing, has its limits, then Landlock, then the list of system calls, after which a call that is not on it kills
// the process. Guest puts a smaller list on top. None of it can be undone, by nobody in the process.
//
// A wall that the system does not have is not there, the level is lower, and the report says why. A wall that the system
// has and that does not go up is an error: the process must end, half locked as it is.
//
// What it does not protect against: what was open before. A descriptor that is there stays usable within its own rights,
// so a child is given few. Time: the host ends a child.
//
// What may change: the walls of macOS and Windows, upwards. The package has state of the process and one lock for it;
// Enter and Guest may be called from any goroutine.
package lockdown

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lola-ext/lola/shim/policy"
)

// Spec says what the process is about to do.
type Spec struct {
	// Stage is policy.Compile, policy.Store or policy.Load.
	Stage policy.Stage
	// Folder is the one folder that stays open where there is Landlock, for the stages that have one. What lies in it is found
	// by path, so /proc/self/fd/NUMBER serves too.
	Folder string
	// Memory is the ceiling of the guest's memory, in bytes.
	Memory int64
	// CPU is the deadline. From it comes a bound on processor time that lies well above. 0: none.
	CPU time.Duration
	// without leaves walls out. For tests of this package, which show that the others stand by themselves: nobody else can
	// ask for it.
	without []policy.Wall
}

func (s Spec) check() error {
	switch {
	case s.Stage != policy.Compile && s.Stage != policy.Store && s.Stage != policy.Load:
		return fmt.Errorf("there is no stage %q to enter, want %q, %q or %q", s.Stage, policy.Compile, policy.Store, policy.Load)
	case s.Stage.Folder() != (s.Folder != ""):
		return fmt.Errorf("stage %q with the folder %q: a folder is for %q and %q, which need one", s.Stage, s.Folder, policy.Store, policy.Load)
	case s.Memory < 0 || s.CPU < 0:
		return fmt.Errorf("memory of %d bytes and %s of time cannot be kept", s.Memory, s.CPU)
	}
	return nil
}

func (s Spec) has(w policy.Wall) bool { return !slices.Contains(s.without, w) }

// Report says which walls are up.
type Report struct {
	Level    policy.Level
	Landlock int // version of Landlock's ABI that is in force, 0: none
	Seccomp  bool
	Details  []Detail // every wall of this platform, in the order in which they went up
}

// Detail is the state of one wall.
type Detail struct {
	Wall policy.Wall
	Up   bool
	Why  string // why it is not up, or what of it is missing
}

func (r *Report) add(w policy.Wall, up bool, format string, args ...any) {
	r.Details = append(r.Details, Detail{Wall: w, Up: up, Why: fmt.Sprintf(format, args...)})
}

const leftOut = "it was left out, as a test asked"

var (
	mu      sync.Mutex
	entered *Spec  // guarded by mu; nil before Enter
	inGuest bool   // guarded by mu
	reached Report // guarded by mu
)

// Enter locks the process down. It is called once; a second call is an error and changes nothing. After an error the
// process is partly locked and must end.
func Enter(spec Spec) (Report, error) {
	mu.Lock()
	defer mu.Unlock()
	if entered != nil {
		return Report{}, errors.New("this process is locked down already")
	}
	if err := spec.check(); err != nil {
		return Report{}, err
	}
	entered = &spec
	report, err := enter(spec)
	if err != nil {
		return Report{}, err
	}
	reached = report
	return report, nil
}

// Guest takes away what compiling and loading needed. It is called after Enter, once, before any code of the module runs.
// An error means that the guest must not run.
func Guest() error {
	mu.Lock()
	defer mu.Unlock()
	switch {
	case entered == nil || reached.Level == "":
		return errors.New("this process is not locked down")
	case inGuest:
		return errors.New("a guest runs in this process already")
	}
	inGuest = true
	return guest(*entered, reached)
}
