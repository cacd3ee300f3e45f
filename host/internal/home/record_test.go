package home_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
)

// record is a record of r in which something is installed.
func record(t *testing.T, h *home.Home, r *root.Root) *home.Installed {
	t.Helper()
	in, err := h.Installed(r)
	if err != nil {
		t.Fatal(err)
	}
	digest := abi.DigestOf([]byte("x")).String()
	target := func(files ...string) *home.Target {
		tg := &home.Target{Version: "1.0.0", Digest: digest, Extension: "0.1.0", Files: map[string]home.File{}}
		for _, f := range files {
			tg.Files[f] = home.File{Digest: digest, Mode: 0o644}
		}
		return tg
	}
	in.Dirs = []string{".claude", ".claude/skills"}
	in.Modules = map[string]*home.Module{
		"doctor": {Name: "doctor", Targets: map[string]*home.Target{"cursor": target("shared", "b"), "claude-code": target("shared", ".claude/skills/é/SKILL.md")}},
		"aide":   {Name: "aide", Targets: map[string]*home.Target{"gemini-cli": target("shared")}},
	}
	return in
}

// fixture is a state folder with a record of one root, and the record's file.
func fixture(t *testing.T) (h *home.Home, r *root.Root, in *home.Installed, file string) {
	t.Helper()
	h, r = open(t, filepath.Join(t.TempDir(), "lola")), openRoot(t, t.TempDir())
	in = record(t, h, r)
	if err := h.Store(in); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(h.Path(), "installed", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the records are %v, %v; want one", files, err)
	}
	return h, r, in, files[0]
}

// TestRecordRoundTrip: what was written is what is read; what is empty leaves no file; each root has its own.
func TestRecordRoundTrip(t *testing.T) {
	h, r, in, file := fixture(t)
	got, err := h.Installed(r)
	if err != nil || !reflect.DeepEqual(got, in) || !got.Equal(in) {
		t.Errorf("read %+v, %v; want %+v", got, err, in)
	}
	other := openRoot(t, t.TempDir())
	if got, err := h.Installed(other); err != nil || len(got.Modules) != 0 || len(got.Dirs) != 0 {
		t.Errorf("another root has %+v, %v; want nothing", got, err)
	}
	// Folders without modules are still worth a record.
	in.Modules = map[string]*home.Module{}
	if err := h.Store(in); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Installed(r); err != nil || !got.Equal(in) {
		t.Errorf("read %+v, %v; want the folders", got, err)
	}
	in.Dirs = nil
	for range 2 { // removing what is gone is no error
		if err := h.Store(in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("the empty record's file: %v, want it gone", err)
	}
	if got, err := h.Installed(r); err != nil || len(got.Modules) != 0 {
		t.Errorf("read %+v, %v; want nothing", got, err)
	}
}

// TestRecordIsNotTheProjects (P17): a record that lies in the project, or is named for another root, counts for nothing.
func TestRecordIsNotTheProjects(t *testing.T) {
	h, r, _, file := fixture(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := openRoot(t, t.TempDir())
	for _, dir := range []string{"installed", ".lola/installed", ".lola"} {
		at := filepath.Join(other.Path(), filepath.FromSlash(dir))
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := h.Installed(other); err != nil || len(got.Modules) != 0 {
		t.Errorf("a record in the project: %+v, %v; want nothing", got, err)
	}
	// The record of one root under the name of the other's.
	if err := h.Store(record(t, h, other)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(h.Path(), "installed", "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("the records are %v, %v; want two", files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := h.Installed(other); err == nil || !strings.Contains(err.Error(), strconv.Quote(r.Path())) {
		t.Errorf("the record of %q for another root: %+v, %v; want it refused by name", r.Path(), got, err)
	}
	if _, err := h.Installed(r); err != nil {
		t.Errorf("the record in its own place: %v", err)
	}
}

// TestRecordOfAMovedRoot: another directory in a root's place, or the root in another place, has no record.
func TestRecordOfAMovedRoot(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "lola"))
	base := t.TempDir()
	path, away := filepath.Join(base, "project"), filepath.Join(base, "away")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := root.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Store(record(t, h, r)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, away} {
		if got, err := h.Installed(openRoot(t, p)); err != nil || len(got.Modules) != 0 {
			t.Errorf("%q has %+v, %v; want nothing", p, got, err)
		}
	}
}

// TestTamperedRecords: a record that this program did not write in this form is refused, and never a panic.
func TestTamperedRecords(t *testing.T) {
	h, r, _, file := fixture(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	digest := abi.DigestOf([]byte("x")).String()
	replace := func(old, new string) string {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("the record lacks %q", old)
		}
		return strings.ReplaceAll(string(good), old, new)
	}
	path, err := json.Marshal(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":            "",
		"not JSON":         "modules: {}",
		"null":             "null",
		"cut off":          string(good[:len(good)/2]),
		"followed":         string(good) + "{}",
		"followed by junk": string(good) + "x",
		"unknown field":    replace(`"format": 1,`, `"format": 1, "trusted": true,`),
		"unknown, deep":    replace(`"mode": 420`, `"mode": 420, "owner": "x"`),
		"newer":            replace(`"format": 1,`, `"format": 2,`),
		"no format":        replace(`"format": 1,`, ``),
		"another root":     replace(string(path), `"/elsewhere"`),
		"another identity": replace(`"identity": "`, `"identity": "1`),
		"null module":      replace(`"doctor": {`, `"null": null, "doctor": {`),
		"null target":      replace(`"cursor": {`, `"null": null, "cursor": {`),
		"misnamed module":  replace(`"name": "doctor"`, `"name": "other"`),
		"bad digest":       replace(digest, strings.ToUpper(digest)),
		"short digest":     replace(digest, digest[:20]),
		"set-id mode":      replace(`"mode": 420`, `"mode": 2541`),
		"negative mode":    replace(`"mode": 420`, `"mode": -1`),
		"huge mode":        replace(`"mode": 420`, `"mode": 65956`),
		"wrong type":       replace(`"modules": {`, `"modules": [], "x": {`),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := h.Installed(r); err == nil {
			t.Errorf("%s: read %+v, want it refused", name, got)
		} else if !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: the error %q does not name the record", name, err)
		}
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Installed(r); err != nil {
		t.Errorf("the record as it was: %v", err)
	}
}

// TestRecordIsReplacedWhole: whoever reads while another writes sees the old or the new record, and no rest stays.
func TestRecordIsReplacedWhole(t *testing.T) {
	h, r, small, file := fixture(t)
	large := small.Clone()
	for i := range 2000 {
		large.Modules["aide"].Targets["gemini-cli"].Files[strings.Repeat("d/", i%9)+string(rune('a'+i%26))+strings.Repeat("x", i%50)] = home.File{Digest: abi.DigestOf(nil).String(), Mode: 0o644}
	}
	// What an interrupted write left is no hindrance.
	if err := os.WriteFile(file+".new", []byte("rest"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			got, err := h.Installed(r)
			if err != nil || !got.Equal(small) && !got.Equal(large) {
				t.Errorf("a reader saw neither record: %v", err)
				return
			}
		}
	})
	for i := range 20 {
		if err := h.Store([]*home.Installed{large, small}[i%2]); err != nil {
			t.Errorf("Store: %v", err)
		}
	}
	close(stop)
	wg.Wait()
	if list, err := os.ReadDir(filepath.Dir(file)); err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v; want the record alone", list, err)
	}
}

// TestOwners: who owns what, in a fixed order, and a clone that shares nothing.
func TestOwners(t *testing.T) {
	h, r := open(t, filepath.Join(t.TempDir(), "lola")), openRoot(t, t.TempDir())
	in := record(t, h, r)
	want := []home.Owner{{Module: "aide", Target: "gemini-cli"}, {Module: "doctor", Target: "claude-code"}, {Module: "doctor", Target: "cursor"}}
	if got := in.Owners("shared"); !reflect.DeepEqual(got, want) {
		t.Errorf("the owners are %v, want %v", got, want)
	}
	if got := in.Paths(); !reflect.DeepEqual(got["shared"], want) || len(got) != 3 {
		t.Errorf("the paths are %v, want three", got)
	}
	if got := in.Owners("absent"); got != nil {
		t.Errorf("nobody's file has the owners %v", got)
	}
	clone := in.Clone()
	if !clone.Equal(in) {
		t.Error("a clone is another record")
	}
	clone.Dirs[0] = "x"
	clone.Modules["doctor"].Targets["cursor"].Files["new"] = home.File{}
	clone.Modules["doctor"].Targets["cursor"].Version = "2.0.0"
	delete(clone.Modules, "aide")
	if !in.Equal(record(t, h, r)) {
		t.Error("changing a clone changes what it is a clone of")
	}
	if clone.Equal(in) {
		t.Error("different records are equal")
	}
}

// TestFits: a record that could not be read again is refused before it is stored. Names are the longest in JSON if they are
// what it escapes.
func TestFits(t *testing.T) {
	in := &home.Installed{Root: "/x", Modules: map[string]*home.Module{"m": {Name: "m", Targets: map[string]*home.Target{"t": {Files: map[string]home.File{}}}}}}
	if err := in.Fits(); err != nil {
		t.Error(err)
	}
	files := in.Modules["m"].Targets["t"].Files
	for i := range 24 << 10 {
		files[fmt.Sprintf("%06d", i)+strings.Repeat("&", 1000)] = home.File{}
	}
	if limit := (*abi.LimitError)(nil); !errors.As(in.Fits(), &limit) {
		t.Errorf("got %v, want that it is too large", in.Fits())
	}
}
