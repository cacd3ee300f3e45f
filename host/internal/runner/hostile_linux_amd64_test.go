package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// measured says that TestHostileGuests runs and measures all hostile guests.
const measured = true

var update = flag.Bool("update", false, "write docs/hostile-guests.md anew")

// hostVariable makes the test binary a host that does nothing else, so that what is measured in it is due to one guest. It
// reads numbers of attacks, one a line, and answers each with a line of its own.
const hostVariable = "LOLA_TEST_HOSTILE_HOST"

const rowMark = "\x1erow "

// row is what a run came to.
type row struct {
	Group, Name, Case string
	Outcome           Class
	Error             string
	Child, Host       int64         // bytes
	CPU               time.Duration // of the child, user and system
	Took, Deadline    time.Duration // until the child was gone and everything about it closed
	Left              string        // what is left; empty: nothing
}

// The classes of what is measured, from best to worst. Wide, so that a table that was made on one machine holds on another.
var (
	memoryClasses = []struct {
		below int64
		name  string
	}{
		{8 << 20, "< 8 MiB"}, {64 << 20, "< 64 MiB"}, {128 << 20, "< 128 MiB"}, {256 << 20, "< 256 MiB"}, {512 << 20, "< 512 MiB"},
		{1 << 30, "< 1 GiB"}, {2 << 30, "< 2 GiB"}, {4 << 30, "< 4 GiB"}, {1 << 62, "more"},
	}
	cpuClasses = []struct {
		below time.Duration
		name  string
	}{
		{100 * time.Millisecond, "< 0.1 s"}, {time.Second, "< 1 s"}, {5 * time.Second, "< 5 s"}, {20 * time.Second, "< 20 s"}, {time.Hour, "more"},
	}
	goneClasses = []string{"by itself", "at the deadline", "late"}
)

func memoryClass(n int64) string {
	for _, c := range memoryClasses {
		if n < c.below {
			return c.name
		}
	}
	return ""
}

func cpuClass(d time.Duration) string {
	for _, c := range cpuClasses {
		if d < c.below {
			return c.name
		}
	}
	return ""
}

// gone says when the child was gone: a second is what ending it may take.
func (r row) gone() string {
	switch {
	case r.Outcome == ClassDeadline && r.Took > r.Deadline+time.Second:
		return "late"
	case r.Outcome == ClassDeadline:
		return "at the deadline"
	}
	return "by itself"
}

// line is the row of the table, with some room to what was measured if it is to be written.
func (r row) line(room bool) string {
	child, host, cpu := r.Child, r.Host, cpuClass(r.CPU)
	if room {
		child, host, cpu = r.roomyChild(), host*2, cpuClass(r.CPU*2)
	}
	if r.Outcome == ClassDeadline {
		cpu = "all it got"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", r.Name, r.Case, r.Outcome, memoryClass(child), memoryClass(host), cpu, r.gone())
}

// roomyChild is half as much again as the child took. One that was ended would have taken more with a processor of its own: that
// much more what it took beyond an idle child.
func (r row) roomyChild() int64 {
	const idle = 24 << 20
	child := r.Child
	if r.Outcome == ClassDeadline && child > idle {
		child = idle + int64(float64(child-idle)*max(1, r.Took.Seconds()/max(0.1, r.CPU.Seconds())))
	}
	return child * 3 / 2
}

// worse says in what a run is worse than a line of the table allows; empty: in nothing.
func (r row) worse(line string) string {
	want, got := strings.Split(line, " | "), strings.Split(r.line(false), " | ")
	if len(want) != len(got) {
		return fmt.Sprintf("the line is %q", line)
	}
	var memory, cpu []string
	for _, c := range memoryClasses {
		memory = append(memory, c.name)
	}
	for _, c := range cpuClasses {
		cpu = append(cpu, c.name)
	}
	for i, what := range []string{"", "the case", "the outcome", "the child's memory", "the host's memory", "the processor time", "when it was gone"} {
		w, g := strings.TrimSuffix(want[i], " |"), strings.TrimSuffix(got[i], " |")
		scale := []string(nil)
		switch i {
		case 3, 4:
			scale = memory
		case 5:
			scale = cpu
		case 6:
			scale = goneClasses
		}
		allowed := slices.Index(scale, w)
		if i == 3 && r.Outcome == ClassDeadline {
			allowed++ // it depends on how much of the machine it got
		}
		if w != g && (scale == nil || slices.Index(scale, g) > allowed) {
			return fmt.Sprintf("%s: got %s, the table says %s", what, g, w)
		}
	}
	return ""
}

// TestHostileGuests runs every hostile guest through a host with nothing else to do, two hosts at a time, and holds what
// that came to against docs/hostile-guests.md. No outcome and no class may be worse than there; what is not as it should
// be is tried again twice, since the machine may be busy.
//
//	go test ./host/internal/runner -run 'TestHostileGuests$' -update
func TestHostileGuests(t *testing.T) {
	all, complete := attacks(t)
	if os.Getenv(hostVariable) != "" {
		hostFor(t, all)
		return
	}
	page := filepath.FromSlash("../../../docs/hostile-guests.md")
	if *update && !complete {
		t.Fatal("the guests that compilers make are not built, and the table is to have them")
	}
	var table map[string]string
	if !*update {
		table = readTable(t, page)
	}

	rows := make([]row, len(all))
	next := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			h := startHost(t)
			defer h.stop(t)
			for i := range next {
				for range 3 {
					rows[i] = h.measure(t, i, all[i])
					if rows[i].wrong(all[i], table) == "" {
						break
					}
				}
				if testing.Verbose() {
					t.Logf("%s: %s: %s after %v, processor %v, child %d MiB, host %d MiB %s %s", rows[i].Group, rows[i].Name, rows[i].Outcome, rows[i].Took, rows[i].CPU,
						rows[i].Child>>20, rows[i].Host>>20, rows[i].wrong(all[i], table), rows[i].Error)
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wg.Wait()

	for i, r := range rows {
		if wrong := r.wrong(all[i], table); wrong != "" {
			t.Errorf("%s: %s: %s\n%+v", r.Group, r.Name, wrong, r)
		}
		if table != nil {
			key := r.Group + "\n" + r.Name
			if _, ok := table[key]; !ok {
				t.Errorf("%s: %s: it has no line in %s", r.Group, r.Name, page)
			}
			delete(table, key)
		}
	}
	for key := range table {
		if group, name, _ := strings.Cut(key, "\n"); complete || group != "compiled" {
			t.Errorf("%s has a line for %s: %s, which there is not", page, group, name)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(page, []byte(doc(rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// wrong says what is not as it must be; empty: nothing.
func (r row) wrong(a attack, table map[string]string) string {
	switch {
	case r.Outcome != a.want:
		return fmt.Sprintf("got %s, want %s", r.Outcome, a.want)
	case r.Left != "":
		return r.Left
	case r.gone() == "late":
		return fmt.Sprintf("it was gone after %v, its deadline is %v", r.Took, r.Deadline)
	}
	if line, ok := table[r.Group+"\n"+r.Name]; ok {
		return r.worse(line)
	}
	return ""
}

// hostProcess is a process that runs guests one after the other.
type hostProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func startHost(t *testing.T) *hostProcess {
	h := &hostProcess{cmd: exec.Command(os.Args[0], "-test.run=^TestHostileGuests$", "-test.timeout=0")}
	h.cmd.Env = append(os.Environ(), hostVariable+"=1")
	h.cmd.Stderr = &h.stderr
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Error(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
	}
	h.out = bufio.NewScanner(out)
	h.out.Buffer(nil, 1<<20)
	if err := h.cmd.Start(); err != nil {
		t.Error(err)
	}
	return h
}

func (h *hostProcess) stop(t *testing.T) {
	_ = h.in.Close()
	for h.out.Scan() {
	}
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("a host: %v\n%s", err, &h.stderr)
	}
}

func (h *hostProcess) measure(t *testing.T, i int, a attack) (r row) {
	r.Group, r.Name, r.Case = a.Group, a.Name, a.Case
	if _, err := fmt.Fprintln(h.in, i); err != nil {
		return r
	}
	for h.out.Scan() {
		if b, ok := bytes.CutPrefix(h.out.Bytes(), []byte(rowMark)); ok {
			if err := json.Unmarshal(b, &r); err != nil {
				t.Error(err)
			}
			break
		}
	}
	return r
}

// hostFor is the process behind a hostProcess.
func hostFor(t *testing.T, all []attack) {
	// What a child leaves behind becomes a child of this process (prctl(2)).
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		i, err := strconv.Atoi(in.Text())
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(measureHere(t, all[i], dir))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\n%s%s\n", rowMark, b)
	}
}

func measureHere(t *testing.T, a attack, dir string) row {
	a.Module = a.Bytes()
	debug.FreeOSMemory()
	// 5 sets the peak back to what is resident now (proc_pid_clear_refs(5)). Where that is not allowed, the peak of the runs before
	// is what is grown beyond.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	goroutines, descriptors, peak := runtime.NumGoroutine(), openDescriptors(t), highWater(t)
	cpu := childrenCPU(t)
	class, reply, err := a.run(t, dir)
	r := row{
		Group: a.Group, Name: a.Name, Case: a.Case, Outcome: class,
		Child: reply.PeakRSS, Host: highWater(t) - peak, CPU: childrenCPU(t) - cpu, Took: reply.Elapsed, Deadline: a.deadline,
	}
	if err != nil {
		r.Error = err.Error()
	}
	// Goroutines end, and the runtime closes what they had, a moment after they are done with.
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit) && (runtime.NumGoroutine() > goroutines || openDescriptors(t) > descriptors); {
		runtime.Gosched()
	}
	files, err := os.ReadDir(dir)
	switch {
	case runtime.NumGoroutine() > goroutines:
		r.Left = "goroutines are left"
	case openDescriptors(t) > descriptors:
		r.Left = "descriptors are left"
	case childrenLeft():
		r.Left = "processes are left"
	case err != nil || len(files) > 0:
		r.Left = "files are left"
	}
	return r
}

func openDescriptors(t *testing.T) int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// childrenCPU is the processor time of all children that were reaped (getrusage(2)).
func childrenCPU(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// highWater is the peak of this process's resident memory in bytes (proc_pid_status(5), VmHWM).
func highWater(t *testing.T) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var n int64
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// readTable returns the lines of the table by group and name.
func readTable(t *testing.T, page string) map[string]string {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("%v; the test makes it with -update", err)
	}
	table := map[string]string{}
	var group string
	for _, line := range strings.Split(string(b), "\n") {
		if g, ok := strings.CutPrefix(line, "## "); ok {
			group = g
		}
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && group != "" && strings.HasPrefix(line, "| ") && name != "guest" {
			table[group+"\n"+name] = line
		}
	}
	return table
}

// doc is the page.
func doc(rows []row) string {
	var b strings.Builder
	b.WriteString(`# Hostile guests

Made by "go test ./host/internal/runner -run TestHostileGuests$ -update", which runs every guest below through the runner, in a
real child, and finds after each that nothing is left of it: no process (nor one that a child started), no descriptor, no
goroutine, no file. The everyday test does the same and fails if an outcome is another or a class is worse than here.

- **outcome**: "ok" is a plan: whatever else the guest tried came to nothing. "plan" is an answer that is no plan. The other words
  are those of package shim/job and of host/internal/runner.
- **child**: the most resident memory of the child (getrusage(2)), the code of the program and the stack of Go included. The guest's
  memory is bounded to 16 MiB if nothing else is said, that of compiled guests to 128 MiB.
- **host**: by how much the peak of the host's resident memory (VmHWM) rose during the run; the host does nothing else.
- **processor**: time of the child, user and system, all threads.
- **gone**: how the child came to be gone, and all about it closed. "at the deadline" is within one second of it; the deadline is
  1 s for guests without end, 4 s for compiled ones, and so long for all others that none of them meets it.

What was measured is rounded up to classes with room to spare: child × 1.5, host × 2, processor × 2; for a guest that was ended
at its deadline, by what it would have taken with a processor to itself. linux/amd64.

| group | guests | outcomes | child at most | host at most | processor at most |
|---|---|---|---|---|---|
`)
	var groups []string
	byGroup := map[string][]row{}
	for _, r := range rows {
		if byGroup[r.Group] == nil {
			groups = append(groups, r.Group)
		}
		byGroup[r.Group] = append(byGroup[r.Group], r)
	}
	for _, g := range groups {
		var worst row
		var outcomes []string
		for _, r := range byGroup[g] {
			outcomes = append(outcomes, string(r.Outcome))
			worst.Child, worst.Host, worst.CPU = max(worst.Child, r.roomyChild()), max(worst.Host, r.Host), max(worst.CPU, r.CPU)
		}
		slices.Sort(outcomes)
		fmt.Fprintf(&b, "| [%s](#%s) | %d | %s | %s | %s | %s |\n", g, strings.ReplaceAll(strings.ToLower(g), " ", "-"), len(outcomes),
			strings.Join(slices.Compact(outcomes), ", "), memoryClass(worst.Child), memoryClass(worst.Host*2), cpuClass(worst.CPU*2))
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| guest | case | outcome | child | host | processor | gone |\n|---|---|---|---|---|---|---|\n", g)
		for _, r := range byGroup[g] {
			b.WriteString(r.line(true) + "\n")
		}
	}
	return b.String()
}

// TestWorse: a run is held to its line in each of its columns.
func TestWorse(t *testing.T) {
	good := row{Name: "a", Case: "W01", Outcome: "trap", Child: 60 << 20, Host: 1 << 20, CPU: 50 * time.Millisecond}
	line := good.line(false)
	for what, change := range map[string]func(*row){
		"":                   func(*row) {},
		"the case":           func(r *row) { r.Case = "" },
		"the outcome":        func(r *row) { r.Outcome = "exit" },
		"the child's memory": func(r *row) { r.Child = 64 << 20 },
		"the host's memory":  func(r *row) { r.Host = 8 << 20 },
		"the processor time": func(r *row) { r.CPU = 100 * time.Millisecond },
	} {
		r := good
		change(&r)
		if got, _, _ := strings.Cut(r.worse(line), ":"); got != what {
			t.Errorf("got %q, want %q", got, what)
		}
	}
	better := good
	better.Child, better.CPU = 1<<20, 0
	if got := better.worse(good.line(true)); got != "" {
		t.Errorf("better is worse: %s", got)
	}
	ended := row{Outcome: ClassDeadline, Took: time.Second, Deadline: time.Second}
	line = ended.line(false)
	ended.Took += 1001 * time.Millisecond
	if got := ended.worse(line); !strings.HasPrefix(got, "when it was gone") {
		t.Errorf("late: got %q", got)
	}
}
