//go:build linux

package lockdown

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/internal/engine"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
	"github.com/lola-ext/lola/testwasm"
)

// The trace: a child does all that a child does, without walls, but each of its system calls is shown to this process
// before it is made (seccomp's user notification), which holds it to the list of the stage that the child is in.

// toGuest is no system call. The child makes it where Guest would be called.
const toGuest = 100_000

// traced is the child: what a real one does from the lock on.
func traced(o orders) {
	stage := o.Spec.Stage
	wasm, err := os.ReadFile(o.Module)
	if err != nil {
		panic(err)
	}
	cfg := engine.Config{Memory: 64 << 20, Plan: 1 << 20, Diagnostics: bounded{os.Stderr}}
	if stage.Folder() {
		cfg.Code = o.Spec.Folder
	}
	time.AfterFunc(time.Hour, func() {}).Stop() // as enter does
	all := []unix.SockFilter{answer(unix.SECCOMP_RET_USER_NOTIF)}
	program := unix.SockFprog{Len: 1, Filter: &all[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	if errno := raw(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH|unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, pointer(&program)); errno > 4000 {
		panic(errno)
	}
	runtime.UnlockOSThread()
	if stage == policy.Store {
		_, err = engine.Store(context.Background(), wasm, cfg)
		raw(toGuest)
		fmt.Println("end", err)
		return
	}
	m, err := engine.Compile(context.Background(), wasm, cfg)
	if err != nil {
		fmt.Println("end", err)
		return
	}
	raw(toGuest)
	for range 2 {
		a, err := m.Run(context.Background(), []byte("\xa3cabi\x01faction\x67install\x69extension\xa2dnamedecho\x67version\x650.1.0"))
		fmt.Println("end", len(a.Plan), err)
		a.Close()
	}
	m.Close()
	if o.Live {
		live()
	}
}

// bounded hides that diagnostics are a file, as a real child does.
type bounded struct{ io.Writer }

type notification struct {
	id         uint64
	pid, flags uint32
	nr         uint32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id           uint64
	val          int64
	errno, flags int32
}

// watchCalls starts a traced child and hands each of its calls to see, with the stage that it is in.
func watchCalls(t *testing.T, o orders, see func(policy.Stage, int, seen)) {
	t.Helper()
	stage := o.Spec.Stage
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), ordersVar+"="+string(b))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A guest that never ends has shown by then what it does.
	timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err, stderr.String())
	}
	listener := takeListener(t, cmd.Process.Pid)
	defer unix.Close(listener)
	calls := 0
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			t.Fatal(err)
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			break // nobody is left
		}
		var n notification
		if raw(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))) != 0 {
			continue // who called was interrupted, and will call again
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if n.nr == toGuest {
			stage, r.flags = policy.Guest, 0
		} else {
			calls++
			see(stage, cmd.Process.Pid, seen{n.nr, n.arch, n.args})
		}
		raw(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	}
	var said strings.Builder
	_, _ = lines.WriteTo(&said)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); calls < 2 || code > 0 { // below 0: it was killed at its time
		t.Errorf("%+v: %d calls were seen, it ended with %d and said %q, %s", o, calls, code, said.String(), stderr.String())
	}
}

// takeListener takes the descriptor on which the calls of the process are told, which that cannot tell itself any more.
func takeListener(t *testing.T, pid int) int {
	t.Helper()
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	for range 1000 {
		for n := range 300 {
			if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, n)); err == nil && strings.Contains(to, "seccomp notify") {
				fd, err := unix.PidfdGetfd(pidfd, n, 0)
				if errors.Is(err, unix.EPERM) {
					t.Skip("a sandbox around this process does not let it take a descriptor of its child")
				}
				if err != nil {
					t.Fatal(err)
				}
				return fd
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no descriptor tells of the child's calls")
	return -1
}

// TestTrace: every call that children were seen to make, in each stage and with each guest, is on the list of the stage.
// What is on a list and was not seen is logged: it has its reason in package policy.
func TestTrace(t *testing.T) {
	if _, filters := machine(t); !filters {
		t.Skip("this machine has no seccomp")
	}
	everything := os.Getenv("LOLA_LOCKDOWN_TRACE") == "all" // two minutes
	modules := map[string][]byte{}
	for _, g := range testwasm.Catalogue() {
		if g.Language == testwasm.Go && g.Name != "echo" && !everything {
			continue // each takes seconds to compile
		}
		if b, err := testwasm.Read(g.ID()); err == nil {
			modules[g.ID()] = b
		} else if !errors.Is(err, testwasm.ErrNotBuilt) {
			t.Fatal(err)
		}
	}
	for i, g := range wasmbuild.Guests() {
		if everything || i%40 == 0 { // they differ in what the engine thinks of them, little in what the kernel sees
			modules[g.Name] = g.Module
		}
	}
	met := map[policy.Stage]map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		path, folder := t.TempDir()+"/module", t.TempDir()
		writeFile(t, path, string(modules[name]))
		for _, stage := range []policy.Stage{policy.Compile, policy.Store, policy.Load} {
			if strings.HasSuffix(name, "spin") && (stage != policy.Compile || !everything) {
				continue // it takes the whole of the time
			}
			o := orders{Do: "trace", Spec: Spec{Stage: stage, Folder: folder}, Module: path, Live: stage == policy.Compile && (name == "rust/echo" || name == wasmbuild.Guests()[0].Name)}
			watchCalls(t, o, func(stage policy.Stage, pid int, s seen) {
				calls := policy.Calls(stage, linkedWithC())
				program, err := assemble(calls, auditArch, number, uint32(pid))
				if err != nil {
					t.Fatal(err)
				}
				if got := simulate(t, program, s); got == unix.SECCOMP_RET_KILL_PROCESS {
					t.Errorf("%s, %s: call %d of %#x with %#x is not on the list", name, stage, s.nr, s.arch, s.args)
				}
				if met[stage] == nil {
					met[stage] = map[string]int{}
				}
				for _, c := range calls {
					if n, _ := number(c.Name); n == s.nr {
						met[stage][c.Name]++
						break
					}
				}
			})
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(met)) {
		var never []string
		for _, c := range policy.Calls(stage, linkedWithC()) {
			if met[stage][c.Name] == 0 && !slices.Contains(never, c.Name) {
				never = append(never, c.Name)
			}
		}
		t.Logf("%s: %d guests, seen %v, never seen %v", stage, len(modules), met[stage], never)
	}
}
