//go:build unix

package root

import (
	"fmt"
	"syscall"
)

// Identity names the root directory as the system knows it, whatever its path: device and inode number.
func (r *Root) Identity() (string, error) {
	st, ok := r.info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("the identity of %q cannot be told", r.path)
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), nil
}
