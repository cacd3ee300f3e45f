package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/shim/job"
)

// maxPool is how many children a pool keeps waiting at most: each has a process with an engine in it.
const maxPool = 64

// Pool keeps children of one module that are started, locked down and ready to run it, with an instance of it as far as that goes
// without a request. Each answers one request and is gone, as in [Runner.Run], but for the time that its start takes. When one has
// answered the next is started: not before, because the answer would have to share the processors with that.
//
// There are at most twice as many children as wait. One that waits has run the module's own beginning: it may hold as much
// memory as the guest's ceiling (abi.Limits.GuestMemory), and use the processor up to its bound. They end with the pool, and
// with this process. A Pool may be used concurrently.
type Pool struct {
	r       *Runner
	module  Module
	release func()

	waiting chan *Session // of the pool's size
	asks    chan struct{} // has a place for each ask that is going on
	all     sync.WaitGroup

	mu     sync.Mutex
	closed bool // guarded by mu: no more child is started
}

// Pool starts n children, 1 to 64, for one module. Module.File and Module.Code, if it has them, stay as they are until the
// pool is closed. It does not wait until the children are ready; what keeps them from it is told by Ask.
func (r *Runner) Pool(m Module, n int) (*Pool, error) {
	if n < 1 || n > maxPool {
		return nil, fmt.Errorf("keeping %d children waiting for extension %q: want 1 to %d", n, m.Name, maxPool)
	}
	p := &Pool{r: r, module: m, release: func() {}, waiting: make(chan *Session, n), asks: make(chan struct{}, n)}
	p.module.Digest = m.digest()
	if m.File == nil && m.Code == "" { // one copy for all of them
		file, size, release, err := r.file(m)
		if err != nil {
			return nil, &Error{Class: ClassStart, Extension: m.Name, Text: err.Error(), Err: err}
		}
		p.release = release
		p.module.Bytes, p.module.File, p.module.Size = nil, file, size
	}
	for range n {
		if err := p.start(); err != nil {
			_ = p.Close()
			return nil, err
		}
	}
	return p, nil
}

// start adds a child to those that wait, unless enough do.
func (p *Pool) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errPoolClosed
	}
	if len(p.waiting) == cap(p.waiting) { // nobody else adds one
		return nil
	}
	s, err := p.r.open(p.module, job.Run, "", 1)
	if err != nil {
		return err
	}
	p.waiting <- s
	return nil
}

var errPoolClosed = errors.New("the pool is closed")

// Ask has one of the children answer a request: see [Session.Ask]. As many asks as children wait go on at once, others wait
// for their turn. The deadline counts from the turn on.
func (p *Pool) Ask(ctx context.Context, req *abi.Request, spool *wire.Spool) (*Reply, error) {
	refused := func(err error) error {
		class := ClassEnded
		if ctx.Err() != nil {
			class, err = ClassCanceled, context.Cause(ctx)
		}
		return &Error{Class: class, Extension: p.module.Name, Text: err.Error(), Err: err}
	}
	select {
	case p.asks <- struct{}{}:
	case <-ctx.Done():
		return nil, refused(nil)
	}
	s, err := p.take()
	if err != nil {
		<-p.asks
		return nil, refused(err)
	}
	reply, err := s.Ask(ctx, req, spool)
	go func() { // nobody waits for the next child's start, nor for this one's end
		defer p.all.Done()
		_ = p.start() // what fails now fails again for the ask that finds none waiting
		_ = s.Close()
		<-p.asks
	}()
	return reply, err
}

// take takes a child that waits. If there is none, or one that died while it waited, a new one is started instead, and is
// what it is.
//
// Postcondition: without an error all counts one more.
func (p *Pool) take() (*Session, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errPoolClosed
	}
	p.all.Add(1)
	p.mu.Unlock()
	select {
	case s := <-p.waiting:
		select {
		case <-s.done:
			s.kill()
		default:
			return s, nil
		}
	default:
	}
	s, err := p.r.open(p.module, job.Run, "", 1)
	if err != nil {
		p.all.Done()
	}
	return s, err
}

// Close ends all children and waits until they are gone. Asks that are going on are answered first, within their deadline.
func (p *Pool) Close() error {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	p.mu.Unlock()
	if was {
		return nil
	}
	p.all.Wait()
	close(p.waiting)
	for s := range p.waiting {
		s.kill()
	}
	p.release()
	return nil
}
