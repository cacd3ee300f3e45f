//go:build unix

package home_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestInPlaceOfARecord: a FIFO or a link where a record should be is refused at once; a write replaces it and follows
// nothing.
func TestInPlaceOfARecord(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	for what, place := range map[string]func(path string) error{
		"fifo": func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"link": func(p string) error { return os.Symlink(outside, p) },
	} {
		h, r, in, file := fixture(t)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(outside, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{file, file + ".new"} {
			if err := place(p); err != nil {
				t.Fatal(err)
			}
		}
		soon(t, "a call with a "+what+" for a record", func() {
			if got, err := h.Installed(r); err == nil {
				t.Errorf("a %s passes for the record %+v", what, got)
			}
			if err := h.Store(in); err != nil {
				t.Errorf("Store over a %s: %v", what, err)
			}
			if got, err := h.Installed(r); err != nil || !got.Equal(in) {
				t.Errorf("after Store over a %s: %v", what, err)
			}
		})
		if info, err := os.Lstat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("the record's file is %v, %v; want 0600", info.Mode(), err)
		}
		if got, err := os.ReadFile(outside); err != nil || string(got) != string(text) {
			t.Errorf("the link's target changed: %v", err)
		}
	}
	h, r, _, file := fixture(t)
	dir := filepath.Dir(file)
	if err := os.Rename(dir, dir+"-real"); err != nil {
		t.Fatal(err)
	}
	symlink(t, dir+"-real", dir)
	if got, err := h.Installed(r); err == nil {
		t.Errorf("records were read through a link: %+v", got)
	}
}
