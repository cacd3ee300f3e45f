package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// counted is a scene whose children are counted: they are started through a script.
type counted struct {
	*scene
	options  host.Options
	log      string
	seen     int
	confined []host.Confined // of the last ask
}

func newCounted(t *testing.T, artifacts ...[]byte) *counted {
	t.Helper()
	if runtime.GOOS == "windows" || probe.System().Emulator != "" {
		t.Skip("children are counted by a script of the system's own shell")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &counted{scene: &scene{module: t.TempDir(), project: t.TempDir()}, log: filepath.Join(dir, "log")}
	write(t, filepath.Join(c.module, "skills", "s", "SKILL.md"), "text\n")
	write(t, filepath.Join(c.project, "mine"), "mine\n")
	c.options = host.Options{Home: filepath.Join(dir, "home"), Program: filepath.Join(dir, "program")}
	write(t, c.options.Program, fmt.Sprintf("#!/bin/sh\necho child >>'%s'\nexec '%s' \"$@\"\n", c.log, self))
	if err := os.Chmod(c.options.Program, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, a := range artifacts {
		manifest := strings.ReplaceAll(guestManifest, "guest", fmt.Sprintf("guest%d", i))
		c.options.Builtins = append(c.options.Builtins, host.Builtin{Manifest: []byte(manifest), Artifact: a})
	}
	c.reopen(t)
	return c
}

// reopen makes another host of the same state.
func (c *counted) reopen(t *testing.T) {
	t.Helper()
	h, err := host.New(c.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	c.host = h
}

// children is how many were started since it was asked last.
func (c *counted) children(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(c.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	n := strings.Count(string(text), "\n")
	n, c.seen = n-c.seen, n
	return n
}

// ask has a target asked and returns what it wants written, and what the host says beside.
func (c *counted) ask(t *testing.T, target string) (contents, said string) {
	t.Helper()
	p, err := c.host.Install(t.Context(), host.Install{Module: c.module, Project: c.project, Targets: []string{target}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c.confined = p.Report().Confined
	for _, f := range p.Report().Files {
		contents += fmt.Sprintf("%s %s\n", f.Path, f.Digest)
	}
	for _, m := range p.Report().Messages {
		if m.Extension == "(host)" {
			said += string(m.Level) + ": " + m.Text + "\n"
		}
	}
	return contents, said
}

// writing is a guest that writes one file with a text.
func writing(t *testing.T, dir, text string) []byte {
	t.Helper()
	return answering(t, abi.Write{Path: dir + "/file", Mode: 0o644, Content: abi.Bytes(text)})
}

func wrote(dir, text string) string {
	return fmt.Sprintf("%s/file %s\n", dir, abi.DigestOf([]byte(text)))
}

// codeKept skips where children do not store code.
func codeKept(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "linux" && !probe.System().Has(policy.WallLandlock) {
		t.Skip("without Landlock code is not kept")
	}
}

// TestCodeIsKept: a module is compiled by a child of its own the first time, by none after that, and once for all targets
// that are the same module.
func TestCodeIsKept(t *testing.T) {
	codeKept(t)
	one := writing(t, ".guest0", "one")
	c := newCounted(t, one, one)
	c.options.NoMemo = true
	c.reopen(t)
	for i, want := range []int{2, 1, 1} {
		if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "one") || said != "" {
			t.Errorf("got %q, said %q", got, said)
		}
		if n := c.children(t); n != want {
			t.Errorf("run %d: %d children, want %d", i, n, want)
		}
		c.reopen(t)
	}
	if _, err := c.host.Install(t.Context(), host.Install{Module: c.module, Project: c.project, Targets: []string{"guest1"}}); err == nil {
		t.Error("guest1 was let write beside its grant")
	}
	if n := c.children(t); n != 1 {
		t.Errorf("%d children for the same module under another name, want 1", n)
	}
	cache, err := c.host.Cache(t.Context())
	if err != nil || len(cache.Code) != 1 || strings.Join(cache.Code[0].Extensions, " ") != "guest0 guest1" {
		t.Errorf("kept: %+v, %v", cache, err)
	}
	if left := tree(t, filepath.Join(c.options.Home, "tmp")); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// TestForgedCodeNeverRuns, end to end: code of an evil module is put where that of a good one belongs. The answer stays the
// good one's, which only its own code gives.
func TestForgedCodeNeverRuns(t *testing.T) {
	codeKept(t)
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(t *testing.T, path string) []byte {
		t.Helper()
		b, err := os.ReadFile(path)
		must(t, err)
		return b
	}
	for name, attack := range map[string]func(t *testing.T, file, evil, record, evilRecord string){
		"forged bytes under the right name": func(t *testing.T, file, evil, _, _ string) {
			must(t, os.WriteFile(file, read(t, evil), 0o600))
		},
		"forged bytes of the same size": func(t *testing.T, file, _, _, _ string) {
			b := read(t, file)
			b[len(b)/2] ^= 1
			must(t, os.WriteFile(file, b, 0o600))
		},
		"truncated": func(t *testing.T, file, _, _, _ string) { must(t, os.Truncate(file, 100)) },
		"record altered": func(t *testing.T, _, _, record, _ string) {
			must(t, os.WriteFile(record, []byte(strings.Replace(string(read(t, record)), `"sha256": "`, `"sha256": "0`, 1)), 0o600))
		},
		"bytes and record of another key": func(t *testing.T, file, evil, record, evilRecord string) {
			must(t, os.WriteFile(file, read(t, evil), 0o600))
			must(t, os.WriteFile(record, read(t, evilRecord), 0o600))
		},
		"a world-writable file":   func(t *testing.T, file, _, _, _ string) { must(t, os.Chmod(file, 0o666)) },
		"a world-writable folder": func(t *testing.T, file, _, _, _ string) { must(t, os.Chmod(filepath.Dir(file), 0o777)) },
		"a link to a file": func(t *testing.T, file, evil, _, _ string) {
			must(t, os.Remove(file))
			must(t, os.Symlink(evil, file))
		},
		"a link to a folder": func(t *testing.T, file, evil, _, _ string) {
			must(t, os.RemoveAll(filepath.Dir(file)))
			must(t, os.Symlink(filepath.Dir(evil), filepath.Dir(file)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCounted(t, writing(t, ".guest0", "good"), writing(t, ".guest1", "wicked")) // not one code with other data
			c.options.NoMemo = true
			c.reopen(t)
			c.ask(t, "guest0")
			c.ask(t, "guest1")
			cache, err := c.host.Cache(t.Context())
			must(t, err)
			at := map[string][2]string{}
			for _, e := range cache.Code {
				files, err := filepath.Glob(filepath.Join(c.options.Home, "code", e.ID, "*", "*"))
				if err != nil || len(files) != 1 {
					t.Fatalf("the entry %+v has the files %q, %v", e, files, err)
				}
				at[e.Extensions[0]] = [2]string{files[0], filepath.Join(c.options.Home, "codes", e.ID+".json")}
			}
			attack(t, at["guest0"][0], at["guest1"][0], at["guest0"][1], at["guest1"][1])
			c.children(t)
			c.reopen(t)
			if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "good") || !strings.HasPrefix(said, "info: ") || !strings.Contains(said, "dropped and made again") {
				t.Errorf("got %q, said %q", got, said)
			}
			if n := c.children(t); n != 2 {
				t.Errorf("%d children, want one that compiles and one that runs", n)
			}
			if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "good") || said != "" {
				t.Errorf("it is not healed: got %q, said %q", got, said)
			}
			if n := c.children(t); n != 1 {
				t.Errorf("it is not healed: %d children", n)
			}
		})
	}
}

// TestStaleCodeIsCompiledAgain: code whose digest is right, and that the engine does not take.
func TestStaleCodeIsCompiledAgain(t *testing.T) {
	codeKept(t)
	c := newCounted(t, writing(t, ".guest0", "good"))
	c.options.NoMemo = true
	c.reopen(t)
	c.ask(t, "guest0")
	cache, err := c.host.Cache(t.Context())
	if err != nil || len(cache.Code) != 1 {
		t.Fatalf("kept: %+v, %v", cache, err)
	}
	files, _ := filepath.Glob(filepath.Join(c.options.Home, "code", "*", "*", "*"))
	record := filepath.Join(c.options.Home, "codes", cache.Code[0].ID+".json")
	code, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	was := abi.DigestOf(code).String()
	code[0] ^= 1
	now := strings.Replace(string(text), was, abi.DigestOf(code).String(), 1)
	if err := errors.Join(os.WriteFile(files[0], code, 0o600), os.WriteFile(record, []byte(now), 0o600)); err != nil {
		t.Fatal(err)
	}
	c.children(t)
	if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "good") || !strings.Contains(said, "could not be used and was dropped") {
		t.Errorf("got %q, said %q", got, said)
	}
	if n := c.children(t); n != 3 {
		t.Errorf("%d children, want one that cannot, one that compiles and one that runs", n)
	}
	if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "good") || said != "" || c.children(t) != 1 {
		t.Errorf("it is not healed: got %q, said %q", got, said)
	}
	// A warm pool notices too.
	w, err := c.host.Warm("guest0", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := c.host.PruneCache(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if p, err := w.Ask(t.Context(), abi.Request{Action: "install"}); err != nil || len(p.Intents) != 1 {
			t.Errorf("got %+v, %v", p, err)
		}
	}
}

// TestConcurrentFirstRuns: all work, and one code is kept.
func TestConcurrentFirstRuns(t *testing.T) {
	codeKept(t)
	c := newCounted(t, writing(t, ".guest0", "good"))
	c.options.NoMemo = true
	var all sync.WaitGroup
	for range 4 {
		h, err := host.New(c.options)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		other := &counted{scene: &scene{host: h, module: c.module, project: t.TempDir()}}
		all.Go(func() {
			if got, said := other.ask(t, "guest0"); got != wrote(".guest0", "good") || said != "" {
				t.Errorf("got %q, said %q", got, said)
			}
		})
	}
	all.Wait()
	c.reopen(t)
	c.children(t)
	if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "good") || said != "" {
		t.Errorf("got %q, said %q", got, said)
	}
	if n := c.children(t); n != 1 {
		t.Errorf("%d children, want that nothing is compiled any more", n)
	}
	if cache, err := c.host.Cache(t.Context()); err != nil || len(cache.Code) != 1 {
		t.Errorf("kept: %+v, %v", cache, err)
	}
}

// TestCompileFails: what is wrong with the module is said as a run says it, and nothing is kept.
func TestCompileFails(t *testing.T) {
	codeKept(t)
	c := newCounted(t, []byte("\x00asm\x01\x00\x00\x00\x01"))
	_, err := c.host.Install(t.Context(), host.Install{Module: c.module, Project: c.project, Targets: []string{"guest0"}})
	var e *host.ExtensionError
	if !errors.As(err, &e) || e.Class != "bad-module" || e.Extension != "guest0" {
		t.Errorf("got %v", err)
	}
	if n := c.children(t); n != 1 {
		t.Errorf("%d children, want the one that compiles", n)
	}
	if cache, err := c.host.Cache(t.Context()); err != nil || len(cache.Code) != 0 || cache.Memo.Answers != 0 {
		t.Errorf("kept: %+v, %v", cache, err)
	}
	if left := tree(t, filepath.Join(c.options.Home, "tmp")); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// TestMemo: what was asked before takes no child, and only that.
func TestMemo(t *testing.T) {
	c := newCounted(t, writing(t, ".guest0", "good"), writing(t, ".guest1", "other"))
	c.ask(t, "guest0")
	c.children(t)
	confined := c.confined
	hit := func(what string, want bool) {
		t.Helper()
		if got, said := c.ask(t, "guest0"); got != wrote(".guest0", "good") || said != "" {
			t.Errorf("%s: got %q, said %q", what, got, said)
		}
		if len(confined) != 1 || !reflect.DeepEqual(c.confined, confined) {
			t.Errorf("%s: confined as %+v, the child was as %+v", what, c.confined, confined)
		}
		if n := c.children(t); (n == 0) != want {
			t.Errorf("%s: %d children", what, n)
		}
	}
	hit("the same again", true)
	c.reopen(t)
	hit("by another process", true)
	c.ask(t, "guest1")
	if c.children(t) == 0 {
		t.Error("another extension's question was answered from memory")
	}
	c.options.NoMemo = true
	c.reopen(t)
	hit("switched off", false)
	c.options.NoMemo = false
	c.reopen(t)
	write(t, filepath.Join(c.module, "skills", "s", "SKILL.md"), "another text\n")
	hit("another request", false)
	hit("the same again", true)
	program, err := os.ReadFile(c.options.Program)
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.options.Program, string(program)+"# another build\n")
	hit("another program", false)
	hit("the same again", true)
	// A damaged answer is not used, and replaced.
	files, _ := filepath.Glob(filepath.Join(c.options.Home, "memo", "*"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-1] ^= 1
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hit("damaged", false)
	hit("replaced", true)
	if cache, err := c.host.Cache(t.Context()); err != nil || cache.Memo.Answers < 4 {
		t.Errorf("remembered: %+v, %v", cache.Memo, err)
	}
	if _, err := c.host.PruneCache(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	hit("pruned", false)
	if runtime.GOOS == "linux" && probe.System().Level != policy.Full {
		c.options.RequireConfinement = policy.Full
		c.reopen(t)
		if _, err := c.host.Install(t.Context(), host.Install{Module: c.module, Project: c.project, Targets: []string{"guest0"}}); err == nil {
			t.Error("what is less confined than required was answered from memory")
		}
	}
}

// TestMemoIsJudged: a remembered plan has no more rights than a new one.
func TestMemoIsJudged(t *testing.T) {
	c := newCounted(t, writing(t, ".guest0", "good"))
	c.ask(t, "guest0")
	c.children(t)
	manifest := string(c.options.Builtins[0].Manifest)
	c.options.Builtins[0].Manifest = []byte(strings.Replace(manifest, ".guest0/**", ".elsewhere/**", 1))
	c.reopen(t)
	_, err := c.host.Install(t.Context(), host.Install{Module: c.module, Project: c.project, Targets: []string{"guest0"}})
	if err == nil || c.children(t) != 0 {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(fmt.Sprint(err), ".guest0/file") {
		t.Errorf("got %v, want that the path is not granted", err)
	}
}

// TestFailuresAreNotRemembered: an extension that failed is asked again.
func TestFailuresAreNotRemembered(t *testing.T) {
	c := newCounted(t, wasmbuild.Reactor(wasmbuild.Parts{Run: wasmbuild.Unreachable()}))
	for range 2 {
		if _, err := c.host.Install(t.Context(), host.Install{Module: c.module, Project: c.project, Targets: []string{"guest0"}}); err == nil {
			t.Error("it did not fail")
		}
		if c.children(t) == 0 {
			t.Error("it was not asked")
		}
	}
}
