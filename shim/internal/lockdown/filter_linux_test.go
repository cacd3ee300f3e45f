package lockdown

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

// seen is what the kernel shows a filter.
type seen struct {
	nr, arch uint32
	args     [6]uint64
}

// simulate runs a program as seccomp(2) and the kernel's Documentation/networking/filter.rst say.
func simulate(t *testing.T, program []unix.SockFilter, s seen) uint32 {
	t.Helper()
	var a uint32
	for pc := 0; pc < len(program); pc++ {
		in := program[pc]
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			switch {
			case in.K == 0:
				a = s.nr
			case in.K == 4:
				a = s.arch
			case in.K >= 16 && in.K < 64 && in.K%4 == 0:
				a = uint32(s.args[(in.K-16)/8] >> (8 * ((in.K - 16) % 8)))
			default:
				t.Fatalf("instruction %d loads from %d", pc, in.K)
			}
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if a == in.K {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(in.K)
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			t.Fatalf("instruction %d is %+v", pc, in)
		}
	}
	t.Fatal("the program has no end")
	return 0
}

const me = 4321

// judge says what the table means, without a program.
func judge(calls []policy.Call, s seen) uint32 {
	for _, c := range calls {
		if n, ok := number(c.Name); !ok || n != s.nr {
			continue
		}
		holds := true
		for _, w := range c.When {
			want := w.Want
			if w.Self {
				want = me
			}
			holds = holds && s.args[w.Arg]&w.Mask == want
		}
		if holds && c.Errno != 0 {
			return unix.SECCOMP_RET_ERRNO | uint32(c.Errno)
		}
		if holds {
			return unix.SECCOMP_RET_ALLOW
		}
	}
	return unix.SECCOMP_RET_KILL_PROCESS
}

func programs(t *testing.T, do func(stage policy.Stage, withC bool, calls []policy.Call, program []unix.SockFilter)) {
	t.Helper()
	for _, stage := range []policy.Stage{policy.Compile, policy.Store, policy.Load, policy.Guest} {
		for _, withC := range []bool{false, true} {
			calls := policy.Calls(stage, withC)
			program, err := assemble(calls, auditArch, number, me)
			if err != nil {
				t.Fatal(err)
			}
			do(stage, withC, calls, program)
		}
	}
}

// TestProgramIsTable: what was assembled gives the answers of the table, for every number and for arguments about the
// values that the table tests. This is how the arm64 table is tested where the kernel is another machine's.
func TestProgramIsTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	programs(t, func(stage policy.Stage, withC bool, calls []policy.Call, program []unix.SockFilter) {
		// Values about those that a number's rows test; none for a number without rows.
		values := map[uint32][]uint64{}
		for _, c := range calls {
			n, _ := number(c.Name)
			values[n] = append(values[n], 0, me)
			for _, w := range c.When {
				values[n] = append(values[n], w.Want, w.Mask, w.Want+1, w.Want|1<<32, w.Want|1<<63, w.Want^1)
			}
		}
		allowed := map[uint32]bool{}
		check := func(s seen) {
			got, want := simulate(t, program, s), judge(calls, s)
			if got != want {
				t.Fatalf("%s, with C %t: %+v: the program says %#x, the table %#x", stage, withC, s, got, want)
			}
			if got == unix.SECCOMP_RET_ALLOW {
				allowed[s.nr] = true
			}
		}
		for nr := range uint32(1024) {
			of := values[nr]
			for range 3 + 30*len(of) {
				s := seen{nr: nr, arch: auditArch}
				for i := range s.args {
					if s.args[i] = random.Uint64(); len(of) > 0 {
						s.args[i] = of[random.IntN(len(of))]
					}
				}
				check(s)
			}
			if got := simulate(t, program, seen{nr: nr | 0x40000000, arch: auditArch}); got != unix.SECCOMP_RET_KILL_PROCESS {
				t.Fatalf("call %d of x32: %#x", nr, got)
			}
		}
		for _, c := range calls {
			if n, _ := number(c.Name); c.Errno == 0 && !allowed[n] {
				t.Errorf("%s: %s was never allowed", stage, c.Name)
			}
		}
		t.Logf("%s, with C %t: %d rows, %d instructions, %d numbers", stage, withC, len(calls), len(program), len(allowed))
	})
}

// TestForeignABI: no call of another ABI passes, whatever its number.
func TestForeignABI(t *testing.T) {
	programs(t, func(stage policy.Stage, withC bool, _ []policy.Call, program []unix.SockFilter) {
		for _, arch := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_AARCH64, unix.AUDIT_ARCH_AARCH64 &^ (1 << 30), 0, 1<<32 - 1} {
			if arch == auditArch {
				continue
			}
			for nr := range uint32(1024) {
				if got := simulate(t, program, seen{nr: nr, arch: arch}); got != unix.SECCOMP_RET_KILL_PROCESS {
					t.Fatalf("%s: call %d of %#x: %#x", stage, nr, arch, got)
				}
			}
		}
	})
}

// TestNumbers: the numbers that package policy writes, which may import no system's, are the system's.
func TestNumbers(t *testing.T) {
	flags := map[string]uint64{
		"O_WRONLY": unix.O_WRONLY, "O_RDWR": unix.O_RDWR, "O_CREAT": unix.O_CREAT, "O_TRUNC": unix.O_TRUNC, "O_APPEND": unix.O_APPEND,
		"O_TMPFILE": unix.O_TMPFILE, "O_PATH": unix.O_PATH,
	}
	goClone := uint64(unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD)
	if runtime.GOARCH == "amd64" {
		goClone |= unix.CLONE_SETTLS
	}
	programs(t, func(stage policy.Stage, withC bool, _ []policy.Call, program []unix.SockFilter) {
		early := stage != policy.Guest
		for _, c := range []struct {
			what string
			nr   uint32
			args [6]uint64
			want bool
		}{
			{"openat O_RDONLY", unix.SYS_OPENAT, [6]uint64{2: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_LARGEFILE | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK}, stage.Folder()},
			{"mmap", unix.SYS_MMAP, [6]uint64{2: unix.PROT_READ | unix.PROT_WRITE}, true},
			{"mmap exec", unix.SYS_MMAP, [6]uint64{2: unix.PROT_READ | unix.PROT_EXEC}, false},
			{"mprotect", unix.SYS_MPROTECT, [6]uint64{2: unix.PROT_READ | unix.PROT_WRITE}, withC},
			{"mprotect exec", unix.SYS_MPROTECT, [6]uint64{2: unix.PROT_READ | unix.PROT_EXEC}, early},
			{"mprotect exec and write", unix.SYS_MPROTECT, [6]uint64{2: unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC}, false},
			{"clone", unix.SYS_CLONE, [6]uint64{0: goClone}, true},
			{"clone of a process", unix.SYS_CLONE, [6]uint64{0: uint64(unix.SIGCHLD)}, false},
			{"clone as glibc", unix.SYS_CLONE, [6]uint64{0: goClone | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID}, withC},
			{"clone as musl", unix.SYS_CLONE, [6]uint64{0: goClone | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED}, withC},
			{"tgkill", unix.SYS_TGKILL, [6]uint64{0: me}, true},
			{"tgkill of another", unix.SYS_TGKILL, [6]uint64{0: me + 1}, false},
			{"prctl PR_SET_VMA", unix.SYS_PRCTL, [6]uint64{0: unix.PR_SET_VMA}, true},
			{"prctl PR_GET_SECCOMP", unix.SYS_PRCTL, [6]uint64{0: unix.PR_GET_SECCOMP}, early},
			{"prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, [6]uint64{0: unix.PR_SET_DUMPABLE, 1: 1}, false},
			{"seccomp", unix.SYS_SECCOMP, [6]uint64{0: unix.SECCOMP_SET_MODE_FILTER, 1: unix.SECCOMP_FILTER_FLAG_TSYNC}, early},
			{"seccomp that listens", unix.SYS_SECCOMP, [6]uint64{0: unix.SECCOMP_SET_MODE_FILTER, 1: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}, false},
			{"futex wait", unix.SYS_FUTEX, [6]uint64{1: 0 | 128}, true},
			{"futex wake", unix.SYS_FUTEX, [6]uint64{1: 1 | 128}, true},
			{"futex that inherits", unix.SYS_FUTEX, [6]uint64{1: 6 | 128}, withC},
			{"madvise MADV_DONTNEED", unix.SYS_MADVISE, [6]uint64{2: unix.MADV_DONTNEED}, true},
			{"madvise MADV_FREE", unix.SYS_MADVISE, [6]uint64{2: unix.MADV_FREE}, true},
			{"madvise MADV_HUGEPAGE", unix.SYS_MADVISE, [6]uint64{2: unix.MADV_HUGEPAGE}, true},
			{"madvise MADV_NOHUGEPAGE", unix.SYS_MADVISE, [6]uint64{2: unix.MADV_NOHUGEPAGE}, true},
			{"madvise MADV_COLLAPSE", unix.SYS_MADVISE, [6]uint64{2: unix.MADV_COLLAPSE}, true},
			{"madvise MADV_HWPOISON", unix.SYS_MADVISE, [6]uint64{2: unix.MADV_HWPOISON}, false},
			{"fcntl F_GETFL", unix.SYS_FCNTL, [6]uint64{1: unix.F_GETFL}, stage.Folder()},
			{"fcntl F_SETFL", unix.SYS_FCNTL, [6]uint64{1: unix.F_SETFL}, stage.Folder()},
			{"fcntl F_SETOWN", unix.SYS_FCNTL, [6]uint64{1: unix.F_SETOWN}, false},
		} {
			if got := simulate(t, program, seen{c.nr, auditArch, c.args}) == unix.SECCOMP_RET_ALLOW; got != c.want {
				t.Errorf("%s, with C %t: %s: allowed %t", stage, withC, c.what, got)
			}
		}
		for name, flag := range flags {
			s := seen{unix.SYS_OPENAT, auditArch, [6]uint64{2: flag}}
			if got := simulate(t, program, s) == unix.SECCOMP_RET_ALLOW; got != (stage == policy.Store) {
				t.Errorf("%s: openat with %s: allowed %t", stage, name, got)
			}
		}
		const enosys, eacces = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS), unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
		if withC && simulate(t, program, seen{nr: unix.SYS_CLONE3, arch: auditArch}) != enosys {
			t.Error("clone3 is not refused with ENOSYS")
		}
		if withC && !stage.Folder() && simulate(t, program, seen{nr: unix.SYS_OPENAT, arch: auditArch}) != eacces {
			t.Error("openat is not refused with EACCES")
		}
	})
	for v := 1; v < 20; v++ {
		h := policy.Handled(v)
		for _, n := range h.Files {
			if _, ok := fileRight(n); !ok {
				t.Errorf("%s has no number", n)
			}
		}
		for _, n := range h.Net {
			if _, ok := netRight(n); !ok {
				t.Errorf("%s has no number", n)
			}
		}
		for _, n := range h.Scopes {
			if _, ok := scope(n); !ok {
				t.Errorf("%s has no number", n)
			}
		}
	}
}

// TestAssembleRefuses what it cannot make a program of, rather than leave it out.
func TestAssembleRefuses(t *testing.T) {
	if _, err := assemble([]policy.Call{{Name: "no_such_call"}}, auditArch, number, me); err == nil {
		t.Error("a name without a number was taken")
	}
	many := make([]policy.Test, 100)
	for i := range many {
		many[i] = policy.Test{Arg: 1, Mask: 1<<64 - 1}
	}
	if _, err := assemble([]policy.Call{{Name: "read", When: many}}, auditArch, number, me); err == nil {
		t.Error("conditions that a jump cannot pass were taken")
	}
}

func BenchmarkAssemble(b *testing.B) {
	for b.Loop() {
		if _, err := assemble(policy.Calls(policy.Compile, false), auditArch, number, me); err != nil {
			b.Fatal(err)
		}
	}
}
