package home_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/lola-ext/lola/host/root"
)

// TestOpenPrivate: what is believed because of where it lies is ours alone, and so is every folder on the way.
func TestOpenPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	h := open(t, path)
	file := filepath.Join(path, "a", "b", "file")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	read := func() (string, error) {
		f, info, err := h.OpenPrivate("a/b", "file")
		if err != nil {
			return "", err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if int64(len(text)) != info.Size() {
			t.Errorf("%d bytes, and it says %d", len(text), info.Size())
		}
		return string(text), err
	}
	if got, err := read(); got != "text" || err != nil {
		t.Fatalf("read %q, %v", got, err)
	}
	for _, missing := range [][2]string{{"a/b", "none"}, {"a/c", "file"}, {"c", "file"}} {
		if _, _, err := h.OpenPrivate(missing[0], missing[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v", missing, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, at := range []string{file, filepath.Dir(file), filepath.Join(path, "a")} {
		info, err := os.Lstat(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, bits := range []os.FileMode{0o002, 0o020} {
			if err := os.Chmod(at, info.Mode()|bits); err != nil {
				t.Fatal(err)
			}
			if got, err := read(); !errors.As(err, new(*root.PrivateError)) {
				t.Errorf("%s with mode %v: got %q, %v", at, info.Mode()|bits, got, err)
			}
			if err := os.Chmod(at, info.Mode()); err != nil {
				t.Fatal(err)
			}
		}
		if os.Geteuid() == 0 {
			if err := os.Lchown(at, 12345, -1); err != nil {
				t.Fatal(err)
			}
			if got, err := read(); !errors.As(err, new(*root.PrivateError)) {
				t.Errorf("%s of somebody else: got %q, %v", at, got, err)
			}
			if err := os.Lchown(at, 0, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Link(file, filepath.Join(path, "second")); err != nil {
		t.Fatal(err)
	}
	if got, err := read(); !errors.As(err, new(*root.PrivateError)) {
		t.Errorf("with a second name: got %q, %v", got, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(path, "second")), os.Rename(filepath.Dir(file), filepath.Join(path, "moved")), os.Symlink(filepath.Join(path, "moved"), filepath.Dir(file))); err != nil {
		t.Fatal(err)
	}
	if got, err := read(); !errors.As(err, new(*root.LinkError)) {
		t.Errorf("through a link: got %q, %v", got, err)
	}
}

// TestScratch: a folder of our own comes, moves away or goes with what is in it, and one that was forgotten goes with time.
func TestScratch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	h := open(t, path)
	scratch := func() string {
		d, name, err := h.Scratch()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		info, err := os.Lstat(h.ScratchPath(name))
		if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%q is %v, %v", name, info, err)
		}
		if err := os.WriteFile(filepath.Join(h.ScratchPath(name), "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	removed, moved, forgotten := scratch(), scratch(), scratch()
	if err := h.RemoveScratch(removed); err != nil {
		t.Fatal(err)
	}
	if err := h.MoveScratch(moved, h.Root().Top(), "kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, "kept", "file")); err != nil {
		t.Error(err)
	}
	h.SweepSpools(time.Now())
	if got := namesIn(t, filepath.Join(path, "tmp")); len(got) != 1 || got[0] != forgotten {
		t.Errorf("left: %q", got)
	}
	h.SweepSpools(time.Now().Add(25 * time.Hour))
	if got := namesIn(t, filepath.Join(path, "tmp")); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}
