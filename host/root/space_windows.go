package root

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// SyncAll is [errors.ErrUnsupported] here: flushing a volume takes an administrator, so files are made durable one by one.
func (r *Root) SyncAll() error { return errors.ErrUnsupported }

// Free tells how many bytes this user can still write to the root's file system and how many it has in all
// (GetDiskFreeSpaceEx). Files are not counted: files is -1.
func (r *Root) Free() (free, total, files int64, err error) {
	path, err := windows.UTF16PtrFromString(r.path)
	if err != nil {
		return 0, 0, 0, err
	}
	var avail, all, allFree uint64
	if err := windows.GetDiskFreeSpaceEx(path, &avail, &all, &allFree); err != nil {
		return 0, 0, 0, &fs.PathError{Op: "statfs", Path: r.path, Err: err}
	}
	return int64(avail), int64(all), -1, nil
}
