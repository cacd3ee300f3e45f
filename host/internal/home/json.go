package home

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"time"

	"github.com/lola-ext/lola/host/root"
)

// ReadJSON reads the one value that a file of the state folder holds, strictly: an unknown field, or anything behind the
// value, is an error. A missing file is [fs.ErrNotExist].
func (h *Home) ReadJSON(dir, name string, max int64, v any) error {
	f, err := h.root.Open(dir + "/" + name)
	if err != nil {
		return err
	}
	defer f.Close()
	return DecodeJSON(f, max, v)
}

// DecodeJSON reads the one value that comes from r, at most max bytes of it, as strictly as [Home.ReadJSON].
func DecodeJSON(r io.Reader, max int64, v any) error {
	dec := json.NewDecoder(io.LimitReader(r, max))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if dec.Decode(&struct{}{}) != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}

// WriteJSON writes a file of the state folder so that after a crash the old or the new one is there whole.
//
// Precondition: the caller holds the lock.
func (h *Home) WriteJSON(dir, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	d, _, err := h.root.Walk(dir, true)
	if err != nil {
		return err
	}
	defer d.Close()
	fresh := name + ".new"
	if err := d.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Create(fresh, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync() // the bytes before the name: else a crash can leave an empty file under it
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = Replace(d, fresh, name)
	}
	if err == nil {
		err = d.Sync()
	}
	return err
}

// Remove removes a file of the state folder, if it is there.
func (h *Home) Remove(dir, name string) error {
	d, _, err := h.root.Walk(dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.Sync()
}

// Replace renames over what is there. On Windows a file that somebody reads at that moment cannot be replaced on every
// file system; readers of records are quick.
func Replace(d *root.Dir, fresh, name string) error {
	for tries := 0; ; tries++ {
		err := d.Rename(fresh, d, name)
		if runtime.GOOS != "windows" || !errors.Is(err, fs.ErrPermission) || tries == 100 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
