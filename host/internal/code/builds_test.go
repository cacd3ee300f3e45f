package code

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
)

// TestBuildsAreRemembered: a program is read once, and again when its file is another; what is remembered is believed only for
// the very file, and if it is ours alone.
func TestBuildsAreRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	h, err := home.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	program := filepath.Join(t.TempDir(), "program")
	list := filepath.Join(dir, buildsName)
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// wants asks another process, as it were.
	wants := func(what string, want abi.Digest) {
		t.Helper()
		b := &builds{home: h, program: program}
		for range 2 {
			if got, err := b.current(t.Context()); err != nil || got != want {
				t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
			}
		}
	}
	put(program, "one")
	one := abi.DigestOf([]byte("one"))
	wants("at first", one)
	text, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(text), one.String()) {
		t.Fatalf("remembered: %s, %v", text, err)
	}
	// It is believed, which shows that the file was not read again.
	other := abi.DigestOf([]byte("other"))
	forged := strings.Replace(string(text), one.String(), other.String(), 1)
	put(list, forged)
	wants("remembered", other)
	if runtime.GOOS != "windows" {
		if err := os.Chmod(list, 0o666); err != nil {
			t.Fatal(err)
		}
		wants("remembered by anybody", one)
		put(list, forged)
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(list, moved); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(moved, list); err != nil {
			t.Fatal(err)
		}
		wants("remembered elsewhere", one)
		if err := os.Remove(list); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"", "{", strings.Replace(forged, `"format": 1`, `"format": 2`, 1), strings.Replace(forged, other.String(), "x", 1)} {
		put(list, bad)
		wants(fmt.Sprintf("with a list %.20q", bad), one)
	}
	put(list, forged)
	put(program, "two or more")
	two := abi.DigestOf([]byte("two or more"))
	wants("another file", two)

	// What is of no program that is there is gone.
	b := &builds{home: h, program: program}
	if known := b.read(); !known.gone(one.String()) || !known.gone(other.String()) || known.gone(two.String()) {
		t.Errorf("known: %+v", known)
	}
	// The list is bounded.
	for i := range maxBuilds + 3 {
		program = filepath.Join(filepath.Dir(program), fmt.Sprint(i))
		put(program, program)
		wants("many", abi.DigestOf([]byte(program)))
	}
	var all buildList
	text, err = os.ReadFile(list)
	if err != nil || json.Unmarshal(text, &all) != nil || len(all.Programs) != maxBuilds {
		t.Errorf("%d programs, %v", len(all.Programs), err)
	}
}

// TestYoungProgramsAreReadAgain: a file that was written a moment ago can be written again within one tick of the clock.
func TestYoungProgramsAreReadAgain(t *testing.T) {
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &builds{home: h, program: program, settled: 1 << 62}
	if got, err := b.current(t.Context()); err != nil || got != abi.DigestOf([]byte("one")) {
		t.Errorf("got %v, %v", got, err)
	}
	if known := b.read(); len(known.Programs) != 0 || b.identity != "" {
		t.Errorf("remembered: %+v", known)
	}
}
