//go:build unix

package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a file or folder that somebody else owns or, if alone is set, may write to.
func checkOwner(info fs.FileInfo, alone bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner cannot be told")
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d and you are user %d", st.Uid, os.Geteuid())
	}
	if perm := info.Mode().Perm(); alone && perm&0o022 != 0 {
		return fmt.Errorf("its mode %04o lets others write to it", perm)
	}
	return nil
}
