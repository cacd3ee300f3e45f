package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
)

// TestCutAnywhere: a write that was cut at any byte leaves a log that holds, that can be written on, and that still has
// every byte there was.
func TestCutAnywhere(t *testing.T) {
	home := t.TempDir()
	appendN(t, at(t, home, audit.Options{}, nil), 2, small)
	text := files(t, home)[one]
	first := bytes.IndexByte(text, '\n') + 1
	cutHome := lay(t, nil)
	l := at(t, cutHome, audit.Options{}, nil)
	for cut := 0; cut <= len(text); cut++ {
		put(t, cutHome, one, text[:cut])
		kept := int64(0) // records that are whole in what was left; the LF is not part of one
		for _, end := range []int{first, len(text)} {
			if cut >= end-1 {
				kept++
			}
		}
		scrap := cut != 0 && cut != first-1 && cut != first && cut < len(text)-1
		r := verify(t, l, audit.Head{})
		if !r.OK() || r.Records != kept || (r.TornCount == 1) != scrap || scrap && r.Torn[0].Marked {
			t.Fatalf("cut at %d: %+v, broken %v; want %d records, scrap %v", cut, r, r.Broken, kept, scrap)
		}
		head, err := l.Append(t.Context(), small(7))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := kept + 1
		if scrap {
			want++
		}
		r = holds(t, l, want, head)
		if scrap != (r.TornCount == 1 && r.Torn[0].Marked && r.Torn[0].Bytes > 2) {
			t.Fatalf("cut at %d: torn %+v", cut, r.Torn)
		}
		if now := files(t, cutHome)[one]; !bytes.HasPrefix(now, text[:cut]) {
			t.Fatalf("cut at %d: what was there is changed", cut)
		}
	}
}

// TestCutAgain: the write that marks a cut one is cut too, at each byte, and then once more.
func TestCutAgain(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	appendN(t, l, 1, small)
	whole := files(t, home)[one]
	torn := append(bytes.Clone(whole), whole[:100]...)
	put(t, home, one, torn)
	if _, err := l.Append(t.Context(), audit.Record{Event: audit.EventApplied}); err != nil {
		t.Fatal(err)
	}
	marked := files(t, home)[one]
	if !bytes.HasPrefix(marked[len(torn):], []byte("~\n{")) {
		t.Fatalf("a cut write is closed by %q", marked[len(torn):][:3])
	}
	for cut := len(torn); cut < len(marked); cut++ {
		put(t, home, one, marked[:cut])
		verifies(t, l)
		if _, err := l.Append(t.Context(), audit.Record{Event: audit.EventApplied}); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		again := files(t, home)[one]
		verifies(t, l)
		if cut%11 > 0 {
			continue
		}
		for end := cut; end < len(again); end += 29 {
			put(t, home, one, again[:end])
			verifies(t, l)
			head, err := l.Append(t.Context(), audit.Record{Event: audit.EventApplied})
			if err != nil {
				t.Fatalf("cut at %d, then at %d: %v", cut, end, err)
			}
			if r := verifies(t, l); r.Head != head || r.TornCount < 1 {
				t.Fatalf("cut at %d, then at %d: %+v", cut, end, r)
			}
		}
	}
}

func verifies(t *testing.T, l *audit.Log) audit.Report {
	t.Helper()
	r := verify(t, l, audit.Head{})
	if !r.OK() {
		t.Fatalf("broken: %v", r.Broken)
	}
	return r
}

// TestZeros: what some file systems leave after a power cut: the length without the bytes.
func TestZeros(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	appendN(t, l, 1, small)
	whole := files(t, home)[one]
	for _, zeros := range []int{1, 4096, 3 << 20} { // the last is longer than any record
		put(t, home, one, append(bytes.Clone(whole), make([]byte, zeros)...))
		if r := verifies(t, l); zeros > 1 && r.TornCount != 1 {
			t.Errorf("%d zeros: %+v", zeros, r)
		}
		head, err := l.Append(t.Context(), sample(1))
		if err != nil {
			t.Fatal(err)
		}
		if r := holds(t, l, 3, head); r.Torn[0].Bytes != int64(zeros)+2 {
			t.Errorf("%d zeros: %+v", zeros, r.Torn)
		}
	}
}

// TestDamaged: what no cut write leaves does not keep the log from being written, and is never made good.
func TestDamaged(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 64 << 10}, nil)
	appendN(t, l, 2, sample)
	text := files(t, home)[one]
	lines := linesOf(text)
	for what, tail := range map[string]string{
		"a changed record":                string(bytes.Replace(lines[1], []byte("install"), []byte("updated"), 1)),
		"an empty line":                   string(lines[1]) + "\n",
		"text":                            string(lines[1]) + "hello\n",
		"text and a cut write":            string(lines[1]) + "hello\n" + string(lines[1][:50]),
		"a record and a byte":             string(lines[1][:len(lines[1])-1]) + "x",
		"a line longer than any record":   string(lines[1]) + strings.Repeat("x", 2<<20) + "\n",
		"one, and then the newest record": strings.Repeat("x", 2<<20) + "\n" + string(lines[1]),
	} {
		put(t, home, one, append(bytes.Clone(lines[0]), tail...))
		before := verify(t, l, audit.Head{})
		if before.OK() {
			t.Errorf("%s: it holds", what)
			continue
		}
		var head audit.Head
		for i := range 6 {
			var err error
			if head, err = l.Append(t.Context(), sample(i)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if got, err := l.Head(t.Context()); err != nil || got != head {
			t.Errorf("%s: head %v, %v; want %v", what, got, err, head)
		}
		after := verify(t, l, audit.Head{})
		if after.OK() || after.Broken.File != before.Broken.File || after.Broken.Line != before.Broken.Line {
			t.Errorf("%s: broken at %v; after more records at %v", what, before.Broken, after.Broken)
		}
		got, err := records(t, l, audit.Filter{})
		broken := (*audit.BrokenError)(nil)
		if !errors.As(err, &broken) || broken.Line != before.Broken.Line || len(got) != int(before.Records) {
			t.Errorf("%s: read %d records, %v; want %d, and %v", what, len(got), err, before.Records, before.Broken)
		}
		for name := range files(t, home) {
			if err := os.Remove(filepath.Join(home, "audit", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFaults: each call that changes the disk fails once, in turn, over a run that makes, rotates and drops files. The
// Append that it hits fails, says why, and leaves a log that holds every record that was promised; the next one works.
// A write fails in three ways: nothing of it done, half, all but its last byte.
func TestFaults(t *testing.T) {
	o := audit.Options{MaxFile: 1 << 10, Quota: 2 << 10}
	const appends = 12
	ops := 0
	l := at(t, t.TempDir(), o, func(root.Op) error { ops++; return nil })
	appendN(t, l, appends, small)
	if r := verifies(t, l); r.First < 2 {
		t.Fatalf("nothing was dropped: %+v", r)
	}
	if ops < 2*appends {
		t.Fatalf("%d calls seen", ops)
	}
	kinds := map[root.OpKind]int{}
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
		for fail := range ops {
			for _, share := range []int{0, 50, 99} {
				home := t.TempDir()
				n, hit := 0, root.OpKind("")
				l := at(t, home, o, func(op root.Op) error {
					n++
					if n-1 != fail {
						return nil
					}
					hit = op.Kind
					if op.Kind == root.OpWrite && share > 0 {
						f, err := os.OpenFile(filepath.Join(op.Root, filepath.FromSlash(op.Path)), os.O_WRONLY|os.O_APPEND, 0)
						if err != nil {
							t.Error(err)
							return err
						}
						if _, err := f.Write(op.Data[:min(len(op.Data)*share/100+share/99*len(op.Data), len(op.Data)-1)]); err != nil {
							t.Error(err)
						}
						f.Close()
					}
					return fault
				})
				var promised audit.Head
				failed := 0
				for i := range appends {
					head, err := l.Append(t.Context(), small(i))
					if err != nil {
						failed++
						if !errors.Is(err, fault) || !strings.Contains(err.Error(), fmt.Sprintf("%q", l.Path())) {
							t.Errorf("call %d (%s) fails with %v: Append says %v", fail, hit, fault, err)
						}
					} else {
						promised = head
					}
					if r := verify(t, l, promised); !r.OK() {
						t.Fatalf("call %d (%s) fails with %v, %d%% done, after append %d: %v", fail, hit, fault, share, i, r.Broken)
					}
				}
				if failed != 1 {
					t.Errorf("call %d (%s): %d appends failed", fail, hit, failed)
				}
				kinds[hit]++
				if hit != root.OpWrite {
					break
				}
			}
		}
	}
	t.Logf("%d calls; faults: %v", ops, kinds)
	for _, kind := range []root.OpKind{root.OpMkdir, root.OpCreate, root.OpWrite, root.OpSync, root.OpSyncDir, root.OpRemove} {
		if kinds[kind] == 0 {
			t.Errorf("no call of kind %q failed", kind)
		}
	}
}

// TestKilled: the process ends at each call that changes the disk. What is left holds, has every record that was promised,
// and the next process goes on with it, files that were to go included.
func TestKilled(t *testing.T) {
	o := audit.Options{MaxFile: 1 << 10, Quota: 2 << 10}
	const appends = 12
	dead := errors.New("the process has ended")
	for kill := 0; ; kill++ {
		home := t.TempDir()
		n := 0
		l := at(t, home, o, func(root.Op) error {
			if n++; n > kill {
				return dead
			}
			return nil
		})
		var promised audit.Head
		done := 0
		for i := range appends {
			head, err := l.Append(t.Context(), small(i))
			if err != nil {
				break
			}
			promised, done = head, i+1
		}
		next := at(t, home, o, nil)
		if r := verify(t, next, promised); !r.OK() {
			t.Fatalf("killed at call %d: %v", kill, r.Broken)
		}
		head := appendN(t, next, appends, small)
		if r := verify(t, next, head); !r.OK() || r.Head != head {
			t.Fatalf("killed at call %d, and then gone on: %v", kill, r.Broken)
		}
		total := 0
		for _, text := range files(t, home) {
			total += len(text)
		}
		if total > 5<<9 {
			t.Errorf("killed at call %d: %d bytes are kept of a quota of %d", kill, total, 2<<10)
		}
		if done == appends {
			t.Logf("%d calls", kill)
			break
		}
	}
}

// TestCheckEnd tells what a cut write leaves from what it does not, by the end of the log alone.
func TestCheckEnd(t *testing.T) {
	home := t.TempDir()
	head := appendN(t, at(t, home, audit.Options{}, nil), 2, small)
	text := string(files(t, home)[one])
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"whole", text, true},
		{"without its LF", strings.TrimSuffix(text, "\n"), true},
		{"cut", text + `{"v":1,"se`, true},
		{"a line of another kind", text + "nonsense\n", false},
		{"nothing but that", "nonsense\n", false},
		{"empty", "", true},
		{"broken at its beginning", "x" + text, true}, // which is for Verify
	} {
		broken := lay(t, nil)
		put(t, broken, one, []byte(c.text))
		got, err := at(t, broken, audit.Options{}, nil).CheckEnd(t.Context())
		if (err == nil) != c.ok || err == nil && c.text != "" && got != head {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if got, err := at(t, t.TempDir(), audit.Options{}, nil).CheckEnd(t.Context()); err != nil || got != (audit.Head{}) {
		t.Errorf("no log at all: %v, %v", got, err)
	}
}
