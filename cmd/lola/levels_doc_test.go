package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/shim/policy"
)

// levelStops says what a level stops beside what those before it do, and where it is to be had.
var levelStops = map[policy.Level]struct{ walls, stops, where string }{
	policy.None:     {"none", "nothing", "where nothing of the below holds, as under wine"},
	policy.Process:  {"limits; on Linux no-new-privs", "gaining rights by what is executed (Linux), a second process (Windows), memory, processor time and dumps over the limits", "Linux, macOS, Windows; qemu-user has no more"},
	policy.Landlock: {"those of `process`, and Landlock", "opening, making, listing, moving and removing files, and what the version knows besides", "Linux 5.13 and later"},
	policy.Seccomp:  {"those of `process`, and a list of system calls", "every call that Go's runtime does not need while a guest runs: no file is opened, no socket made, no process or program started, none signalled, none read. The first try ends the child", "Linux 4.14 and later, on amd64 and arm64"},
	policy.Full:     {"all of them", "the same twice, by mechanisms that do not know of each other", "Linux with both"},
}

// TestLevelsDoc holds docs/LEVELS.md to the levels and to what package policy says is open at them.
func TestLevelsDoc(t *testing.T) {
	for level := range levelStops {
		if !slices.Contains(policy.Levels(), level) {
			t.Errorf("%q is no level", level)
		}
	}
	page := filepath.FromSlash("../../docs/LEVELS.md")
	want := levelsDoc(t)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("%s is stale; go test ./cmd/lola -update writes it anew", page)
	}
}

func levelsDoc(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Levels of confinement

Made from package shim/policy by "go test ./cmd/lola -update".

An extension runs in the WASM runtime, which gives it a request and takes its plan, and nothing else. A level says what stands
around the runtime's process when an extension breaks out of it. The levels are ordered; the highest that is wholly there counts.
` + "`lola doctor`" + ` shows the level of a machine, why it is not more, and what a real child reached. ` + "`lola ext list`" + `, the preview of a
change and the log (per extension) say it too, and ` + "`--require-confinement LEVEL`" + `, LOLA_REQUIRE_CONFINEMENT or
host.Options.RequireConfinement refuse to run anything below one.

| level | walls | what it stops beside those before it | where |
|---|---|---|---|
`)
	for _, level := range policy.Levels() {
		row, ok := levelStops[level]
		if !ok {
			t.Fatalf("it is not said what the level %q stops", level)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", level, row.walls, row.stops, row.where)
	}
	b.WriteString(`
macOS and Windows have no more than ` + "`process`" + ` for a process that asks for it itself. What stays open there is at most what is listed
for it below. Descriptors that the host hands to the child (request, plan, diagnostics, module) stay open at every level.

## What stays open to an extension that breaks out of the WASM runtime

`)
	for _, level := range policy.Levels() {
		// Of the first version of Landlock, which says what each later one closes.
		fmt.Fprintf(&b, "- `%s`: %s\n", level, strings.Join(policy.Open(level, 1), "; "))
	}
	b.WriteString(`
What no level closes: the time until the deadline, the answer itself (a plan is judged whatever sent it), and flaws of the
kernel, which all the walls are made of.
`)
	return b.String()
}
