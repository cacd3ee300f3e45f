package lockdown

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// restrictCalls puts the stage's list of system calls up, for all threads, on top of what is up already. why says why the
// kernel has no such thing.
func restrictCalls(stage policy.Stage) (why string, err error) {
	if !policy.HasCalls(runtime.GOARCH) {
		return fmt.Sprintf("the list of system calls was not made for %s", runtime.GOARCH), nil
	}
	if stage != policy.Guest { // by then the answer is known, and the question not allowed
		if err := probe.Seccomp(); err != nil {
			return err.Error(), nil
		}
	}
	program, err := assemble(policy.Calls(stage, withC), auditArch, number, uint32(os.Getpid()))
	if err != nil {
		return "", err
	}
	runtime.LockOSThread() // no-new-privs, which this needs, is a thread's
	defer runtime.UnlockOSThread()
	thread, err := seccompFilter(program)
	if err != nil {
		return "", fmt.Errorf("setting a filter of %d instructions: %w", len(program), err)
	}
	if thread != 0 {
		return "", fmt.Errorf("setting a filter: thread %d has another one", thread)
	}
	if stage == policy.Guest {
		return "", nil
	}
	if mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err != nil || mode != unix.SECCOMP_MODE_FILTER {
		return "", fmt.Errorf("setting a filter: the mode afterwards is %d (%w), want %d", mode, err, unix.SECCOMP_MODE_FILTER)
	}
	return "", nil
}

// Offsets into what a filter sees, struct seccomp_data of linux/seccomp.h. Both architectures are little-endian.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// assemble makes of a list the program of a filter: allowed, refused, or the process is killed. Names become numbers
// here. pid is this process's number.
//
// The program is linear. The kernel works out once which numbers are allowed whatever the arguments and does not run the
// program for them, so its order matters little.
func assemble(calls []policy.Call, arch uint32, number func(string) (uint32, bool), pid uint32) ([]unix.SockFilter, error) {
	program := make([]unix.SockFilter, 0, 256)
	program = append(program,
		load(offArch), jumpUnless(arch, 1), jump(1), answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(offNumber),
	)
	for i, c := range calls {
		if named(calls[:i], c.Name) {
			continue // it stands with the first of its name
		}
		n, ok := number(c.Name)
		if !ok {
			return nil, fmt.Errorf("the system call %q has no number on this machine", c.Name)
		}
		var body []unix.SockFilter
		for _, row := range calls[i:] {
			if row.Name == c.Name {
				body = append(body, alternative(row, pid)...)
			}
		}
		body = append(body, answer(unix.SECCOMP_RET_KILL_PROCESS))
		if len(c.When) == 0 { // it never comes to the last instruction
			body = body[:1]
		}
		if len(body) > 255 {
			return nil, fmt.Errorf("the conditions of %q are too many for one jump", c.Name)
		}
		program = append(program, jumpUnless(n, uint8(len(body))))
		program = append(program, body...)
	}
	return append(program, answer(unix.SECCOMP_RET_KILL_PROCESS)), nil
}

func named(calls []policy.Call, name string) bool {
	for _, c := range calls {
		if c.Name == name {
			return true
		}
	}
	return false
}

// alternative gives the answer of one row if all its tests hold, else it goes on behind its last instruction.
func alternative(c policy.Call, pid uint32) []unix.SockFilter {
	var body []unix.SockFilter
	for _, t := range c.When {
		want := t.Want
		if t.Self {
			want = uint64(pid)
		}
		for half := range 2 { // the lower one first
			mask, want := uint32(t.Mask>>(32*half)), uint32(want>>(32*half))
			if mask == 0 {
				continue
			}
			body = append(body, load(offArgs+8*uint32(t.Arg)+4*uint32(half)))
			if mask != 1<<32-1 {
				body = append(body, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask})
			}
			body = append(body, jumpUnless(want, 0)) // how far is known at the end
		}
	}
	if c.Errno != 0 {
		body = append(body, answer(unix.SECCOMP_RET_ERRNO|uint32(c.Errno)))
	} else {
		body = append(body, answer(unix.SECCOMP_RET_ALLOW))
	}
	for i := range body {
		if body[i].Code == unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K {
			body[i].Jf = uint8(len(body) - 1 - i)
		}
	}
	return body
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jumpUnless skips so many instructions if what was loaded is something else.
func jumpUnless(want uint32, skip uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: want, Jf: skip}
}

func jump(skip uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: skip}
}

func answer(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
