package code_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/internal/code"
)

// TestForgedCode: whatever is done to an entry or its record, it is dropped, said, and made again; what was put there is never
// given to a child (use compares), and what a link leads to stays.
func TestForgedCode(t *testing.T) {
	type place struct {
		b                   *bench
		dir                 string // of the state folder
		id, other           string // of the entries of a and b
		file, record        string // of the entry of a
		otherFile, otherRec string
		outside             string // a folder elsewhere with a file "victim"
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, path, text string) { t.Helper(); must(t, os.WriteFile(path, []byte(text), 0o600)) }
	read := func(t *testing.T, path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		must(t, err)
		return string(text)
	}
	unix := map[string]bool{}
	attacks := map[string]func(t *testing.T, p place){
		"other bytes":     func(t *testing.T, p place) { write(t, p.file, "code of e") },
		"truncated":       func(t *testing.T, p place) { write(t, p.file, "code") },
		"empty":           func(t *testing.T, p place) { write(t, p.file, "") },
		"longer":          func(t *testing.T, p place) { write(t, p.file, "code of a ") },
		"gone":            func(t *testing.T, p place) { must(t, os.Remove(p.file)) },
		"its folder gone": func(t *testing.T, p place) { must(t, os.RemoveAll(filepath.Join(p.dir, "code", p.id))) },
		"all folders gone": func(t *testing.T, p place) {
			must(t, os.RemoveAll(filepath.Join(p.dir, "code")))
		},
		"another module's": func(t *testing.T, p place) { write(t, p.file, read(t, p.otherFile)) },
		"swapped folders": func(t *testing.T, p place) {
			at := func(id string) string { return filepath.Join(p.dir, "code", id) }
			must(t, os.Rename(at(p.id), at("x")))
			must(t, os.Rename(at(p.other), at(p.id)))
			must(t, os.Rename(at("x"), at(p.other)))
		},
		"a file beside it": func(t *testing.T, p place) { write(t, filepath.Join(filepath.Dir(p.file), "more"), "x") },
		"a folder beside": func(t *testing.T, p place) {
			must(t, os.Mkdir(filepath.Join(p.dir, "code", p.id, "wazero-v2-any-any"), 0o700))
		},
		"another name": func(t *testing.T, p place) { must(t, os.Rename(p.file, p.file[:len(p.file)-1]+"0")) },
		"a folder in its place": func(t *testing.T, p place) {
			must(t, os.Remove(p.file))
			must(t, os.Mkdir(p.file, 0o700))
		},
		"a record that says the forged bytes are right, of another module": func(t *testing.T, p place) {
			write(t, p.file, read(t, p.otherFile))
			write(t, p.record, read(t, p.otherRec))
		},
		"a record of no JSON":       func(t *testing.T, p place) { write(t, p.record, "{") },
		"an empty record":           func(t *testing.T, p place) { write(t, p.record, "") },
		"a record with more behind": func(t *testing.T, p place) { write(t, p.record, read(t, p.record)+"{}") },
		"a record with more fields": func(t *testing.T, p place) {
			write(t, p.record, strings.Replace(read(t, p.record), "{", `{"x": 1,`, 1))
		},
		"a record of another format":  func(t *testing.T, p place) { write(t, p.record, strings.Replace(read(t, p.record), `: 1`, `: 2`, 1)) },
		"a record of another build":   func(t *testing.T, p place) { replaceKey(t, p.record, "build") },
		"a record of another engine":  func(t *testing.T, p place) { replaceKey(t, p.record, "engine") },
		"a record of another machine": func(t *testing.T, p place) { replaceKey(t, p.record, "cpu") },
		"a huge record":               func(t *testing.T, p place) { write(t, p.record, read(t, p.record)+strings.Repeat(" ", 1<<20)+"x") },
		"a record with another path": func(t *testing.T, p place) {
			write(t, p.record, strings.Replace(read(t, p.record), "wazero-v1", "../wazero-v1", 1))
		},
		"a folder for a record": func(t *testing.T, p place) {
			must(t, os.Remove(p.record))
			must(t, os.Mkdir(p.record, 0o700))
		},
	}
	onUnix := map[string]func(t *testing.T, p place){
		"a link": func(t *testing.T, p place) {
			must(t, os.Remove(p.file))
			must(t, os.Symlink(p.otherFile, p.file))
		},
		"a link to its own bytes": func(t *testing.T, p place) {
			must(t, os.Rename(p.file, filepath.Join(p.outside, "a")))
			must(t, os.Symlink(filepath.Join(p.outside, "a"), p.file))
		},
		"a second name": func(t *testing.T, p place) { must(t, os.Link(p.file, filepath.Join(p.outside, "a"))) },
		"writable by everybody": func(t *testing.T, p place) {
			must(t, os.Chmod(p.file, 0o666))
		},
		"writable by the group":          func(t *testing.T, p place) { must(t, os.Chmod(p.file, 0o620)) },
		"its folder writable":            func(t *testing.T, p place) { must(t, os.Chmod(filepath.Dir(p.file), 0o777)) },
		"the folder of the entry":        func(t *testing.T, p place) { must(t, os.Chmod(filepath.Join(p.dir, "code", p.id), 0o770)) },
		"the folder of all code":         func(t *testing.T, p place) { must(t, os.Chmod(filepath.Join(p.dir, "code"), 0o777)) },
		"the folder of all records":      func(t *testing.T, p place) { must(t, os.Chmod(filepath.Join(p.dir, "codes"), 0o777)) },
		"a record writable by everybody": func(t *testing.T, p place) { must(t, os.Chmod(p.record, 0o606)) },
		"a record that is a link":        func(t *testing.T, p place) { moveAndLink(t, p.record, p.outside) },
		"the folder of the code a link":  func(t *testing.T, p place) { moveAndLink(t, filepath.Dir(p.file), p.outside) },
		"the folder of the entry a link": func(t *testing.T, p place) { moveAndLink(t, filepath.Join(p.dir, "code", p.id), p.outside) },
		"the folder of all code a link":  func(t *testing.T, p place) { moveAndLink(t, filepath.Join(p.dir, "code"), p.outside) },
		"the folder of all records a link": func(t *testing.T, p place) {
			moveAndLink(t, filepath.Join(p.dir, "codes"), p.outside)
		},
		"somebody else's": func(t *testing.T, p place) {
			if err := os.Chown(p.file, 12345, 12345); err != nil {
				t.Skipf("only root can give a file away: %v", err)
			}
		},
		"a folder of somebody else": func(t *testing.T, p place) {
			if err := os.Chown(filepath.Dir(p.file), 12345, 12345); err != nil {
				t.Skipf("only root can give a folder away: %v", err)
			}
		},
		"a record of somebody else": func(t *testing.T, p place) {
			if err := os.Chown(p.record, 12345, 12345); err != nil {
				t.Skipf("only root can give a file away: %v", err)
			}
		},
	}
	for name, attack := range onUnix {
		attacks[name], unix[name] = attack, true
	}
	for name, attack := range attacks {
		for _, private := range []bool{false, true} {
			if unix[name] && runtime.GOOS == "windows" {
				continue // no modes, and links take a right
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel() // the disk is what takes time
				b := newBench(t, code.Options{Private: private})
				b.use(t, "a")
				b.use(t, "b")
				p := place{b: b, dir: b.dir, outside: t.TempDir()}
				list, err := b.List(t.Context())
				must(t, err)
				for _, e := range list {
					file := filepath.Join(b.dir, "code", e.ID, filepath.FromSlash(entry))
					record := filepath.Join(b.dir, "codes", e.ID+".json")
					if e.Name == "a" {
						p.id, p.file, p.record = e.ID, file, record
					} else {
						p.other, p.otherFile, p.otherRec = e.ID, file, record
					}
				}
				victim := filepath.Join(p.outside, "victim")
				write(t, victim, "stays")
				attack(t, p)
				b.reopen(code.Options{Private: private})
				n, notes := b.use(t, "a")
				if n != 1 {
					t.Errorf("compiled %d times, want that it was made again", n)
				}
				if len(notes) != 1 || !strings.Contains(notes[0], "dropped and made again") || strings.Contains(notes[0], "\n") {
					t.Errorf("the notes are %q", notes)
				}
				if got := read(t, victim); got != "stays" {
					t.Errorf("what a link led to is %q", got)
				}
				if n, notes := b.use(t, "a"); n != 0 || len(notes) > 0 {
					t.Errorf("it is not healed: compiled %d times more, %q", n, notes)
				}
				if n, _ := b.use(t, "b"); n > 1 {
					t.Errorf("the other was compiled %d times", n)
				}
				if left := b.left(t); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
				if dropped, err := b.Prune(t.Context(), false); err != nil || len(dropped) > 0 {
					t.Errorf("not clean after that: %+v, %v", dropped, err)
				}
			})
		}
	}
}

// replaceKey has a record say something else of what its code depends on.
func replaceKey(t *testing.T, record, field string) {
	t.Helper()
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte(`"`+field+`": "`))
	if at < 0 {
		t.Fatalf("no %q in %s", field, text)
	}
	at += len(field) + 5
	text = append(text[:at:at], append([]byte("x"), text[at:]...)...)
	if err := os.WriteFile(record, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// moveAndLink moves something elsewhere and puts a link in its place.
func moveAndLink(t *testing.T, path, outside string) {
	t.Helper()
	to := filepath.Join(outside, "moved")
	if err := os.Rename(path, to); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsListed: what cannot be told is listed as such, and pruned.
func TestDamageIsListed(t *testing.T) {
	b := newBench(t, code.Options{})
	b.use(t, "a")
	b.use(t, "b")
	list, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "codes", list[0].ID+".json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, litter := range []string{"code/junk", "codes/junk", "codes/other.json"} {
		if err := os.WriteFile(filepath.Join(b.dir, filepath.FromSlash(litter)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err = b.List(t.Context())
	damaged := 0
	for _, e := range list {
		if e.Damage != "" {
			damaged++
		}
	}
	if err != nil || len(list) != 4 || damaged != 3 {
		t.Errorf("listed %+v, %v", list, err)
	}
	if dropped, err := b.Prune(t.Context(), false); err != nil || len(dropped) != 3 {
		t.Errorf("dropped %+v, %v", dropped, err)
	}
	for _, dir := range []string{"code", "codes"} {
		if names, err := os.ReadDir(filepath.Join(b.dir, dir)); err != nil || len(names) != 1 {
			t.Errorf("%s holds %v, %v", dir, names, err)
		}
	}
}
