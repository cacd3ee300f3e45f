package launch

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Sealed returns a file that holds b, for donation. Neither this process nor a child can change it: it is a memfd with all
// seals (memfd_create(2), F_ADD_SEALS in fcntl(2)), which also cannot be executed where the kernel knows how to say that
// (MFD_NOEXEC_SEAL, Linux 6.3). Where there are no memfds it is a file in dir as on other systems. The caller calls
// release in the end, which closes it.
func Sealed(dir string, b []byte) (f *os.File, release func(), err error) {
	fd, err := unix.MemfdCreate("lola", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("lola", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return tempFile(dir, b)
	}
	f = os.NewFile(uintptr(fd), "memfd:lola")
	if _, err = f.Write(b); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("sealing %d bytes for a child: %w", len(b), err)
	}
	return f, func() { _ = f.Close() }, nil
}
