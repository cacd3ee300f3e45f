//go:build linux

package lockdown

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

// raw makes a system call as code that had broken out of the engine would: without Go's help.
func raw(nr uintptr, args ...uintptr) syscall.Errno {
	_, errno := rawValue(nr, args...)
	return errno
}

func rawValue(nr uintptr, args ...uintptr) (uintptr, syscall.Errno) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	return r, errno
}

func cstring(s string) uintptr {
	p, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	keep = append(keep, p)
	return uintptr(unsafe.Pointer(p))
}

var keep []any // what the kernel is given pointers to

func pointer[T any](v *T) uintptr {
	keep = append(keep, v)
	return uintptr(unsafe.Pointer(v))
}

// atCwd is AT_FDCWD as a register has it.
const atCwd = ^uintptr(99)

// simply is a deed that needs nothing before the lock.
func simply(f func() syscall.Errno) deed {
	return func() func() syscall.Errno { return f }
}

// call is a deed of one system call.
func call(nr uintptr, args ...uintptr) deed {
	return simply(func() syscall.Errno { return raw(nr, args...) })
}

func sockaddr(family uint16, rest ...byte) (uintptr, uintptr) {
	b := make([]byte, 2+len(rest))
	*(*uint16)(unsafe.Pointer(&b[0])) = family
	copy(b[2:], rest)
	return pointer(&b[0]), uintptr(len(b))
}

// parentInt is looked for in the parent, the same program, so at the same address.
var parentInt = uint64(0x6c6f6c61)

func folder() string { return os.Getenv("LOLA_LOCKDOWN_FOLDER") }

// deeds are all that children do. What the arguments need is made before the lock, in the child.
func deeds() map[string]deed {
	parent := uintptr(os.Getppid())
	anon := func(prot uintptr) uintptr {
		p, errno := rawValue(unix.SYS_MMAP, 0, 1<<16, prot, unix.MAP_PRIVATE|unix.MAP_ANON, ^uintptr(0), 0)
		if errno != 0 {
			panic(errno)
		}
		return p
	}
	socket := func(family, kind, proto uintptr) deed { return call(unix.SYS_SOCKET, family, kind, proto) }
	// connect has its socket from before, as if one had been left open.
	connect := func(family, kind int, addr func() (uintptr, uintptr)) deed {
		return func() func() syscall.Errno {
			fd, err := unix.Socket(family, kind, 0)
			if err != nil {
				panic(err)
			}
			p, n := addr()
			return func() syscall.Errno { return raw(unix.SYS_CONNECT, uintptr(fd), p, n) }
		}
	}
	d := map[string]deed{
		// Files.
		"openat /etc/passwd":       call(unix.SYS_OPENAT, atCwd, cstring("/etc/passwd"), unix.O_RDONLY),
		"openat /proc/self/mem":    call(unix.SYS_OPENAT, atCwd, cstring("/proc/self/mem"), unix.O_RDWR),
		"openat /proc/PARENT/mem":  call(unix.SYS_OPENAT, atCwd, cstring(fmt.Sprintf("/proc/%d/mem", parent)), unix.O_RDONLY),
		"openat /proc/PARENT/root": call(unix.SYS_OPENAT, atCwd, cstring(fmt.Sprintf("/proc/%d/root/etc/passwd", parent)), unix.O_RDONLY),
		"openat for writing":       call(unix.SYS_OPENAT, atCwd, cstring(folder()+"/there"), unix.O_WRONLY),
		"openat to create":         call(unix.SYS_OPENAT, atCwd, cstring(folder()+"/new"), unix.O_RDWR|unix.O_CREAT, 0o600),
		"openat O_TMPFILE":         call(unix.SYS_OPENAT, atCwd, cstring(folder()), unix.O_RDWR|unix.O_TMPFILE, 0o600),
		"openat O_PATH":            call(unix.SYS_OPENAT, atCwd, cstring("/"), unix.O_PATH),
		"openat2": simply(func() syscall.Errno {
			how := unix.OpenHow{Flags: unix.O_RDONLY}
			return raw(unix.SYS_OPENAT2, atCwd, cstring("/etc/passwd"), pointer(&how), unsafe.Sizeof(how))
		}),
		"open_by_handle_at": func() func() syscall.Errno {
			h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, folder()+"/there", 0)
			if err != nil {
				panic(err)
			}
			mount, err := unix.Open(folder(), unix.O_RDONLY, 0)
			if err != nil {
				panic(err)
			}
			return func() syscall.Errno {
				fd, err := unix.OpenByHandleAt(mount, h, unix.O_RDONLY)
				if err != nil {
					return err.(syscall.Errno)
				}
				_ = unix.Close(fd)
				return 0
			}
		},
		"unlinkat":  call(unix.SYS_UNLINKAT, atCwd, cstring(folder()+"/there"), 0),
		"renameat2": call(unix.SYS_RENAMEAT2, atCwd, cstring(folder()+"/there"), atCwd, cstring(folder()+"/new"), 0),
		"mkdirat":   call(unix.SYS_MKDIRAT, atCwd, cstring(folder()+"/new"), 0o700),
		"mknodat":   call(unix.SYS_MKNODAT, atCwd, cstring(folder()+"/new"), unix.S_IFIFO|0o600, 0),
		"linkat":    call(unix.SYS_LINKAT, atCwd, cstring(folder()+"/there"), atCwd, cstring(folder()+"/new"), 0),
		"symlinkat": call(unix.SYS_SYMLINKAT, cstring("/etc"), atCwd, cstring(folder()+"/new")),
		"truncate":  call(unix.SYS_TRUNCATE, cstring(folder()+"/there"), 0),
		"fchmodat":  call(unix.SYS_FCHMODAT, atCwd, cstring(folder()+"/there"), 0o777),
		"newfstatat": simply(func() syscall.Errno {
			var st unix.Stat_t
			return raw(unix.SYS_NEWFSTATAT, atCwd, cstring("/etc/passwd"), pointer(&st), 0)
		}),
		"mount":         call(unix.SYS_MOUNT, cstring("none"), cstring(folder()), cstring("tmpfs"), 0, 0),
		"umount2":       call(unix.SYS_UMOUNT2, cstring("/proc/no/such"), 0),
		"pivot_root":    call(unix.SYS_PIVOT_ROOT, cstring("/"), cstring("/")),
		"chroot":        call(unix.SYS_CHROOT, cstring(folder())),
		"chdir":         call(unix.SYS_CHDIR, cstring("/")),
		"fsopen":        call(unix.SYS_FSOPEN, cstring("tmpfs"), 0),
		"open_tree":     call(unix.SYS_OPEN_TREE, atCwd, cstring("/"), 1),
		"inotify_init1": call(unix.SYS_INOTIFY_INIT1, 0),
		"fanotify_init": call(unix.SYS_FANOTIFY_INIT, 0, 0),
		"memfd_create":  call(unix.SYS_MEMFD_CREATE, cstring("x"), 0),
		// The network.
		"socket inet":    socket(unix.AF_INET, unix.SOCK_STREAM, 0),
		"socket inet6":   socket(unix.AF_INET6, unix.SOCK_DGRAM, 0),
		"socket unix":    socket(unix.AF_UNIX, unix.SOCK_STREAM, 0),
		"socket netlink": socket(unix.AF_NETLINK, unix.SOCK_RAW, 0),
		"socket packet":  socket(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"socketpair": simply(func() syscall.Errno {
			var fds [2]int32
			return raw(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, pointer(&fds))
		}),
		"connect tcp": connect(unix.AF_INET, unix.SOCK_STREAM, func() (uintptr, uintptr) {
			var port int
			_, _ = fmt.Sscan(os.Getenv("LOLA_LOCKDOWN_PORT"), &port)
			return sockaddr(unix.AF_INET, byte(port>>8), byte(port), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
		}),
		"connect udp": connect(unix.AF_INET, unix.SOCK_DGRAM, func() (uintptr, uintptr) {
			return sockaddr(unix.AF_INET, 0, 53, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
		}),
		"connect abstract": connect(unix.AF_UNIX, unix.SOCK_STREAM, func() (uintptr, uintptr) {
			return sockaddr(unix.AF_UNIX, []byte("\x00"+os.Getenv("LOLA_LOCKDOWN_ABSTRACT"))...)
		}),
		"connect path": connect(unix.AF_UNIX, unix.SOCK_STREAM, func() (uintptr, uintptr) {
			return sockaddr(unix.AF_UNIX, []byte(folder()+"/socket\x00")...)
		}),
		"bind tcp": func() func() syscall.Errno {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				panic(err)
			}
			p, n := sockaddr(unix.AF_INET, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
			return func() syscall.Errno { return raw(unix.SYS_BIND, uintptr(fd), p, n) }
		},
		// Programs and processes.
		"execve": func() func() syscall.Errno {
			path, arg := cstring("/proc/self/exe"), cstring("x")
			env := cstring(ordersVar + `={"Spec":{"Stage":"compile"},"Without":["limits","no-new-privs","landlock","seccomp"],"Do":"nothing"}`)
			argv, envp := [2]uintptr{arg}, [2]uintptr{env}
			return func() syscall.Errno { return raw(unix.SYS_EXECVE, path, pointer(&argv), pointer(&envp)) }
		},
		"execveat of a memfd": func() func() syscall.Errno {
			fd, err := unix.MemfdCreate("x", 0)
			if err != nil {
				panic(err)
			}
			b, err := os.ReadFile("/proc/self/exe")
			if err != nil {
				panic(err)
			}
			if _, err := unix.Write(fd, b); err != nil {
				panic(err)
			}
			env := cstring(ordersVar + `={"Spec":{"Stage":"compile"},"Without":["limits","no-new-privs","landlock","seccomp"],"Do":"nothing"}`)
			argv, envp := [2]uintptr{cstring("x")}, [2]uintptr{env}
			empty := cstring("")
			return func() syscall.Errno {
				return raw(unix.SYS_EXECVEAT, uintptr(fd), empty, pointer(&argv), pointer(&envp), unix.AT_EMPTY_PATH)
			}
		},
		"clone of a process": simply(func() syscall.Errno {
			pid, errno := rawValue(unix.SYS_CLONE, uintptr(unix.SIGCHLD))
			if errno == 0 && pid == 0 {
				raw(unix.SYS_EXIT_GROUP, 0)
			}
			return errno
		}),
		"clone of a thread in a new namespace": call(unix.SYS_CLONE, 0xd0f00|unix.CLONE_NEWUSER),
		"clone with the flags high up":         call(unix.SYS_CLONE, 1<<32|0xd0f00),
		"clone3": simply(func() syscall.Errno {
			args := [11]uint64{4: uint64(unix.SIGCHLD)}
			pid, errno := rawValue(unix.SYS_CLONE3, pointer(&args), unsafe.Sizeof(args))
			if errno == 0 && pid == 0 {
				raw(unix.SYS_EXIT_GROUP, 0)
			}
			return errno
		}),
		"unshare user":  call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"unshare mount": call(unix.SYS_UNSHARE, unix.CLONE_NEWNS),
		"setns": func() func() syscall.Errno {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/uts", parent), unix.O_RDONLY, 0)
			if err != nil {
				panic(err)
			}
			return func() syscall.Errno { return raw(unix.SYS_SETNS, uintptr(fd), 0) }
		},
		"ptrace the parent":    call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, parent, 0, 0),
		"process_vm_readv":     vm(unix.SYS_PROCESS_VM_READV, parent),
		"process_vm_writev":    vm(unix.SYS_PROCESS_VM_WRITEV, parent),
		"kill the parent":      call(unix.SYS_KILL, parent, 0),
		"kill everybody":       call(unix.SYS_KILL, ^uintptr(0), 0),
		"tkill the parent":     call(unix.SYS_TKILL, parent, 0),
		"tgkill the parent":    call(unix.SYS_TGKILL, parent, parent, 0),
		"rt_sigqueueinfo":      call(unix.SYS_RT_SIGQUEUEINFO, parent, 0, pointer(&[16]uint64{1: 0xffffffff})),
		"pidfd_open":           call(unix.SYS_PIDFD_OPEN, parent, 0),
		"pidfd_send_signal":    pidfd(func(fd uintptr) syscall.Errno { return raw(unix.SYS_PIDFD_SEND_SIGNAL, fd, 0, 0, 0) }),
		"pidfd_getfd":          pidfd(func(fd uintptr) syscall.Errno { return raw(unix.SYS_PIDFD_GETFD, fd, 0, 0) }),
		"kcmp":                 call(unix.SYS_KCMP, parent, parent, 0, 0, 0),
		"prlimit of parent":    call(unix.SYS_PRLIMIT64, parent, unix.RLIMIT_CORE, 0, pointer(&unix.Rlimit{})),
		"setpriority":          call(unix.SYS_SETPRIORITY, 0, parent, 5),
		"sched_setaffinity":    call(unix.SYS_SCHED_SETAFFINITY, parent, 8, pointer(&[1]uint64{1})),
		"setuid":               call(unix.SYS_SETUID, 0),
		"capset":               call(unix.SYS_CAPSET, pointer(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}), pointer(&[2]unix.CapUserData{})),
		"personality":          call(unix.SYS_PERSONALITY, 0xffffffff),
		"prctl no more dumps":  call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0),
		"prctl high up":        call(unix.SYS_PRCTL, 1<<32|unix.PR_SET_VMA, 0, 0, 0, 0),
		"seccomp of one's own": call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, pointer(&unix.SockFprog{Len: 1, Filter: &unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}})),
		// Wide doors into the kernel.
		"io_uring_setup":  call(unix.SYS_IO_URING_SETUP, 1, pointer(&[30]uint32{})),
		"bpf":             call(unix.SYS_BPF, 0, pointer(&[16]uint64{1, 4 | 4<<32, 1}), 128),
		"perf_event_open": call(unix.SYS_PERF_EVENT_OPEN, pointer(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}), 0, ^uintptr(0), ^uintptr(0), 0),
		"userfaultfd":     call(unix.SYS_USERFAULTFD, 1),
		"keyctl":          call(unix.SYS_KEYCTL, 0, ^uintptr(2), 0),
		"add_key":         call(unix.SYS_ADD_KEY, cstring("user"), cstring("x"), cstring("y"), 1, ^uintptr(2)),
		"shmget":          call(unix.SYS_SHMGET, 0, 4096, 0o600),
		"msgget":          call(unix.SYS_MSGGET, 0, 0o600),
		"mq_open":         call(unix.SYS_MQ_OPEN, cstring("lola-lockdown"), unix.O_RDONLY, 0, 0),
		"init_module":     call(unix.SYS_INIT_MODULE, 0, 0, cstring("")),
		"finit_module":    call(unix.SYS_FINIT_MODULE, ^uintptr(0), cstring(""), 0),
		"kexec_load":      call(unix.SYS_KEXEC_LOAD, 0, 0, 0, ^uintptr(0)),
		"reboot":          call(unix.SYS_REBOOT, 0, 0, 0, 0),
		"syslog":          call(unix.SYS_SYSLOG, 10, 0, 0),
		"sethostname":     call(unix.SYS_SETHOSTNAME, 0, ^uintptr(0)),
		"landlock":        call(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1),
		"timer_create":    call(unix.SYS_TIMER_CREATE, 0, 0, pointer(new(int32))),
		"dup":             call(unix.SYS_DUP, 1),
		"pipe2":           call(unix.SYS_PIPE2, pointer(&[2]int32{}), 0),
		"splice":          call(unix.SYS_SPLICE, 0, 0, 1, 0, 0, 0),
		"fcntl F_SETOWN":  call(unix.SYS_FCNTL, 1, unix.F_SETOWN, parent),
		"ioctl TIOCSTI":   call(unix.SYS_IOCTL, 0, unix.TIOCSTI, cstring("x")),
		"no such call":    call(100_000),
		"call minus one":  call(^uintptr(0)),
		"mmap exec":       call(unix.SYS_MMAP, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON, ^uintptr(0), 0),
		"mprotect exec": func() func() syscall.Errno {
			p := anon(unix.PROT_READ)
			return func() syscall.Errno { return raw(unix.SYS_MPROTECT, p, 4096, unix.PROT_READ|unix.PROT_EXEC) }
		},
		"mprotect all": func() func() syscall.Errno {
			p := anon(unix.PROT_READ)
			return func() syscall.Errno {
				return raw(unix.SYS_MPROTECT, p, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
			}
		},
		"pkey_mprotect": func() func() syscall.Errno {
			p := anon(unix.PROT_READ)
			return func() syscall.Errno {
				return raw(unix.SYS_PKEY_MPROTECT, p, 4096, unix.PROT_READ|unix.PROT_EXEC, ^uintptr(0))
			}
		},
		"madvise poison": func() func() syscall.Errno {
			p := anon(unix.PROT_READ)
			return func() syscall.Errno { return raw(unix.SYS_MADVISE, p, 4096, unix.MADV_HWPOISON) }
		},
		"futex of another kind": call(unix.SYS_FUTEX, pointer(new(uint32)), 6|128, 0, 0, 0, 0),
		"remap_file_pages":      call(unix.SYS_REMAP_FILE_PAGES, 0, 0, 0, 0, 0),
		"mremap": func() func() syscall.Errno {
			p := anon(unix.PROT_READ)
			return func() syscall.Errno { return raw(unix.SYS_MREMAP, p, 4096, 4096, 0, 0) }
		},
		// What is no attack.
		"nothing":  simply(func() syscall.Errno { return 0 }),
		"live":     simply(live),
		"panic":    simply(func() syscall.Errno { var m map[string]int; m["x"] = 1; return 0 }),
		"overflow": simply(func() syscall.Errno { debug.SetMaxStack(1 << 20); return syscall.Errno(deep(0)) }),
		"enter again": simply(func() syscall.Errno {
			if _, err := Enter(Spec{Stage: policy.Compile}); err == nil {
				return 1
			}
			return 0
		}),
		"no-new-privs": simply(func() syscall.Errno {
			if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set != 1 {
				return 1
			}
			return 0
		}),
		"limits": simply(limits),
		// A stage's folder.
		"read in folder":   simply(func() syscall.Errno { return openIn("/there", unix.O_RDONLY) }),
		"write in folder":  simply(func() syscall.Errno { return openIn("/there", unix.O_WRONLY|unix.O_TRUNC) }),
		"create in folder": simply(func() syscall.Errno { return openIn("/new", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL) }),
		"link in folder":   simply(func() syscall.Errno { return raw(unix.SYS_SYMLINKAT, cstring("/etc"), atCwd, cstring(folder()+"/new")) }),
		"store in folder": simply(func() syscall.Errno {
			if os.MkdirAll(folder()+"/a/b", 0o700) != nil {
				return unix.EACCES
			}
			f, err := os.CreateTemp(folder()+"/a/b", "x")
			if err != nil {
				return unix.EACCES
			}
			if _, err := f.WriteString("code"); err != nil || f.Sync() != nil || f.Close() != nil {
				return unix.EIO
			}
			if os.Rename(f.Name(), folder()+"/a/b/y") != nil || os.Remove(folder()+"/a/b/y") != nil {
				return unix.EIO
			}
			return 0
		}),
	}
	maps.Copy(d, archDeeds())
	return d
}

func openIn(name string, flags uintptr) syscall.Errno {
	fd, errno := rawValue(unix.SYS_OPENAT, atCwd, cstring(folder()+name), flags|unix.O_CLOEXEC, 0o600)
	if errno == 0 {
		raw(unix.SYS_CLOSE, fd)
	}
	return errno
}

func vm(nr, pid uintptr) deed {
	return simply(func() syscall.Errno {
		var got uint64
		local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&got)), Len: 8}
		remote := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&parentInt)), Len: 8}
		if nr == unix.SYS_PROCESS_VM_WRITEV {
			got = parentInt // it writes what is there
		}
		return raw(nr, pid, pointer(&local), 1, pointer(&remote), 1, 0)
	})
}

// pidfd has the descriptor of the parent from before.
func pidfd(f func(fd uintptr) syscall.Errno) deed {
	return func() func() syscall.Errno {
		fd, err := unix.PidfdOpen(os.Getppid(), 0)
		if err != nil {
			panic(err)
		}
		return func() syscall.Errno { return f(uintptr(fd)) }
	}
}

// limits are as the policy has them, but for those that the report said are not kept.
func limits() syscall.Errno {
	said := ""
	for _, d := range reached.Details {
		if d.Wall == policy.WallLimits {
			said = d.Why
		}
	}
	for _, l := range policy.Limits(policy.Guest, 256<<20, time.Second) {
		n, ok := limitNumber(l.Name)
		var is unix.Rlimit
		if strings.Contains(said, l.Name) {
			continue
		}
		if !ok || unix.Getrlimit(n, &is) != nil || is.Cur > l.Soft || is.Max > l.Hard {
			fmt.Println(l.Name, is, l)
			return 1
		}
	}
	if d, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || d != 0 {
		return 2
	}
	return 0
}

func deep(n int) int {
	if n < 0 {
		return n
	}
	return deep(n+1) + 1
}

// live is what Go programs do: garbage, goroutines, threads, timers, large pieces of memory, recovered faults. It takes
// some hundreds of milliseconds.
func live() syscall.Errno {
	debug.SetGCPercent(10)
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			for n := range 20 {
				b := make([]byte, 1<<uint(8+(i+n)%12))
				b[len(b)-1] = 1
				s := strings.Repeat("x", 100+n)
				m := map[string]int{s: n}
				if n%7 == 0 {
					time.Sleep(time.Duration(i%5) * 100 * time.Microsecond)
				}
				runtime.Gosched()
				_ = m
			}
		})
	}
	for range 16 { // threads that are used up
		group.Go(func() {
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
		})
	}
	spins := time.AfterFunc(5*time.Millisecond, func() {})
	for i := range 4 { // loops that must be preempted by a signal
		group.Go(func() {
			x := uint64(i)
			for range 5_000_000 {
				x = x*6364136223846793005 + 1
			}
			if x == 42 {
				panic(x)
			}
		})
	}
	group.Wait()
	spins.Stop()
	for range 2 {
		b := make([]byte, 64<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		runtime.GC()
		debug.FreeOSMemory()
	}
	fault := func() (caught bool) {
		defer func() { caught = recover() != nil }()
		var p *int
		*p = 1
		return false
	}
	if !fault() {
		return 1
	}
	select {
	case <-time.After(2 * time.Millisecond):
	}
	return 0
}
