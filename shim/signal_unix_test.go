//go:build unix

package shim

import (
	"syscall"
	"testing"

	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// TestGroupSignals: signals that a whole group of processes gets do not end a child. Its host does.
func TestGroupSignals(t *testing.T) {
	module := wasmbuild.Reactor(wasmbuild.Parts{Start: wasmbuild.Forever()})
	h := spawn(t, fileOf(t, module))
	h.start(t, jobFor(module, ""), "")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := h.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	_ = h.in.Close()
	if _, status := h.finish(t); status != exitOrphan {
		t.Errorf("status %d (%v), want %d: it ended by the lifeline", status, h.cmd.ProcessState, exitOrphan)
	}
}
