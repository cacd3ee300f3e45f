package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lola-ext/lola/host/root"
)

const lockName = "lock"

// errBusy says that another process holds the lock.
var errBusy = errors.New("another process holds its lock")

// lock takes the log's own lock and returns what releases it. A writer makes the lock file if it is missing; a reader
// shares the lock, and where there is no lock file, nobody ever wrote and there is nothing to wait for. It goes with the
// process that holds it, however that ends.
func (l *Log) lock(ctx context.Context, d *root.Dir, write bool) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	pause := time.Millisecond
	for {
		f, err := l.openLock(d, write)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return func() {}, nil
		}
		if err = tryLock(f, write); err == nil {
			// Who takes the lock of a file that has been put aside holds nothing.
			if info, serr := f.Stat(); serr != nil {
				err = serr
			} else if at, serr := d.Stat(lockName); serr != nil {
				err = serr
			} else if at.Same(info) {
				return func() { f.Close() }, nil
			} else {
				err = errBusy
			}
		}
		f.Close()
		if !errors.Is(err, errBusy) {
			return nil, fmt.Errorf("locking %q: %w", lockName, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", errBusy, context.Cause(ctx))
		case <-time.After(pause):
		}
		pause = min(2*pause, 16*time.Millisecond)
	}
}

// openLock opens the lock file; anything else in its place is an error and is never waited on. A reader gets nil if nothing
// is there. A writer opens it for writing, which it never does: NFS gives an exclusive lock for nothing less. That goes by
// path, and so whoever gets the lock compares what it holds with what lies beneath the root.
func (l *Log) openLock(d *root.Dir, write bool) (*os.File, error) {
	if !write {
		f, err := d.Open(lockName)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return f, err
	}
	info, err := d.Stat(lockName)
	if err == nil && !info.Exists {
		var made *root.File
		if made, err = d.Create(lockName, 0o600); err == nil {
			err = made.Close()
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil // another process was quicker
		}
	} else if err == nil && !info.Regular() {
		err = &root.LinkError{Path: lockName, Kind: info.Kind()}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(l.Path(), lockName), os.O_RDWR|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	return checked(f, true)
}

// checked closes and refuses a file of the log that is not the user's own, if it is to be written or locked for that.
func checked(f *os.File, write bool) (*os.File, error) {
	if !write {
		return f, nil
	}
	info, err := f.Stat()
	if err == nil {
		err = checkOwner(info, false)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening %q: %w", f.Name(), err)
	}
	return f, nil
}
