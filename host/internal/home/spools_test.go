package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSweepSpools: what a killed process left goes once it is old; what is young, another thing or not ours stays.
func TestSweepSpools(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "home"))
	dir, err := h.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"lola-spool-1": 25 * time.Hour, "lola-2": 25 * time.Hour, "lola-spool-young": 23 * time.Hour, "theirs": 25 * time.Hour,
	} {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "lola-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "lola-folder"), now, now.Add(-25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	h.SweepSpools(now)
	want := "[lola-folder lola-spool-young theirs]"
	if got := fmt.Sprint(namesIn(t, dir)); got != want {
		t.Errorf("what is left: %s, want %s", got, want)
	}
}

// TestSweepSpoolsIsBounded: one sweep looks at so many files and no more, and sweeps after it do the rest.
func TestSweepSpoolsIsBounded(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "home"))
	dir, err := h.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	const files, bound = 300, 256
	now := time.Now()
	for i := range files {
		at := filepath.Join(dir, fmt.Sprintf("lola-spool-%d", i))
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, now, now.Add(-25*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	h.SweepSpools(now)
	if got := len(namesIn(t, dir)); got != files-bound {
		t.Errorf("%d files are left after the first sweep, want %d", got, files-bound)
	}
	h.SweepSpools(now)
	if got := len(namesIn(t, dir)); got != 0 {
		t.Errorf("%d files are left after the second sweep", got)
	}
}

// TestSweepSpoolsTakesNoneInUse: who has an old spool open goes on reading it.
func TestSweepSpoolsTakesNoneInUse(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "home"))
	dir, err := h.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(dir, "lola-spool-*")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("spooled"); err != nil {
		t.Fatal(err)
	}
	h.SweepSpools(time.Now().Add(48 * time.Hour))
	text := make([]byte, 7)
	if _, err := f.ReadAt(text, 0); err != nil || string(text) != "spooled" {
		t.Errorf("read %q, %v", text, err)
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
