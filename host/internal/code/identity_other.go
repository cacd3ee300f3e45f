//go:build !linux && !darwin

package code

import (
	"fmt"
	"io/fs"
	"time"
)

// identityOf tells a file, and a change of it, from others at the same path: by its size and when it was written.
func identityOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d:%d", info.Size(), info.ModTime().UnixNano())
}

func changed(info fs.FileInfo) time.Time { return info.ModTime() }
