package memo_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/internal/memo"
)

var key = memo.Key{Module: abi.DigestOf([]byte("m")), Request: abi.DigestOf([]byte("r")), ABI: 1, Build: abi.DigestOf([]byte("b")), Level: "full"}

var answer = memo.Answer{Plan: []byte("the\nplan\x00"), Diagnostics: []byte("\xff\n"), Truncated: true, Open: []string{"time"}, Landlock: 7, Seccomp: true, GuestMemory: 65536}

func open(t *testing.T) (m *memo.Memo, folder string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	h, err := home.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return memo.Open(h), filepath.Join(dir, "memo")
}

// only returns the one file of a folder.
func only(t *testing.T, folder string) string {
	t.Helper()
	names, err := os.ReadDir(folder)
	if err != nil || len(names) != 1 {
		t.Fatalf("the folder holds %v, %v", names, err)
	}
	return filepath.Join(folder, names[0].Name())
}

func TestAnswersComeBack(t *testing.T) {
	m, folder := open(t)
	if a, ok := m.Get(key); ok {
		t.Fatalf("got %+v of nothing", a)
	}
	for _, want := range []memo.Answer{answer, {Plan: []byte("x")}} { // the second replaces the first
		if err := m.Put(key, want); err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Get(key); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v", got, ok)
		}
	}
	only(t, folder)
	if info, err := os.Stat(folder); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
}

// TestEveryPartOfTheKeyCounts, so that a part that is added counts too.
func TestEveryPartOfTheKeyCounts(t *testing.T) {
	m, _ := open(t)
	if err := m.Put(key, answer); err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[memo.Key]().NumField() {
		other := key
		f := reflect.ValueOf(&other).Elem().Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("none")
		case reflect.Int:
			f.SetInt(2)
		default:
			f.Set(reflect.ValueOf(abi.DigestOf([]byte("other"))))
		}
		if a, ok := m.Get(other); ok {
			t.Errorf("with another %s: got %+v", reflect.TypeFor[memo.Key]().Field(i).Name, a)
		}
	}
}

// TestDamagedAnswers are not used, and replaced by the next.
func TestDamagedAnswers(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	change := func(f func(text []byte) []byte) func(t *testing.T, file, outside string) {
		return func(t *testing.T, file, _ string) {
			text, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, f(text), 0o600))
		}
	}
	unix := map[string]func(t *testing.T, file, outside string){
		"a link": func(t *testing.T, file, outside string) {
			must(t, os.Rename(file, filepath.Join(outside, "moved")))
			must(t, os.Symlink(filepath.Join(outside, "moved"), file))
		},
		"the folder a link": func(t *testing.T, file, outside string) {
			must(t, os.Rename(filepath.Dir(file), filepath.Join(outside, "moved")))
			must(t, os.Symlink(filepath.Join(outside, "moved"), filepath.Dir(file)))
		},
		"a second name":         func(t *testing.T, file, outside string) { must(t, os.Link(file, filepath.Join(outside, "x"))) },
		"writable by everybody": func(t *testing.T, file, _ string) { must(t, os.Chmod(file, 0o666)) },
		"its folder writable":   func(t *testing.T, file, _ string) { must(t, os.Chmod(filepath.Dir(file), 0o777)) },
	}
	attacks := map[string]func(t *testing.T, file, outside string){
		"empty":         change(func([]byte) []byte { return nil }),
		"cut off":       change(func(b []byte) []byte { return b[:len(b)-1] }),
		"longer":        change(func(b []byte) []byte { return append(b, 0) }),
		"a bit":         change(func(b []byte) []byte { b[len(b)-2] ^= 1; return b }),
		"a bit of head": change(func(b []byte) []byte { b[100] ^= 1; return b }),
		"its digest":    change(func(b []byte) []byte { b[20] ^= 1; return b }),
		"its magic":     change(func(b []byte) []byte { b[0] = 'x'; return b }),
		"no digest":     change(func(b []byte) []byte { _, b, _ = bytes.Cut(b, []byte("\n")); return b }),
		"huge":          change(func([]byte) []byte { return make([]byte, memo.MaxAnswer+1) }),
		"only a digest": change(func([]byte) []byte { return []byte("lola-memo/1 " + abi.DigestOf(nil).String() + "\n") }),
		"a folder":      func(t *testing.T, file, _ string) { must(t, os.Remove(file)); must(t, os.Mkdir(file, 0o700)) },
	}
	if runtime.GOOS != "windows" { // no modes, and links take a right
		for name, a := range unix {
			attacks[name] = a
		}
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			m, folder := open(t)
			outside := t.TempDir()
			must(t, m.Put(key, answer))
			attack(t, only(t, folder), outside)
			if a, ok := m.Get(key); ok {
				t.Errorf("got %+v", a)
			}
			must(t, m.Put(key, answer))
			if a, ok := m.Get(key); !ok || !reflect.DeepEqual(a, answer) {
				t.Errorf("got %+v, %v after it was replaced", a, ok)
			}
			only(t, folder)
		})
	}
}

// TestAnotherKeysAnswer: a whole file under another name is not that one's answer.
func TestAnotherKeysAnswer(t *testing.T) {
	m, folder := open(t)
	if err := m.Put(key, answer); err != nil {
		t.Fatal(err)
	}
	first := only(t, folder)
	other := key
	other.Request = abi.DigestOf([]byte("other"))
	if err := m.Put(other, answer); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if at := filepath.Join(folder, n.Name()); at != first {
			if err := os.Rename(first, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a, ok := m.Get(other); ok {
		t.Errorf("got %+v", a)
	}
}

func TestBounds(t *testing.T) {
	m, folder := open(t)
	if err := m.Put(key, memo.Answer{Plan: make([]byte, memo.MaxAnswer)}); err == nil {
		t.Error("what is too large was remembered")
	}
	if _, ok := m.Get(key); ok {
		t.Error("it is there")
	}
	nth := func(i int) memo.Key {
		k := key
		k.Request = abi.DigestOf(fmt.Append(nil, i))
		return k
	}
	// Files of 3.9 MiB: sixteen of them fit.
	large := memo.Answer{Plan: bytes.Repeat([]byte{1}, memo.MaxAnswer-100<<10)}
	for i := range 18 {
		if err := m.Put(nth(i), large); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			at := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(only(t, folder), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	n, size, err := m.Size()
	if err != nil || n != 16 || size > memo.MaxBytes {
		t.Errorf("%d answers with %d bytes, %v", n, size, err)
	}
	if _, ok := m.Get(nth(0)); ok {
		t.Error("the oldest is there")
	}
	if _, ok := m.Get(nth(17)); !ok {
		t.Error("the newest is not there")
	}
	if n, err := m.Clear(); n != 16 || err != nil {
		t.Errorf("cleared %d, %v", n, err)
	}
	// By number; and what a killed process left goes with time, what is being written stays.
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	for i := range memo.MaxAnswers + 5 {
		at := filepath.Join(folder, abi.DigestOf(fmt.Append(nil, "x", i)).String())
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"new-left", "new-now"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(folder, "new-left"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := m.Put(nth(0), answer); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var fresh []string
	for _, n := range names {
		if strings.HasPrefix(n.Name(), "new-") {
			fresh = append(fresh, n.Name())
		}
	}
	if len(names) != memo.MaxAnswers+1 || len(fresh) != 1 || fresh[0] != "new-now" {
		t.Errorf("%d files, %q being written", len(names), fresh)
	}
	if _, ok := m.Get(nth(0)); !ok {
		t.Error("the newest is not there")
	}
}

// TestConcurrently: many that write one answer and others at once all see whole ones.
func TestConcurrently(t *testing.T) {
	m, _ := open(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			k := key
			k.Request = abi.DigestOf([]byte{byte(i % 2)})
			for range 20 {
				if err := m.Put(k, answer); err != nil {
					t.Error(err)
				}
				if a, ok := m.Get(k); !ok || !reflect.DeepEqual(a, answer) {
					t.Errorf("got %+v, %v", a, ok)
				}
			}
		})
	}
	all.Wait()
}
