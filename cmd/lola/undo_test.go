package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUndoDamaged: undo data that cannot be read is named and keeps nobody from the rest, unless it may be what an undo is for.
func TestUndoDamaged(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("LOLA_HOME", home)
	one, two := t.TempDir(), t.TempDir()
	dir := example(t)
	var ids []string
	for _, project := range []string{one, two, one} { // installed, installed, then removed in the first
		args := []string{"install", dir, "-a", "cursor", "--project", project, "--trust", trust(t, dir)}
		if len(ids) == 2 {
			args = []string{"uninstall", "git-doctor", "--project", project}
		}
		if code, _, stderr := lola(t, args...); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", args[0], code, stderr)
		}
		ids = append(ids, newUndoData(t, home, ids))
	}
	path := filepath.Join(home, "changes", ids[1]+".undo")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(whole)
	flipped[20] ^= 1
	for name, text := range map[string][]byte{"no change": []byte("{}\n"), "empty": nil, "another bit": flipped, "truncated": whole[:len(whole)/3]} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := lola(t, "undo", "--list", "--all")
		if code != exitDamaged || !strings.Contains(stdout, ids[0]) || !strings.Contains(stdout, ids[2]) || strings.Contains(stdout, ids[1]) {
			t.Errorf("%s: exit code %d, want %d and the whole ones\n%s", name, code, exitDamaged, stdout)
		}
		if !strings.Contains(stderr, escape(fmt.Sprintf("%q", path))) || !strings.Contains(stderr, "lola: hint: remove these files") {
			t.Errorf("%s: the file is not named, or not what to do:\n%s", name, stderr)
		}
	}
	code, stdout, _ := lola(t, "undo", "--list", "--project", one, "--json")
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != exitDamaged || len(list) != 2 || list[0].ID != ids[0] || list[1].ID != ids[2] {
		t.Errorf("list as JSON: exit code %d, %v\n%s", code, err, stdout)
	}

	// What was made before the last change of the first project is in nobody's way. For the second project it is all there is.
	if code, _, stderr := lola(t, "undo", "--project", one); code != 0 {
		t.Errorf("undo of what came later: exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := lola(t, "undo", "--project", two); code != exitDamaged || !strings.Contains(stderr, "can be undone") || !strings.Contains(stderr, ids[1]) {
		t.Errorf("undo of what is damaged: exit code %d\n%s", code, stderr)
	}
	// Now it may be the last of the first project too, which has to be named.
	if code, _, stderr := lola(t, "undo", "--project", one); code != exitDamaged || !strings.Contains(stderr, ids[0]) || !strings.Contains(stderr, ids[1]) {
		t.Errorf("undo of what came before: exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := lola(t, "undo", ids[0], "--project", one); code != 0 {
		t.Errorf("undo by name: exit code %d\n%s", code, stderr)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := lola(t, "undo", "--list", "--all"); code != 0 || stdout != "nothing can be undone here\n" {
		t.Errorf("list without it: exit code %d\n%s", code, stdout)
	}
}

// newUndoData returns the id of the change that can be undone and is none of those.
func newUndoData(t *testing.T, home string, ids []string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(home, "changes", "*.undo"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if id := strings.TrimSuffix(filepath.Base(path), ".undo"); !slices.Contains(ids, id) {
			return id
		}
	}
	t.Fatalf("no new undo data is in %q", home)
	return ""
}
