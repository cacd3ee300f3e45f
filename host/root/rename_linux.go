package root

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// RenameNew moves the entry name to newName in the directory to, where nothing may be: then it is [fs.ErrExist], and what
// is there stays (renameat2(2), RENAME_NOREPLACE). A file system that cannot promise that is asked first and told then.
func (d *Dir) RenameNew(name string, to *Dir, newName string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := checkName(newName); err != nil {
		return err
	}
	err := unix.Renameat2(d.fd(), name, to.fd(), newName, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return d.renameAbsent(name, to, newName)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: err}
	}
	return nil
}
