package code

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// identityOf tells a file, and a change of it, from others.
func identityOf(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d:%d:%d", st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}

// changed is when a file was changed last, its name and mode included.
func changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(0, st.Ctim.Nano())
	}
	return info.ModTime()
}
