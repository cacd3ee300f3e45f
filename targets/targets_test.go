package targets

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bazelbuild/rules_go/go/runfiles"
)

func TestWasmIsSmall(t *testing.T) {
	if !bytes.HasPrefix(Wasm(), []byte("\x00asm\x01\x00\x00\x00")) {
		t.Fatal("it is no core WASM module of version 1")
	}
	const most = 64 << 10 // every install loads it; the aim of the first version was 150 KB
	if n := len(Wasm()); n > most {
		t.Errorf("%d bytes, want at most %d", n, most)
	}
}

func TestManifests(t *testing.T) {
	all := Manifests()
	if len(all) != 5 {
		t.Errorf("%d manifests, want 5", len(all))
	}
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.Name] {
			t.Errorf("%s: twice", m.Name)
		}
		seen[m.Name] = true
		if len(m.Detect) == 0 {
			t.Errorf("%s: nothing shows that it is used", m.Name)
		}
		for _, d := range m.Detect {
			if d == ".github" || strings.HasSuffix(d, "/") {
				t.Errorf("%s: %q shows nothing", m.Name, d)
			}
		}
		for _, line := range []string{
			"name: " + m.Name, "version: 0.1.0", "kind: target", "abi: 1", "artifact: targets.wasm", "tier: wasm",
			"actions: [install, uninstall]", "license: Apache-2.0",
		} {
			if !bytes.Contains(m.YAML, []byte(line+"\n")) {
				t.Errorf("%s: no line %q", m.Name, line)
			}
		}
		if !bytes.Contains(Wasm(), []byte(m.Name)) {
			t.Errorf("%s: the module does not know the name", m.Name)
		}
	}
}

// Whatever the golden plans write or edit is among what the manifests ask for, in a project and in a user's folder, and what
// others share is asked for by name.
func TestManifestsAskForWhatPlansDo(t *testing.T) {
	for _, m := range Manifests() {
		golden, err := os.ReadFile(filepath.Join("testdata", m.Name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		project, user, ok := strings.Cut(string(golden), "--- for a user ---")
		if !ok {
			t.Fatalf("%s: no plan for a user", m.Name)
		}
		text := string(m.YAML)
		for _, scope := range []struct{ name, plan, indent, writes string }{
			{"project", project, "  ", text[strings.Index(text, "\nwrites:\n"):strings.Index(text, "\nuser:\n")]},
			{"user", user, "    ", text[strings.Index(text, "\nuser:\n"):]},
		} {
			var globs []string
			for line := range strings.Lines(scope.writes) {
				if g, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), scope.indent+"- "); ok {
					globs = append(globs, strings.Trim(g, `"`))
				}
			}
			paths := 0
			for line := range strings.Lines(scope.plan) {
				path, edit := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "edit ")
				if edit {
					path, _, _ = strings.Cut(path, " block ")
				} else if mode, rest, ok := strings.Cut(path, " "); ok && len(mode) == 4 && mode[0] == '0' {
					path, _, _ = strings.Cut(strings.TrimSuffix(rest, " ="), " <- ")
				} else {
					continue
				}
				paths++
				fits := func(g string) bool {
					return g == path || !edit && match(strings.Split(g, "/"), strings.Split(path, "/"))
				}
				if !slices.ContainsFunc(globs, fits) {
					t.Errorf("%s, scope %s: %q is none of %q", m.Name, scope.name, path, globs)
				}
			}
			if paths < 5 {
				t.Errorf("%s, scope %s: the plan has %d paths", m.Name, scope.name, paths)
			}
		}
	}
}

// match is what a host's globs are, as far as the manifests use them.
func match(glob, parts []string) bool {
	if len(glob) == 0 || len(parts) == 0 {
		return len(glob) == len(parts)
	}
	if glob[0] == "**" {
		return match(glob[1:], parts) || match(glob, parts[1:]) || len(glob) == 1
	}
	ok, err := path.Match(glob[0], parts[0])
	return ok && err == nil && match(glob[1:], parts[1:])
}

// The committed module is what the sources make. Compilers differ in their output, so only the one that made it can tell.
func TestWasmIsWhatTheSourcesMake(t *testing.T) {
	built := os.Getenv("LOLA_TARGETS_BUILT")
	if built == "" {
		t.Skip("only Bazel builds the module again: tools/bazel test //targets:targets_test")
	}
	made, err := os.ReadFile("targets.wasm.rustc")
	if err != nil {
		t.Fatal(err)
	}
	if have := read(t, os.Getenv("LOLA_RUSTC")); !bytes.Equal(have, made) {
		t.Skipf("the module was made by %q, and here is %q", bytes.TrimSpace(made), bytes.TrimSpace(have))
	}
	if !bytes.Equal(read(t, built), Wasm()) {
		t.Error("targets.wasm is not what the sources make; run: tools/bazel run //targets/refresh")
	}
}

func read(t *testing.T, rlocation string) []byte {
	t.Helper()
	path, err := runfiles.Rlocation(rlocation)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
