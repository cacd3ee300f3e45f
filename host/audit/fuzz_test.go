package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/audit"
)

var chained = regexp.MustCompile(`^(\{"v":1,"seq":([1-9][0-9]*),"prev":"([0-9a-f]{64})",[ -~]*),"hash":"([0-9a-f]{64})"\}\n?$`)

// chains judges as FORMAT.md has it, by other means than Verify: whether every line is a record whose hash is right and that
// is chained to the one before, or may be a scrap.
func chains(text []byte) (records int, ok bool) {
	prev := ""
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		m := chained.FindSubmatch(line)
		if m != nil {
			sum := sha256.Sum256(m[1])
			if hex.EncodeToString(sum[:]) != string(m[4]) {
				m = nil
			}
		}
		if m == nil {
			if bytes.HasSuffix(line, []byte("\n")) && !bytes.HasSuffix(line, []byte("~\n")) {
				return records, false
			}
			continue
		}
		if prev != "" && string(m[2])+":"+string(m[3]) != prev || prev == "" && string(m[2]) == "1" && strings.Trim(string(m[3]), "0") != "" {
			return records, false
		}
		seq, err := strconv.ParseUint(string(m[2]), 10, 64)
		if err != nil {
			return records, false
		}
		prev = strconv.FormatUint(seq+1, 10) + ":" + string(m[4])
		records++
	}
	return records, true
}

// sealAll makes records of the lines of text, chained and with right hashes, so that what is in them is read too. Lines that
// begin with "!" stay as they are, less that.
func sealAll(text []byte) []byte {
	var out []byte
	prev := strings.Repeat("0", 64)
	seq := 0
	for _, line := range bytes.Split(text, []byte("\n")) {
		if raw, ok := bytes.CutPrefix(line, []byte("!")); ok {
			out = append(append(out, raw...), '\n')
			continue
		}
		seq++
		body := `{"v":1,"seq":` + strconv.Itoa(seq) + `,"prev":"` + prev + `",` + string(line)
		sum := sha256.Sum256([]byte(body))
		prev = hex.EncodeToString(sum[:])
		out = append(out, body+`,"hash":"`+prev+"\"}\n"...)
	}
	return out
}

func seeds(f *testing.F) {
	home := f.TempDir()
	l := at(f, home, audit.Options{}, nil)
	appendN(f, l, 1, sample)
	appendN(f, l, 1, small)
	text := files(f, home)[one]
	cut := text[:len(text)-30]
	put(f, home, one, cut)
	appendN(f, l, 1, small)
	torn := files(f, home)[one]
	const stamp = `"time":"2026-03-01T11:00:01.123456Z",`
	for _, seed := range [][]byte{
		nil, []byte("\n"), []byte("~\n"), {0, 0, 0}, text, cut, torn, text[:len(text)-1], torn[100:],
		bytes.Replace(text, []byte("install"), []byte("updated"), 1),
		[]byte(`{"v":1,"seq":1,"prev":"`),
	} {
		f.Add(seed, false)
	}
	for _, seed := range []string{
		stamp + `"event":"plan"`,
		stamp + `"event":"plan"` + "\n" + stamp + `"event":"applied","seq":2`,
		stamp + `"event":"torn","scrap":{"bytes":3,"digest":"` + strings.Repeat("0", 64) + `"}`,
		"!x~\n" + stamp + `"event":"torn","scrap":{"bytes":3,"digest":"` + hex.EncodeToString(sha([]byte("x~\n"))) + `"}`,
		"!x\n" + stamp + `"event":"damaged","scrap":{"bytes":2,"digest":"` + hex.EncodeToString(sha([]byte("x\n"))) + `"}`,
		stamp + `"event":"rotated","rotated":{"file":"a","last":1,"head":"` + strings.Repeat("0", 64) + `"}`,
		stamp + `"event":"dropped","dropped":{"file":"a","bytes":1,"begins":1,"prev":"` + strings.Repeat("0", 64) + `"}`,
		`"intents":[{"op":"write","path":"\ud800"}],"event":"x"`, `"event":1e999`, `"x":[[[[`, ``,
	} {
		f.Add([]byte(seed), true)
	}
}

func sha(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// FuzzReader: whatever bytes a log holds, Verify does not fail with an error but for a newer format, and never says that
// they hold unless every line is chained by hashes that are right, as another program finds; and it counts the same records.
func FuzzReader(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte, sealIt bool) {
		if sealIt {
			text = sealAll(text)
		}
		r, err := audit.VerifyBytes(audit.VerifyOptions{}, map[string][]byte{one: text})
		if err != nil {
			if !strings.Contains(err.Error(), "a newer lola wrote it") {
				t.Fatalf("verifying: %v", err)
			}
			return
		}
		if r.Broken != nil {
			if strings.ContainsFunc(r.Broken.Error(), func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("the error holds foreign text: %q", r.Broken)
			}
			return
		}
		if n, ok := chains(text); !ok || int64(n) != r.Records {
			t.Errorf("Verify says %d records and that they hold; the other says %d, %v", r.Records, n, ok)
		}
	})
}

// FuzzAppend: whatever bytes a log holds, it can be written on, nothing of them is lost, and what held holds.
func FuzzAppend(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte, sealIt bool) {
		if sealIt {
			text = sealAll(text)
		}
		home := lay(t, map[string][]byte{one: text})
		l := at(t, home, audit.Options{}, nil)
		before, berr := l.Verify(t.Context(), audit.VerifyOptions{})
		head, err := l.Append(t.Context(), small(1))
		if err != nil {
			if s := err.Error(); !strings.Contains(s, "a newer lola wrote it") && !strings.Contains(s, "the last that there can be") {
				t.Fatal(err)
			}
			return
		}
		after, aerr := l.Verify(t.Context(), audit.VerifyOptions{Anchor: head})
		now, err := os.ReadFile(filepath.Join(home, "audit", one))
		if err != nil || !bytes.HasPrefix(now, text) {
			t.Errorf("what was there has changed: %v", err)
		}
		if berr != nil || aerr != nil {
			if (berr == nil) != (aerr == nil) {
				t.Errorf("before: %v; after: %v", berr, aerr)
			}
			return
		}
		switch {
		case before.OK() != after.OK():
			t.Errorf("before: %+v, %v; after: %+v, %v", before, before.Broken, after, after.Broken)
		case after.OK() && (after.Head != head || !after.Anchored || after.Records <= before.Records):
			t.Errorf("before: %+v; after: %+v", before, after)
		case !after.OK() && (before.Broken.Line != after.Broken.Line || before.Broken.File != after.Broken.File):
			t.Errorf("before broken at %v, after at %v", before.Broken, after.Broken)
		}
	})
}

// FuzzRedactURL: no user, password, query or fragment is left, whatever the text; and the same again.
func FuzzRedactURL(f *testing.F) {
	for _, s := range []string{"https://u:p@example.org/a?t=1#x", "git@example.org:a/b.git", "https://u:p/w@h/", "data:x", "//h", "a://b?c@d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := audit.RedactURL(s)
		if again := audit.RedactURL(got); again != got {
			t.Errorf("%q, then %q, then %q", s, got, again)
		}
		_, rest, _ := strings.Cut(got, "://")
		authority, _, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "/")
		if strings.ContainsAny(got, "?#") || strings.Contains(authority, "@") {
			t.Errorf("%q becomes %q", s, got)
		}
		// A marked secret where a URL has one never gets through.
		const secret = "zqsecretqz"
		for _, in := range []string{s + "?" + secret, s + "#" + secret, "https://" + secret + "@" + s, "https://u:" + secret + "@" + s} {
			if !strings.Contains(s, secret) && strings.Contains(audit.RedactURL(in), secret) {
				t.Errorf("%q becomes %q", in, audit.RedactURL(in))
			}
		}
	})
}

// FuzzParseHead: what is taken is what String writes.
func FuzzParseHead(f *testing.F) {
	f.Add("1:" + strings.Repeat("0", 64))
	f.Add("17:")
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := audit.ParseHead(s); err == nil && h.String() != s {
			t.Errorf("%q is taken as %v", s, h)
		} else if err != nil && errors.Unwrap(err) == nil && !strings.HasPrefix(err.Error(), "head ") {
			t.Errorf("%q: %v", s, err)
		}
	})
}
