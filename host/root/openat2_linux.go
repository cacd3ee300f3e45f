package root

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// noOpenat2 is set once the kernel, or a filter over it, refuses the call as such: a kernel before 5.6, or a container
// whose seccomp profile does not know it.
var noOpenat2 atomic.Bool

// openBeneath opens the directory that a path beneath d names, in one call that passes no link and does not leave d
// (openat2(2)). Any error means that the walk has to find out: which component it is, or that there is no such call.
func (d *Dir) openBeneath(path string) (*Dir, error) {
	if noOpenat2.Load() {
		return nil, unix.ENOSYS
	}
	fd, err := eintr(func() (int, error) {
		return unix.Openat2(d.fd(), path, &unix.OpenHow{
			Flags:   openDirFlags,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
	})
	switch err {
	case nil:
		return &Dir{n: fd, tree: d.tree, rel: d.beneath(path)}, nil
	case unix.ENOSYS, unix.EPERM, unix.EINVAL:
		noOpenat2.Store(true)
	}
	return nil, err
}
