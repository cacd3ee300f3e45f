//go:build !linux && !darwin

package root

import (
	"errors"
	"os"
)

// RenameNew moves the entry name to newName in the directory to, where nothing may be: then it is [fs.ErrExist], and what
// is there stays. On this platform what appears there at that very instant is replaced all the same.
func (d *Dir) RenameNew(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpMove, name, to, newName); err != nil {
		return err
	}
	return d.moveLooking(name, to, newName, func() error { return d.rename(name, to, newName) })
}

// Exchange lets two entries change places in one step, which no reader sees half done.
// Errors: [errors.ErrUnsupported] where the file system or the platform has no such call, as here; nothing has happened then.
func (d *Dir) Exchange(name string, to *Dir, newName string) error {
	return &os.LinkError{Op: "exchange", Old: name, New: newName, Err: errors.ErrUnsupported}
}
