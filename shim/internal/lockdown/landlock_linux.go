package lockdown

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// restrictFiles puts Landlock up with all that this kernel's version knows. version is what is in force, 0 with the
// reason if the kernel has none or it cannot reach all threads.
func restrictFiles(spec Spec) (version int, why string, err error) {
	has, err := probe.Landlock()
	if err != nil {
		return 0, err.Error(), nil
	}
	if withC && has.ABI < policy.LandlockThreads {
		return 0, fmt.Sprintf("the program is linked with C, and Landlock %d confines one thread at a time: build it with CGO_ENABLED=0, or have Landlock %d", has.ABI, policy.LandlockThreads), nil
	}
	if err := landlock(has.ABI, spec.Stage, spec.Folder); err != nil {
		return 0, "", err
	}
	return has.ABI, has.Without, looked()
}

// landlock confines all threads to what the stage has in its folder.
func landlock(version int, stage policy.Stage, folder string) error {
	attr := unix.LandlockRulesetAttr{}
	handled := policy.Handled(version)
	for _, s := range []struct {
		bits  *uint64
		names []string
		of    func(string) (uint64, bool)
	}{
		{&attr.Handled_access_fs, handled.Files, fileRight}, {&attr.Handled_access_net, handled.Net, netRight}, {&attr.Scoped, handled.Scopes, scope},
	} {
		for _, name := range s.names {
			bit, ok := s.of(name)
			if !ok {
				return fmt.Errorf("the right %q has no number", name)
			}
			*s.bits |= bit
		}
	}
	rules, err := landlockCreate(&attr)
	if err != nil {
		return fmt.Errorf("making a ruleset for version %d: %w", version, err)
	}
	defer unix.Close(rules)
	if stage.Folder() {
		if err := allowFolder(rules, stage, folder, attr.Handled_access_fs); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var errno syscall.Errno
	if version >= policy.LandlockThreads {
		_, _, errno = syscall.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
	} else {
		_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0)
	}
	if errno != 0 {
		return fmt.Errorf("restricting the process: %w", errno)
	}
	return nil
}

func allowFolder(rules int, stage policy.Stage, folder string, handled uint64) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the folder %q: %w", folder, err)
	}
	defer unix.Close(fd)
	var allowed uint64
	for _, name := range policy.FolderRights(stage) {
		bit, ok := fileRight(name)
		if !ok {
			return fmt.Errorf("the right %q has no number", name)
		}
		allowed |= bit
	}
	// A right that is not handled is there anyway, and may not be in a rule.
	if err := landlockAllow(rules, &unix.LandlockPathBeneathAttr{Allowed_access: allowed & handled, Parent_fd: int32(fd)}); err != nil {
		return fmt.Errorf("allowing the folder %q: %w", folder, err)
	}
	return nil
}

// looked looks whether the wall is there: the root of the tree is a folder that everybody could list.
func looked() error {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
		return errors.New(`the folder "/" can still be opened`)
	}
	if !errors.Is(err, unix.EACCES) {
		return fmt.Errorf(`opening the folder "/", which is to be denied: %w`, err)
	}
	return nil
}

func fileRight(name string) (uint64, bool) {
	switch name {
	case "EXECUTE":
		return unix.LANDLOCK_ACCESS_FS_EXECUTE, true
	case "WRITE_FILE":
		return unix.LANDLOCK_ACCESS_FS_WRITE_FILE, true
	case "READ_FILE":
		return unix.LANDLOCK_ACCESS_FS_READ_FILE, true
	case "READ_DIR":
		return unix.LANDLOCK_ACCESS_FS_READ_DIR, true
	case "REMOVE_DIR":
		return unix.LANDLOCK_ACCESS_FS_REMOVE_DIR, true
	case "REMOVE_FILE":
		return unix.LANDLOCK_ACCESS_FS_REMOVE_FILE, true
	case "MAKE_CHAR":
		return unix.LANDLOCK_ACCESS_FS_MAKE_CHAR, true
	case "MAKE_DIR":
		return unix.LANDLOCK_ACCESS_FS_MAKE_DIR, true
	case "MAKE_REG":
		return unix.LANDLOCK_ACCESS_FS_MAKE_REG, true
	case "MAKE_SOCK":
		return unix.LANDLOCK_ACCESS_FS_MAKE_SOCK, true
	case "MAKE_FIFO":
		return unix.LANDLOCK_ACCESS_FS_MAKE_FIFO, true
	case "MAKE_BLOCK":
		return unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK, true
	case "MAKE_SYM":
		return unix.LANDLOCK_ACCESS_FS_MAKE_SYM, true
	case "REFER":
		return unix.LANDLOCK_ACCESS_FS_REFER, true
	case "TRUNCATE":
		return unix.LANDLOCK_ACCESS_FS_TRUNCATE, true
	case "IOCTL_DEV":
		return unix.LANDLOCK_ACCESS_FS_IOCTL_DEV, true
	case "RESOLVE_UNIX":
		return unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX, true
	}
	return 0, false
}

func netRight(name string) (uint64, bool) {
	switch name {
	case "BIND_TCP":
		return unix.LANDLOCK_ACCESS_NET_BIND_TCP, true
	case "CONNECT_TCP":
		return unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, true
	case "BIND_UDP":
		return unix.LANDLOCK_ACCESS_NET_BIND_UDP, true
	case "CONNECT_SEND_UDP":
		return unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP, true
	}
	return 0, false
}

func scope(name string) (uint64, bool) {
	switch name {
	case "ABSTRACT_UNIX_SOCKET":
		return unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, true
	case "SIGNAL":
		return unix.LANDLOCK_SCOPE_SIGNAL, true
	}
	return 0, false
}
