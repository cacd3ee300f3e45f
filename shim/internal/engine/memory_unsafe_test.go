package engine

import (
	"testing"
	"unsafe"

	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// Memory grows in place, keeps what is in it, is zero where it is new, and ends at what was reserved.
func TestMemoryGrowsInPlace(t *testing.T) {
	m, err := reserveMemory(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.release()
	first := m.Allocate(0, 64<<20).Reallocate(pageSize)
	first[pageSize-1] = 7
	for _, size := range []uint64{2 * pageSize, 2 << 20, 2<<20 + pageSize, 64 << 20} {
		b := m.Reallocate(size)
		if uint64(len(b)) != size || unsafe.SliceData(b) != unsafe.SliceData(first) || b[pageSize-1] != 7 || b[size-1] != 0 {
			t.Fatalf("%d bytes: got %d, moved: %t", size, len(b), unsafe.SliceData(b) != unsafe.SliceData(first))
		}
	}
	if m.Reallocate(64<<20+1) != nil {
		t.Error("it grew beyond what was reserved")
	}
	m.Free()
	if first[pageSize-1] != 7 {
		t.Error("Free took the memory of a guest that may still be looked at")
	}
	m.release()
	m.release()
}

func TestMemoryThatTheSystemDoesNotGive(t *testing.T) {
	if m, err := reserveMemory(1 << 62); err == nil {
		m.release()
		t.Error("there is room for 4 EiB")
	}
}

// TestInstancesShareNothing: what a run leaves in its memory is not there in the next, also when one of them failed.
func TestInstancesShareNothing(t *testing.T) {
	c := wasmbuild.I32Const
	m, err := Compile(t.Context(), wasmbuild.Reactor(wasmbuild.Parts{
		// It answers with the bytes at 8192, which are text after a run: the length is what lies there before.
		Run: concat(c(0), c(8192), wasmbuild.Load(), wasmbuild.Store(), c(8192), c(5), wasmbuild.Store(), c(0)),
		Len: concat(c(0), wasmbuild.Load(), c(1), wasmbuild.Add()),
	}), config)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 3 {
		a, err := m.Run(t.Context(), request)
		if err != nil || len(a.Plan) != 1 {
			t.Errorf("got %d bytes, %v", len(a.Plan), err)
		}
		a.Close()
	}
}

func concat(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// TestExitThenLook: a guest that exits closes its instance, and what it had is still counted.
func TestExitThenLook(t *testing.T) {
	for _, g := range wasmbuild.Guests() {
		if g.Outcome == job.Exit {
			a, err := run(t, g.Module, request, config)
			if err == nil || a.Memory != 0 && a.Memory < pageSize {
				t.Errorf("%s: got %d bytes, %v", g.Name, a.Memory, err)
			}
			a.Close()
		}
	}
}
