package root

import (
	"io/fs"
	"os"

	"github.com/lola-ext/lola/abi"
)

// File is a file that was made, or opened for appending, beneath a root. It is for one goroutine.
type File struct {
	f    *os.File
	tree *tree
	path string // beneath the root
}

// Write writes at the end of the file.
func (f *File) Write(b []byte) (int, error) {
	if err := f.tree.before(Op{Kind: OpWrite, Path: f.path, Data: b}); err != nil {
		return 0, &fs.PathError{Op: "write", Path: f.path, Err: err}
	}
	return f.f.Write(b)
}

// Sync makes the bytes durable (fsync(2); F_FULLFSYNC on darwin; FlushFileBuffers on Windows).
func (f *File) Sync() error {
	if err := f.tree.before(Op{Kind: OpSync, Path: f.path}); err != nil {
		return &fs.PathError{Op: "sync", Path: f.path, Err: err}
	}
	return f.f.Sync()
}

// Close closes the file. Closing it again is an error and does nothing.
func (f *File) Close() error { return f.f.Close() }

// Size is the file's size in bytes now.
func (f *File) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// newFile tells the hook and opens.
func (d *Dir) newFile(name string, mode abi.Mode, open func() (*os.File, error)) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	path := d.beneath(name)
	if err := d.tree.before(Op{Kind: OpCreate, Path: path, Mode: mode & abi.ModeMask}); err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &File{f: f, tree: d.tree, path: path}, nil
}

// beneath is the path of an entry of d beneath the root.
func (d *Dir) beneath(name string) string { return join(d.rel, name) }

// change tells the hook of a call on an entry of d.
func (d *Dir) change(kind OpKind, name string, mode abi.Mode) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := d.tree.before(Op{Kind: kind, Path: d.beneath(name), Mode: mode}); err != nil {
		return &fs.PathError{Op: string(kind), Path: d.beneath(name), Err: err}
	}
	return nil
}

// changeBoth tells the hook of a call on two entries.
func (d *Dir) changeBoth(kind OpKind, name string, to *Dir, newName string) error {
	for _, n := range [...]string{name, newName} {
		if err := checkName(n); err != nil {
			return err
		}
	}
	if err := d.tree.before(Op{Kind: kind, Path: d.beneath(name), To: to.beneath(newName)}); err != nil {
		return &os.LinkError{Op: string(kind), Old: d.beneath(name), New: to.beneath(newName), Err: err}
	}
	return nil
}

func (d *Dir) symlink(target, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := d.tree.before(Op{Kind: OpSymlink, Path: d.beneath(name), Data: []byte(target)}); err != nil {
		return &fs.PathError{Op: "symlink", Path: d.beneath(name), Err: err}
	}
	return nil
}
