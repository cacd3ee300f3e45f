package lockdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

// What cannot be undone runs in a child: this test binary, started again with its orders in the environment.

const ordersVar = "LOLA_LOCKDOWN_ORDERS"

type orders struct {
	Spec    Spec
	Without []policy.Wall // what play found in Spec, which does not tell it
	Guest   bool          // go on to the second stage
	Do      string        // the name of a deed
	Thread  string        // "": the thread that locked down; "before", "after": one that was started then
	Donate  string        // a folder that the child gets as descriptor 3
	Module  string        // for a trace
	Live    bool          // for a trace: then do the deed "live"
}

// outcome is what became of a child.
type outcome struct {
	Report         Report
	Entered        bool   // it got so far
	Err            string // of Enter or Guest
	Killed         bool   // by SIGSYS
	Done           bool   // the deed returned
	Errno          syscall.Errno
	Stdout, Stderr string
	State          *os.ProcessState
}

func TestMain(m *testing.M) {
	s, ok := os.LookupEnv(ordersVar)
	if !ok {
		os.Exit(m.Run())
	}
	_ = os.Unsetenv(ordersVar)
	var o orders
	if err := json.Unmarshal([]byte(s), &o); err != nil {
		panic(err)
	}
	obey(o)
	os.Exit(0)
}

// A deed is done by a locked child. prepare runs before the lock. The deed's result is 0 if it could do what it wanted.
type deed func() (run func() syscall.Errno)

func obey(o orders) {
	if o.Do == "trace" {
		traced(o)
		return
	}
	o.Spec.without = o.Without
	d, ok := deeds()[o.Do]
	if !ok {
		panic("there is no deed " + o.Do)
	}
	run := d()
	start := make(chan struct{})
	done := make(chan struct{})
	inThread := func() {
		runtime.LockOSThread()
		<-start
		tell("errno=%d\n", run())
		close(done)
	}
	if o.Thread == "before" {
		go inThread()
		time.Sleep(10 * time.Millisecond) // it has its thread by then; if not, the case is that of "after"
	}
	runtime.LockOSThread()
	report, err := Enter(o.Spec)
	if err != nil {
		tell("err=%v; then: %v\n", err, Guest())
		return
	}
	b, err := json.Marshal(report)
	if err != nil {
		panic(err)
	}
	tell("report=%s\n", b)
	if o.Guest {
		if err := Guest(); err != nil {
			tell("err=%v\n", err)
			return
		}
	}
	switch o.Thread {
	case "":
		tell("errno=%d\n", run())
		return
	case "after":
		go inThread()
	}
	close(start)
	<-done
}

func tell(format string, args ...any) {
	if _, err := fmt.Fprintf(os.Stdout, format, args...); err != nil {
		panic(err)
	}
}

// play starts a child with its orders and says what became of it.
func play(t *testing.T, o orders) outcome {
	t.Helper()
	if o.Spec.Stage == "" {
		o.Spec.Stage = policy.Compile
	}
	if o.Spec.Memory == 0 {
		o.Spec.Memory = 256 << 20
	}
	o.Without = o.Spec.without
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), ordersVar+"="+string(b))
	if o.Donate != "" {
		dir, err := os.Open(o.Donate)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		cmd.ExtraFiles = []*os.File{dir}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	out := outcome{Stdout: stdout.String(), Stderr: stderr.String(), State: cmd.ProcessState}
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		out.Killed = w.Signal() == unix.SIGSYS
	}
	for line := range strings.Lines(out.Stdout) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "report":
			out.Entered = json.Unmarshal([]byte(value), &out.Report) == nil
		case "err":
			out.Err = value
		case "errno":
			var n int
			if _, err := fmt.Sscan(value, &n); err == nil {
				out.Done, out.Errno = true, syscall.Errno(n)
			}
		}
	}
	return out
}

func (o outcome) String() string {
	return fmt.Sprintf("%s, err %q, killed by SIGSYS %t, done %t (%v), %v\n%s%s", o.Report.Level, o.Err, o.Killed, o.Done, error(o.Errno), o.State, o.Stdout, o.Stderr)
}
