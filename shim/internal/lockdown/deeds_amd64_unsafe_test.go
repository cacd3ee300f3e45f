//go:build linux && amd64

package lockdown

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const x32 = 0x40000000

// archDeeds are calls that only this machine has, and its other ABIs.
func archDeeds() map[string]deed {
	return map[string]deed{
		"open":       call(unix.SYS_OPEN, cstring("/etc/passwd"), unix.O_RDONLY),
		"creat":      call(unix.SYS_CREAT, cstring(folder()+"/new"), 0o600),
		"fork":       call(unix.SYS_FORK),
		"vfork":      call(unix.SYS_FORK),
		"stat":       call(unix.SYS_STAT, cstring("/etc/passwd"), pointer(&unix.Stat_t{})),
		"iopl":       call(unix.SYS_IOPL, 3),
		"arch_prctl": call(unix.SYS_ARCH_PRCTL, 0x1003, pointer(new(uint64))),
		"x32 write":  call(x32|unix.SYS_WRITE, 1, cstring("x"), 1),
		"x32 open":   call(x32|unix.SYS_OPEN, cstring("/etc/passwd"), unix.O_RDONLY),
		// int 0x80 takes numbers of i386 and 32-bit arguments: getpid, whose number is that of writev here.
		"int80": func() func() syscall.Errno {
			code := []byte{
				0xb8, 20, 0, 0, 0, // mov eax, 20
				0xcd, 0x80, // int 0x80
				0xc3, // ret
			}
			p, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				panic(err)
			}
			copy(p, code)
			if err := unix.Mprotect(p, unix.PROT_READ|unix.PROT_EXEC); err != nil {
				panic(err)
			}
			// A func value points to a word that holds the address of code.
			start := unsafe.Pointer(&p[0])
			value := unsafe.Pointer(&start)
			f := *(*func())(unsafe.Pointer(&value))
			return func() syscall.Errno {
				f()
				fmt.Fprintln(os.Stderr, "int 0x80 came back")
				return 0
			}
		},
	}
}
