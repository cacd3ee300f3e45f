package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lola-ext/lola/host/root"
)

// scrapEnd ends, before LF, a line that a cut write left. No record ends with it.
const scrapEnd = '~'

// tail is the end of a log: what the next record is chained to, and what lies after the last one.
type tail struct {
	Head
	file    int    // number of the newest file; 0: none
	size    int64  // of it
	close   string // what ends its last line, if nothing does
	scrap   Scrap  // bytes of it after the last record
	damaged bool   // a cut write does not leave such bytes
}

// readTail finds the last whole record: from the end, and only if the newest file does not end with one, by reading that
// file through. It believes a record whose hash is right; whether all before it hold is for Verify.
func readTail(d *root.Dir, numbers []int, write bool) (tail, error) {
	var t tail
	for i := len(numbers) - 1; i >= 0; i-- {
		newest := i == len(numbers)-1
		found, err := t.readFile(d, numbers[i], newest, write)
		if err != nil {
			return tail{}, fmt.Errorf("reading the end of %q: %w", fileName(numbers[i]), err)
		}
		if found {
			break
		}
	}
	return t, nil
}

func (t *tail) readFile(d *root.Dir, number int, newest, write bool) (found bool, err error) {
	f, err := d.Open(fileName(number))
	if err != nil {
		return false, err
	}
	defer f.Close()
	if write {
		if f, err = checked(f, true); err != nil {
			return false, err
		}
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	size := info.Size()
	env, end, err := lastRecord(f, size)
	if err != nil {
		return false, err
	}
	if env.seq > 0 && env.format != Format {
		return false, errNewer(env)
	}
	t.Head = Head{Seq: env.seq, Hash: env.hash}
	if !newest {
		return env.seq > 0, nil
	}
	t.file, t.size = number, size
	if end < size {
		err = t.readScrap(f, end)
	} else if size > 0 {
		var last [1]byte
		if _, err = f.ReadAt(last[:], size-1); err == nil && last[0] != '\n' {
			t.close = "\n" // the write was cut before its very last byte
		}
	}
	return env.seq > 0, err
}

// readScrap hashes what lies after the last record, with what will close it, and judges it as [scanner] will.
func (t *tail) readScrap(f *os.File, from int64) error {
	h := sha256.New()
	all := lines{from: bufio.NewReaderSize(io.NewSectionReader(f, from, t.size-from), 64<<10)}
	for {
		ln, err := all.next(h)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		h.Write(ln.text)
		if ln.ended {
			if ln.text != nil {
				h.Write([]byte{'\n'})
			}
			t.damaged = t.damaged || ln.last != scrapEnd
			continue
		}
		t.close = string(scrapEnd) + "\n"
		if ln.text != nil && len(ln.text) > 0 {
			if _, why := open(ln.text[:len(ln.text)-1]); why == "" {
				t.damaged = true
			}
		}
	}
	h.Write([]byte(t.close))
	t.scrap = Scrap{Bytes: t.size - from + int64(len(t.close)), Digest: Digest(h.Sum(nil))}
	return nil
}

// lastRecord returns the envelope of the last line of f that is one, and where that line ends; seq 0 if none is.
func lastRecord(f *os.File, size int64) (env envelope, end int64, err error) {
	for _, length := range [...]int64{64 << 10, MaxRecord + 2} { // nearly all records are in the first
		length = min(length, size)
		block := make([]byte, length)
		if _, err := f.ReadAt(block, size-length); err != nil && !errors.Is(err, io.EOF) {
			return envelope{}, 0, err
		}
		text := bytes.TrimSuffix(block, []byte{'\n'})
		start := bytes.LastIndexByte(text, '\n') + 1
		if start == 0 && length < size {
			continue // the line begins before the block
		}
		if env, why := open(text[start:]); why == "" {
			return env, size, nil
		}
		break
	}
	all := lines{from: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 64<<10)}
	ignored := sha256.New()
	for at := int64(0); ; {
		ln, err := all.next(ignored)
		if errors.Is(err, io.EOF) {
			return env, end, nil
		}
		if err != nil {
			return envelope{}, 0, err
		}
		at += ln.size
		if ln.text == nil {
			continue
		}
		if e, why := open(ln.text); why == "" {
			env, end = e, at
		}
	}
}
