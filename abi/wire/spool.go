package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/lola-ext/lola/abi"
)

const (
	// spoolHead is how much of a spool stays in memory, so that the usual plan, which is small, costs no file.
	spoolHead = 1 << 20
	// spoolTail is how much is gathered before it is written to the file.
	spoolTail = 128 << 10
)

// A Spool keeps the contents of a plan out of memory. It grows at its end only: the first MiB lies in memory, the rest in a
// temporary file of mode 0600, which is made when it is needed and has no name any more where the system can remove an open
// file (elsewhere [Spool.Close] removes it).
//
// Contents may be read while others are added, from any number of goroutines. One goroutine adds.
type Spool struct {
	dir string

	mu     sync.RWMutex
	head   []byte // the first bytes, at most spoolHead
	file   *os.File
	name   string // what Close must remove; empty: nothing
	filed  int64  // bytes in the file
	tail   []byte // bytes after those in the file
	closed bool
}

// NewSpool returns an empty spool, whose file, if it needs one, will lie in dir, outside any root; empty means
// [os.TempDir]. It makes no file yet.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

// Size returns how many bytes are in the spool.
func (s *Spool) Size() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.size()
}

func (s *Spool) size() int64 { return int64(len(s.head)) + s.filed + int64(len(s.tail)) }

// Close frees the memory and removes the file. Contents cannot be read after it. A second call does nothing.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head, s.tail, s.closed = nil, nil, true
	var err error
	if s.file != nil {
		err = s.file.Close()
		s.file = nil
	}
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
		s.name = ""
	}
	if err != nil {
		return fmt.Errorf("close spool: %w", err)
	}
	return nil
}

// Add copies r to its end and returns it as content. It serves hosts that fetch; decoders use the same way in pieces.
func (s *Spool) Add(r io.Reader) (abi.Content, error) {
	start := s.Size()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if err := s.append(buf[:n]); err != nil {
				return nil, err
			}
		}
		if err == io.EOF {
			return s.content(start), nil
		}
		if err != nil {
			return nil, fmt.Errorf("spool content: %w", err)
		}
	}
}

// append adds bytes at the end.
func (s *Spool) append(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("write spool: %w", os.ErrClosed)
	}
	if room := spoolHead - len(s.head); room > 0 {
		n := min(room, len(b))
		s.head = append(s.head, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		if s.tail == nil {
			s.tail = make([]byte, 0, spoolTail)
		}
		n := min(cap(s.tail)-len(s.tail), len(b))
		s.tail = append(s.tail, b[:n]...)
		b = b[n:]
		if len(s.tail) == cap(s.tail) {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush moves the tail into the file. The caller holds mu.
func (s *Spool) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "lola-spool-*") // mode 0600
		if err != nil {
			return fmt.Errorf("make spool: %w", err)
		}
		s.file = f
		if os.Remove(f.Name()) != nil {
			s.name = f.Name() // this system keeps the name of an open file
		}
	}
	if _, err := s.file.WriteAt(s.tail, s.filed); err != nil {
		return fmt.Errorf("write spool: %w", err)
	}
	s.filed += int64(len(s.tail))
	s.tail = s.tail[:0]
	return nil
}

// content returns what lies between start and the end.
func (s *Spool) content(start int64) abi.Content {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return &spooled{spool: s, off: start, size: s.size() - start}
}

// readAt reads into p what lies at off, at least one byte if there is one.
func (s *Spool) readAt(p []byte, off int64) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, fmt.Errorf("read spool: %w", os.ErrClosed)
	}
	if off < int64(len(s.head)) {
		return copy(p, s.head[off:]), nil
	}
	off -= int64(len(s.head))
	if off >= s.filed {
		return copy(p, s.tail[off-s.filed:]), nil
	}
	n, err := s.file.ReadAt(p[:min(int64(len(p)), s.filed-off)], off)
	if n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("read spool: %w", err)
}

// spooled is content in a spool.
type spooled struct {
	spool     *Spool
	off, size int64

	once   sync.Once
	digest abi.Digest
}

func (c *spooled) Size() int64 { return c.size }

// Digest implements [abi.Content]. It hashes at the first call, for hashing costs more than all of decoding. If the spool
// cannot be read it returns the zero digest, which is no content's; Open then says why.
func (c *spooled) Digest() abi.Digest {
	c.once.Do(func() {
		d, err := digestOf(c)
		if err == nil {
			c.digest = d
		}
	})
	return c.digest
}

func (c *spooled) Open() (io.ReadCloser, error) {
	c.spool.mu.RLock()
	defer c.spool.mu.RUnlock()
	if c.spool.closed {
		return nil, fmt.Errorf("open spooled content: %w", os.ErrClosed)
	}
	return &spoolReader{content: c}, nil
}

type spoolReader struct {
	content *spooled
	done    int64
}

func (r *spoolReader) Read(p []byte) (int, error) {
	left := r.content.size - r.done
	if left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > left {
		p = p[:left]
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.content.spool.readAt(p, r.content.off+r.done)
	r.done += int64(n)
	return n, err
}

func (r *spoolReader) Close() error { return nil }
