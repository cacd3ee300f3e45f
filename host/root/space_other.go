//go:build !linux && !darwin && !windows

package root

import "errors"

// SyncAll is [errors.ErrUnsupported] here.
func (r *Root) SyncAll() error { return errors.ErrUnsupported }

// Free is [errors.ErrUnsupported] here.
func (r *Root) Free() (free, total, files int64, err error) { return 0, 0, 0, errors.ErrUnsupported }
