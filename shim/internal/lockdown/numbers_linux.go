//go:build amd64 || arm64

package lockdown

import "golang.org/x/sys/unix"

// number returns the number of a system call on this machine. A switch and no map: a map would be made at each start.
func number(name string) (uint32, bool) {
	switch name {
	case "brk":
		return unix.SYS_BRK, true
	case "clock_gettime":
		return unix.SYS_CLOCK_GETTIME, true
	case "clock_nanosleep":
		return unix.SYS_CLOCK_NANOSLEEP, true
	case "clone":
		return unix.SYS_CLONE, true
	case "clone3":
		return unix.SYS_CLONE3, true
	case "close":
		return unix.SYS_CLOSE, true
	case "epoll_ctl":
		return unix.SYS_EPOLL_CTL, true
	case "epoll_pwait":
		return unix.SYS_EPOLL_PWAIT, true
	case "exit":
		return unix.SYS_EXIT, true
	case "exit_group":
		return unix.SYS_EXIT_GROUP, true
	case "fcntl":
		return unix.SYS_FCNTL, true
	case "fstat":
		return unix.SYS_FSTAT, true
	case "fsync":
		return unix.SYS_FSYNC, true
	case "futex":
		return unix.SYS_FUTEX, true
	case "getdents64":
		return unix.SYS_GETDENTS64, true
	case "getpid":
		return unix.SYS_GETPID, true
	case "getrandom":
		return unix.SYS_GETRANDOM, true
	case "gettid":
		return unix.SYS_GETTID, true
	case "madvise":
		return unix.SYS_MADVISE, true
	case "mkdirat":
		return unix.SYS_MKDIRAT, true
	case "mmap":
		return unix.SYS_MMAP, true
	case "mprotect":
		return unix.SYS_MPROTECT, true
	case "munmap":
		return unix.SYS_MUNMAP, true
	case "nanosleep":
		return unix.SYS_NANOSLEEP, true
	case "newfstatat":
		return unix.SYS_NEWFSTATAT, true
	case "openat":
		return unix.SYS_OPENAT, true
	case "prctl":
		return unix.SYS_PRCTL, true
	case "pread64":
		return unix.SYS_PREAD64, true
	case "read":
		return unix.SYS_READ, true
	case "renameat":
		return unix.SYS_RENAMEAT, true
	case "restart_syscall":
		return unix.SYS_RESTART_SYSCALL, true
	case "rseq":
		return unix.SYS_RSEQ, true
	case "rt_sigaction":
		return unix.SYS_RT_SIGACTION, true
	case "rt_sigprocmask":
		return unix.SYS_RT_SIGPROCMASK, true
	case "rt_sigreturn":
		return unix.SYS_RT_SIGRETURN, true
	case "sched_getaffinity":
		return unix.SYS_SCHED_GETAFFINITY, true
	case "sched_yield":
		return unix.SYS_SCHED_YIELD, true
	case "seccomp":
		return unix.SYS_SECCOMP, true
	case "set_robust_list":
		return unix.SYS_SET_ROBUST_LIST, true
	case "sigaltstack":
		return unix.SYS_SIGALTSTACK, true
	case "tgkill":
		return unix.SYS_TGKILL, true
	case "unlinkat":
		return unix.SYS_UNLINKAT, true
	case "write":
		return unix.SYS_WRITE, true
	}
	return 0, false
}
