package root

import (
	"fmt"
	"io/fs"
)

// Info describes the directory itself.
func (d *Dir) Info() (fs.FileInfo, error) { return d.stat() }

// CheckPrivate refuses what somebody else owns or may write to: its bytes are not only ours. It is for what this program
// keeps for itself and will believe. On Windows it accepts everything: there the access list says who may write, and a
// folder of state inherits that of the user's own data.
// Errors: *[PrivateError].
func CheckPrivate(info fs.FileInfo) error { return checkPrivate(info) }

// PrivateError says why what lies somewhere is not ours alone.
type PrivateError struct{ Why string }

// Error implements error.
func (e *PrivateError) Error() string { return fmt.Sprintf("it is not yours alone: %s", e.Why) }
