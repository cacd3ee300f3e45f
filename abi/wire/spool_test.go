package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
)

func readAll(t *testing.T, c abi.Content) []byte {
	t.Helper()
	r, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pattern is n bytes that differ from place to place.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed)
	}
	return b
}

// TestSpool puts in contents that end at, before and after the edges of blocks, of the head, and of what is in the file,
// and reads each back at once and again when all are there.
func TestSpool(t *testing.T) {
	sp := NewSpool(t.TempDir())
	defer sp.Close()
	var contents []abi.Content
	var want [][]byte
	for i, n := range []int{0, 1, spoolBlock - 1, 1, spoolBlock, spoolBlock + 1, 0, spoolHead - 4*spoolBlock, 3 * spoolBlock, 5, 2*spoolBlock + 7, 1 << 20, 0} {
		b := pattern(n, i)
		c, err := sp.Add(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if c.Size() != int64(n) || !bytes.Equal(readAll(t, c), b) {
			t.Fatalf("content %d: another content came back", i)
		}
		contents, want = append(contents, c), append(want, b)
	}
	for i, c := range contents {
		if !bytes.Equal(readAll(t, c), want[i]) || c.Digest() != abi.DigestOf(want[i]) {
			t.Errorf("content %d: another content came back at the end", i)
		}
	}
}

func TestSpoolWhileItGrows(t *testing.T) {
	sp := NewSpool(t.TempDir())
	defer sp.Close()
	var wg sync.WaitGroup
	for i := range 200 {
		b := pattern(spoolBlock/3, i)
		c, err := sp.Add(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for range 2 {
				if c.Digest() != abi.DigestOf(b) || !bytes.Equal(readAll(t, c), b) {
					t.Errorf("content %d: another content came back", i)
				}
			}
		})
	}
	wg.Wait()
}

// TestSpoolFile looks at the folder: no file while the spool is small, then one that nobody else can read or that has
// no name, and none after Close.
func TestSpoolFile(t *testing.T) {
	dir := t.TempDir()
	list := func() []os.DirEntry {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	sp := NewSpool(dir)
	small, err := sp.Add(bytes.NewReader(pattern(spoolHead, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list()); n != 0 || sp.file != nil {
		t.Errorf("%d files for a spool of %d bytes", n, spoolHead)
	}
	if _, err := sp.Add(bytes.NewReader(pattern(2*spoolBlock, 1))); err != nil {
		t.Fatal(err)
	}
	if sp.file == nil {
		t.Fatalf("no file for a spool of %d bytes", spoolHead+2*spoolBlock)
	}
	for _, e := range list() {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if sp.name == "" {
			t.Errorf("file %q still has its name", e.Name())
		} else if !strings.HasPrefix(e.Name(), "lola-spool-") || !info.Mode().IsRegular() {
			t.Errorf("file %q of mode %v", e.Name(), info.Mode())
		}
	}
	if info, err := sp.file.Stat(); err != nil || os.PathSeparator == '/' && info.Mode() != 0o600 {
		t.Errorf("the file has mode %v (%v), want 0600", info.Mode(), err)
	}
	if err := sp.Close(); err != nil {
		t.Error(err)
	}
	if n := len(list()); n != 0 {
		t.Errorf("%d files after Close", n)
	}
	if _, err := small.Open(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("open after Close: %v, want %v", err, os.ErrClosed)
	}
	if _, err := sp.Add(strings.NewReader("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("add after Close: %v, want %v", err, os.ErrClosed)
	}
	if d := small.Digest(); d != (abi.Digest{}) {
		t.Errorf("digest after Close: %v, want the zero digest", d)
	}
	if err := sp.Close(); err != nil {
		t.Errorf("close twice: %v", err)
	}
}

func TestSpoolNoDirectory(t *testing.T) {
	dir := t.TempDir() + "/gone"
	sp := NewSpool(dir)
	defer sp.Close()
	_, err := sp.Add(bytes.NewReader(pattern(spoolHead+2*spoolBlock, 0)))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}
