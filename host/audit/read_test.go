package audit_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
)

// TestFilter: since and extension, in each place that can name one.
func TestFilter(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	for _, rec := range []audit.Record{
		{Event: audit.EventPlan, Extensions: []audit.Extension{{Name: "a"}, {Name: "b"}}},
		{Event: audit.EventPlan, Intents: []audit.Intent{{Op: "write", Path: "x", Extension: "a"}}},
		{Event: audit.EventRefused, Findings: []audit.Finding{{Rule: "same-path", Extension: "a"}}},
		{Event: audit.EventDialled, Dialled: &audit.Dialled{Extension: "a", Address: "192.0.2.1:443"}},
		{Event: audit.EventApplied, Extensions: []audit.Extension{{Name: "b"}}},
	} {
		if _, err := l.Append(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	third := time.Date(2026, 3, 1, 11, 0, 3, 123456000, time.UTC)
	for want, f := range map[string]audit.Filter{
		"[1 2 3 4 5]": {},
		"[1 2 3 4]":   {Extension: "a"},
		"[1 5]":       {Extension: "b"},
		"[]":          {Extension: "A"},
		"[3 4 5]":     {Since: third},
		"[4 5]":       {Since: third.Add(time.Microsecond)},
		"[3 4]":       {Since: third, Extension: "a"},
	} {
		all, err := records(t, l, f)
		if err != nil {
			t.Fatal(err)
		}
		seqs := []uint64{}
		for _, rec := range all {
			seqs = append(seqs, rec.Seq)
		}
		if got := fmt.Sprint(seqs); got != want {
			t.Errorf("%+v: records %v, want %v", f, got, want)
		}
	}
	n := 0
	for range l.Read(t.Context(), audit.Filter{}) {
		if n++; n == 2 {
			break
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range l.Read(ended, audit.Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading with an ended context: %v", err)
		}
	}
	if _, err := l.Verify(ended, audit.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("verifying with an ended context: %v", err)
	}
}

// TestReadStopsAtTheFirstBrokenLine: what comes before is shown, then where it breaks; nothing after.
func TestReadStopsAtTheFirstBrokenLine(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	appendN(t, l, 4, small)
	text := files(t, home)[one]
	lines := linesOf(text)
	text[len(lines[0])+len(lines[1])+10] ^= 1
	put(t, home, one, text)
	all, err := records(t, l, audit.Filter{})
	broken := (*audit.BrokenError)(nil)
	if !errors.As(err, &broken) || len(all) != 2 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	if want := (audit.BrokenError{File: one, Line: 3, Offset: int64(len(lines[0]) + len(lines[1])), Seq: 3, Why: broken.Why}); *broken != want {
		t.Errorf("broken at %+v, want %+v", *broken, want)
	}
	for _, part := range []string{"record 3", "line 3", fmt.Sprintf("%q", one), fmt.Sprintf("%q", l.Path()), "hash"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %s", err, part)
		}
	}
	if r := verify(t, l, audit.Head{}); r.Broken == nil || *r.Broken != *broken || r.Records != 2 {
		t.Errorf("Verify: %+v", r)
	}
	// Nothing of a line is quoted as it is.
	evil, _ := seal(t, []byte(strings.Replace(string(lines[0]), `"event"`, `"x\u001b]0;y\u0007":1,"event"`, 1)), 1, strings.Repeat("0", 64))
	put(t, home, one, evil)
	_, err = records(t, l, audit.Filter{})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07\n") {
		t.Errorf("a field that is not known: %q", err)
	}
}

// TestReadingMakesNothing: a log, whole or not there, is read without a trace, also where nothing can be written.
func TestReadingMakesNothing(t *testing.T) {
	home := t.TempDir()
	appendN(t, at(t, home, audit.Options{}, nil), 3, small)
	if err := os.Remove(filepath.Join(home, "audit", "lock")); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{"a log": home, "no log": t.TempDir(), "an empty folder": lay(t, nil)} {
		before := tree(t, dir)
		l := at(t, dir, audit.Options{}, func(op root.Op) error { return fmt.Errorf("a reader does %s on %q", op.Kind, op.Path) })
		r, err := l.Verify(t.Context(), audit.VerifyOptions{})
		if err != nil || !r.OK() {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
		all, err := records(t, l, audit.Filter{})
		head, herr := l.Head(t.Context())
		if err != nil || herr != nil || head != r.Head || int64(len(all)) != r.Records || (what == "a log") != (r.Records == 3) {
			t.Errorf("%s: %d records, head %v, %v, %v", what, len(all), head, err, herr)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("%s: before\n%safter\n%s", what, before, after)
		}
	}
	// The folder itself as the root: a copy somewhere else.
	r, err := root.Open(filepath.Join(home, "audit"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := audit.Open(r, ".", audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := l.Append(t.Context(), small(4))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, l, 4, head)
}

// tree lists what lies beneath dir.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(&b, strings.TrimPrefix(path, dir), info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNewerFormat: a log that a later program wrote on is an error for all, never half read, never written on.
func TestNewerFormat(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	appendN(t, l, 2, small)
	text := files(t, home)[one]
	lines := linesOf(text)
	line, err := audit.Encode(audit.Record{Format: 2, Seq: 3, Prev: verify(t, l, audit.Head{}).Head.Hash, Event: "sung"})
	if err != nil {
		t.Fatal(err)
	}
	put(t, home, one, append(text, line...))
	before := tree(t, home)
	_, appended := l.Append(t.Context(), small(3))
	_, verified := l.Verify(t.Context(), audit.VerifyOptions{})
	_, headed := l.Head(t.Context())
	all, read := records(t, l, audit.Filter{})
	for what, err := range map[string]error{"Append": appended, "Verify": verified, "Head": headed, "Read": read} {
		if err == nil || !strings.Contains(err.Error(), "a newer lola wrote it") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(all) != 2 || tree(t, home) != before {
		t.Errorf("%d records were read; the folder is %s, was %s", len(all), tree(t, home), before)
	}
	// Only with a right hash: else the number is a changed byte like any other.
	put(t, home, one, []byte(strings.Replace(string(lines[0]), `"v":1`, `"v":2`, 1)))
	if r := verify(t, l, audit.Head{}); r.OK() {
		t.Error("a changed format number holds")
	}
}

// TestOptions: what is out of range is refused, and by name.
func TestOptions(t *testing.T) {
	r, err := root.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for want, o := range map[string]audit.Options{
		"max file is 10": {MaxFile: 10}, "max file is -1": {MaxFile: -1}, "quota is 1024": {MaxFile: 1 << 10, Quota: 1 << 10},
		"quota is 1048577": {MaxFile: 4 << 10, Quota: 1<<20 + 1}, "quota is -1": {Quota: -1}, "wait is -1": {Wait: -1},
	} {
		if _, err := audit.Open(r, "audit", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, s := range []string{"", "1", "0:" + strings.Repeat("0", 64), "01:" + strings.Repeat("0", 64), "1:" + strings.Repeat("g", 64), "-1:" + strings.Repeat("0", 64), "1:" + strings.Repeat("0", 65), "9007199254740992:" + strings.Repeat("0", 64)} {
		if _, err := audit.ParseHead(s); err == nil {
			t.Errorf("ParseHead(%q) takes it", s)
		}
	}
}
