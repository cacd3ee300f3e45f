package root

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// RenameNew moves the entry name to newName in the directory to, where nothing may be: then it is [fs.ErrExist], and what
// is there stays (renameatx_np(2), RENAME_EXCL). A file system that cannot promise that is asked first and told then.
func (d *Dir) RenameNew(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpMove, name, to, newName); err != nil {
		return err
	}
	err := unix.RenameatxNp(d.fd(), name, to.fd(), newName, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return d.moveLooking(name, to, newName, func() error { return d.rename(name, to, newName) })
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: err}
	}
	return nil
}

// Exchange lets two entries change places in one step, which no reader sees half done (renameatx_np(2), RENAME_SWAP).
// Errors: [errors.ErrUnsupported] where the file system or the platform has no such call; nothing has happened then.
func (d *Dir) Exchange(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpExchange, name, to, newName); err != nil {
		return err
	}
	err := unix.RenameatxNp(d.fd(), name, to.fd(), newName, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: name, New: newName, Err: err}
	}
	return nil
}
