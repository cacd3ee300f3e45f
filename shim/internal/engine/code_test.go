package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// stored returns the folder with a module's code, and the path of the entry.
func stored(t *testing.T, module []byte) (folder, entry string) {
	t.Helper()
	cfg := config
	cfg.Code, cfg.Digest = t.TempDir(), sha256.Sum256(module)
	code, err := Store(t.Context(), module, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := job.ReadCode(bytes.NewReader(code.Append(nil))); err != nil || got != code {
		t.Errorf("got %+v, %v", got, err)
	}
	entry = filepath.Join(cfg.Code, filepath.FromSlash(code.Entry))
	if info, err := os.Lstat(entry); err != nil || info.Size() != code.Size || !strings.HasSuffix(filepath.Dir(entry), runtime.GOARCH+"-"+runtime.GOOS) {
		t.Errorf("got %+v, %v", code, err)
	}
	return cfg.Code, entry
}

// skeletonOf is what lies behind a module's code.
func skeletonOf(t testing.TB, module []byte) []byte {
	t.Helper()
	l, err := readLayout(module)
	if err != nil {
		t.Fatal(err)
	}
	return l.skeleton(module, sha256.Sum256(module))
}

// codeIn returns what an entry has before the skeleton.
func codeIn(t testing.TB, entry string, module []byte) []byte {
	t.Helper()
	b, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	code, ok := bytes.CutSuffix(b, skeletonOf(t, module))
	if !ok {
		t.Fatal("it does not end with the skeleton")
	}
	return code
}

// look lists what is in a folder, with the contents.
func look(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCodeIsLoaded(t *testing.T) {
	module := wasmbuild.Echo()
	folder, _ := stored(t, module)
	before := look(t, folder)
	cfg := config
	cfg.Code = folder
	for range 2 {
		a, err := run(t, module, request, cfg)
		if err != nil || !bytes.Equal(a.Plan, request) {
			t.Errorf("got %q, %v", a.Plan, err)
		}
		a.Close()
	}
	if after := look(t, folder); len(after) != 1 || len(before) != 1 || !equal(before, after) {
		t.Errorf("the folder is another: %d entries, %d before", len(after), len(before))
	}
}

func equal(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// TestCodeIsWhatRuns: what is loaded is the entry and not the module, which is why it must not come from anybody else. Here
// the code of one module lies under the key of another.
func TestCodeIsWhatRuns(t *testing.T) {
	other := func(words string) []byte {
		return wasmbuild.Reactor(wasmbuild.Parts{Plan: []byte("the plan"), Run: wasmbuild.I32Const(int32(len(words)) - 1)})
	}
	good, bad := other("x"), other("xy")
	folder, entry := stored(t, good)
	_, forged := stored(t, bad)
	if err := os.WriteFile(entry, append(codeIn(t, forged, bad), skeletonOf(t, good)...), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config
	cfg.Code = folder
	failure(t, good, cfg, job.Status)
}

// TestStaleCode: whatever the folder has that is not the module's code, nothing is compiled instead, nothing crashes, and
// what is there stays as it is.
func TestStaleCode(t *testing.T) {
	module := wasmbuild.Echo()
	_, another := stored(t, wasmbuild.Reactor(wasmbuild.Parts{Before: func(m *wasmbuild.Builder) { m.Func("", nil, nil) }}))
	foreign, err := os.ReadFile(another)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, spoil func(folder, entry string)) {
		t.Run(name, func(t *testing.T) {
			folder, entry := stored(t, module)
			spoil(folder, entry)
			var before map[string]string
			if _, err := os.Stat(folder); err == nil {
				before = look(t, folder)
			}
			cfg := config
			cfg.Code = folder
			f := failure(t, module, cfg, job.StaleCode)
			if f.Text == "" || strings.Contains(f.Text, "\n") {
				t.Errorf("got %q", f.Text)
			}
			if before != nil && !equal(before, look(t, folder)) {
				t.Error("the folder was changed")
			}
		})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("no folder", func(folder, _ string) { must(os.RemoveAll(folder)) })
	check("no entry", func(_, entry string) { must(os.Remove(entry)) })
	check("nothing", func(_, entry string) { must(os.RemoveAll(filepath.Dir(entry))) })
	check("another key", func(_, entry string) {
		must(os.Rename(entry, filepath.Join(filepath.Dir(entry), strings.Repeat("ab", 32))))
	})
	check("no key", func(_, entry string) { must(os.Rename(entry, entry+".tmp")) })
	check("two entries", func(_, entry string) {
		must(os.WriteFile(filepath.Join(filepath.Dir(entry), strings.Repeat("ab", 32)), foreign, 0o600))
	})
	check("another machine", func(folder, entry string) {
		must(os.Rename(filepath.Dir(entry), filepath.Join(folder, "wazero-dev-vax-vms")))
	})
	check("another version", func(folder, entry string) {
		must(os.Rename(filepath.Dir(entry), filepath.Join(folder, "wazero-v0.9-"+runtime.GOARCH+"-"+runtime.GOOS)))
	})
	check("a directory", func(_, entry string) { must(os.Remove(entry)); must(os.Mkdir(entry, 0o700)) })
	if runtime.GOOS != "windows" {
		check("a link", func(_, entry string) { must(os.Remove(entry)); must(os.Symlink(another, entry)) })
	}
	// Its bytes. The header is "WAZEVO", a byte with the length of the version, the version, four bytes with the number of
	// functions.
	bytesOf := func(name string, change func(b []byte) []byte) {
		check(name, func(_, entry string) {
			b, err := os.ReadFile(entry)
			must(err)
			must(os.WriteFile(entry, change(b), 0o600))
		})
	}
	after := func(b []byte) int { return 7 + int(b[6]) }
	size := func(b []byte) int { return after(b) + 4 + 8*int(binary.LittleEndian.Uint32(b[after(b):])) }
	bytesOf("empty", func([]byte) []byte { return nil })
	bytesOf("of another module", func([]byte) []byte { return foreign })
	bytesOf("another engine", func(b []byte) []byte { b[0] = 'w'; return b })
	bytesOf("another version within", func(b []byte) []byte { b[7] ^= 1; return b })
	bytesOf("a longer version", func(b []byte) []byte { b[6] = 255; return b })
	bytesOf("4 billion functions", func(b []byte) []byte { binary.LittleEndian.PutUint32(b[after(b):], 1<<32-1); return b })
	bytesOf("no functions", func(b []byte) []byte { binary.LittleEndian.PutUint32(b[after(b):], 0); return b })
	bytesOf("a function outside", func(b []byte) []byte { binary.LittleEndian.PutUint64(b[after(b)+4:], 1<<40); return b })
	bytesOf("huge code", func(b []byte) []byte { binary.LittleEndian.PutUint64(b[size(b):], 1<<62); return b })
	bytesOf("code of 2^64 bytes", func(b []byte) []byte { binary.LittleEndian.PutUint64(b[size(b):], 1<<64-1); return b })
	bytesOf("no code", func(b []byte) []byte { binary.LittleEndian.PutUint64(b[size(b):], 0); return b })
	bytesOf("a bit of code", func(b []byte) []byte { b[size(b)+8] ^= 1; return b })
	bytesOf("a byte more", func(b []byte) []byte { return append(b, 0) })
	skeleton := skeletonOf(t, module)
	end := func(b []byte) int { return len(b) - len(skeleton) } // of the code
	bytesOf("its sum", func(b []byte) []byte { b[end(b)-6] ^= 1; return b })
	bytesOf("lines of source", func(b []byte) []byte { b[end(b)-5] = 1; return b })
	bytesOf("4 billion clauses", func(b []byte) []byte { binary.LittleEndian.PutUint32(b[end(b)-4:], 1<<32-1); return b })
	bytesOf("a byte between", func(b []byte) []byte { return slices.Insert(b, end(b), 0) })
	for _, cut := range []int{1, 4, 5, 9, 40, 100, len(skeleton), len(skeleton) + 4} {
		bytesOf("cut off", func(b []byte) []byte { return b[:len(b)-cut] })
	}
	// What it says of the module.
	withSkeleton := func(name string, other []byte) {
		bytesOf(name, func(b []byte) []byte { return append(b[:end(b)], other...) })
	}
	withSkeleton("of another module behind it", skeletonOf(t, wasmbuild.Reactor(wasmbuild.Parts{Plan: []byte("x")})))
	withSkeleton("the module itself", module)
	withSkeleton("the module itself, marked", append(slices.Clone(module), skeletonEnd(sha256.Sum256(module))...))
	withSkeleton("no module", skeletonEnd(sha256.Sum256(module)))
	withSkeleton("fewer functions", func() []byte {
		l, err := readLayout(module)
		must(err)
		l.functions--
		return l.skeleton(module, sha256.Sum256(module))
	}())
}

// FuzzCode: whatever an entry is that has the sum of its code right, walking over it neither panics nor takes more memory than
// it has bytes, and what the walk takes the engine takes.
func FuzzCode(f *testing.F) {
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	cfg := config
	cfg.Code, cfg.Digest = f.TempDir(), sha256.Sum256(module)
	code, err := Store(f.Context(), module, cfg)
	if err != nil {
		f.Fatal(err)
	}
	entry := filepath.Join(cfg.Code, filepath.FromSlash(code.Entry))
	b, err := os.ReadFile(entry)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:20])
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(entry, b, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Compile(t.Context(), module, cfg)
		if err == nil {
			m.Close() // and nothing of it is run: it may be anything
			return
		}
		var fail *Failure
		if !errors.As(err, &fail) || fail.Outcome != job.StaleCode {
			t.Errorf("got %v", err)
		}
	})
}

func TestStoreRefuses(t *testing.T) {
	cfg := config
	cfg.Code = t.TempDir()
	for _, g := range wasmbuild.Guests() {
		if g.Outcome != job.BadModule && g.Outcome != job.BadExport && g.Outcome != job.ForbiddenImport {
			continue
		}
		cfg.Code = t.TempDir()
		_, err := Store(t.Context(), g.Module, cfg)
		var f *Failure
		if !errors.As(err, &f) || f.Outcome != g.Outcome {
			t.Errorf("%s: got %v", g.Name, err)
		}
	}
	var f *Failure
	folder, _ := stored(t, wasmbuild.Echo())
	for name, dir := range map[string]string{"a folder with something in it": folder, "no folder": filepath.Join(t.TempDir(), "none")} {
		cfg.Code = dir
		if _, err := Store(t.Context(), wasmbuild.Echo(), cfg); !errors.As(err, &f) || f.Outcome != job.Internal {
			t.Errorf("%s: got %v", name, err)
		}
	}
	// Nothing of the guest runs.
	for _, g := range wasmbuild.Endless() {
		cfg.Code = t.TempDir()
		if _, err := Store(t.Context(), g.Module, cfg); err != nil {
			t.Errorf("%s: got %v", g.Name, err)
		}
	}
}
