package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// What a process of this test binary that is the command does beside: it alone reads them, "lola" knows none of them.
const (
	killVariable  = "LOLA_TEST_KILL_AT" // it kills itself before this change of a disk, counted from 0
	opsVariable   = "LOLA_TEST_OPS"     // it says in this file how many changes it made
	guestVariable = "LOLA_TEST_GUEST"   // it has this WASM module as the target "guest"
)

// slowly says that processes start as on the platforms that are mostly run under emulation: a command takes a second there, and
// tests of many commands make do with few.
const slowly = runtime.GOOS == "windows" || runtime.GOARCH == "arm64"

// exhaustiveVariable makes the tests of this package that take a sample every day try everything.
const exhaustiveVariable = "LOLA_TEST_EXHAUSTIVE"

// victim readies the command for what the environment says and returns what it does at its end.
func victim(a *app) (end func()) {
	if path := os.Getenv(guestVariable); path != "" {
		wasm, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		a.builtins = []host.Builtin{guest(wasm)}
	}
	at, err := strconv.ParseInt(os.Getenv(killVariable), 10, 64)
	if err != nil {
		at = -1
	}
	var n atomic.Int64
	a.hook = func(root.Op) error {
		if n.Add(1)-1 == at {
			kill()
		}
		return nil
	}
	return func() {
		if path := os.Getenv(opsVariable); path != "" {
			if err := os.WriteFile(path, fmt.Append(nil, n.Load()), 0o600); err != nil {
				panic(err)
			}
		}
	}
}

// kill ends this process, by SIGKILL, or TerminateProcess on Windows: nothing of it is left but what it has done.
func kill() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // it is on its way
}

// guest is a target that may do what it likes in a folder and with two shared files.
func guest(wasm []byte) host.Builtin {
	return host.Builtin{Artifact: wasm, Manifest: []byte(`name: guest
version: 1.0.0
kind: target
abi: 1
artifact: guest.wasm
actions: [install]
writes: ["g/**", "shared.json", "NOTES.md"]
`)}
}

// answers is a guest that proposes the intents.
func answers(t testing.TB, intents ...abi.Intent) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (wire.Options{}).EncodePlan(&b, &abi.Plan{Intents: intents}); err != nil {
		t.Fatal(err)
	}
	return wasmbuild.Reactor(wasmbuild.Parts{Plan: b.Bytes()})
}

// frozen is what a directory holds, to be put back: by path its mode, and the bytes of a file or what a link says.
type frozen map[string]frozenEntry

type frozenEntry struct {
	mode fs.FileMode
	text string
}

func freeze(t testing.TB, dir string) frozen {
	t.Helper()
	f := frozen{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := frozenEntry{mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			e.text = string(text)
		case info.Mode()&fs.ModeSymlink != 0:
			if e.text, err = os.Readlink(path); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(dir, path)
		f[filepath.ToSlash(rel)] = e
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// thaw makes a directory hold that and nothing else. The directory itself stays the same one: it is known by its identity.
func (f frozen) thaw(t testing.TB, dir string) {
	t.Helper()
	old, err := os.ReadDir(dir)
	for _, e := range old {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	paths := slices.Sorted(maps.Keys(f))
	for _, p := range paths {
		at := filepath.Join(dir, filepath.FromSlash(p))
		switch e := f[p]; {
		case e.mode.IsDir():
			err = errors.Join(err, os.Mkdir(at, 0o700))
		case e.mode&fs.ModeSymlink != 0:
			err = errors.Join(err, os.Symlink(e.text, at))
		default:
			err = errors.Join(err, os.WriteFile(at, []byte(e.text), 0o600), os.Chmod(at, e.mode.Perm()))
		}
	}
	for _, p := range slices.Backward(paths) {
		if e := f[p]; e.mode.IsDir() {
			err = errors.Join(err, os.Chmod(filepath.Join(dir, filepath.FromSlash(p)), e.mode.Perm()))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// beneath is the part of it in a directory.
func (f frozen) beneath(dir string) frozen {
	part := frozen{}
	for p, e := range f {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			part[rest] = e
		}
	}
	return part
}

// differs lists how it differs from what is wanted, "" if it does not. Windows keeps no modes.
func (f frozen) differs(want frozen) string {
	var b strings.Builder
	all := maps.Clone(want)
	maps.Copy(all, f)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		got, is := f[p]
		wanted, was := want[p]
		if runtime.GOOS == "windows" {
			got.mode, wanted.mode = got.mode.Type(), wanted.mode.Type()
		}
		if is != was || got != wanted {
			fmt.Fprintf(&b, "\n  %q is %v %.80q (%t), want %v %.80q (%t)", p, got.mode, got.text, is, wanted.mode, wanted.text, was)
		}
	}
	return b.String()
}

// world is one user's state folder and a project.
type world struct {
	t             testing.TB
	base          string
	home, project string
	guest         string // file of a WASM module, or none
}

func newWorld(t testing.TB) *world {
	t.Helper()
	base := ""
	if runtime.GOOS == "linux" { // in memory, where many changes do not wait for a disk
		if dir, err := os.MkdirTemp("/dev/shm", "lola"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			base = dir
		}
	}
	if base == "" {
		base = t.TempDir()
	}
	w := &world{t: t, base: base, home: filepath.Join(base, "home"), project: filepath.Join(base, "project")}
	for _, dir := range []string{w.home, w.project} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// real starts a process that is the command, and returns how it ended and what it said.
func (w *world) real(env []string, args ...string) (*os.ProcessState, string) {
	w.t.Helper()
	cmd := exec.Command("lola", args...) // this binary, as package testscript lays it out
	cmd.Env = append(os.Environ(), "LOLA_HOME="+w.home)
	if w.guest != "" {
		cmd.Env = append(cmd.Env, guestVariable+"="+w.guest)
	}
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		if strings.Contains(err.Error(), "exec format error") {
			w.t.Skip("this system cannot start programs of its own kind: an emulator runs the test alone")
		}
		w.t.Fatal(err)
	}
	return cmd.ProcessState, out.String()
}

// must runs the command and wants it to go well.
func (w *world) must(args ...string) string {
	w.t.Helper()
	if state, out := w.real(nil, args...); !state.Success() {
		w.t.Fatalf("lola %q: %v\n%s", args, state, out)
		return ""
	} else {
		return out
	}
}

// killedAt runs the command as a process that dies before its k-th change, and reports whether it came so far.
func (w *world) killedAt(k int, args ...string) bool {
	w.t.Helper()
	state, out := w.real([]string{killVariable + "=" + strconv.Itoa(k)}, args...)
	if runtime.GOOS == "windows" {
		return state.ExitCode() == 1 && !strings.Contains(out, "lola: error")
	}
	if strings.Contains(state.String(), "killed") {
		return true
	}
	if !state.Success() {
		w.t.Errorf("lola %q, to be killed at %d: %v\n%s", args, k, state, out)
	}
	return false
}

// ops counts the changes that the command makes.
func (w *world) ops(args ...string) int {
	w.t.Helper()
	file := filepath.Join(w.base, "ops")
	if state, out := w.real([]string{opsVariable + "=" + file}, args...); !state.Success() {
		w.t.Fatalf("lola %q: %v\n%s", args, state, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// state is all that a user sees of a project and a state folder.
type state struct {
	project   frozen
	installed frozen // the records, as they lie in the state folder
	list      string // what "lola list" says
	undoable  int
}

// look takes it down. What holds at any time is checked: nothing is left of a command, the log is whole, the records say
// what is on disk.
func (w *world) look() (s state, problem string) {
	w.t.Helper()
	s.project = freeze(w.t, w.project)
	all := freeze(w.t, w.home)
	s.installed = all.beneath("installed")
	h, err := host.New(host.Options{Home: w.home})
	if err != nil {
		return s, err.Error()
	}
	defer h.Close()
	var problems []error
	if list, err := h.List(w.project); err == nil {
		text, err := json.Marshal(list)
		s.list = string(text)
		problems = append(problems, err)
	} else {
		problems = append(problems, err)
	}
	undoable, err := h.Undoable(w.project)
	s.undoable = len(undoable)
	problems = append(problems, err)
	if status, err := h.Status(w.project); err != nil {
		problems = append(problems, err)
	} else if len(status.Differences) > 0 {
		problems = append(problems, fmt.Errorf("status: %+v", status))
	}
	if left, err := h.Unfinished(); err != nil || len(left) > 0 { // a journal that breaks off is none, and goes with the next change
		problems = append(problems, fmt.Errorf("unfinished: %+v, %w", left, err))
	}
	if report, err := h.Log().Verify(w.t.Context(), audit.VerifyOptions{}); err != nil {
		problems = append(problems, err)
	} else if !report.OK() {
		problems = append(problems, fmt.Errorf("the log: %w", report.Broken))
	}
	for p := range all {
		dir, name, _ := strings.Cut(p, "/")
		if runtime.GOOS == "windows" && strings.HasPrefix(name, "lola-") {
			continue // a spool, or a module as a child reads it: elsewhere these have no names, here they go within a day
		}
		if strings.HasPrefix(name, "lola-scratch-") || dir == "codes" || p == "builds.json.new" {
			continue // half compiled code goes within a day, its record with the next code, the other with the next program
		}
		if dir == "tmp" && name != "" || dir == "changes" && (strings.HasSuffix(name, ".commit") || strings.HasSuffix(name, ".aside")) || strings.HasSuffix(p, ".new") {
			problems = append(problems, fmt.Errorf("in the state folder is left %q", p))
		}
	}
	for p := range s.project {
		if strings.Contains(p, "lola-stage") {
			problems = append(problems, fmt.Errorf("in the project is left %q", p))
		}
	}
	if err := errors.Join(problems...); err != nil {
		problem = err.Error()
	}
	return s, problem
}

// differs compares all but what can be undone.
func (s state) differs(want state) string {
	d := s.project.differs(want.project) + s.installed.differs(want.installed)
	if s.list != want.list {
		d += fmt.Sprintf("\n  the list is %s, want %s", s.list, want.list)
	}
	if s.undoable != want.undoable {
		d += fmt.Sprintf("\n  %d changes can be undone, want %d", s.undoable, want.undoable)
	}
	return d
}

// mortal is a command that is killed, and what was there before it.
type mortal struct {
	name  string
	files frozen                   // what the user has in the project
	guest []abi.Intent             // what the guest proposes; nil: there is none
	setup func(w *world)           // what was done before
	args  func(w *world) []string  // the command
	gone  func(output string) bool // whether it says, run again, that it has been done already
}

func file(text string) frozenEntry { return frozenEntry{0o644, text} }

func folder() frozenEntry { return frozenEntry{fs.ModeDir | 0o755, ""} }

// mortals are the commands that change a project, for several plans.
func mortals(t testing.TB) []mortal {
	example := example(t)
	later := t.TempDir() // a newer version: a file changed, one new, one gone
	old := freeze(t, example)
	old["skills/git-doctor/SKILL.md"] = file(old["skills/git-doctor/SKILL.md"].text + "\nMore.\n")
	old["commands/second.md"] = file("Do it again.\n")
	old["lola.yaml"] = file(strings.Replace(old["lola.yaml"].text, "1.0.0", "1.1.0", 1))
	delete(old, "agents/git-medic.md")
	delete(old, "agents")
	old.thaw(t, later)
	small := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	frozen{"skills": folder(), "skills/s": folder(), "skills/s/SKILL.md": file("text\n")}.thaw(t, small)

	every := []string{"-a", "claude-code", "-a", "cursor", "-a", "gemini-cli", "-a", "opencode", "-a", "copilot"}
	install := func(module string, w *world, targets ...string) []string {
		return slices.Concat([]string{"install", module, "--project", w.project, "--yes", "--trust", trust(t, module)}, targets)
	}
	first := func(w *world) { w.must(install(example, w, every...)...) }
	uninstall := func(w *world, more ...string) []string {
		return append([]string{"uninstall", "git-doctor", "--project", w.project}, more...)
	}
	undo := func(w *world) []string {
		h, err := host.New(host.Options{Home: w.home})
		if err != nil {
			w.t.Fatal(err)
		}
		defer h.Close()
		all, err := h.Undoable(w.project)
		if err != nil || len(all) == 0 {
			w.t.Fatalf("what can be undone: %v, %v", all, err)
		}
		return []string{"undo", all[len(all)-1].ID, "--project", w.project}
	}
	never := func(string) bool { return false }
	says := func(text string) func(string) bool {
		return func(out string) bool { return strings.Contains(out, text) }
	}
	has := frozen{
		"CLAUDE.md": file("# Mine\n"), "mine": file("mine\n"), ".cursor": folder(), ".github": folder(), ".github/mine": {0o600, "mine"},
		".mcp.json":        file("{\n  // mine\n  \"mcpServers\": {\"mine\": {\"command\": \"true\"}}\n}\n"),
		".cursor/mcp.json": file("{\"mcpServers\": {}}"),
	}
	all := []mortal{
		{name: "install into an empty project", args: func(w *world) []string { return install(example, w, every...) }, gone: never},
		{name: "install beside what is there", files: has, args: func(w *world) []string { return install(example, w, every...) }, gone: never},
		{name: "install for another assistant", files: has, setup: func(w *world) { w.must(install(example, w, every[:2]...)...) },
			args: func(w *world) []string { return install(example, w, every[2:]...) }, gone: never},
		{name: "upgrade", files: has, setup: first, args: func(w *world) []string { return install(later, w, every...) }, gone: never},
		{name: "uninstall", files: has, setup: first, args: func(w *world) []string { return uninstall(w) }, gone: says("is not installed")},
		{name: "uninstall for one assistant", files: has, setup: first,
			args: func(w *world) []string { return uninstall(w, "-a", "cursor") }, gone: says("is not installed")},
		{name: "undo an install", files: has, setup: first, args: undo, gone: says("can be undone")},
		{name: "undo an upgrade", files: has, setup: func(w *world) { first(w); w.must(install(later, w, every...)...) }, args: undo, gone: says("can be undone")},
		{name: "undo an uninstall", files: has, setup: func(w *world) { first(w); w.must(uninstall(w)...) }, args: undo, gone: says("can be undone")},
	}
	text := "kept\n"
	plans := []mortal{
		{name: "one file", guest: []abi.Intent{abi.Write{Path: "g/a", Mode: 0o644, Content: abi.Bytes("a")}}},
		{name: "modes and folders", files: frozen{"g": folder(), "g/mine": {0o400, "m"}}, guest: []abi.Intent{
			abi.Write{Path: "g/run", Mode: 0o755, Content: abi.Bytes("#!/bin/sh\n")}, abi.Write{Path: "g/x/y/own", Mode: 0o600, Content: abi.Bytes("o")},
			abi.Write{Path: "g/x/empty", Mode: 0o644, Content: abi.Bytes("")},
		}},
		{name: "update", files: frozen{"g": folder(), "g/a": {0o600, "old"}, "g/b": file("b")}, guest: []abi.Intent{
			abi.Write{Path: "g/a", Mode: 0o644, Content: abi.Bytes("new")}, abi.Write{Path: "g/b", Mode: 0o755, Content: abi.Bytes("b")},
		}},
		{name: "remove", files: frozen{"g": folder(), "g/a": file("a"), "g/d": folder(), "g/d/e": {0o600, "e"}, "g/d/f": folder()}, guest: []abi.Intent{
			abi.Delete{Path: "g/a"}, abi.Delete{Path: "g/d"},
		}},
		{name: "replace a folder", files: frozen{"g": folder(), "g/d": folder(), "g/d/old": file("o"), "g/d/s": folder(), "g/d/s/x": file("x")}, guest: []abi.Intent{
			abi.Delete{Path: "g/d"}, abi.Write{Path: "g/d/new", Mode: 0o644, Content: abi.Bytes("n")}, abi.Write{Path: "g/d/s/y", Mode: 0o644, Content: abi.Bytes("y")},
		}},
		{name: "move", files: frozen{"g": folder(), "g/from": folder(), "g/from/x": {0o640, "x"}, "g/f": file("f")}, guest: []abi.Intent{
			abi.Rename{From: "g/from", To: "g/to/there"}, abi.Rename{From: "g/f", To: "g/f2"}, abi.Write{Path: "g/w", Mode: 0o644, Content: abi.Bytes("w")},
		}},
		{name: "edits", files: frozen{"shared.json": file("{\"a\": 1} // mine\n"), "NOTES.md": {0o600, "# Notes\n"}}, guest: []abi.Intent{
			abi.EditJSON{Path: "shared.json", Edits: []abi.JSONEdit{{At: "/b", Set: true, Value: "two"}}}, abi.EditBlock{Path: "NOTES.md", ID: "guest", Text: &text},
		}},
		{name: "everything", files: frozen{
			"g": folder(), "g/a": file("a"), "g/d": folder(), "g/d/old": file("o"), "g/m": file("m"), "g/u": {0o600, "u"},
			"shared.json": file("{}\n"),
		}, guest: []abi.Intent{
			abi.Delete{Path: "g/a"}, abi.Delete{Path: "g/d"}, abi.Write{Path: "g/d/n", Mode: 0o644, Content: abi.Bytes("n")}, abi.Rename{From: "g/m", To: "g/k/m"},
			abi.Write{Path: "g/u", Mode: 0o644, Content: abi.Bytes("U")}, abi.Write{Path: "g/new/x", Mode: 0o644, Content: abi.Bytes("x")},
			abi.EditJSON{Path: "shared.json", Edits: []abi.JSONEdit{{At: "/x", Set: true, Value: true}}},
		}},
	}
	many := mortal{name: "many files", guest: nil}
	for i := range 20 { // more than are made durable one by one
		many.guest = append(many.guest, abi.Write{Path: fmt.Sprintf("g/%d/%d", i%3, i), Mode: 0o644, Content: abi.Bytes(fmt.Sprint(i))})
	}
	many.files = frozen{"g": folder(), "g/0": folder(), "g/0/0": file("old"), "g/1": folder()}
	for _, p := range append(plans, many) {
		into := func(w *world) []string {
			return []string{"install", small, "-a", "guest", "--project", w.project, "--yes"}
		}
		module := filepath.Base(small)
		one, two, three := p, p, p
		one.name, one.args, one.gone = "install "+p.name, into, func(out string) bool { return !strings.Contains(out, "interrupted") }
		two.name, two.args, two.gone = "undo "+p.name, undo, says("can be undone")
		two.setup = func(w *world) { w.must(into(w)...) }
		three.name, three.setup, three.gone = "uninstall "+p.name, two.setup, says("is not installed")
		three.args = func(w *world) []string { return []string{"uninstall", module, "--project", w.project} }
		all = append(all, one, two, three)
	}
	return all
}

// killing is one mortal command with what it begins and ends with.
type killing struct {
	mortal
	w                   *world
	home, project       frozen // before
	command             []string
	before, after       state
	ops                 int
	kills, twice, again int
}

func begin(t testing.TB, m mortal) *killing {
	t.Helper()
	v := &killing{mortal: m, w: newWorld(t)}
	m.files.thaw(t, v.w.project)
	if m.guest != nil {
		v.w.guest = filepath.Join(v.w.base, "guest.wasm")
		if err := os.WriteFile(v.w.guest, answers(t, m.guest...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if m.setup != nil {
		m.setup(v.w)
	}
	v.command = m.args(v.w)
	v.home, v.project = freeze(t, v.w.home), freeze(t, v.w.project)
	var problem string
	if v.before, problem = v.w.look(); problem != "" {
		t.Fatalf("%s, before: %s", m.name, problem)
	}
	v.ops = v.w.ops(v.command...)
	if v.after, problem = v.w.look(); problem != "" {
		t.Fatalf("%s, after: %s", m.name, problem)
	}
	if v.after.differs(v.before) == "" {
		t.Fatalf("%s changes nothing", m.name)
	}
	return v
}

// reset makes all as before the command.
func (v *killing) reset() {
	v.home.thaw(v.w.t, v.w.home)
	v.project.thaw(v.w.t, v.w.project)
}

// kill kills the command before change k, from the beginning.
func (v *killing) kill(k int) bool {
	v.reset()
	if !v.w.killedAt(k, v.command...) {
		return false
	}
	v.kills++
	return true
}

// settled checks that all is as before or as after.
func (v *killing) settled(when string) {
	t := v.w.t
	t.Helper()
	got, problem := v.w.look()
	if problem != "" {
		t.Errorf("%s, %s: %s", v.name, when, problem)
	}
	if b, a := got.differs(v.before), got.differs(v.after); b != "" && a != "" {
		t.Errorf("%s, %s: it is neither as before:%s\nnor as after:%s", v.name, when, b, a)
	}
}

// recover kills the recovery before change j, or runs the command again and kills that, then recovers for good.
func (v *killing) recover(k, j int, again bool) (died bool) {
	t := v.w.t
	t.Helper()
	with := []string{"recover"}
	if again {
		with = v.command
	}
	state, out := v.w.real([]string{killVariable + "=" + strconv.Itoa(j)}, with...)
	died = strings.Contains(state.String(), "killed") || runtime.GOOS == "windows" && state.ExitCode() == 1 && !strings.Contains(out, "lola: error")
	when := fmt.Sprintf("killed at %d of %d, then lola %s killed at %d (%t)", k, v.ops, with[0], j, died)
	if died {
		v.twice++
		if again {
			v.again++
		}
		out = v.w.must("recover")
	} else if !state.Success() && !(again && v.gone(out)) {
		t.Errorf("%s, %s: %v\n%s", v.name, when, state, out)
	}
	v.settled(when)
	return died
}

// TestKill kills a real lola before one change of a disk, in the project or in the state folder, then the one that recovers,
// be it that it was asked to or that it is the next command, then lets another recover. The project is as before or as
// after, byte for byte and mode for mode, and so are the records; what "lola list", "lola status" and the log say agrees.
func TestKill(t *testing.T) {
	all := mortals(t)
	if os.Getenv(exhaustiveVariable) == "" {
		random := rand.New(rand.NewPCG(uint64(os.Getpid()), rand.Uint64()))
		var kills, twice int
		tries := 16
		if slowly {
			tries = 3
		}
		for _, i := range random.Perm(len(all))[:tries] {
			v := begin(t, all[i])
			for range 6 {
				k := random.IntN(v.ops)
				if !v.kill(k) {
					t.Errorf("%s was not killed at %d of %d", v.name, k, v.ops)
				}
				v.recover(k, random.IntN(25), random.IntN(3) == 0)
			}
			kills, twice = kills+v.kills, twice+v.twice
		}
		t.Logf("%d commands were killed and %d that recovered", kills, twice)
		if kills == 0 || twice == 0 {
			t.Error("nothing was tried")
		}
		return
	}
	// A command writes the digest of its program down, which is a change of the disk too, but only if the file was not touched
	// within the last seconds; testscript has just given it another name.
	time.Sleep(3 * time.Second)
	var kills, twice, again atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, m := range all {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				v := begin(t, m)
				for k := 0; v.kill(k); k++ {
					home, project := freeze(t, v.w.home), freeze(t, v.w.project)
					back := func() {
						home.thaw(t, v.w.home)
						project.thaw(t, v.w.project)
					}
					// A command for five assistants makes many changes, and an install takes time: others of the steps after
					// each change, never the same ones.
					step, next := 1, 4
					if v.guest == nil {
						step, next = 9, 60
					}
					for j := k % step; v.recover(k, j, false); j += step {
						back()
					}
					for j := k % next; ; j += next {
						back()
						if !v.recover(k, j, true) {
							break
						}
					}
				}
				if v.kills != v.ops {
					t.Errorf("%d times killed, it makes %d changes", v.kills, v.ops)
				}
				kills.Add(int64(v.kills))
				twice.Add(int64(v.twice))
				again.Add(int64(v.again))
				t.Logf("%d changes, %d killed, %d more when they recovered", v.ops, v.kills, v.twice)
			})
		}
	})
	t.Logf("%d commands over %d plans were killed, and %d that recovered (%d of them the same command again)", kills.Load(), len(all), twice.Load(), again.Load())
}
