package lockdown

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// machine is what this one has.
func machine(t *testing.T) (landlock int, seccomp bool) {
	t.Helper()
	for _, w := range probe.System().Walls {
		if w.Name == policy.WallLandlock {
			landlock = w.Version
		}
		if w.Name == policy.WallSeccomp {
			seccomp = w.Enforced == probe.Yes
		}
	}
	return landlock, seccomp
}

// linkedWithC: Go's toolchain links some standard packages with C where it finds a compiler.
func linkedWithC() bool {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0)
	return errno == syscall.ENOTSUP
}

// stopped reports whether the deed was: by death, or where C is linked by an errno for what its library also does.
func stopped(o outcome, do string) bool {
	if linkedWithC() && strings.HasPrefix(do, "openat ") {
		return o.Entered && o.Done && o.Errno == unix.EACCES
	}
	if linkedWithC() && do == "clone3" {
		return o.Entered && o.Done && o.Errno == unix.ENOSYS
	}
	return o.Entered && o.Killed && !o.Done
}

// TestLevels: the level is what is up, on this machine, whatever it has. An emulator has neither wall, and that is no
// error.
func TestLevels(t *testing.T) {
	abi, filters := machine(t)
	t.Logf("this machine has Landlock %d, seccomp %t", abi, filters)
	for _, c := range []struct {
		without []policy.Wall
		want    policy.Level
	}{
		{nil, policy.Reached(true, abi > 0, filters)},
		{[]policy.Wall{policy.WallLandlock}, policy.Reached(true, false, filters)},
		{[]policy.Wall{policy.WallSeccomp}, policy.Reached(!linkedWithC() || abi > 0, abi > 0, false)},
		{[]policy.Wall{policy.WallSeccomp, policy.WallLandlock}, policy.Reached(!linkedWithC(), false, false)},
		{[]policy.Wall{policy.WallLimits}, policy.None},
		{[]policy.Wall{policy.WallSeccomp, policy.WallLandlock, policy.WallNoNewPrivs}, policy.None},
	} {
		out := play(t, orders{Spec: Spec{without: c.without}, Guest: true, Do: "nothing"})
		if out.Report.Level != c.want || !out.Done || out.Errno != 0 {
			t.Errorf("without %v: want %s, got %s", c.without, c.want, out)
		}
		for _, d := range out.Report.Details {
			if slices.Contains(c.without, d.Wall) && d.Up || !d.Up && d.Why == "" {
				t.Errorf("without %v: %+v", c.without, d)
			}
		}
		if len(out.Report.Details) != 4 {
			t.Errorf("got %+v", out.Report.Details)
		}
	}
}

// TestWrongOrders: Enter takes only what makes sense, and once.
func TestWrongOrders(t *testing.T) {
	for _, s := range []Spec{
		{}, {Stage: policy.Guest}, {Stage: "other"}, {Stage: policy.Compile, Folder: "/"}, {Stage: policy.Load}, {Stage: policy.Store},
		{Stage: policy.Compile, Memory: -1}, {Stage: policy.Compile, CPU: -1},
	} {
		if _, err := Enter(s); err == nil {
			t.Fatalf("%+v was entered", s) // and this process is locked down
		}
	}
	if err := Guest(); err == nil {
		t.Error("a guest may run where nothing is locked down")
	}
	if out := play(t, orders{Do: "enter again"}); out.Errno != 0 || !out.Done {
		t.Error(out)
	}
}

// TestLimits are kept, and the process shows nothing of itself.
func TestLimits(t *testing.T) {
	if out := play(t, orders{Spec: Spec{CPU: 1e9, without: []policy.Wall{policy.WallSeccomp}}, Guest: true, Do: "limits"}); out.Errno != 0 || !out.Done {
		t.Error(out)
	}
	for _, l := range policy.Limits(policy.Compile, 0, time.Second) {
		if _, ok := limitNumber(l.Name); !ok {
			t.Errorf("%s has no number", l.Name)
		}
	}
}

// TestThreads: every thread is locked, one that was there before and one that came after.
func TestThreads(t *testing.T) {
	abi, filters := machine(t)
	for _, thread := range []string{"", "before", "after"} {
		if filters {
			for _, do := range []string{"openat /etc/passwd", "socket inet"} {
				if out := play(t, orders{Spec: Spec{without: []policy.Wall{policy.WallLandlock}}, Guest: true, Thread: thread, Do: do}); !stopped(out, do) {
					t.Errorf("thread %q, %s: %s", thread, do, out)
				}
			}
		}
		if abi > 0 {
			if out := play(t, orders{Spec: Spec{without: []policy.Wall{policy.WallSeccomp}}, Thread: thread, Do: "openat /etc/passwd"}); out.Errno != unix.EACCES {
				t.Errorf("thread %q: %s", thread, out)
			}
		}
		if linkedWithC() {
			continue // it comes with seccomp, which the kernel gives to no thread that has it not
		}
		if out := play(t, orders{Spec: Spec{without: []policy.Wall{policy.WallLandlock, policy.WallSeccomp}}, Thread: thread, Do: "no-new-privs"}); out.Errno != 0 || !out.Done {
			t.Errorf("thread %q: %s", thread, out)
		}
	}
}

// TestFolder: what the stages with a folder may do in it and outside, by each wall alone.
func TestFolder(t *testing.T) {
	abi, filters := machine(t)
	for _, c := range []struct {
		stage policy.Stage
		do    string
		want  map[policy.Wall]any // by the wall that stands alone: an errno, or "killed"
	}{
		{policy.Load, "read in folder", map[policy.Wall]any{policy.WallLandlock: syscall.Errno(0), policy.WallSeccomp: syscall.Errno(0)}},
		{policy.Load, "create in folder", map[policy.Wall]any{policy.WallLandlock: unix.EACCES, policy.WallSeccomp: "killed"}},
		{policy.Load, "write in folder", map[policy.Wall]any{policy.WallLandlock: unix.EACCES, policy.WallSeccomp: "killed"}},
		{policy.Load, "openat /etc/passwd", map[policy.Wall]any{policy.WallLandlock: unix.EACCES}},
		{policy.Store, "read in folder", map[policy.Wall]any{policy.WallLandlock: syscall.Errno(0), policy.WallSeccomp: syscall.Errno(0)}},
		{policy.Store, "create in folder", map[policy.Wall]any{policy.WallLandlock: syscall.Errno(0), policy.WallSeccomp: syscall.Errno(0)}},
		{policy.Store, "store in folder", map[policy.Wall]any{policy.WallLandlock: syscall.Errno(0), policy.WallSeccomp: syscall.Errno(0)}},
		{policy.Store, "openat /etc/passwd", map[policy.Wall]any{policy.WallLandlock: unix.EACCES}},
		{policy.Store, "link in folder", map[policy.Wall]any{policy.WallLandlock: unix.EACCES, policy.WallSeccomp: "killed"}},
	} {
		for wall, want := range c.want {
			if wall == policy.WallLandlock && abi == 0 || wall == policy.WallSeccomp && !filters {
				continue
			}
			without := policy.WallLandlock
			if wall == without {
				without = policy.WallSeccomp
			}
			dir := t.TempDir()
			writeFile(t, dir+"/there", "content")
			t.Setenv("LOLA_LOCKDOWN_FOLDER", dir)
			out := play(t, orders{Spec: Spec{Stage: c.stage, Folder: dir, without: []policy.Wall{without}}, Do: c.do})
			if want == "killed" && !out.Killed && !(linkedWithC() && out.Errno == unix.EACCES) || want != "killed" && (!out.Done || out.Errno != want) {
				t.Errorf("%s, %s, %s alone: want %v, got %s", c.stage, c.do, wall, want, out)
			}
			// And a guest has none of it.
			_ = os.RemoveAll(dir + "/new")
			out = play(t, orders{Spec: Spec{Stage: c.stage, Folder: dir, without: []policy.Wall{without}}, Guest: true, Do: c.do})
			if wall == policy.WallSeccomp && !out.Killed && !(linkedWithC() && out.Errno == unix.EACCES) || wall == policy.WallLandlock && out.Errno != unix.EACCES {
				t.Errorf("guest after %s, %s, %s alone: %s", c.stage, c.do, wall, out)
			}
		}
	}
}

// TestDonatedFolder: a folder can be named by a descriptor, although the process is not dumpable and its files in /proc are
// root's.
func TestDonatedFolder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/there", "content")
	const by = "/proc/self/fd/3"
	t.Setenv("LOLA_LOCKDOWN_FOLDER", by)
	spec := Spec{Stage: policy.Load, Folder: by}
	if out := play(t, orders{Spec: spec, Donate: dir, Do: "read in folder"}); !out.Done || out.Errno != 0 {
		t.Error(out)
	}
	if abi, filters := machine(t); abi > 0 || filters {
		if out := play(t, orders{Spec: spec, Donate: dir, Do: "create in folder"}); out.Done && out.Errno == 0 {
			t.Error(out)
		}
		if out := play(t, orders{Spec: spec, Donate: dir, Guest: true, Do: "read in folder"}); out.Done && out.Errno == 0 {
			t.Error(out)
		}
	}
	spec.Stage = policy.Store
	if out := play(t, orders{Spec: spec, Donate: dir, Do: "store in folder"}); !out.Done || out.Errno != 0 {
		t.Error(out)
	}
}

// TestFailsClosed: a wall that the system has and that does not go up is an error, and a guest does not run after one.
func TestFailsClosed(t *testing.T) {
	if abi, _ := machine(t); abi == 0 {
		t.Skip("the wall that is made to fail is Landlock, which this machine has not")
	}
	out := play(t, orders{Spec: Spec{Stage: policy.Load, Folder: "/nowhere/at/all"}, Do: "nothing"})
	if out.Entered || !strings.Contains(out.Err, "Landlock") || !strings.Contains(out.Err, "/nowhere/at/all") {
		t.Error(out)
	}
	// In that child Guest comes after Enter failed.
	if !strings.Contains(out.Err, "then: this process is not locked down") {
		t.Error(out)
	}
}
