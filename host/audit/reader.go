package audit

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"
)

// Filter chooses records. The zero value takes all.
type Filter struct {
	Since     time.Time // those not before it
	Extension string    // those that name this extension
}

// Match reports whether the filter takes rec.
func (f Filter) Match(rec Record) bool {
	return !rec.Time.Before(f.Since) && (f.Extension == "" || names(rec, f.Extension))
}

func names(rec Record, extension string) bool {
	for _, e := range rec.Extensions {
		if e.Name == extension {
			return true
		}
	}
	for _, in := range rec.Intents {
		if in.Extension == extension {
			return true
		}
	}
	for _, f := range rec.Findings {
		if f.Extension == extension {
			return true
		}
	}
	return rec.Dialled != nil && rec.Dialled.Extension == extension
}

// Read yields the records that the filter takes, oldest first, as they were when it was called: later ones are not seen, and
// no lock is held meanwhile. An error ends it and comes with a zero Record: *[BrokenError] where the chain does not hold,
// so that nothing is shown that was not written. A log that is not there is empty; nothing is ever made.
// It holds one record in memory.
func (l *Log) Read(ctx context.Context, filter Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		view, err := l.snapshot(ctx)
		if err != nil {
			yield(Record{}, fmt.Errorf("reading the audit log %q: %w", l.Path(), err))
			return
		}
		defer view.close()
		s := newScanner(view.sources)
		for {
			err := ctx.Err()
			var rec Record
			if err == nil {
				rec, err = s.next()
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("reading the audit log %q: %w", l.Path(), err))
				return
			}
			if filter.Match(rec) && !yield(rec, nil) {
				return
			}
		}
	}
}

// Head returns the last record's place, without judging what comes before it; [Log.Verify] does. An empty log has the zero
// Head.
func (l *Log) Head(ctx context.Context) (Head, error) {
	head, err := l.readHead(ctx)
	if err != nil {
		return Head{}, fmt.Errorf("reading the audit log %q: %w", l.Path(), err)
	}
	return head, nil
}

// CheckEnd returns the last record's place, as [Log.Head] does, and an error if after it lies what no writer leaves. It reads
// no more than the end; [Log.Verify] judges all.
func (l *Log) CheckEnd(ctx context.Context) (Head, error) {
	t, err := l.readEnd(ctx)
	if err == nil && t.damaged {
		err = fmt.Errorf("after record %d lie bytes that are no record and that no cut write leaves", t.Seq)
	}
	if err != nil {
		return Head{}, fmt.Errorf("reading the end of the audit log %q: %w", l.Path(), err)
	}
	return t.Head, nil
}

func (l *Log) readHead(ctx context.Context) (Head, error) {
	t, err := l.readEnd(ctx)
	return t.Head, err
}

func (l *Log) readEnd(ctx context.Context) (tail, error) {
	d, _, err := l.root.Walk(l.dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return tail{}, nil
	}
	if err != nil {
		return tail{}, err
	}
	defer d.Close()
	unlock, err := l.lock(ctx, d, false)
	if err != nil {
		return tail{}, err
	}
	defer unlock()
	numbers, err := list(d)
	if err != nil {
		return tail{}, err
	}
	return readTail(d, numbers, false)
}

// view is a log as it is at one moment: its files, open, each as long as it is then. Writers only add to a file and only
// remove whole ones, which an open file outlives.
type view struct {
	sources []source
	files   []*os.File
}

func (v *view) close() {
	for _, f := range v.files {
		f.Close()
	}
}

func (l *Log) snapshot(ctx context.Context) (*view, error) {
	v := &view{}
	d, _, err := l.root.Walk(l.dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	unlock, err := l.lock(ctx, d, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	numbers, err := list(d)
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		f, err := d.Open(fileName(n))
		if err != nil {
			v.close()
			return nil, err
		}
		v.files = append(v.files, f)
		info, err := f.Stat()
		if err != nil {
			v.close()
			return nil, err
		}
		v.sources = append(v.sources, source{fileName(n), io.NewSectionReader(f, 0, info.Size())})
	}
	return v, nil
}

// firstOf returns the envelope of the first line of r that is one.
func firstOf(r io.Reader) (envelope, error) {
	all := lines{from: bufio.NewReaderSize(r, 64<<10)}
	ignored := sha256.New()
	for {
		ln, err := all.next(ignored)
		if errors.Is(err, io.EOF) {
			return envelope{}, nil
		}
		if err != nil {
			return envelope{}, err
		}
		if env, why := open(ln.text); ln.text != nil && why == "" {
			return env, nil
		}
	}
}
