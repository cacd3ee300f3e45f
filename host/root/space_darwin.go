package root

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// SyncAll is [errors.ErrUnsupported] here: sync(2) does not wait, so files are made durable one by one.
func (r *Root) SyncAll() error { return errors.ErrUnsupported }

// Free tells how many bytes this user can still write to the root's file system, how many it has in all, and how many
// files can still be made (statfs(2)).
func (r *Root) Free() (free, total, files int64, err error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(r.dir.fd(), &st); err != nil {
		return 0, 0, 0, &fs.PathError{Op: "statfs", Path: r.path, Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), int64(st.Ffree), nil
}
