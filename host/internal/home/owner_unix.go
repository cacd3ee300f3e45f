//go:build unix

package home

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func checkOwner(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("its owner cannot be told")
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d and you are user %d; set %s to a directory of your own", st.Uid, os.Geteuid(), Variable)
	}
	if perm := info.Mode().Perm(); perm != 0o700 {
		return fmt.Errorf("its mode is %04o and must be 0700; run chmod 700 on it if nobody else wrote there", perm)
	}
	return nil
}
