package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

func look(r *Report) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		r.Release = unix.ByteSliceToString(name.Release[:])
	}
	// qemu gives its guest /proc/self/exe as if it were not there, and no other way to the same link.
	if exe, err := os.Readlink("/proc/thread-self/exe"); err == nil && strings.HasPrefix(filepath.Base(exe), "qemu-") {
		r.Emulator = "qemu-user"
	}
	// Go answers so when the program is linked with C, and calls nothing.
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0)
	withC := errno == syscall.ENOTSUP

	limits := Wall{Name: policy.WallLimits, Enforced: Yes}
	if r.Emulator != "" {
		limits.Why = r.Emulator + " takes a limit on memory and does not keep it"
	}
	privs := Wall{Name: policy.WallNoNewPrivs, Enforced: Yes}
	if _, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil {
		privs.Enforced, privs.Why, privs.Help = No, fmt.Sprintf("the kernel does not know it: %v", err), "Linux 3.5 has it"
	}

	landlock := Wall{Name: policy.WallLandlock, Enforced: Yes}
	version, err := Landlock()
	switch {
	case err != nil:
		landlock = missing(policy.WallLandlock, err)
	case withC && version.ABI < policy.LandlockThreads:
		landlock.Enforced = No
		landlock.Why = fmt.Sprintf("this program is linked with C, and Landlock %d confines one thread at a time", version.ABI)
		landlock.Help = fmt.Sprintf("build it with CGO_ENABLED=0, or have a kernel with Landlock %d", policy.LandlockThreads)
	default:
		landlock.Version = version.ABI
		landlock.Why = version.Without
		landlock.Help = version.Help
	}

	seccomp := Wall{Name: policy.WallSeccomp, Enforced: Yes}
	if err := Seccomp(); err != nil {
		seccomp = missing(policy.WallSeccomp, err)
	} else if !policy.HasCalls(r.Arch) {
		seccomp = Wall{Name: policy.WallSeccomp, Enforced: No, Why: "the list of system calls was not made for " + r.Arch}
	}
	if r.Emulator != "" {
		for _, w := range []*Wall{&landlock, &seccomp} {
			if w.Enforced == No {
				w.Why, w.Help = r.Emulator+" does not pass it on to the kernel", "run the program on a machine of its own kind"
			}
		}
	}
	r.Walls = []Wall{limits, privs, landlock, seccomp}
}

// LandlockVersion is what there is of Landlock.
type LandlockVersion struct {
	ABI     int    // what can be used of the kernel's version
	Without string // what of the kernel's version is left out, and why; "": nothing
	Help    string
}

// Landlock says which version of Landlock's ABI can be used. The error, a [*Missing], says why there is none. Authority:
// landlock_create_ruleset(2), and the errata in the kernel's Documentation/userspace-api/landlock.rst.
func Landlock() (LandlockVersion, error) {
	version, err := landlockAsk(unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errors.Is(err, unix.ENOSYS):
		return LandlockVersion{}, &Missing{Why: "the kernel has no Landlock", Help: "Linux 5.13 has it, if built with CONFIG_SECURITY_LANDLOCK", Err: err}
	case errors.Is(err, unix.EOPNOTSUPP):
		return LandlockVersion{}, &Missing{Why: "Landlock is switched off", Help: `boot with "landlock" in the list lsm= of the kernel's command line`, Err: err}
	case err != nil:
		return LandlockVersion{}, &Missing{Why: "asking for Landlock is denied", Help: "a sandbox around this process, such as a container's, must let landlock_create_ruleset pass", Err: err}
	case version < 1:
		return LandlockVersion{}, &Missing{Why: fmt.Sprintf("the kernel says that it has Landlock %d", version)}
	case version < policy.LandlockScopes:
		return LandlockVersion{ABI: version}, nil
	}
	fixed, err := landlockAsk(unix.LANDLOCK_CREATE_RULESET_ERRATA)
	if err != nil { // a kernel too old to say what it fixed did not fix it
		fixed = 0
	}
	if fixed&policy.LandlockErratum == 0 {
		return LandlockVersion{
			ABI:     policy.LandlockScopes - 1,
			Without: "this kernel would keep the threads of one process from signalling each other, so signals and abstract sockets stay open",
			Help:    "update the kernel: the defect is Landlock's second erratum",
		}, nil
	}
	return LandlockVersion{ABI: version}, nil
}

// Seccomp says whether filters that kill a process can be used. The error, a [*Missing], says why not. It is about the
// kernel; whether there is a list of calls for this machine is policy's to say. Authority: seccomp(2).
func Seccomp() error {
	err := seccompHas(unix.SECCOMP_RET_KILL_PROCESS)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return &Missing{Why: "the kernel has no seccomp filters that kill a process", Help: "Linux 4.14 has them, if built with CONFIG_SECCOMP_FILTER", Err: err}
	default:
		return &Missing{Why: "asking for seccomp is denied", Help: "a sandbox around this process, such as a container's, must let seccomp pass", Err: err}
	}
}
