package wire

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/lola-ext/lola/abi"
)

const (
	// spoolHead is how much of a spool stays in memory, so that the usual plan, which is small, costs no file.
	spoolHead = 4 << 20
	// spoolBlock is how much memory a spool takes at a time.
	spoolBlock = 128 << 10
)

// A Spool keeps the contents of a plan out of memory. It grows at its end only: the first 4 MiB lie in memory, the rest in a
// temporary file of mode 0600, which is made when it is needed and has no name any more where the system can remove an open
// file (elsewhere [Spool.Close] removes it).
//
// Contents may be read while others are added, from any number of goroutines. One goroutine adds.
type Spool struct {
	dir  string
	end  int64     // bytes added; for the one that adds
	slab []spooled // contents to hand out, made many at a time; for the one that adds

	mu     sync.RWMutex
	head   [][]byte // the first bytes, in blocks of spoolBlock; guarded by mu
	file   *os.File // guarded by mu
	name   string   // what Close must remove; empty: nothing; guarded by mu
	filed  int64    // bytes in the file; guarded by mu
	tail   []byte   // bytes after those in the file, a block at most; guarded by mu
	closed bool     // guarded by mu
}

// NewSpool returns an empty spool, whose file, if it needs one, will lie in dir, outside any root; empty means
// [os.TempDir]. It makes no file yet.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

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

// Add copies r to the end of the spool and returns it as content. It serves hosts that bring contents of their own.
func (s *Spool) Add(r io.Reader) (abi.Content, error) {
	start := s.end
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
	s.end += int64(len(b))
	for len(b) > 0 {
		if len(s.tail) == cap(s.tail) {
			if err := s.turn(); err != nil {
				return err
			}
		}
		n := min(cap(s.tail)-len(s.tail), len(b))
		s.tail = append(s.tail, b[:n]...)
		b = b[n:]
	}
	return nil
}

// turn makes room in the tail, which is full or not there yet: it becomes the next block of the head, or goes into the
// file once the head is as large as it may be. The caller holds mu.
func (s *Spool) turn() error {
	if s.tail != nil && len(s.head) == spoolHead/spoolBlock {
		return s.flush()
	}
	if s.tail != nil {
		s.head = append(s.head, s.tail)
	}
	s.tail = make([]byte, 0, spoolBlock)
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

// content returns what was added since start.
func (s *Spool) content(start int64) abi.Content {
	if len(s.slab) == 0 {
		s.slab = make([]spooled, 32)
	}
	c := &s.slab[0]
	s.slab = s.slab[1:]
	c.spool, c.off, c.size = s, start, s.end-start
	return c
}

// readAt reads into p what lies at off, at least one byte. The caller asks for nothing past the end.
func (s *Spool) readAt(p []byte, off int64) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, fmt.Errorf("read spool: %w", os.ErrClosed)
	}
	if block := off / spoolBlock; block < int64(len(s.head)) {
		return copy(p, s.head[block][off%spoolBlock:]), nil
	}
	off -= int64(len(s.head)) * spoolBlock
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
		h := sha256.New()
		if _, err := (&spoolReader{content: c}).WriteTo(h); err == nil {
			h.Sum(c.digest[:0])
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

// WriteTo implements [io.WriterTo] with a buffer no larger than what there is to copy.
func (r *spoolReader) WriteTo(w io.Writer) (int64, error) {
	buf := make([]byte, min(32<<10, r.content.size-r.done))
	start := r.done
	for {
		n, err := r.Read(buf)
		if err == io.EOF {
			return r.done - start, nil
		}
		if err != nil {
			return r.done - start, err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return r.done - start, err
		}
	}
}

func (r *spoolReader) Close() error { return nil }
