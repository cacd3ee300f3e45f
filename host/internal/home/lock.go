package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// errBusy says that another process holds the lock.
var errBusy = errors.New("another lola holds it")

// Lock takes the one lock of the state folder, which covers every commit, and returns what releases it. It waits until ctx
// ends. The lock goes with the process that holds it, however it ends.
func (h *Home) Lock(ctx context.Context) (unlock func(), err error) {
	f, err := h.openLock()
	if err != nil {
		return nil, fmt.Errorf("locking the state folder %q: %w", h.path, err)
	}
	for {
		err := tryLock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errBusy) {
			f.Close()
			return nil, fmt.Errorf("locking the state folder %q: %w", h.path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("locking the state folder %q: %w: %w", h.path, errBusy, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// openLock opens the lock file; anything else in its place is an error and is never waited on.
func (h *Home) openLock() (*os.File, error) {
	path := filepath.Join(h.root.Path(), "lock")
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|nonBlocking, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(fmt.Errorf("%q is no regular file", path), err)
	}
	return f, nil
}
