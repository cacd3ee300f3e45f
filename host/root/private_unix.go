//go:build unix

package root

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func checkPrivate(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &PrivateError{Why: "its owner cannot be told"}
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return &PrivateError{Why: fmt.Sprintf("it belongs to user %d and you are user %d", st.Uid, uid)}
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return &PrivateError{Why: fmt.Sprintf("its mode %04o lets others write to it", perm)}
	}
	if info.Mode().IsRegular() && st.Nlink > 1 { // none: it was replaced since it was opened
		return &PrivateError{Why: fmt.Sprintf("it has %d names", st.Nlink)}
	}
	return nil
}
