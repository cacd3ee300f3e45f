package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// pump moves bytes between one pipe and its other end in a goroutine of its own.
type pump struct {
	pipe *os.File
	ends chan<- *pump // takes the pump when its goroutine has ended; what follows is the goroutine's until then

	bytes   int64
	kept    []byte // stderr only
	dropped int64  // stderr only
	cut     bool   // stdin only: the reader went away before the whole request was written
	err     error  // why the child must end; nil if it need not

	since   atomic.Int64 // Unix nanoseconds since which a Read of the pipe has not returned; 0: none is going on
	stopped atomic.Bool  // no more Read or Write of the pipe is to begin
}

// end says that the goroutine has ended. The channel has room for every pump.
func (p *pump) end() { p.ends <- p }

// stop ends the goroutine: no further Read or Write of the pipe begins, and one that is going on is interrupted. An
// interrupt can come just before a Read that it was meant for, so stop is called again until the goroutine has ended.
func (p *pump) stop() {
	p.stopped.Store(true)
	interrupt(p.pipe)
}

// stalled reports whether a Read of the pipe has been waiting since at least d before now, counted from exited on.
func (p *pump) stalled(exited, now time.Time, d time.Duration) bool {
	since := p.since.Load()
	return since != 0 && now.Sub(exited) >= d && now.UnixNano()-since >= int64(d)
}

// Read implements io.Reader on the pipe.
func (p *pump) Read(b []byte) (int, error) {
	if p.stopped.Load() {
		return 0, io.EOF
	}
	p.since.Store(time.Now().UnixNano())
	n, err := p.pipe.Read(b)
	p.since.Store(0)
	return n, err
}

// Write implements io.Writer on the pipe.
func (p *pump) Write(b []byte) (int, error) {
	if p.stopped.Load() {
		p.cut = true
		return 0, errCut
	}
	n, err := p.pipe.Write(b)
	p.bytes += int64(n)
	if err != nil {
		p.cut = true
		if !p.stopped.Load() && !readerGone(err) {
			return n, err
		}
		return n, errCut
	}
	return n, nil
}

// errCut ends the copying of a request that nobody reads any more.
var errCut = errors.New("nobody reads the request")

// feed writes the request. It closes the pipe unless keep is set, or unless nobody reads it.
func (p *pump) feed(request io.Reader, keep bool) {
	defer p.end()
	// The type is hidden so that bytes are counted, and so that a request that is a file is not handed to the kernel,
	// where it could not be interrupted.
	_, err := io.Copy(struct{ io.Writer }{p}, request)
	if !keep {
		_ = p.pipe.Close()
	}
	if err != nil && !errors.Is(err, errCut) {
		p.err = fmt.Errorf("writing its request: %w", err)
	}
}

// copyTo gives what the child writes on stdout to w, bound bytes at most.
func (p *pump) copyTo(w io.Writer, bound int64) {
	defer p.end()
	buf := make([]byte, copySize)
	for {
		n, err := p.Read(buf)
		take := min(int64(n), bound-p.bytes)
		if take > 0 {
			m, werr := w.Write(buf[:take])
			p.bytes += int64(m)
			if werr != nil {
				p.err = fmt.Errorf("taking its output: %w", werr)
				return
			}
		}
		if take < int64(n) {
			p.err = &BoundError{Stream: "stdout", Bound: bound}
			return
		}
		if err != nil {
			p.err = readFailure(p, err)
			return
		}
	}
}

// keep holds what the child writes on stderr, bound bytes at most, and counts the rest.
func (p *pump) keep(bound int64, fatal bool) {
	defer p.end()
	buf := make([]byte, min(copySize, bound+1))
	for {
		n, err := p.Read(buf)
		take := min(int64(n), bound-int64(len(p.kept)))
		p.kept = append(p.kept, buf[:take]...)
		p.dropped += int64(n) - take
		if fatal && p.dropped > 0 {
			p.err = &BoundError{Stream: "stderr", Bound: bound}
			return
		}
		if err != nil {
			p.err = readFailure(p, err)
			return
		}
	}
}

// readFailure returns why a Read failed if it is neither the end of the pipe nor our own doing.
func readFailure(p *pump, err error) error {
	if errors.Is(err, io.EOF) || p.stopped.Load() {
		return nil
	}
	return fmt.Errorf("reading its output: %w", err)
}
