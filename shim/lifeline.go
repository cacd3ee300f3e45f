package shim

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/lola-ext/lola/shim/job"
)

// asks reads descriptor 0 for as long as this process lives, in a goroutine of its own that nobody else reads beside. So it
// is the lifeline too: it sees the end of the host whatever the rest is busy with, and ends this process.
//
// The goroutine needs Go's scheduler, and code of a guest gives that no chance to stop it: the goroutine needs a processor of
// its own, and no collection of garbage may wait for the guest to stop, which would stop all else (enterGuest). A guest that
// makes the host side of the engine use memory up to the bound set there can still bring that about. Against that helps only
// what the system does: the host that kills at the deadline, limits of processor time.
type asks struct {
	in    *bufio.Reader
	bound int64       // bytes of a request at most
	next  chan []byte // the requests; closed when there is none any more
	state atomic.Int32
}

// What this process is at while the goroutine waits for the next byte, which decides what that byte, or the end, means.
const (
	preparing = iota // a request may come, and waits; at the end the host is gone
	busy             // with a request: nothing may come; at the end the host is gone
	idle             // a request may come; at the end there is no more to do
)

// listen begins to read. From now on descriptor 0 is the goroutine's alone.
func listen(in *bufio.Reader, bound int64) *asks {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	a := &asks{in: in, bound: bound, next: make(chan []byte, 1)}
	go a.read()
	return a
}

// prepared says that requests can be answered from now on. One may have come already.
func (a *asks) prepared() { a.state.CompareAndSwap(preparing, idle) }

// answered says that a request is, but for writing the answer, which the host may answer at once with the next.
func (a *asks) answered() { a.state.Store(idle) }

func (a *asks) read() {
	for {
		_, err := a.in.Peek(1)
		if state := a.state.Load(); state == busy || err != nil && state == preparing {
			os.Exit(exitOrphan)
		}
		if err == io.EOF {
			close(a.next)
			return
		}
		request, err := a.one()
		if err != nil {
			quit(err)
		}
		a.state.Store(busy)
		a.next <- request
	}
}

// one reads an ask.
func (a *asks) one() ([]byte, error) {
	ask, err := job.ReadAsk(a.in)
	if err != nil {
		return nil, err
	}
	if ask.Request > a.bound {
		return nil, fmt.Errorf("the request has %d bytes, the job says at most %d", ask.Request, a.bound)
	}
	request := make([]byte, ask.Request)
	if _, err := io.ReadFull(a.in, request); err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	return request, nil
}

// deafen drops the signals that a terminal or a job runner sends to a whole group of processes. They are for the host, which
// ends this process itself; else it would be chance whether the host sees its own interruption first or a child that died.
func deafen() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// enterGuest prepares the Go runtime for guests, and closes what they must not have. Garbage is from now on collected only
// when as much memory is used up as the engine, a request and a plan may take, or between two requests: linear memory is not
// on the heap that is collected. SetGCPercent waits for a collection that is under way.
func enterGuest(j job.Job) error {
	collectNothing(j)
	return confineGuest()
}

// collectNothing has garbage collected only when there is much of it.
func collectNothing(j job.Job) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(engineMemory + j.Request + planCopies*j.Plan)
}

const (
	// engineMemory is what the engine may have in use beside the guest's memory: the compiled code of the largest guests in
	// sight is not on the Go heap, but what it was made from may not have been collected.
	engineMemory = 512 << 20
	// planCopies is how many times its bytes a plan may take that a guest writes bit by bit: a buffer that doubles leaves as
	// much behind as it has.
	planCopies = 4
	// tidyAfter is how many bytes of requests and plans lie around at most before they are collected between two requests.
	tidyAfter = 16 << 20
)
