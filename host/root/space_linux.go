package root

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// SyncAll makes everything on the root's file system durable (syncfs(2)): one call where many files changed. It waits for
// what other programs wrote too. Since Linux 5.8 it tells of errors in writing back.
func (r *Root) SyncAll() error {
	if err := r.dir.tree.before(Op{Kind: OpSyncAll}); err != nil {
		return &fs.PathError{Op: "sync", Path: r.path, Err: err}
	}
	if err := unix.Syncfs(r.dir.fd()); err != nil {
		return &fs.PathError{Op: "sync", Path: r.path, Err: err}
	}
	return nil
}

// Free tells how many bytes this user can still write to the root's file system, how many it has in all, and how many
// files can still be made (statfs(2)). A file system that does not count files says files < 0.
func (r *Root) Free() (free, total, files int64, err error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(r.dir.fd(), &st); err != nil {
		return 0, 0, 0, &fs.PathError{Op: "statfs", Path: r.path, Err: err}
	}
	files = int64(st.Ffree)
	if st.Files == 0 {
		files = -1
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), files, nil
}
