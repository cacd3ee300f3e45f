package launch

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"testing"
)

func TestSealed(t *testing.T) {
	settled(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	for name, make := range map[string]func(string, []byte) (*os.File, func(), error){"sealed": Sealed, "temporary file": tempFile} {
		for _, b := range [][]byte{want, nil} {
			dir := t.TempDir()
			f, release, err := make(dir, b)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
			if err != nil || !bytes.Equal(got, b) {
				t.Errorf("%s: got %d bytes, %v", name, len(got), err)
			}
			if _, err := f.WriteAt([]byte("x"), 0); err == nil {
				t.Errorf("%s: it can be written", name)
			}
			if err := f.Truncate(1); err == nil {
				t.Errorf("%s: it can be truncated", name)
			}
			if runtime.GOOS == "linux" && name == "sealed" {
				// Not even through a way around the descriptor's mode.
				if w, err := os.OpenFile(descriptorPath(f), os.O_RDWR, 0); err == nil {
					if _, err := w.Write([]byte("x")); err == nil {
						t.Errorf("%s: it can be written when opened again", name)
					}
					_ = w.Close()
				}
			}
			release()
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
				t.Errorf("%s: it left %v, %v", name, entries, err)
			}
		}
	}
	if _, _, err := tempFile(t.TempDir()+"/none", want); err == nil {
		t.Error("made a file in a folder that is not there")
	}
}
