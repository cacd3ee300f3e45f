package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
)

func open(t *testing.T, path string) *home.Home {
	t.Helper()
	h, err := home.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func openRoot(t *testing.T, path string) *root.Root {
	t.Helper()
	r, err := root.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// refused opens what must not be opened, and returns the error's text.
func refused(t *testing.T, path string) string {
	t.Helper()
	h, err := home.Open(path, nil)
	if err == nil {
		h.Close()
		t.Fatalf("Open(%q) took it", path)
	}
	return err.Error()
}

// TestPath: the variable, else the platform's folder, and nothing relative in either.
func TestPath(t *testing.T) {
	abs := t.TempDir()
	join := filepath.Join
	platform := map[string]map[string]string{ // the environment by the path wanted from it
		"windows": {"LocalAppData": abs},
		"darwin":  {"HOME": abs},
	}
	env, want := platform[runtime.GOOS], join(abs, "lola")
	switch runtime.GOOS {
	case "windows":
	case "darwin":
		want = join(abs, "Library", "Application Support", "lola")
	default:
		env = map[string]string{"XDG_DATA_HOME": abs, "HOME": "/elsewhere"}
	}
	type environment = map[string]string
	for _, tt := range []struct {
		env  environment
		want string // "": an error
	}{
		{environment{"LOLA_HOME": abs}, abs},
		{environment{"LOLA_HOME": join(abs, "a", "..", "b") + string(filepath.Separator)}, join(abs, "b")},
		{environment{"LOLA_HOME": "relative", "HOME": abs, "LocalAppData": abs, "XDG_DATA_HOME": abs}, ""},
		{environment{"LOLA_HOME": "./x", "HOME": abs}, ""},
		{environment{"LOLA_HOME": "~/x", "HOME": abs}, ""},
		{env, want},
		{environment{}, ""},
		{environment{"HOME": "relative", "LocalAppData": "relative", "XDG_DATA_HOME": "relative"}, ""},
	} {
		got, err := home.Path(func(name string) string { return tt.env[name] })
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("Path with %v: %q, %v; want %q", tt.env, got, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), home.Variable) {
			t.Errorf("Path with %v: the error %q does not name %s", tt.env, err, home.Variable)
		}
	}
	if runtime.GOOS == "linux" {
		// The XDG specification has a relative path ignored.
		got, err := home.Path(func(name string) string { return map[string]string{"XDG_DATA_HOME": "relative", "HOME": abs}[name] })
		if want := join(abs, ".local", "share", "lola"); got != want || err != nil {
			t.Errorf("Path with a relative XDG_DATA_HOME: %q, %v; want %q", got, err, want)
		}
	}
}

// TestOpen makes the folder with its parents, opens it again, and refuses what is none.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "lola")
	if got := open(t, path).Path(); got != path {
		t.Errorf("the path is %q, want %q", got, path)
	}
	open(t, path)
	open(t, path+string(filepath.Separator))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	refused(t, file)
	refused(t, filepath.Join(file, "x"))
	t.Chdir(t.TempDir())
	for _, relative := range []string{"", ".", "lola", "./lola", "../lola"} {
		refused(t, relative)
	}
	if list, err := os.ReadDir("."); err != nil || len(list) != 0 {
		t.Errorf("refusing relative paths made %v", list)
	}
}

// TestTempDir lies in the folder, the same each time.
func TestTempDir(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "lola"))
	first, err := h.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.TempDir()
	if err != nil || first != second {
		t.Errorf("the folder is %q, then %q, %v", first, second, err)
	}
	if info, err := os.Lstat(first); err != nil || !info.IsDir() {
		t.Errorf("%q is %v, %v; want a directory", first, info, err)
	}
	other := open(t, filepath.Join(t.TempDir(), "lola"))
	if err := os.WriteFile(filepath.Join(other.Path(), "tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if dir, err := other.TempDir(); err == nil {
		t.Errorf("a file passes for the folder %q", dir)
	}
}

// TestOverlaps: a root at, above or below the folder can be none; a neighbour can, also one whose name begins alike.
func TestOverlaps(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"up/lola/installed/x", "up/lola-evil", "up/lol", "other/lola"} {
		if err := os.MkdirAll(filepath.Join(base, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := open(t, filepath.Join(base, "up", "lola"))
	for dir, want := range map[string]bool{
		"up/lola": true, "up": true, "": true, "up/lola/installed": true, "up/lola/installed/x": true,
		"up/lola-evil": false, "up/lol": false, "other": false, "other/lola": false,
	} {
		checkOverlaps(t, h, filepath.Join(base, filepath.FromSlash(dir)), want)
	}
	checkOverlaps(t, h, filepath.VolumeName(base)+string(filepath.Separator), true)
	r := openRoot(t, filepath.Join(base, "other"))
	if _, err := h.Overlaps(filepath.Join(base, "absent"), r.Info()); err == nil {
		t.Error("Overlaps of a path that cannot be looked at is no error")
	}
}

func checkOverlaps(t *testing.T, h *home.Home, dir string, want bool) {
	t.Helper()
	r := openRoot(t, dir)
	got, err := h.Overlaps(r.Path(), r.Info())
	if err != nil || got != want {
		t.Errorf("Overlaps(%q) = %v, %v; want %v", dir, got, err, want)
	}
}

func ExamplePath() {
	path, err := home.Path(func(string) string { return "relative" })
	fmt.Println(path == "", err)
	// Output: true LOLA_HOME is "relative": want an absolute path
}
