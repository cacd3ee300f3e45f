//go:build !unix

package root

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lola-ext/lola/abi"
)

// maxLooks is how often [Dir.Open] looks at a name that others replace. A writer replaces a file once.
const maxLooks = 20

// Dir is one opened directory beneath a root. Its methods take plain names and never follow a link.
type Dir struct {
	top  *os.Root // the root itself, shared: only a rename between directories names paths beneath it
	dir  *os.Root // this directory
	tree *tree
	rel  string // its path beneath top, "" for top itself
}

func openTop(path string, t *tree) (*Dir, error) {
	top, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{top: top, dir: top, tree: t}, nil
}

func (d *Dir) stat() (fs.FileInfo, error) { return d.dir.Stat(".") }

func (d *Dir) dup() (*Dir, error) {
	again, err := d.dir.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &Dir{top: d.top, dir: again, tree: d.tree, rel: d.rel}, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.dir.Close() }

// Sync does nothing: this platform has no way to make a directory's entries durable alone.
func (d *Dir) Sync() error {
	if err := d.tree.before(Op{Kind: OpSyncDir, Path: d.rel}); err != nil {
		return &fs.PathError{Op: "sync", Path: d.rel, Err: err}
	}
	return nil
}

// OpenDir opens a subdirectory. [os.Root] would follow a link that stays inside, so what is opened must be what was seen.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	before, err := d.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &LinkError{Path: name, Kind: kindOf(before.Mode().Type())}
	}
	sub, err := d.dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := sub.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		sub.Close()
		return nil, fmt.Errorf("opening the directory %q: it changed meanwhile", name)
	}
	return &Dir{top: d.top, dir: sub, tree: d.tree, rel: d.beneath(name)}, nil
}

// openBeneath is one call where a platform has one; here it is the walk.
func (d *Dir) openBeneath(string) (*Dir, error) { return nil, errors.ErrUnsupported }

// Stat tells what lies at name; nothing there is no error.
func (d *Dir) Stat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	info, err := d.dir.Lstat(name)
	if os.IsNotExist(err) {
		return Info{}, nil
	}
	if err != nil {
		return Info{}, err
	}
	return Info{Exists: true, Type: info.Mode().Type(), Mode: abi.Mode(info.Mode().Perm()), Size: info.Size(), Links: 1, id: identity{info}}, nil
}

// Open opens the regular file at name for reading. Where somebody puts another file there meanwhile, it looks again.
func (d *Dir) Open(name string) (*os.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		before, err := d.dir.Lstat(name)
		if err != nil {
			return nil, err
		}
		if !before.Mode().IsRegular() {
			return nil, &LinkError{Path: name, Kind: kindOf(before.Mode().Type())}
		}
		f, err := d.dir.Open(name)
		if err != nil {
			return nil, err
		}
		after, err := f.Stat()
		if err == nil && os.SameFile(before, after) {
			return f, nil
		}
		f.Close()
		if tries == maxLooks {
			return nil, fmt.Errorf("opening %q: it changed meanwhile, %d times", name, tries)
		}
	}
}

// reader opens a regular file for reading to its end at once.
func (d *Dir) reader(name string) (io.ReadCloser, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Create makes a new file and opens it for writing. Something there is [fs.ErrExist]. Only the owner's write bit of mode
// means something here.
func (d *Dir) Create(name string, mode abi.Mode) (*File, error) {
	return d.newFile(name, mode, func() (*os.File, error) {
		return d.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(mode&abi.ModeMask|0o200))
	})
}

// Append opens a file for writing at its end and makes it if it is missing. Anything but a regular file is refused.
func (d *Dir) Append(name string) (*File, error) {
	return d.newFile(name, 0o600, func() (*os.File, error) {
		before, err := d.Stat(name)
		if err != nil {
			return nil, err
		}
		if before.Exists && !before.Regular() {
			return nil, &LinkError{Path: name, Kind: before.Kind()}
		}
		f, err := d.dir.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		after, err := f.Stat()
		if err != nil || before.Exists && !before.Same(after) {
			f.Close()
			return nil, fmt.Errorf("opening %q: it changed meanwhile", name)
		}
		return f, nil
	})
}

// Readlink returns what the symlink name says.
func (d *Dir) Readlink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return d.dir.Readlink(name)
}

// Symlink makes a symlink that says target, which nobody looks at here.
func (d *Dir) Symlink(target, name string) error {
	if err := d.symlink(target, name); err != nil {
		return err
	}
	return d.dir.Symlink(target, name)
}

// Mkdir makes a directory.
func (d *Dir) Mkdir(name string, mode abi.Mode) error {
	if err := d.change(OpMkdir, name, mode&abi.ModeMask); err != nil {
		return err
	}
	return d.dir.Mkdir(name, fs.FileMode(mode&abi.ModeMask))
}

// Rename moves the entry name to newName in the directory to, replacing a file that is there.
func (d *Dir) Rename(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpRename, name, to, newName); err != nil {
		return err
	}
	return d.rename(name, to, newName)
}

func (d *Dir) rename(name string, to *Dir, newName string) error {
	return d.top.Rename(d.beneath(name), to.beneath(newName))
}

// MkdirExact makes a directory. There is no umask here, and no mode to speak of.
func (d *Dir) MkdirExact(name string, mode abi.Mode) error { return d.Mkdir(name, mode) }

// Remove removes a file or link.
func (d *Dir) Remove(name string) error { return d.unlink(OpRemove, name) }

// Rmdir removes an empty directory.
func (d *Dir) Rmdir(name string) error { return d.unlink(OpRmdir, name) }

// unlink removes a directory, or what is none: [os.Root.Remove] would take either.
func (d *Dir) unlink(kind OpKind, name string) error {
	if err := d.change(kind, name, 0); err != nil {
		return err
	}
	info, err := d.dir.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() != (kind == OpRmdir) {
		return &fs.PathError{Op: "remove", Path: name, Err: errors.New("it is a " + kindOf(info.Mode().Type()))}
	}
	return d.dir.Remove(name)
}

// openUp does nothing: a directory's mode keeps nobody out here.
func (d *Dir) openUp() {}

// Names lists the directory, at most max entries; more is a *[abi.LimitError].
func (d *Dir) Names(max int) ([]string, error) {
	f, err := d.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return namesOf(f, max)
}
