package policy

// Test is a condition on one argument of a call: what is left of it after Mask is Want. Arguments are 64 bits wide.
type Test struct {
	Arg        int // 0 to 5
	Mask, Want uint64
	Self       bool // Want is the number of this process
}

// Call is a system call that a child may make, by its name in the kernel's tables. The names are the same on amd64 and
// arm64 for all that stand here; only their numbers differ. Several rows of one name are alternatives.
type Call struct {
	Name string
	When []Test // all of them hold
	// Errno is what the call is answered with instead of being made. 0: it is made.
	Errno uint16
}

const (
	all = 1<<64 - 1

	protExec = 0x4 // PROT_EXEC
	protRX   = 0x5 // PROT_READ|PROT_EXEC

	// What makes open(2) more than reading: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, the bit of O_TMPFILE that is its own,
	// and O_PATH, which looks at nothing but gives a descriptor to go on from.
	openBeyondReading = 0x1 | 0x2 | 0x40 | 0x200 | 0x400 | 0x400000 | 0x200000

	// CLONE_VM, FS, FILES, SIGHAND, SYSVSEM, THREAD: what Go's runtime gives, and gives exactly, on arm64.
	cloneGo = 0x50f00
	// The same with SETTLS: on amd64.
	cloneGoTLS = 0xd0f00
	// And with PARENT_SETTID, CHILD_CLEARTID: glibc's pthread_create.
	cloneGlibc = 0x3d0f00
	// And with DETACHED, which means nothing today: musl's.
	cloneMusl = 0x7d0f00

	// FUTEX_WAIT, FUTEX_WAKE with FUTEX_PRIVATE_FLAG. The others of futex(2), which inherit priorities or move waiters, are
	// where its flaws have been.
	futexWait = 128
	futexWake = 129

	madvDontNeed   = 4 // MADV_
	madvFree       = 8
	madvHugePage   = 14
	madvNoHugePage = 15
	madvCollapse   = 25
	madvGuard      = 102 // MADV_GUARD_INSTALL: glibc's stacks

	fGetFL = 3 // F_GETFL, F_SETFL: a file is made not to block, and is asked whether it does
	fSetFL = 4

	prGetSeccomp = 21
	prSetVMA     = 0x53564d41

	seccompSetModeFilter = 1
	seccompTSync         = 1

	noSuchCall = 38 // ENOSYS
	noAccess   = 13 // EACCES
)

func is(arg int, want uint64) Test    { return Test{Arg: arg, Mask: all, Want: want} }
func lacks(arg int, bits uint64) Test { return Test{Arg: arg, Mask: bits} }
func self(arg int) Test               { return Test{Arg: arg, Mask: all, Self: true} }

// HasCalls reports whether there are lists for an architecture, by Go's name.
func HasCalls(arch string) bool { return arch == "amd64" || arch == "arm64" }

// Calls returns what a child may call from a stage on, on Linux. Everything else kills it, a call of another ABI of the
// machine (i386, x32, 32-bit ARM) too. withC is for programs that are linked with C, whose threads the C library starts.
//
// The tables are complete for what was traced (package lockdown's tests) and for what Go's runtime is seen to do when
// read: rows that no trace meets say when they are needed. A missing row kills a child that did no wrong; a superfluous
// one is a way into the kernel.
func Calls(stage Stage, withC bool) []Call {
	calls := append(make([]Call, 0, 64), guestCalls()...)
	if stage != Guest {
		calls = append(calls, engineCalls(stage)...)
	}
	if withC { // last: what is refused here may be allowed above
		calls = append(calls, libraryCalls()...)
	}
	return calls
}

// guestCalls are what Go's runtime needs while a guest runs.
func guestCalls() []Call {
	return []Call{
		// The scheduler: idle and woken threads, most calls by far.
		{Name: "futex", When: []Test{is(1, futexWait)}},
		{Name: "futex", When: []Test{is(1, futexWake)}},
		{Name: "nanosleep"},         // short waits of the thread that watches the others
		{Name: "sched_yield"},       // spinning before sleeping
		{Name: "sched_getaffinity"}, // how many processors there are, asked anew about once a second
		{Name: "getpid"},            // both for a thread that signals another
		{Name: "gettid"},
		{Name: "tgkill", When: []Test{self(0)}}, // preemption, and dying of a signal; no other process

		// The poller, which is also how timers wait. It is there before (lockdown sees to that), so nothing makes another.
		{Name: "epoll_pwait"},
		{Name: "epoll_ctl"}, // a file that is opened is offered to it; one of a stage before may be taken back late

		// Descriptors that are open: request, plan, diagnostics.
		{Name: "read"},
		{Name: "write"},
		{Name: "close"},   // a file of a stage before, when it is collected
		{Name: "pread64"}, // the bound on processors in a container, from a file that the runtime opened when it started

		// Memory: Go's heap, guests' memory. It is there to be written from the start, and none of it becomes code.
		{Name: "mmap", When: []Test{lacks(2, protExec)}},
		{Name: "munmap"},
		// What the heap says of its pages. Root could have others taken from the machine (MADV_HWPOISON).
		{Name: "madvise", When: []Test{is(2, madvDontNeed)}},
		{Name: "madvise", When: []Test{is(2, madvFree)}},
		{Name: "madvise", When: []Test{is(2, madvHugePage)}},
		{Name: "madvise", When: []Test{is(2, madvNoHugePage)}},
		{Name: "madvise", When: []Test{is(2, madvCollapse)}},
		{Name: "prctl", When: []Test{is(0, prSetVMA)}}, // Go names its memory, where the kernel keeps names

		// A new thread, its signal stack, and its end.
		{Name: "clone", When: []Test{is(0, cloneGo)}},
		{Name: "clone", When: []Test{is(0, cloneGoTLS)}},
		{Name: "sigaltstack"},
		{Name: "rt_sigprocmask"},
		{Name: "exit"},

		// Signals: preemption, and the faults that become a guest's traps. Before Go dies of a signal or a panic it takes
		// its handlers away. restart_syscall is the kernel's own, when a stopped process goes on.
		{Name: "rt_sigreturn"},
		{Name: "rt_sigaction"},
		{Name: "restart_syscall"},

		// What is asked of the vDSO first, and of the kernel where there is none or its clock is no good (some hypervisors).
		{Name: "clock_gettime"},
		{Name: "getrandom"},

		{Name: "exit_group"},
	}
}

// engineCalls are what compiling, storing and loading need besides, before a guest runs.
func engineCalls(stage Stage) []Call {
	calls := []Call{
		// Compiled code is written, then made executable. It is never both.
		{Name: "mprotect", When: []Test{is(2, protRX)}},
		// The smaller list goes up. Flags that would give a descriptor from which calls are answered are refused.
		{Name: "seccomp", When: []Test{is(0, seccompSetModeFilter), is(1, seccompTSync)}},
		{Name: "prctl", When: []Test{is(0, prGetSeccomp)}}, // and is looked at
	}
	if !stage.Folder() {
		return calls
	}
	calls = append(calls,
		Call{Name: "fstat"},
		Call{Name: "newfstatat"},
		Call{Name: "getdents64"}, // what lies in the folder is looked at as a whole
		Call{Name: "fcntl", When: []Test{is(1, fGetFL)}},
		Call{Name: "fcntl", When: []Test{is(1, fSetFL)}},
	)
	if stage == Load {
		return append(calls, Call{Name: "openat", When: []Test{lacks(2, openBeyondReading)}})
	}
	return append(calls,
		Call{Name: "openat"},
		Call{Name: "mkdirat"},
		Call{Name: "fsync"},
		Call{Name: "renameat"}, // a file has a name of its own until it is whole
		Call{Name: "unlinkat"}, // or until it failed
	)
}

// libraryCalls are those of a C library, which starts the threads then, with memory of its own. What it does anew for
// each thread and can do without is refused and does not kill.
func libraryCalls() []Call {
	return []Call{
		{Name: "clone3", Errno: noSuchCall}, // its flags lie in memory, where no filter sees them; clone is tried next
		{Name: "clone", When: []Test{is(0, cloneGlibc)}},
		{Name: "clone", When: []Test{is(0, cloneMusl)}},
		{Name: "mprotect", When: []Test{lacks(2, protExec)}}, // heaps and stacks, which it reserves first
		{Name: "madvise", When: []Test{is(2, madvGuard)}},
		{Name: "futex"}, // its locks have more ways to wait
		{Name: "set_robust_list"},
		{Name: "rseq"},
		{Name: "brk"},
		{Name: "clock_nanosleep"},         // a thread could not be started: it is tried again a little later
		{Name: "openat", Errno: noAccess}, // glibc counts processors for its heaps
	}
}
