package module_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/module"
)

type tree map[string]string

// write puts the files into a fresh folder of that name and returns its path. A path that ends with a slash is a directory.
func (tr tree) write(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for p, text := range tr {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func limits(t testing.TB, l abi.Limits) abi.Limits {
	t.Helper()
	lim, err := l.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return lim
}

func load(t testing.TB, dir string) *module.Package {
	t.Helper()
	p, err := module.Load(dir, limits(t, abi.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// refused loads what must not be loaded, and returns the error.
func refused(t testing.TB, dir string, l abi.Limits) error {
	t.Helper()
	p, err := module.Load(dir, limits(t, l))
	if err == nil {
		p.Close()
		t.Fatalf("Load took it, as %q with %d files", p.Name, p.Files())
	}
	return err
}

// contents reads every file of the package.
func contents(t testing.TB, p *module.Package) tree {
	t.Helper()
	req, err := p.Request(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := tree{}
	for i, f := range req.Files {
		if i > 0 && req.Files[i-1].Path >= f.Path {
			t.Errorf("the files are not sorted: %q before %q", req.Files[i-1].Path, f.Path)
		}
		c, ok := p.File(f.Path)
		if !ok {
			t.Fatalf("the package has no file %q, which its request names", f.Path)
		}
		r, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		if c.Size() != int64(len(text)) || c.Size() != f.Size || c.Digest() != abi.DigestOf(text) || c.Digest() != f.Digest {
			t.Errorf("file %q: size %d and digest %v, want %d and those of its bytes", f.Path, c.Size(), c.Digest(), len(text))
		}
		got[f.Path] = string(text)
	}
	if len(got) != p.Files() {
		t.Errorf("%d files, Files says %d", len(got), p.Files())
	}
	return got
}

// why returns what was said of a skipped path, "" if nothing.
func why(p *module.Package, path string) string {
	for _, s := range p.Skipped {
		if s.Path == path {
			return s.Why
		}
	}
	return ""
}
