//go:build unix

package root

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/abi"
)

// Dir is one opened directory beneath a root. Its methods take plain names and never follow a link.
//
// It is a bare descriptor and no [os.File]: nearly every call opens a directory, and what an os.File adds (asking for the
// descriptor's flags, a finalizer) costs as much as the opening.
type Dir struct {
	n    int // the descriptor; -1: closed
	tree *tree
	rel  string // its path beneath the root, "" for the root itself: for messages and hooks, never opened
}

const openDirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openTop(path string, t *tree) (*Dir, error) {
	fd, err := eintr(func() (int, error) { return unix.Open(path, openDirFlags, 0) })
	if err != nil {
		return nil, err
	}
	return &Dir{n: fd, tree: t}, nil
}

func (d *Dir) fd() int { return d.n }

// again opens another descriptor of the same directory.
func (d *Dir) again() (int, error) {
	fd, err := unix.FcntlInt(uintptr(d.fd()), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: d.name(), Err: err}
	}
	return fd, nil
}

// name is what the directory is called in messages.
func (d *Dir) name() string {
	if d.rel == "" {
		return d.tree.path
	}
	return d.rel
}

func (d *Dir) stat() (fs.FileInfo, error) {
	fd, err := d.again()
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.name())
	defer f.Close()
	return f.Stat()
}

func (d *Dir) dup() (*Dir, error) {
	fd, err := d.again()
	if err != nil {
		return nil, err
	}
	return &Dir{n: fd, tree: d.tree, rel: d.rel}, nil
}

// Close closes the directory. Closing it again is an error and does nothing.
func (d *Dir) Close() error {
	fd := d.n
	if fd < 0 {
		return &fs.PathError{Op: "close", Path: d.name(), Err: fs.ErrClosed}
	}
	d.n = -1
	return unix.Close(fd)
}

// Sync makes the directory's entries durable (fsync(2)).
func (d *Dir) Sync() error {
	if err := d.tree.before(Op{Kind: OpSyncDir, Path: d.rel}); err != nil {
		return &fs.PathError{Op: "sync", Path: d.rel, Err: err}
	}
	if err := syncFD(d.fd()); err != nil {
		return &fs.PathError{Op: "sync", Path: d.name(), Err: err}
	}
	return nil
}

// OpenDir opens a subdirectory.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	fd, err := eintr(func() (int, error) {
		return unix.Openat(d.fd(), name, openDirFlags, 0)
	})
	if err != nil {
		// A link is ELOOP or ENOTDIR by kernel; ask what is there to say it in words.
		if info, serr := d.Stat(name); serr == nil && info.Exists && !info.Type.IsDir() {
			return nil, &LinkError{Path: name, Kind: info.Kind()}
		}
		return nil, err
	}
	return &Dir{n: fd, tree: d.tree, rel: d.beneath(name)}, nil
}

// Stat tells what lies at name; nothing there is no error.
func (d *Dir) Stat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.ENOENT {
		return Info{}, nil
	}
	if err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return Info{
		Exists: true, Type: typeOf(uint32(st.Mode)), Mode: abi.Mode(st.Mode) & abi.ModeMask, Size: st.Size,
		Links: uint64(st.Nlink), id: identity{dev: uint64(st.Dev), ino: st.Ino},
	}, nil
}

func typeOf(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFBLK:
		return fs.ModeDevice
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}

// Open opens the regular file at name for reading.
func (d *Dir) Open(name string) (*os.File, error) {
	fd, err := d.openRegular(name)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openRegular opens the regular file at name for reading. O_NONBLOCK keeps a FIFO, or a device swapped in, from holding us
// up; what was opened is then asked what it is.
func (d *Dir) openRegular(name string) (int, error) {
	info, err := d.Stat(name)
	if err != nil {
		return -1, err
	}
	if !info.Exists {
		return -1, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if !info.Regular() {
		return -1, &LinkError{Path: name, Kind: info.Kind()}
	}
	fd, err := eintr(func() (int, error) {
		return unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return -1, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if t := typeOf(uint32(st.Mode)); t != 0 {
		unix.Close(fd)
		return -1, &LinkError{Path: name, Kind: kindOf(t)}
	}
	return fd, nil
}

// reader opens a regular file for reading to its end at once.
func (d *Dir) reader(name string) (io.ReadCloser, error) {
	fd, err := d.openRegular(name)
	if err != nil {
		return nil, err
	}
	return &rawFile{fd: fd, name: name}, nil
}

// rawFile is a descriptor that is read and closed.
type rawFile struct {
	fd   int
	name string
}

func (f *rawFile) Read(b []byte) (int, error) {
	n, err := eintr(func() (int, error) { return unix.Read(f.fd, b) })
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *rawFile) Close() error { return unix.Close(f.fd) }

// Create makes a new file and opens it for writing, with mode whatever the umask. Something there is [fs.ErrExist].
func (d *Dir) Create(name string, mode abi.Mode) (*File, error) {
	return d.newFile(name, mode, func() (*os.File, error) {
		f, err := d.openFile(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode&abi.ModeMask)
		if err != nil {
			return nil, err
		}
		// The umask or an ACL of the directory may have taken bits; asking is cheaper than setting what is set.
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err == nil && abi.Mode(st.Mode)&abi.ModeMask == mode&abi.ModeMask {
			return f, nil
		}
		if err := f.Chmod(fs.FileMode(mode & abi.ModeMask)); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	})
}

// Append opens a file for writing at its end and makes it, 0600, if it is missing. Anything but a regular file that has no
// other name is refused, and never waited on.
func (d *Dir) Append(name string) (*File, error) {
	return d.newFile(name, 0o600, func() (*os.File, error) {
		f, err := d.openFile(name, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			f.Close()
			return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		if t := typeOf(uint32(st.Mode)); t != 0 || st.Nlink != 1 {
			f.Close()
			if t == 0 {
				return nil, &LinkError{Path: name, Kind: "file with other names"}
			}
			return nil, &LinkError{Path: name, Kind: kindOf(t)}
		}
		return f, nil
	})
}

func (d *Dir) openFile(name string, flags int, mode abi.Mode) (*os.File, error) {
	fd, err := eintr(func() (int, error) {
		return unix.Openat(d.fd(), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(mode))
	})
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Readlink returns what the symlink name says.
func (d *Dir) Readlink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	b := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd(), name, b)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(b[:n]), nil
}

// Symlink makes a symlink that says target, which nobody looks at here.
func (d *Dir) Symlink(target, name string) error {
	if err := d.symlink(target, name); err != nil {
		return err
	}
	if err := unix.Symlinkat(target, d.fd(), name); err != nil {
		return &fs.PathError{Op: "symlink", Path: name, Err: err}
	}
	return nil
}

// Mkdir makes a directory; the umask applies.
func (d *Dir) Mkdir(name string, mode abi.Mode) error {
	if err := d.change(OpMkdir, name, mode&abi.ModeMask); err != nil {
		return err
	}
	if err := unix.Mkdirat(d.fd(), name, uint32(mode&abi.ModeMask)); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

// MkdirExact makes a directory with mode whatever the umask.
func (d *Dir) MkdirExact(name string, mode abi.Mode) error {
	if err := d.Mkdir(name, 0o700); err != nil {
		return err
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	info, err := sub.stat()
	if err != nil {
		return err
	}
	if err := d.change(OpChmod, name, mode&abi.ModeMask); err != nil {
		return err
	}
	special := info.Mode() & (fs.ModeSetgid | fs.ModeSticky) // what the parent hands down
	return sub.chmod(fs.FileMode(mode&abi.ModeMask) | special)
}

// Rename moves the entry name to newName in the directory to, replacing a file that is there (renameat(2)).
func (d *Dir) Rename(name string, to *Dir, newName string) error {
	if err := d.changeBoth(OpRename, name, to, newName); err != nil {
		return err
	}
	if err := d.rename(name, to, newName); err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: err}
	}
	return nil
}

func (d *Dir) rename(name string, to *Dir, newName string) error {
	return unix.Renameat(d.fd(), name, to.fd(), newName)
}

// Remove removes a file or link.
func (d *Dir) Remove(name string) error { return d.unlink(OpRemove, name, 0) }

// Rmdir removes an empty directory.
func (d *Dir) Rmdir(name string) error { return d.unlink(OpRmdir, name, unix.AT_REMOVEDIR) }

func (d *Dir) unlink(kind OpKind, name string, flags int) error {
	if err := d.change(kind, name, 0); err != nil {
		return err
	}
	if err := unix.Unlinkat(d.fd(), name, flags); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// openUp lets the owner remove what lies in a directory that is itself to be removed.
func (d *Dir) openUp() {
	if info, err := d.stat(); err == nil && info.Mode().Perm()&0o300 != 0o300 && d.tree.before(Op{Kind: OpChmod, Path: d.rel, Mode: 0o700}) == nil {
		_ = d.chmod(0o700)
	}
}

func (d *Dir) chmod(mode fs.FileMode) error {
	fd, err := d.again()
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), d.name())
	defer f.Close()
	return f.Chmod(mode)
}

// Names lists the directory, at most max entries; more is a *[abi.LimitError].
func (d *Dir) Names(max int) ([]string, error) {
	fd, err := eintr(func() (int, error) {
		return unix.Openat(d.fd(), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: d.name(), Err: err}
	}
	f := os.NewFile(uintptr(fd), d.name())
	defer f.Close()
	return namesOf(f, max)
}

func eintr(call func() (int, error)) (int, error) {
	for {
		if fd, err := call(); err != unix.EINTR {
			return fd, err
		}
	}
}
