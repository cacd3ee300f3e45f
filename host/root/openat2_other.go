//go:build unix && !linux

package root

import "errors"

// openBeneath is one call where a platform has one; here it is the walk.
func (d *Dir) openBeneath(string) (*Dir, error) { return nil, errors.ErrUnsupported }
