package root

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/lola-ext/lola/abi"
)

// namesOf reads the entries of an open directory, sorted bytewise, at most max.
func namesOf(f *os.File, max int) ([]string, error) {
	names, err := f.Readdirnames(max + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > max {
		return nil, &abi.LimitError{Limit: "directory entries", Bound: int64(max), Got: int64(len(names))}
	}
	slices.Sort(names)
	return names, nil
}

// RemoveTree removes the entry name of d and, if it is a directory, everything beneath it, not following links. It is for
// directories that this program made (staging); it goes on after an error and returns the first.
func (d *Dir) RemoveTree(name string) error {
	info, err := d.Stat(name)
	if err != nil || !info.Exists {
		return err
	}
	if !info.Type.IsDir() {
		return d.Remove(name)
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return err
	}
	names, first := sub.Names(1 << 20)
	if len(names) > 0 {
		sub.openUp()
	}
	for _, n := range names {
		if err := sub.RemoveTree(n); err != nil && first == nil {
			first = err
		}
	}
	sub.Close()
	if err := d.Rmdir(name); err != nil && first == nil {
		first = err
	}
	return first
}

// moveLooking moves an entry if nothing lies at the new name. It looks first, so what appears in between is replaced.
func (d *Dir) moveLooking(name string, to *Dir, newName string, rename func() error) error {
	info, err := to.Stat(newName)
	if err != nil {
		return err
	}
	if info.Exists {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: fs.ErrExist}
	}
	return rename()
}
