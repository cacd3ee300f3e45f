// Package home is the one folder in which this program keeps its state: LOLA_HOME.
//
//	h, err := home.Open(path, nil)
//	unlock, err := h.Lock(ctx)
//
// What counts for an effect lies here and nowhere else; nothing in a project directory is believed. The folder is 0700 and
// owned by the effective user, its parents may be links, it may not be one; else it is refused, so that another user cannot
// hand us records of theirs. On Windows the folder inherits the access list of the user's local application data.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/lola-ext/lola/host/root"
)

// Variable names the environment variable that says where the folder is.
const Variable = "LOLA_HOME"

// Path returns where the folder is: what the variable says, else the platform's folder for user data. getenv is
// [os.Getenv] or a stand-in.
func Path(getenv func(string) string) (string, error) {
	if p := getenv(Variable); p != "" {
		if !filepath.IsAbs(p) {
			return "", fmt.Errorf("%s is %q: want an absolute path", Variable, p)
		}
		return filepath.Clean(p), nil
	}
	var base string
	switch runtime.GOOS {
	case "windows":
		base = getenv("LocalAppData")
	case "darwin":
		if h := getenv("HOME"); h != "" {
			base = filepath.Join(h, "Library", "Application Support")
		}
	default:
		// XDG Base Directory Specification: a relative path is to be ignored.
		if base = getenv("XDG_DATA_HOME"); !filepath.IsAbs(base) {
			base = ""
			if h := getenv("HOME"); h != "" {
				base = filepath.Join(h, ".local", "share")
			}
		}
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("no folder for state is known: set %s to an absolute path", Variable)
	}
	return filepath.Join(base, "lola"), nil
}

const tempDir = "tmp"

// Home is the opened folder. It may be used concurrently.
type Home struct {
	path string
	root *root.Root
}

// Open opens the folder at path, an absolute one, and makes it if it is missing, its parents too. hook is told of every
// change in it; nil: nobody is.
func Open(path string, hook root.Hook) (*Home, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("opening the state folder %q: want an absolute path", path)
	}
	h, err := open(filepath.Clean(path), hook) // with a slash at its end, a link would be looked through
	if err != nil {
		return nil, fmt.Errorf("opening the state folder %q: %w", path, err)
	}
	return h, nil
}

func open(path string, hook root.Hook) (*Home, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	err := os.Mkdir(path, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	made := err == nil
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if made && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 && runtime.GOOS != "windows" { // a umask that takes from the owner
		if err := os.Chmod(path, 0o700); err != nil {
			return nil, err
		}
		if info, err = os.Lstat(path); err != nil {
			return nil, err
		}
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("it is no directory (links are refused); set %s to a directory of your own", Variable)
	}
	if err := checkOwner(info); err != nil {
		return nil, err
	}
	r, err := root.OpenHooked(path, hook)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, r.Info()) {
		r.Close()
		return nil, errors.New("it changed while it was opened")
	}
	return &Home{path: path, root: r}, nil
}

// Close closes the folder.
func (h *Home) Close() error { return h.root.Close() }

// Root is the folder as a root, for what other packages keep in it. It is closed with the Home.
func (h *Home) Root() *root.Root { return h.root }

// Path is the folder's path.
func (h *Home) Path() string { return h.path }

// TempDir returns a folder for spools, which lies in the state folder so that nobody else can reach it.
func (h *Home) TempDir() (string, error) {
	dir := filepath.Join(h.root.Path(), tempDir)
	err := h.root.Top().Mkdir(tempDir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		var info root.Info
		if info, err = h.root.Stat(tempDir); err == nil && !info.Type.IsDir() {
			err = fmt.Errorf("it is a %s", info.Kind())
		}
	}
	if err != nil {
		return "", fmt.Errorf("making the folder %q: %w", dir, err)
	}
	return dir, nil
}

// Overlaps reports whether the state folder is the directory that info describes at path, lies in it, or holds it. Such a
// directory can be no root: a plan for it could reach the state. Directories are compared by identity, so another name of
// one (a link, a bind mount) is seen through.
func (h *Home) Overlaps(path string, info fs.FileInfo) (bool, error) {
	above, err := holds(h.root.Path(), info)
	if err != nil || above {
		return above, err
	}
	return holds(path, h.root.Info())
}

// holds reports whether the directory dir or one above it is the one that info describes.
func holds(dir string, info fs.FileInfo) (bool, error) {
	for {
		at, err := os.Stat(dir)
		if err != nil {
			return false, err
		}
		if os.SameFile(at, info) {
			return true, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false, nil
		}
		dir = up
	}
}
