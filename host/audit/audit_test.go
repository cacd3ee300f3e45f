package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
)

// clock is a clock that goes on by a second at each look.
func clock() func() time.Time {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// at opens the log in the folder "audit" of home.
func at(t testing.TB, home string, o audit.Options, h root.Hook) *audit.Log {
	t.Helper()
	r, err := root.OpenHooked(home, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if o.Now == nil {
		o.Now = clock()
	}
	l, err := audit.Open(r, "audit", o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sample is a record of an ordinary install, told apart by i.
func sample(i int) audit.Record {
	return audit.Record{
		Event: audit.EventPlan, Transaction: fmt.Sprintf("t%d", i), Action: "install", Scope: "project",
		Root:       &audit.Root{Path: "/home/me/project", Identity: "66306:1234"},
		Module:     &audit.Module{Name: "reviews", Version: "1.2.0", Digest: audit.Digest{1, 2}},
		Extensions: []audit.Extension{{Name: "claude-code", Version: "0.1.0", Digest: audit.Digest{3}, Tier: 1, Level: "landlock 6, seccomp", Grants: []string{"writes .claude/**"}}},
		Consents:   []audit.Consent{{Kind: "trust", What: "reviews@sha256:" + strings.Repeat("0", 64), How: "flag"}},
		Intents: []audit.Intent{
			{Extension: "claude-code", Op: "write", Path: fmt.Sprintf(".claude/skills/s%d/SKILL.md", i), Digest: audit.Digest{4}, Mode: "0644"},
			{Extension: "claude-code", Op: "rename", Path: "a", To: "b"},
		},
	}
}

// small is a record of few bytes.
func small(i int) audit.Record {
	return audit.Record{Event: audit.EventPlan, Transaction: fmt.Sprintf("t%d", i), Action: "install", Scope: "project"}
}

func appendN(t testing.TB, l *audit.Log, n int, record func(int) audit.Record) audit.Head {
	t.Helper()
	var head audit.Head
	for i := range n {
		var err error
		if head, err = l.Append(t.Context(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
	return head
}

// verify returns the report of a log that can be judged.
func verify(t testing.TB, l *audit.Log, anchor audit.Head) audit.Report {
	t.Helper()
	report, err := l.Verify(t.Context(), audit.VerifyOptions{Anchor: anchor})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// holds fails the test unless the log holds whole, with so many records and that head.
func holds(t testing.TB, l *audit.Log, records int64, head audit.Head) audit.Report {
	t.Helper()
	r := verify(t, l, audit.Head{})
	if !r.OK() || r.Records != records || r.Head != head {
		t.Fatalf("the log: %d records, head %v, broken %v; want %d, %v, whole", r.Records, r.Head, r.Broken, records, head)
	}
	return r
}

// files returns the files of the log in the folder audit of home, by name.
func files(t testing.TB, home string) map[string][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "audit", "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = text
	}
	return texts
}

// lay makes a log folder of exactly these files, and returns its home.
func lay(t testing.TB, texts map[string][]byte) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		put(t, home, name, text)
	}
	return home
}

func put(t testing.TB, home, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "audit", name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

const one = "audit-00000001.jsonl"

// records reads all that the filter takes.
func records(t testing.TB, l *audit.Log, f audit.Filter) ([]audit.Record, error) {
	t.Helper()
	var all []audit.Record
	for rec, err := range l.Read(t.Context(), f) {
		if err != nil {
			return all, err
		}
		all = append(all, rec)
	}
	return all, nil
}

// TestRoundTrip: what is read is what was written, and only the user can read the files.
func TestRoundTrip(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	holds(t, l, 0, audit.Head{})
	if _, err := os.Lstat(filepath.Join(home, "audit")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("reading made the folder: %v", err)
	}
	head := appendN(t, l, 3, sample)
	holds(t, l, 3, head)
	if got, err := l.Head(t.Context()); err != nil || got != head || head.Seq != 3 {
		t.Errorf("Head: %v, %v; want %v", got, err, head)
	}
	if again, err := audit.ParseHead(head.String()); err != nil || again != head {
		t.Errorf("ParseHead(%q): %v, %v", head, again, err)
	}
	got, err := records(t, l, audit.Filter{})
	if err != nil || len(got) != 3 {
		t.Fatalf("Read: %d records, %v", len(got), err)
	}
	for i, rec := range got {
		if rec.Seq != uint64(i+1) || rec.Format != audit.Format || i > 0 && rec.Prev != got[i-1].Hash {
			t.Errorf("record %d: number %d, format %d, prev %v", i, rec.Seq, rec.Format, rec.Prev)
		}
		want := sample(i)
		want.Format, want.Seq, want.Prev, want.Time, want.Hash = rec.Format, rec.Seq, rec.Prev, rec.Time, rec.Hash
		if !reflect.DeepEqual(rec, want) {
			t.Errorf("record %d: %+v, want %+v", i, rec, want)
		}
	}
	text := files(t, home)[one]
	if !bytes.Contains(text, []byte(`"time":"2026-03-01T11:00:01.123456Z"`)) {
		t.Errorf("the time is not in UTC to the microsecond: %s", text)
	}
}

// TestChain10000: the chain holds over many records and many files, and says where it begins after files were dropped.
func TestChain10000(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand times fsync")
	}
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 256 << 10, Quota: 2 << 20}, nil)
	var head audit.Head
	for i := range 10_000 {
		var err error
		if head, err = l.Append(t.Context(), sample(i)); err != nil {
			t.Fatal(err)
		}
	}
	r := verify(t, l, head)
	if !r.OK() || !r.Anchored || r.Head != head || r.First < 2 || r.Records != int64(head.Seq-r.First+1) {
		t.Errorf("report: %+v; broken %v", r, r.Broken)
	}
	total := 0
	for _, text := range files(t, home) {
		total += len(text)
	}
	if total > 2<<20 || total < 1<<20 {
		t.Errorf("%d bytes are kept of a quota of %d", total, 2<<20)
	}
	n := 0
	for rec, err := range l.Read(t.Context(), audit.Filter{Extension: "claude-code"}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Event != audit.EventPlan {
			t.Fatalf("event %q has no extension", rec.Event)
		}
		n++
	}
	if n < 1000 {
		t.Errorf("%d records name the extension", n)
	}
}
