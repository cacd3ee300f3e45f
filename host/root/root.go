// Package root opens one directory tree and reaches everything beneath it by descriptor.
//
// Every path is walked component by component from the opened root; a component that is a symlink, a junction or any other
// name surrogate is refused, inside the tree or out, so what was looked at is what is used:
//
//	r, err := root.Open("/home/me/project")
//	defer r.Close()
//	info, err := r.Stat(".claude/skills/doctor/SKILL.md")
//
// On Unix a directory is a file descriptor and each step is an "at" call that does not follow links; Linux opens a
// directory however deep in one call (openat2(2), RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS) and walks
// where the kernel refuses that. Elsewhere it is [os.Root] beneath the first directory, with the identity of each step
// compared before and after it is opened; os.Root alone would follow a link that stays inside. A rename there names both
// ends beneath the root again, so a swap at that instant can still move a file to another place inside the root, never
// outside.
//
// Paths must have been checked in form (host/plan); this package refuses what could leave the root in any case. FIFOs,
// devices and sockets are never opened and never waited on. It does not lock, and it does not judge what may be changed.
package root

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lola-ext/lola/abi"
)

// Root is one opened directory tree. It may be used concurrently. Close it after all directories of it.
type Root struct {
	path string
	dir  *Dir
	info fs.FileInfo
}

// Open opens the directory at path, which may itself be reached through links: the user named it. [Root.Path] is what it
// resolved to.
func Open(path string) (*Root, error) { return OpenHooked(path, nil) }

// OpenHooked is [Open] with a hook that is told of every change beneath the root; nil: nobody is.
func OpenHooked(path string, h Hook) (*Root, error) {
	if path == "" { // it would be the working directory: what an unset variable in a script must not mean
		return nil, errors.New("opening a root: the path is empty")
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the root %q: %w", path, err)
	}
	dir, err := openTop(real, &tree{path: real, hook: h})
	if err != nil {
		return nil, fmt.Errorf("opening the root %q: %w", path, err)
	}
	info, err := dir.stat()
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("opening the root %q: %w", path, err)
	}
	return &Root{path: real, dir: dir, info: info}, nil
}

// Path is the root's canonical path: absolute, without links. It serves messages and keys; nothing is opened by it.
func (r *Root) Path() string { return r.path }

// Info describes the root directory, for comparison by identity with [os.SameFile].
func (r *Root) Info() fs.FileInfo { return r.info }

// Top is the root's own directory. It is closed with the root, not by the caller.
func (r *Root) Top() *Dir { return r.dir }

// Close closes the root.
func (r *Root) Close() error { return r.dir.Close() }

// LinkError says that a component of a path is a symlink, a junction, a device or another thing that a path may not pass.
type LinkError struct {
	Path string // up to and including the component
	Kind string // "symlink", "file", ...
}

// Error implements error.
func (e *LinkError) Error() string { return fmt.Sprintf("path component %q is a %s", e.Path, e.Kind) }

// Walk opens the directory that dir names, "" and "." being the root itself. With make, missing directories are made
// (0755 less umask) and returned, outermost first, also when a later step fails. The caller closes the directory.
// Errors: *[LinkError] for a component that is no directory; [fs.ErrNotExist] for a missing one.
func (r *Root) Walk(dir string, make bool) (d *Dir, made []string, err error) {
	if dir != "" && dir != "." && checkNames(dir) == nil {
		if d, err := r.dir.openBeneath(dir); err == nil {
			return d, nil, nil
		}
	} // else the walk says which component it is, and makes what is missing
	if d, err = r.dir.dup(); err != nil {
		return nil, nil, err
	}
	if dir == "" || dir == "." {
		return d, nil, nil
	}
	walked := ""
	for name := range strings.SplitSeq(dir, "/") {
		walked = join(walked, name)
		next, err := d.OpenDir(name)
		if make && errors.Is(err, fs.ErrNotExist) {
			if err = d.Mkdir(name, 0o755); err == nil {
				made = append(made, walked)
			} else if errors.Is(err, fs.ErrExist) {
				err = nil // somebody else made it meanwhile
			}
			if err == nil {
				next, err = d.OpenDir(name)
			}
		}
		d.Close()
		if err != nil {
			if le := (*LinkError)(nil); errors.As(err, &le) {
				return nil, made, &LinkError{Path: walked, Kind: le.Kind}
			}
			return nil, made, fmt.Errorf("opening the directory %q: %w", walked, err)
		}
		d = next
	}
	return d, made, nil
}

// Split cuts a path into its directory and its last component. The directory of an absolute path is "/" at least, which
// [Root.Walk] refuses.
func Split(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:max(i, 1)], path[i+1:]
	}
	return "", path
}

// Info is what lies at a path. The zero value is nothing.
type Info struct {
	Exists bool
	Type   fs.FileMode // fs.ModeType bits; 0: a regular file
	Mode   abi.Mode    // permission bits; on Windows 0666 or 0444 as Go tells them
	Size   int64
	Links  uint64 // names that the file has; 1 where that is not told
	id     identity
}

// Same reports whether what lies there is the file or directory that info describes, whatever its name. Nothing is the same
// as nothing.
func (i Info) Same(info fs.FileInfo) bool { return i.Exists && info != nil && i.id.same(info) }

// Is reports whether both are the same file or directory, whatever its name.
func (i Info) Is(other Info) bool { return i.Exists && other.Exists && i.id.is(other.id) }

// Regular reports whether a regular file is there.
func (i Info) Regular() bool { return i.Exists && i.Type == 0 }

// Kind names what is there, for messages.
func (i Info) Kind() string {
	if !i.Exists {
		return "nothing"
	}
	return kindOf(i.Type)
}

func kindOf(t fs.FileMode) string {
	switch {
	case t.IsRegular():
		return "regular file"
	case t.IsDir():
		return "directory"
	case t&fs.ModeSymlink != 0:
		return "symlink"
	case t&fs.ModeNamedPipe != 0:
		return "named pipe"
	case t&fs.ModeSocket != 0:
		return "socket"
	case t&fs.ModeDevice != 0:
		return "device"
	}
	return "special file or junction"
}

// Stat tells what lies at path, not following a last link. Nothing there, a missing parent included, is no error.
// Errors: *[LinkError] for a parent that is no directory.
func (r *Root) Stat(path string) (Info, error) {
	dir, name := Split(path)
	d, _, err := r.Walk(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, nil
	}
	if err != nil {
		return Info{}, err
	}
	defer d.Close()
	return d.Stat(name)
}

// Open opens the regular file at path for reading. Nothing else is ever opened: a FIFO or a device is an error at once.
func (r *Root) Open(path string) (*os.File, error) {
	dir, name := Split(path)
	d, _, err := r.Walk(dir, false)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Open(name)
}

// Digest reads the regular file at path, at most max bytes, and returns its digest and size.
func (r *Root) Digest(path string, max int64) (abi.Digest, int64, error) {
	dir, name := Split(path)
	d, _, err := r.Walk(dir, false)
	if err != nil {
		return abi.Digest{}, 0, err
	}
	defer d.Close()
	return d.Copy(name, nil, max)
}

// Copy reads the regular file name, at most max bytes, and returns its digest and size. What it reads it writes to w as
// well, unless that is nil.
func (d *Dir) Copy(name string, w io.Writer, max int64) (abi.Digest, int64, error) {
	f, err := d.reader(name)
	if err != nil {
		return abi.Digest{}, 0, err
	}
	defer f.Close()
	var from io.Reader = f
	if w != nil {
		from = io.TeeReader(f, w)
	}
	return DigestFile(from, max)
}

// DigestFile reads f to its end, at most max bytes, and returns its digest and size.
func DigestFile(f io.Reader, max int64) (abi.Digest, int64, error) {
	h := hashers.Get().(*hasher)
	defer hashers.Put(h)
	h.Reset()
	var n int64
	for {
		got, err := f.Read(h.buf[:min(int64(len(h.buf)), max-n+1)])
		n += int64(got)
		if n > max {
			return abi.Digest{}, n, &abi.LimitError{Limit: "content", Bound: max, Got: n}
		}
		h.Write(h.buf[:got]) // it never fails
		if err == io.EOF {
			return abi.Digest(h.Sum(h.sum[:0])), n, nil
		}
		if err != nil {
			return abi.Digest{}, n, err
		}
	}
}

// hasher hashes with a buffer of its own. Making both for each of thousands of small files costs more than reading them.
type hasher struct {
	hash.Hash
	buf [32 << 10]byte
	sum [sha256.Size]byte
}

var hashers = sync.Pool{New: func() any { return &hasher{Hash: sha256.New()} }}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func checkNames(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if err := checkName(name); err != nil {
			return err
		}
	}
	return nil
}

// checkName refuses what is no plain file name, whatever the caller checked before.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") || !filepath.IsLocal(name) {
		return fmt.Errorf("%q is no plain file name", name)
	}
	return nil
}
