//go:build linux || darwin

package root_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/abi"
)

// TestP03Swap: while another program swaps a component between a directory and a link that leads out, everything either
// works beneath the root or fails. What lies outside keeps its names, bytes and modes.
func TestP03Swap(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "file")
	if err := os.WriteFile(victim, []byte("victim"), 0o640); err != nil {
		t.Fatal(err)
	}
	r := openTree(t, "d/file", "stage/")
	at := func(name string) string { return filepath.Join(r.Path(), name) }
	symlink(t, outside, at("link"))
	stop, swapped := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				swapped <- n
				return
			default:
				// d is now the directory, now the link.
				if swap(at("d"), at("link")) == nil {
					n++
				}
			}
		}
	}()
	stage, _, err := r.Walk("stage", false)
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	worked, refused := 0, 0
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		d, made, err := r.Walk("d", true)
		if err != nil {
			if made != nil {
				t.Fatalf("Walk made %v", made)
			}
			refused++
			continue
		}
		worked++
		if f, err := d.Create("new", 0o777); err == nil {
			f.Close()
		}
		if f, err := stage.Create("staged", abi.Mode(0o600)); err == nil {
			f.Close()
			_ = stage.RenameNew("staged", d, "moved")
		}
		if info, err := d.Stat("file"); err == nil && info.Exists && info.Size != int64(len("d/file")) {
			t.Error("Stat saw the file outside")
		}
		_ = d.Remove("new")
		_ = d.Remove("moved")
		_ = stage.Remove("staged")
		d.Close()
		if digest, _, err := r.Digest("d/file", 100); err == nil && digest != abi.DigestOf([]byte("d/file")) {
			t.Error("Digest read the file outside")
		}
	}
	close(stop)
	if n := <-swapped; n == 0 || worked == 0 {
		t.Errorf("%d swaps, %d walks that worked: nothing was tried", n, worked)
	} else {
		t.Logf("%d swaps, %d walks worked, %d were refused", n, worked, refused)
	}
	info, err := os.Stat(victim)
	if err != nil || info.Mode() != 0o640 || !slices.Equal(names(t, outside), []string{"file"}) {
		t.Errorf("outside lie %v, the file has mode %v, %v", names(t, outside), info.Mode(), err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "victim" {
		t.Errorf("the file outside holds %q", text)
	}
}

// TestP20FileSwap: while a file is swapped for a link to a secret, a FIFO in turn, what is opened is the file or nothing.
func TestP20FileSwap(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := openTree(t, "file", "other")
	at := func(name string) string { return filepath.Join(r.Path(), name) }
	symlink(t, secret, at("link"))
	if err := unix.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = swap(at("file"), at([]string{"link", "fifo"}[i/2%2]))
			}
		}
	}()
	read, refused := 0, 0
	soon(t, "opening a file that is swapped", func() {
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			switch digest, _, err := r.Digest("file", 100); {
			case err != nil:
				refused++
			case digest == abi.DigestOf([]byte("file")):
				read++
			default:
				t.Error("something else than the file was read")
			}
		}
	})
	close(stop)
	<-stopped
	if read == 0 || refused == 0 {
		t.Errorf("%d read, %d refused: nothing was tried", read, refused)
	}
}

// TestP16OpenDirectoryStays: an opened directory is that directory, whatever takes its name afterwards.
func TestP16OpenDirectoryStays(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "victim"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := openTree(t, "d/victim", "d/old")
	d, _, err := r.Walk("d", false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := unix.Rename(filepath.Join(r.Path(), "d"), filepath.Join(r.Path(), "away")); err != nil {
		t.Fatal(err)
	}
	symlink(t, outside, r.Path(), "d")
	f, err := d.Create("new", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := d.Remove("victim"); err != nil {
		t.Error(err)
	}
	if err := d.Rename("old", d, "renamed"); err != nil {
		t.Error(err)
	}
	if got := names(t, outside); !slices.Equal(got, []string{"victim"}) {
		t.Errorf("outside lie %v, want the victim", got)
	}
	if got, want := names(t, r.Path()), []string{"away", "away/new", "away/renamed", "d"}; !slices.Equal(got, want) {
		t.Errorf("the tree is %v, want %v", got, want)
	}
}
