package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lola-ext/lola/host/root"
)

// Append writes one record at the end of the chain and returns its place when it is durable. It waits for other writers
// until ctx ends or Options.Wait is over.
//
// After an error nothing may be done that the record would have told of. The record may be in the log all the same (the
// disk took it and then would not sync): a plan without "applied" says no more than that it was about to be applied.
// What a write that was cut leaves stays in the file, and the next Append marks it.
func (l *Log) Append(ctx context.Context, rec Record) (Head, error) {
	switch rec.Event {
	case EventRotated, EventDropped, EventTorn, EventDamaged:
		return Head{}, fmt.Errorf("writing the audit log %q: event %q is the log's own", l.Path(), rec.Event)
	}
	rec.Rotated, rec.Dropped, rec.Scrap = nil, nil, nil
	head, err := l.append(ctx, rec)
	if err != nil {
		return Head{}, fmt.Errorf("writing the audit log %q: %w", l.Path(), err)
	}
	return head, nil
}

func (l *Log) append(ctx context.Context, rec Record) (Head, error) {
	rec, size, err := prepare(rec)
	if err != nil {
		return Head{}, err
	}
	d, err := l.folder()
	if err != nil {
		return Head{}, err
	}
	defer d.Close()
	unlock, err := l.lock(ctx, d, true)
	if err != nil {
		return Head{}, err
	}
	defer unlock()
	numbers, err := list(d)
	if err != nil {
		return Head{}, err
	}
	t, err := readTail(d, numbers, true)
	if err != nil {
		return Head{}, err
	}
	if t.file == 0 || t.size == 0 && len(numbers) == 1 {
		// Nobody has yet returned from an Append here, so nobody has made the folder's own name durable for certain.
		if err := l.syncParent(); err != nil {
			return Head{}, err
		}
	}
	b := batch{head: t.Head, text: []byte(t.close), time: timeOf(l.now())}
	var drop []int
	file := t.file
	switch {
	case t.scrap.Bytes > 0: // told of in the file where it lies
		event := EventTorn
		if t.damaged {
			event = EventDamaged
		}
		err = b.add(Record{Event: event, Scrap: &t.scrap})
	case file == 0:
		file = 1
	case t.size == 0 && t.Seq > 0: // begun, and then came a crash
		drop, err = l.begin(d, &b, numbers[:len(numbers)-1])
	case t.size > 0 && t.close == "" && t.size+int64(size) > l.maxFile:
		file++
		drop, err = l.begin(d, &b, numbers)
	}
	if err == nil {
		err = b.add(rec)
	}
	if err == nil {
		err = write(d, fileName(file), t.size == 0 || file != t.file, b.text)
	}
	if err == nil {
		err = remove(d, drop)
	}
	return b.head, err
}

// batch is lines that are written at once.
type batch struct {
	head Head
	text []byte
	time Time
}

func (b *batch) add(rec Record) error {
	if b.head.Seq >= maxSeq {
		return fmt.Errorf("record %d is the last that there can be", b.head.Seq)
	}
	rec.Format, rec.Seq, rec.Prev, rec.Time = Format, b.head.Seq+1, b.head.Hash, b.time
	line, err := encode(rec)
	if err != nil {
		return err
	}
	env, why := open(line[:len(line)-1])
	if why != "" {
		return fmt.Errorf("our own bug: record %d as written: %s", rec.Seq, why)
	}
	b.text = append(b.text, line...)
	b.head = Head{Seq: env.seq, Hash: env.hash}
	return nil
}

// begin adds what stands at the beginning of a file that follows others, and returns which of those are to go.
func (l *Log) begin(d *root.Dir, b *batch, numbers []int) (drop []int, err error) {
	last := numbers[len(numbers)-1]
	if err := b.add(Record{Event: EventRotated, Rotated: &Rotated{File: fileName(last), Last: b.head.Seq, Head: b.head.Hash}}); err != nil {
		return nil, err
	}
	sizes := make([]int64, len(numbers))
	total := l.maxFile // what the new file may come to
	for i, n := range numbers {
		info, err := d.Stat(fileName(n))
		if err != nil {
			return nil, err
		}
		sizes[i] = info.Size
		total += info.Size
	}
	for i := 0; i < len(numbers)-1 && (total > l.quota || len(numbers)-i >= maxFiles); i++ {
		first, err := firstRecord(d, numbers[i+1])
		if err != nil {
			return nil, err
		}
		gone := Dropped{File: fileName(numbers[i]), Bytes: sizes[i], Begins: first.seq, Prev: first.prev}
		if err := b.add(Record{Event: EventDropped, Dropped: &gone}); err != nil {
			return nil, err
		}
		drop = append(drop, numbers[i])
		total -= sizes[i]
	}
	return drop, nil
}

// firstRecord returns the envelope of the first line of a file that is one; the zero value if none is.
func firstRecord(d *root.Dir, number int) (envelope, error) {
	f, err := d.Open(fileName(number))
	if err != nil {
		return envelope{}, err
	}
	defer f.Close()
	return firstOf(f)
}

// write appends text to the file name, which is empty or missing if fresh is set, and makes it durable. A file's name is
// durable before it has content: else a crash between the two would leave the next writer to think that it is.
func write(d *root.Dir, name string, fresh bool, text []byte) error {
	var f *root.File
	err := fs.ErrExist
	if fresh {
		f, err = d.Create(name, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		f, err = d.Append(name)
	}
	if err != nil {
		return err
	}
	if fresh {
		err = d.Sync()
	}
	if err == nil {
		_, err = f.Write(text) // one call: what is cut is cut once
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// remove takes away files that a durable record has told of.
func remove(d *root.Dir, numbers []int) error {
	for _, n := range numbers {
		if err := d.Remove(fileName(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	return d.Sync()
}

// folder opens the folder, makes it if it is missing, and refuses one that others can write to.
func (l *Log) folder() (*root.Dir, error) {
	d, _, err := l.root.Walk(l.dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		var up *root.Dir
		parent, name := root.Split(l.dir)
		if up, _, err = l.root.Walk(parent, false); err != nil {
			return nil, err
		}
		err = up.MkdirExact(name, 0o700)
		up.Close()
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		d, _, err = l.root.Walk(l.dir, false)
	}
	if err != nil {
		return nil, err
	}
	if err := l.owned(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (l *Log) syncParent() error {
	if l.dir == "." {
		return nil
	}
	parent, _ := root.Split(l.dir)
	up, _, err := l.root.Walk(parent, false)
	if err != nil {
		return err
	}
	defer up.Close()
	return up.Sync()
}
