package home

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What a process that was killed leaves in the folder for spools has no owner and is nobody's. Whether it has one cannot be
// asked, so age decides, and being wrong costs nothing: a spool has no name any more where an open file can be removed, and
// elsewhere what somebody has open cannot be removed.
const (
	spoolPrefix = "lola-"        // of the names of package abi/wire and host/internal/launch
	spoolAge    = 24 * time.Hour // since it was written to: longer than any command works without waiting for somebody
	maxSwept    = 256            // names that are looked at in one sweep; another sweep goes on
)

// SweepSpools removes files from the folder for spools that are a day old. At most a few hundred are looked at; what cannot
// be looked at or removed now is left for the next time.
func (h *Home) SweepSpools(now time.Time) {
	top, err := h.root.Top().OpenDir(tempDir)
	if err != nil {
		return
	}
	defer top.Close()
	dir, err := os.Open(filepath.Join(h.root.Path(), tempDir))
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(maxSwept)
	dir.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, spoolPrefix) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(h.root.Path(), tempDir, name)); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > spoolAge {
			_ = top.Remove(name)
		}
	}
}
