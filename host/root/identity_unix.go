//go:build unix

package root

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Identity names the root directory as the system knows it, for use together with its path: the inode number. The number of
// the device would be another after a restart on some systems.
func (r *Root) Identity() (string, error) {
	st, ok := r.info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("the identity of %q cannot be told", r.path)
	}
	return fmt.Sprintf("%d", st.Ino), nil
}

// identity tells files and directories apart whatever their names.
type identity struct{ dev, ino uint64 }

func (i identity) is(other identity) bool { return i == other }

func (i identity) same(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && i.dev == uint64(st.Dev) && i.ino == st.Ino
}

// CheckOwner refuses a root that somebody else owns or that everybody may write to: whoever can rename in it decides what
// a plan meets. Its errors are *[OwnerError].
func (r *Root) CheckOwner() error {
	st, ok := r.info.Sys().(*syscall.Stat_t)
	if !ok {
		return &OwnerError{Path: r.path, Why: "its owner cannot be told"}
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return &OwnerError{Path: r.path, Why: fmt.Sprintf("it belongs to user %d and you are user %d", st.Uid, uid)}
	}
	if perm := r.info.Mode().Perm(); perm&0o002 != 0 {
		return &OwnerError{Path: r.path, Why: fmt.Sprintf("its mode %04o lets everybody write to it", perm)}
	}
	return nil
}
