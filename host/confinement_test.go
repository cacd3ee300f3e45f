package host_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// withoutSeccomp names a program that is this one, in a sandbox that lets nobody use seccomp, as some containers do.
const withoutSeccomp = "lola-without-seccomp"

// lessConfined returns the path of such a program, whose children reach less than this process seems to be able to.
func lessConfined(t *testing.T) string {
	t.Helper()
	if m := host.ThisMachine(); !m.Seccomp {
		t.Skipf("this machine has no seccomp to do without (%s, emulator %q)", runtime.GOOS, m.Emulator)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), withoutSeccomp)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestThisMachine: the machine's own words agree with each other, and a child reaches what they promise.
func TestThisMachine(t *testing.T) {
	m := host.ThisMachine()
	if !m.Level.AtLeast(policy.None) || len(m.Open) == 0 || len(m.Walls) == 0 || m.OS != runtime.GOOS || m.Arch != runtime.GOARCH {
		t.Errorf("got %+v", m)
	}
	if m.Level.AtLeast(policy.Seccomp) != m.Seccomp || (m.Level == policy.Full || m.Level == policy.Landlock) != (m.Landlock > 0) {
		t.Errorf("got %+v", m)
	}
	d, err := host.Diagnose(t.Context(), host.Options{Home: filepath.Join(t.TempDir(), "home")})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Problems) > 0 || d.Child == nil || !d.Child.Level.AtLeast(m.Level) || len(d.Child.Open) == 0 {
		t.Fatalf("got %+v, child %+v", d, d.Child)
	}
	if m.Emulator == "" && runtime.GOOS == "linux" && (d.Child.Level != m.Level || d.Child.Landlock != m.Landlock || d.Child.Seccomp != m.Seccomp) {
		t.Errorf("the child reached %+v, expected was %+v", d.Child, m.Confinement)
	}
	if _, err := os.Lstat(d.State.Path); d.State.Exists || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state folder was made: %+v, %v", d.State, err)
	}
}

// TestCanary: what the doctor has a child run is an extension that could be run, down to its own code.
func TestCanary(t *testing.T) {
	s := newScene(t, []byte(host.Canary), abi.Limits{})
	info, err := s.host.Inspect(t.Context(), []byte(host.Canary))
	if err != nil || info.Form != "reactor" || info.ABI != 1 || info.Problem != "" || info.MemoryMin != 1<<16 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// TestLessConfined: a child that cannot put a wall up runs, is reported for what it is, in the log too, and is refused where
// more is required, before it was given a request.
func TestLessConfined(t *testing.T) {
	program := lessConfined(t)
	dir := t.TempDir()
	module, project, home := filepath.Join(dir, "module"), filepath.Join(dir, "project"), filepath.Join(dir, "home")
	write(t, filepath.Join(module, "skills", "s", "SKILL.md"), "text\n")
	write(t, filepath.Join(project, "mine"), "mine\n")
	install := func(artifact []byte, required policy.Level) (host.Report, []audit.Record, error) {
		h, err := host.New(host.Options{
			Home: home, Program: program, RequireConfinement: required,
			Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: artifact}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		var report host.Report
		p, err := h.Install(t.Context(), host.Install{Module: module, Project: project, Targets: []string{"guest"}})
		if err == nil {
			report = p.Report()
			if err := p.Apply(t.Context(), host.Consent{}); err != nil {
				t.Fatal(err)
			}
			p.Close()
		}
		var records []audit.Record
		for rec, err := range h.Log().Read(t.Context(), audit.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, rec)
		}
		return report, records, err
	}
	h, err := host.New(host.Options{Home: home, Program: program})
	if err != nil {
		t.Fatal(err)
	}
	info, err := h.Inspect(t.Context(), []byte(host.Canary))
	h.Close()
	if err != nil {
		t.Fatal(err)
	}
	// Linked with C, as go test does where it finds a compiler, the child has not even no-new-privs without seccomp.
	want := info.Level
	if want.AtLeast(policy.Seccomp) || info.Seccomp || (want == policy.Landlock) != (host.ThisMachine().Landlock > 0) {
		t.Fatalf("without seccomp a child reached %+v", info.Confinement)
	}
	report, records, err := install(wasmbuild.Reactor(wasmbuild.Parts{}), want)
	if err != nil {
		t.Fatal(err)
	}
	if report.Level != want || len(report.Confined) != 1 || report.Confined[0].Extension != "guest" || report.Confined[0].Seccomp || report.Confined[0].Level != want {
		t.Errorf("got %s, %+v", report.Level, report.Confined)
	}
	if !slices.Equal(report.Confined[0].Open, policy.Open(want, report.Confined[0].Landlock)) {
		t.Errorf("got %q", report.Confined[0].Open)
	}
	if len(records) != 2 || records[0].Event != audit.EventPlan || records[0].Extensions[0].Level != string(want) {
		t.Errorf("got %+v", records)
	}
	// A guest that is given a request traps, and then the class would be another.
	for _, required := range []policy.Level{policy.Seccomp, policy.Full} {
		_, records, err = install(wasmbuild.Reactor(wasmbuild.Parts{Start: wasmbuild.Unreachable()}), required)
		var level *host.ConfinementError
		var failed *host.ExtensionError
		if !errors.As(err, &level) || level.Level != want || level.Required != required || level.Extension != "guest" || !errors.As(err, &failed) || failed.Class != "level" {
			t.Fatalf("%s: got %v", required, err)
		}
		if !strings.Contains(err.Error(), `"`+string(want)+`"`) || !strings.Contains(err.Error(), `"`+string(required)+`"`) {
			t.Errorf("%s: %v", required, err)
		}
		last := records[len(records)-1]
		if last.Event != audit.EventRefused || last.Outcome != "confinement" || last.Extensions[0].Level != string(want) {
			t.Errorf("%s: got %+v", required, last)
		}
	}
	// To the doctor the child is a problem: this process has the wall.
	d, err := host.Diagnose(t.Context(), host.Options{Home: home, Program: program, RequireConfinement: policy.Full})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []host.ProblemKind
	for _, p := range d.Problems {
		kinds = append(kinds, p.Kind)
	}
	if !slices.Equal(kinds, []host.ProblemKind{host.ProblemDifference, host.ProblemConfinement}) || d.Child.Level != want || d.State.LogHead == "" {
		t.Errorf("got %+v", d)
	}
}

// TestDiagnoseState: what is wrong with the state folder is said and stays as it is.
func TestDiagnoseState(t *testing.T) {
	problems := func(path string) []host.ProblemKind {
		t.Helper()
		d, err := host.Diagnose(t.Context(), host.Options{Home: path})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []host.ProblemKind
		for _, p := range d.Problems {
			if p.Text == "" {
				t.Errorf("nothing is said of %s", p.Kind)
			}
			kinds = append(kinds, p.Kind)
		}
		return kinds
	}
	file := filepath.Join(t.TempDir(), "home")
	write(t, file, "text")
	if got := problems(file); !slices.Equal(got, []host.ProblemKind{host.ProblemState}) {
		t.Errorf("a file: %v", got)
	}
	if got := problems("relative"); !slices.Equal(got, []host.ProblemKind{host.ProblemState}) {
		t.Errorf("a relative path: %v", got)
	}
	home := func() string {
		path := filepath.Join(t.TempDir(), "home")
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got := problems(home()); len(got) > 0 {
		t.Errorf("an empty one: %v", got)
	}
	log := home()
	write(t, filepath.Join(log, "audit", "audit-00000001.jsonl"), `{"v":1,"seq":1`+"\nnonsense\n")
	if got := problems(log); !slices.Equal(got, []host.ProblemKind{host.ProblemLog}) {
		t.Errorf("a log that is none: %v", got)
	}
	if runtime.GOOS != "windows" {
		open := home()
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := problems(open); !slices.Equal(got, []host.ProblemKind{host.ProblemState}) {
			t.Errorf("one that others read: %v", got)
		}
		if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("got %v, %v", info, err)
		}
	}
}

// TestDiagnoseChild: a program that cannot be a child is a problem and no level.
func TestDiagnoseChild(t *testing.T) {
	d, err := host.Diagnose(t.Context(), host.Options{Home: filepath.Join(t.TempDir(), "home"), Program: filepath.Join(t.TempDir(), "nothing")})
	if err != nil {
		t.Fatal(err)
	}
	if d.Child != nil || len(d.Problems) != 1 || d.Problems[0].Kind != host.ProblemChild {
		t.Errorf("got %+v", d)
	}
	if _, err := host.Diagnose(t.Context(), host.Options{RequireConfinement: "very"}); err == nil {
		t.Error("a level that is none")
	}
}

// TestLacks: an error names each wall that a level is made of and a machine lacks, and no other.
func TestLacks(t *testing.T) {
	machine := func(os string, walls ...host.Wall) host.Machine { return host.Machine{OS: os, Walls: walls} }
	yes := func(name policy.Wall) host.Wall { return host.Wall{Name: name, Up: probe.Yes} }
	no := func(name policy.Wall) host.Wall { return host.Wall{Name: name, Up: probe.No, Why: "for a reason"} }
	linux := machine("linux", yes(policy.WallLimits), yes(policy.WallNoNewPrivs), no(policy.WallLandlock), no(policy.WallSeccomp))
	windows := machine("windows", host.Wall{Name: policy.WallLimits, Up: probe.Unknown, Why: "who knows"}, host.Wall{Name: policy.WallToken, Up: probe.Unknown})
	all := machine("linux", yes(policy.WallLimits), yes(policy.WallNoNewPrivs), yes(policy.WallLandlock), yes(policy.WallSeccomp))
	for _, c := range []struct {
		m    host.Machine
		want map[policy.Level]string
	}{
		{linux, map[policy.Level]string{policy.None: "", policy.Process: "", policy.Landlock: "landlock seccomp", policy.Seccomp: "seccomp", policy.Full: "landlock seccomp"}},
		{windows, map[policy.Level]string{policy.None: "", policy.Process: "limits", policy.Landlock: "limits landlock seccomp", policy.Seccomp: "limits seccomp", policy.Full: "limits landlock seccomp"}},
		{all, map[policy.Level]string{policy.None: "", policy.Process: "", policy.Landlock: "", policy.Seccomp: "", policy.Full: ""}},
	} {
		for level, want := range c.want {
			var names []string
			for _, w := range c.m.Lacks(level) {
				if w.Why == "" {
					t.Errorf("%s, %s: %s is missing for no reason", c.m.OS, level, w.Name)
				}
				names = append(names, string(w.Name))
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s, %s: got %q, want %q", c.m.OS, level, got, want)
			}
		}
	}
}

// TestExtensionLevel: the list says what this machine gives.
func TestExtensionLevel(t *testing.T) {
	s := newScene(t, wasmbuild.Reactor(wasmbuild.Parts{}), abi.Limits{})
	m := host.ThisMachine()
	for _, e := range s.host.Extensions() {
		if e.Level != m.Level || !slices.Equal(e.Open, m.Open) {
			t.Errorf("got %+v, want %s", e, m.Level)
		}
	}
}

// TestWords of levels are short and say what there is once.
func TestWords(t *testing.T) {
	for want, c := range map[string]host.Confinement{
		"none":                       {Level: policy.None},
		"process":                    {Level: policy.Process},
		"landlock (Landlock 4)":      {Level: policy.Landlock, Landlock: 4},
		"seccomp":                    {Level: policy.Seccomp, Seccomp: true},
		"full (Landlock 7, seccomp)": {Level: policy.Full, Landlock: 7, Seccomp: true},
	} {
		if got := c.Words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDiagnoseUnfinished: a change that was interrupted is named, until it is taken back.
func TestDiagnoseUnfinished(t *testing.T) {
	s, hook := hooked(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("new")}))
	dead := false
	hook(func(op root.Op) error {
		if dead = dead || op.Kind == root.OpMove; dead {
			return errors.New("the process is dead")
		}
		return nil
	})
	if err := s.agreeing(t); err == nil || !dead {
		t.Fatalf("it is not half made: %v", err)
	}
	hook(nil)
	for _, want := range []int{1, 0} {
		d, err := host.Diagnose(t.Context(), host.Options{Home: s.host.Home()})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.State.Unfinished) != want || len(d.Problems) != want {
			t.Fatalf("got %+v", d)
		}
		if want > 0 && (d.Problems[0].Kind != host.ProblemUnfinished || !strings.Contains(d.Problems[0].Text, strconv.Quote(d.State.Unfinished[0].Project))) {
			t.Errorf("got %+v", d.Problems)
		}
		if _, err := s.host.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
