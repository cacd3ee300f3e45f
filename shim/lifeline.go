package shim

import (
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/lola-ext/lola/shim/job"
)

// watch ends this process when the host is gone: when descriptor 0, which the host holds open after the request, ends. A
// byte there would be no part of the frame, and ends it too.
//
// It is a goroutine, so it needs Go's scheduler, and code of a guest gives that no chance to stop it: the goroutine needs
// a processor of its own, and no collection of garbage may wait for the guest to stop, which would stop all else
// (enterGuest). A guest that makes the host side of the engine use memory up to the bound set there can still bring that
// about. Against that helps only what the system does: the host that kills at the deadline, limits of processor time.
func watch(in io.Reader) {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	go func() {
		_, _ = in.Read(make([]byte, 1))
		os.Exit(exitOrphan)
	}()
}

// deafen drops the signals that a terminal or a job runner sends to a whole group of processes. They are for the host, which
// ends this process itself; else it would be chance whether the host sees its own interruption first or a child that died.
func deafen() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// enterGuest prepares the Go runtime for guests. Garbage is from now on collected only when as much memory is used up as the
// engine, a request and a plan may take: linear memory is not on the heap that is collected. SetGCPercent waits for a
// collection that is under way.
func enterGuest(j job.Job) error {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(engineMemory + min(j.Plan, math.MaxInt64/8)*planCopies)
	return nil
}

const (
	// engineMemory is what the engine and a request may have in use beside the guest's memory: the compiled code of the
	// largest guests in sight is not on the Go heap, but what it was made from may not have been collected.
	engineMemory = 512 << 20
	// planCopies is how many times its bytes a plan may take that a guest writes bit by bit: a buffer that doubles leaves as
	// much behind as it has.
	planCopies = 4
)
