package plan

import (
	"errors"
	"io/fs"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// view looks at paths of a root, many of them in few directories: it keeps the last directory open, and remembers which ones
// cannot be opened, so that nothing is looked for beneath a directory that is not there. What it remembers may have changed
// since; whoever applies a plan compares again.
type view struct {
	root *root.Root
	dead map[string]error // directories that cannot be opened
	path string           // of the last directory
	last *root.Dir
	err  error
}

// stat is [root.Root.Stat].
func (v *view) stat(path string) (root.Info, error) {
	dir, name := root.Split(path)
	d, err := v.dir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return root.Info{}, nil
	}
	if err != nil {
		return root.Info{}, err
	}
	return d.Stat(name)
}

// dir opens a directory that stays the view's.
func (v *view) dir(path string) (*root.Dir, error) {
	if path == "" {
		return v.root.Top(), nil
	}
	if path == v.path {
		return v.last, v.err
	}
	v.close()
	v.path = path
	for at := path; at != "" && v.err == nil; at, _ = root.Split(at) {
		v.err = v.dead[at]
	}
	if v.err != nil {
		return nil, v.err
	}
	if v.last, _, v.err = v.root.Walk(path, false); v.err != nil {
		err := v.err
		v.dead[path] = err
		up, _ := root.Split(path)
		_, _ = v.dir(up) // remembers how far up it is so
		return nil, err
	}
	return v.last, nil
}

// digest reads the file at path.
func (v *view) digest(path string) (abi.Digest, error) {
	dir, name := root.Split(path)
	d, err := v.dir(dir)
	if err != nil {
		return abi.Digest{}, err
	}
	digest, _, err := d.Copy(name, nil, maxRead)
	return digest, err
}

// readlink reads the symlink at path.
func (v *view) readlink(path string) (string, error) {
	dir, name := root.Split(path)
	d, err := v.dir(dir)
	if err != nil {
		return "", err
	}
	return d.Readlink(name)
}

func (v *view) close() {
	if v.last != nil {
		v.last.Close()
	}
	v.path, v.last, v.err = "", nil, nil
}
