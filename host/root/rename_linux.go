package root

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// RenameNew moves the entry name to newName in the directory to, where nothing may be: then it is [fs.ErrExist], and what
// is there stays (renameat2(2), RENAME_NOREPLACE). A file system that cannot promise that is asked first and told then.
func (d *Dir) RenameNew(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpMove, name, to, newName); err != nil {
		return err
	}
	err := unix.Renameat2(d.fd(), name, to.fd(), newName, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return d.moveLooking(name, to, newName, func() error { return d.rename(name, to, newName) })
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: err}
	}
	return nil
}

// Exchange lets two entries change places in one step, which no reader sees half done (renameat2(2), RENAME_EXCHANGE).
// Errors: [errors.ErrUnsupported] where the file system or the platform has no such call; nothing has happened then.
func (d *Dir) Exchange(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpExchange, name, to, newName); err != nil {
		return err
	}
	err := unix.Renameat2(d.fd(), name, to.fd(), newName, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: name, New: newName, Err: err}
	}
	return nil
}
