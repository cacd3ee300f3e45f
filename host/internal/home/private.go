package home

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/lola-ext/lola/host/root"
)

// OpenPrivate opens the regular file name of the folder dir, of which it and every folder on the way are ours alone and no
// link. It is for what is believed because it lies here, such as code that is executed. A missing file or folder is
// [fs.ErrNotExist]; other errors are *[root.LinkError] and *[root.PrivateError], or of the system.
func (h *Home) OpenPrivate(dir, name string) (*os.File, fs.FileInfo, error) {
	d, err := h.PrivateDir(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	f, err := d.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = root.CheckPrivate(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("the file %q: %w", dir+"/"+name, err)
	}
	return f, info, nil
}

// PrivateDir opens a folder as [Home.OpenPrivate] does on its way to a file.
func (h *Home) PrivateDir(dir string) (*root.Dir, error) {
	d, _, err := h.root.Walk("", false)
	if err != nil {
		return nil, err
	}
	at := ""
	for name := range strings.SplitSeq(dir, "/") {
		next, err := d.OpenDir(name)
		d.Close()
		if err != nil {
			return nil, err
		}
		at += name
		info, err := next.Info()
		if err == nil {
			err = root.CheckPrivate(info)
		}
		if err != nil {
			next.Close()
			return nil, fmt.Errorf("the folder %q: %w", at, err)
		}
		d, at = next, at+"/"
	}
	return d, nil
}
