package wire

import "io"

// readSize is the size of the one read buffer of a decoder: large enough that system calls do not count.
const readSize = 64 << 10

// A source is a buffered reader that knows where it is, and how far it may go.
type source struct {
	r        io.Reader // nil: buf is all there is
	buf      []byte
	pos, end int   // buf[pos:end] has been read and not consumed
	base     int64 // offset of buf[0] in the input
	max      int64 // how many bytes may be consumed
	size     int64 // bytes of the whole input; 0: not known
	err      error // why r gives no more: io.EOF, or what it said
}

func newSource(r io.Reader, limit, size int64) source {
	return source{r: r, buf: make([]byte, readSize), max: limit, size: size}
}

// reset makes b the whole input.
func (s *source) reset(b []byte, limit int64) {
	*s = source{buf: b, end: len(b), max: limit, size: int64(len(b)), err: io.EOF}
}

// offset is how many bytes have been consumed.
func (s *source) offset() int64 { return s.base + int64(s.pos) }

// fill reads until n bytes lie in the buffer, n being at most readSize. It reports false when the input ends before.
func (s *source) fill(n int) bool {
	for idle := 0; s.end-s.pos < n; {
		if s.err != nil {
			return false
		}
		if s.pos == s.end || len(s.buf)-s.pos < n {
			copy(s.buf, s.buf[s.pos:s.end])
			s.base += int64(s.pos)
			s.end -= s.pos
			s.pos = 0
		}
		m, err := s.r.Read(s.buf[s.end:])
		s.end += m
		if err != nil {
			s.err = err
		}
		if m > 0 {
			idle = 0
		} else if idle++; idle > 100 {
			s.err = io.ErrNoProgress
		}
	}
	return true
}

// ahead returns what lies in the buffer, at least one byte unless the input has ended.
func (s *source) ahead() []byte {
	if s.pos == s.end {
		s.fill(1)
	}
	return s.buf[s.pos:s.end]
}

// rest is how many bytes are known to be left, and whether that is known.
func (s *source) rest() (int64, bool) { return s.size - s.offset(), s.size > 0 }
