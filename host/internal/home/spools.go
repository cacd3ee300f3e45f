package home

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lola-ext/lola/host/root"
)

// What a process that was killed leaves in the folder for spools has no owner and is nobody's. Whether it has one cannot be
// asked, so age decides, and being wrong costs nothing: a spool has no name any more where an open file can be removed, and
// elsewhere what somebody has open cannot be removed.
const (
	spoolPrefix = "lola-"        // of the names of package abi/wire and host/internal/launch
	spoolAge    = 24 * time.Hour // since it was written to: longer than any command works without waiting for somebody
	maxSwept    = 256            // names that are looked at in one sweep; another sweep goes on
)

// scratchPrefix is of the names of folders of [Home.Scratch].
const scratchPrefix = "lola-scratch-"

// Scratch makes an empty folder of our own in the folder for spools, 0700 whatever the umask, and opens it. It bears
// name. The caller closes it, and removes it with [Home.RemoveScratch] or moves it away with [Home.MoveScratch];
// one that is left behind goes like a spool.
func (h *Home) Scratch() (scratch *root.Dir, name string, err error) {
	if _, err := h.TempDir(); err != nil {
		return nil, "", err
	}
	tmp, err := h.root.Top().OpenDir(tempDir)
	if err != nil {
		return nil, "", err
	}
	defer tmp.Close()
	name = scratchPrefix + rand.Text()
	if err := tmp.MkdirExact(name, 0o700); err != nil {
		return nil, "", err
	}
	scratch, err = tmp.OpenDir(name)
	return scratch, name, err
}

// ScratchPath is the path of a folder of [Home.Scratch].
func (h *Home) ScratchPath(name string) string { return filepath.Join(h.root.Path(), tempDir, name) }

// RemoveScratch removes a folder of [Home.Scratch] with all that is in it.
func (h *Home) RemoveScratch(name string) error {
	tmp, err := h.root.Top().OpenDir(tempDir)
	if err != nil {
		return err
	}
	defer tmp.Close()
	return tmp.RemoveTree(name)
}

// MoveScratch moves a folder of [Home.Scratch] into the directory to, where nothing is at that name.
func (h *Home) MoveScratch(name string, to *root.Dir, newName string) error {
	tmp, err := h.root.Top().OpenDir(tempDir)
	if err != nil {
		return err
	}
	defer tmp.Close()
	return tmp.Rename(name, to, newName)
}

// SweepSpools removes files from the folder for spools that are a day old, and folders of [Home.Scratch]. At most a few hundred are looked at; what cannot
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
		info, err := os.Lstat(filepath.Join(h.root.Path(), tempDir, name))
		switch {
		case err != nil || now.Sub(info.ModTime()) <= spoolAge:
		case info.Mode().IsRegular():
			_ = top.Remove(name)
		case info.IsDir() && strings.HasPrefix(name, scratchPrefix):
			_ = top.RemoveTree(name)
		}
	}
}
