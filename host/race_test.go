package host_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
)

// exhaustiveVariable makes the tests of this package that take a sample every day try everything.
const exhaustiveVariable = "LOLA_TEST_EXHAUSTIVE"

func exhaustive() bool { return os.Getenv(exhaustiveVariable) != "" }

// facts is what lies in a directory: by path, all that can be told of it.
type facts map[string]string

// factsOf takes it down; with times, when each was last written too.
func factsOf(t testing.TB, dir string, times bool) facts {
	t.Helper()
	f := facts{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %q", text)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			what += " -> " + to
		}
		if times {
			what += info.ModTime().Format(" 15:04:05.000000000")
		}
		rel, err := filepath.Rel(dir, p)
		f[rel] = what
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// madeDirs are directories that the plan makes. They go when they are empty, and what somebody moves away at that instant
// stays until the next change looks for it.
var madeDirs = []string{".guest/fresh", ".guest/fresh/a", ".guest/to"}

// differs lists the differences, those beneath the ignored paths left out, and empty directories of the plan's own.
func (f facts) differs(want facts, ignored ...string) string {
	var b strings.Builder
	all := maps.Clone(want)
	maps.Copy(all, f)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(ignored, func(dir string) bool { return dir != "" && (p == dir || strings.HasPrefix(p, dir+"/")) }) {
			continue
		}
		if slices.Contains(madeDirs, p) && len(ignored) > 0 && strings.HasPrefix(f[p]+want[p], "d") && (f[p] == "" || want[p] == "") {
			continue
		}
		if f[p] != want[p] {
			fmt.Fprintf(&b, "\n  %q is %.90s, want %.90s", p, f[p], want[p])
		}
	}
	return b.String()
}

// hooked is a scene whose host tells of every change of a disk.
func hooked(t *testing.T, wasm []byte) (s *scene, hook func(root.Hook)) {
	t.Helper()
	var now root.Hook
	s = &scene{module: t.TempDir(), project: t.TempDir()}
	write(t, filepath.Join(s.module, "skills", "s", "SKILL.md"), "text\n")
	write(t, filepath.Join(s.project, "mine"), "mine\n")
	h, err := host.New(host.Options{
		Home:     filepath.Join(t.TempDir(), "home"),
		Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: wasm}},
		Hook: func(op root.Op) error {
			if now != nil {
				return now(op)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	s.host = h
	return s, func(h root.Hook) { now = h }
}

// TestP24: what a user changes after the preview is no more what they agreed to: nothing happens, whatever the change was
// going to be and however much they agreed to overwrite.
func TestP24(t *testing.T) {
	all := []abi.Intent{
		abi.Write{Path: ".guest/new", Mode: 0o644, Content: abi.Bytes("new")},
		abi.Write{Path: ".guest/upd", Mode: 0o644, Content: abi.Bytes("new")},
		abi.Write{Path: ".guest/keep", Mode: 0o644, Content: abi.Bytes("same")},
		abi.Delete{Path: ".guest/rm"}, abi.Delete{Path: ".guest/d"},
		abi.Rename{From: ".guest/from", To: ".guest/to"},
		abi.EditJSON{Path: ".guest/e.json", Edits: []abi.JSONEdit{{At: "/k", Set: true, Value: "v"}}},
	}
	for name, change := range map[string]func(at func(string) string) error{
		"made":            func(at func(string) string) error { return os.WriteFile(at("new"), nil, 0o644) },
		"made as planned": func(at func(string) string) error { return os.WriteFile(at("new"), []byte("new"), 0o644) },
		"updated":         func(at func(string) string) error { return os.WriteFile(at("upd"), []byte("mine"), 0o644) },
		"same size":       func(at func(string) string) error { return os.WriteFile(at("upd"), []byte("OLD"), 0o644) },
		"as it stays":     func(at func(string) string) error { return os.WriteFile(at("keep"), []byte("mine"), 0o644) },
		"as it is edited": func(at func(string) string) error { return os.WriteFile(at("e.json"), []byte(`{"k": 1}`), 0o644) },
		"removed":         func(at func(string) string) error { return os.Remove(at("rm")) },
		"written":         func(at func(string) string) error { return os.WriteFile(at("rm"), []byte("mine"), 0o644) },
		"in a directory":  func(at func(string) string) error { return os.WriteFile(at("d/more"), nil, 0o644) },
		"directory for it": func(at func(string) string) error {
			return errors.Join(os.Remove(at("upd")), os.Mkdir(at("upd"), 0o755))
		},
		"source":      func(at func(string) string) error { return os.WriteFile(at("from"), []byte("mine"), 0o644) },
		"destination": func(at func(string) string) error { return os.WriteFile(at("to"), []byte("mine"), 0o644) },
		"mode":        func(at func(string) string) error { return os.Chmod(at("rm"), 0o400) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "mode" && runtime.GOOS == "windows" {
				t.Skip("Windows keeps no modes")
			}
			s := newScene(t, answering(t, all...), abi.Limits{})
			for p, text := range map[string]string{"upd": "old", "keep": "same", "rm": "rm", "d/x": "x", "from": "from", "e.json": "{}"} {
				write(t, filepath.Join(s.project, ".guest", filepath.FromSlash(p)), text)
			}
			p := s.propose(t)
			if err := change(func(p string) string { return filepath.Join(s.project, ".guest", filepath.FromSlash(p)) }); err != nil {
				t.Fatal(err)
			}
			look := func() facts { // staging comes and goes, and so may the first moves
				f := factsOf(t, s.project, true)
				delete(f, ".")
				delete(f, ".guest")
				return f
			}
			before := look()
			err := p.Apply(t.Context(), host.Consent{Foreign: true})
			var stale *host.StaleError
			if !errors.As(err, &stale) {
				t.Errorf("got %v, want that something changed since", err)
			}
			if d := look().differs(before); d != "" {
				t.Errorf("the project changed:%s", d)
			}
			if list, err := s.host.List(s.project); err != nil || len(list) != 0 {
				t.Errorf("installed: %v, %v", list, err)
			}
			s.quiet(t)
		})
	}
}

// quiet wants that no command left anything that is to be finished, and that the log is whole.
func (s *scene) quiet(t *testing.T) {
	t.Helper()
	if left, err := s.host.Unfinished(); err != nil || len(left) != 0 {
		t.Errorf("unfinished: %v, %v", left, err)
	}
	if report, err := s.host.Log().Verify(t.Context(), audit.VerifyOptions{}); err != nil || !report.OK() {
		t.Errorf("the log: %+v, %v", report, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.project, ".lola-stage*")); len(left) != 0 {
		t.Errorf("in the project is left %v", left)
	}
}

// TestP06RootMoved: a project that was moved away after the preview, with another one in its place or none, is left alone,
// and so is the other one.
func TestP06RootMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows moves no directory that is open")
	}
	for _, other := range []bool{false, true} {
		s := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}), abi.Limits{})
		p := s.propose(t)
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(s.project, moved); err != nil {
			t.Fatal(err)
		}
		if other {
			write(t, filepath.Join(s.project, "theirs"), "theirs")
		}
		before := factsOf(t, moved, true)
		if err := p.Apply(t.Context(), host.Consent{}); err == nil || !strings.Contains(err.Error(), "moved or replaced meanwhile") {
			t.Errorf("got %v, want that the project was moved", err)
		}
		if d := factsOf(t, moved, true).differs(before); d != "" {
			t.Errorf("the project changed:%s", d)
		}
		if other && tree(t, s.project) != "theirs theirs" {
			t.Errorf("what took its place changed: %s", tree(t, s.project))
		}
		s.quiet(t)
	}
}

// TestRecordChangedMeanwhile: of two changes that were judged at once the second is to be run again.
func TestRecordChangedMeanwhile(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}), abi.Limits{})
	one, two := s.propose(t), s.propose(t)
	if err := one.Apply(t.Context(), host.Consent{}); err != nil {
		t.Fatal(err)
	}
	before := factsOf(t, s.project, true)
	if err := two.Apply(t.Context(), host.Consent{}); err == nil || !strings.Contains(err.Error(), "run this one again") {
		t.Errorf("got %v, want that another command was quicker", err)
	}
	if err := one.Apply(t.Context(), host.Consent{}); err == nil {
		t.Error("a change was made twice")
	}
	if d := factsOf(t, s.project, true).differs(before); d != "" {
		t.Errorf("the project changed:%s", d)
	}
	s.quiet(t)
}

// TestLogThatCannotBeWritten: no log, no effect.
func TestLogThatCannotBeWritten(t *testing.T) {
	s, hook := hooked(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}, abi.Delete{Path: ".guest/old"}))
	write(t, filepath.Join(s.project, ".guest", "old"), "old")
	before := factsOf(t, s.project, true)
	for k := 0; ; k++ {
		n, other := 0, 0
		p := s.propose(t)
		hook(func(op root.Op) error {
			if op.Root != s.host.Home() || op.Path != "audit" && !strings.HasPrefix(op.Path, "audit/") {
				if other++; n <= k {
					return nil
				}
				t.Errorf("call %d of the log fails, and then comes %s %q", k, op.Kind, op.Path)
			}
			if n++; n-1 >= k {
				return syscall.ENOSPC
			}
			return nil
		})
		err := p.Apply(t.Context(), host.Consent{Foreign: true})
		hook(nil)
		if n <= k || other > 0 && err == nil { // the log of the plan was written: another's affair
			if k < 3 {
				t.Errorf("the log takes %d calls", k)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "without which nothing is done") || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("call %d of the log fails: got %v, want that nothing is done", k, err)
		}
		if d := factsOf(t, s.project, true).differs(before); d != "" {
			t.Errorf("call %d of the log fails: the project changed:%s", k, d)
		}
		s.quiet(t)
	}
}

// TestStateFolderFull: from some call on, the state folder takes nothing any more, as on a full disk, or one that became
// read-only. The project is as before or as after, and when there is room again, a recovery leaves the record to agree.
func TestStateFolderFull(t *testing.T) {
	wasm := answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}, abi.Write{Path: ".guest/upd", Mode: 0o755, Content: abi.Bytes("new")}, abi.Delete{Path: ".guest/old"})
	failed, finished := 0, 0
	for _, cause := range []error{syscall.ENOSPC, syscall.EROFS} {
		step := 1
		if cause != syscall.ENOSPC { // a sample: it is the same to the host
			step = 5
		}
		for k := 0; ; k += step {
			s, hook := hooked(t, wasm)
			write(t, filepath.Join(s.project, ".guest", "old"), "old")
			write(t, filepath.Join(s.project, ".guest", "upd"), "old")
			before := tree(t, s.project)
			p := s.propose(t)
			n := 0
			hook(func(op root.Op) error {
				if op.Root != s.host.Home() {
					return nil
				}
				if n++; n-1 >= k {
					return cause
				}
				return nil
			})
			err := p.Apply(t.Context(), host.Consent{Foreign: true})
			hook(nil)
			if n <= k {
				break
			}
			recovered, rerr := s.host.Recover(t.Context())
			if rerr != nil {
				t.Errorf("%v from call %d on: %v; then recovering: %v", cause, k, err, rerr)
			}
			for _, r := range recovered {
				if r.Problem != "" {
					t.Errorf("%v from call %d on: %v; then recovering: %s", cause, k, err, r.Problem)
				}
			}
			list, lerr := s.host.List(s.project)
			status, serr := s.host.Status(s.project)
			if lerr != nil || serr != nil || len(status.Differences) > 0 {
				t.Errorf("%v from call %d on: %v; list: %v; status: %+v, %v", cause, k, err, lerr, status, serr)
			}
			now, after := tree(t, s.project), ".guest .guest/a a.guest/upd newmine mine\n"
			switch {
			case now == before && len(list) == 0:
				failed++
				if err == nil {
					t.Errorf("%v from call %d on: it went well and nothing happened", cause, k)
				}
			case now == after && len(list) == 1:
				finished++
				if unfinished := (*host.UnfinishedError)(nil); err != nil && !errors.As(err, &unfinished) {
					t.Errorf("%v from call %d on: it is made, and said to have failed: %v", cause, k, err)
				}
			default:
				t.Errorf("%v from call %d on: %v; installed: %v, the project is\n%s\nwant\n%s\nor\n%s", cause, k, err, list, now, before, after)
			}
			s.quiet(t)
		}
	}
	t.Logf("%d failed, %d were finished", failed, finished)
	if failed == 0 || finished == 0 {
		t.Error("nothing was tried")
	}
}
