package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/audit"
)

// hostile is text that forges lines, speaks to a terminal or to a CI service, or is not what it looks like.
var hostile = []string{
	"a\nb", "a\r\nb", "\n{\"v\":1,\"seq\":1}\n", "\x00", "\x1b[2J\x1b]8;;http://x\x07", "\x7f", "\u0085\u009b31m", "\u2028\u2029",
	"\u202egpj.exe", "\u200b\ufeff\u2066", "\ue000\U000e0041", "::set-output name=a::b", "##[command]x", `","hash":"` + strings.Repeat("0", 64) + `"}`,
	`"\`, "é\U0001f600", "<&>", "\xff\xfe", "a\xc3", "\xed\xa0\x80", "~\n", strings.Repeat("\u202e", 5000), strings.Repeat("\xff", 4096), strings.Repeat("a", 4097),
}

// full is a record with something in every field, so that a walk over it meets all there are.
func full() audit.Record {
	rec := audit.Record{}
	fill(reflect.ValueOf(&rec).Elem())
	return rec
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() != reflect.TypeFor[audit.Time]() {
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Array: // a digest
		v.Index(0).SetUint(1)
	default:
		panic("a record has a field of kind " + v.Kind().String())
	}
}

// texts returns every string beneath v with its path.
func texts(v reflect.Value, path string, all map[string]reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		all[path] = v
	case reflect.Pointer:
		texts(v.Elem(), path, all)
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), fmt.Sprintf("%s[%d]", path, i), all)
		}
	case reflect.Struct:
		if v.Type() != reflect.TypeFor[audit.Time]() {
			for i := range v.NumField() {
				texts(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), all)
			}
		}
	}
}

// TestO01HostileText: whatever text stands in whatever field, one record is one line of printable ASCII, the log holds, and
// what is read is what was written; or the field is a word of ours and takes no such text at all.
func TestO01HostileText(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 16 << 20}, nil)
	own := []string{"Rotated.", "Dropped.", "Scrap."} // fields that Append writes
	free, closed := map[string]bool{}, map[string]bool{}
	var wrote int64
	var head audit.Head
	probe := full()
	all := map[string]reflect.Value{}
	texts(reflect.ValueOf(&probe).Elem(), "", all)
	for path := range all {
		if slices.ContainsFunc(own, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		for _, text := range hostile {
			rec := full()
			fields := map[string]reflect.Value{}
			texts(reflect.ValueOf(&rec).Elem(), "", fields)
			fields[path].SetString(text)
			got, err := l.Append(t.Context(), rec)
			if err != nil {
				if !strings.Contains(err.Error(), "want a token") && !strings.Contains(err.Error(), "want tokens") {
					t.Fatalf("%s: %q: %v", path, text, err)
				}
				closed[path] = true
				continue
			}
			free[path] = true
			wrote++
			head = got
		}
	}
	for path := range closed {
		if free[path] {
			t.Errorf("%s takes some hostile texts and others not", path)
		}
	}
	if len(free) < 20 || len(closed) < 10 {
		t.Errorf("%d free and %d closed fields: %v, %v", len(free), len(closed), free, closed)
	}
	holds(t, l, wrote, head)
	text := files(t, home)[one]
	if n := bytes.Count(text, []byte("\n")); int64(n) != wrote {
		t.Errorf("%d lines for %d records", n, wrote)
	}
	for i, c := range text {
		if (c < ' ' || c > '~') && c != '\n' {
			t.Fatalf("byte %d is %#x", i, c)
		}
	}
	read := map[string]bool{}
	for rec, err := range l.Read(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]reflect.Value{}
		texts(reflect.ValueOf(&rec).Elem(), "", fields)
		for path, v := range fields {
			if s := v.String(); len(s) > audit.MaxText || !utf8.ValidString(s) {
				t.Errorf("%s has %d bytes, valid %v", path, len(s), utf8.ValidString(s))
			} else if free[path] {
				read[s] = true
			}
		}
	}
	for _, s := range hostile {
		if len(s) <= audit.MaxText && utf8.ValidString(s) && !read[s] {
			t.Errorf("%q was not read back", s)
		}
	}
	if !read["\ufffd\ufffd"] || !read["a\ufffd"] || !read["\ufffd\ufffd\ufffd"] {
		t.Error("bytes that are not UTF-8 are not each U+FFFD")
	}
}

// TestCutText: what is too long says how long it was, and its digest.
func TestCutText(t *testing.T) {
	l := at(t, t.TempDir(), audit.Options{}, nil)
	for _, text := range []string{strings.Repeat("a", audit.MaxText), strings.Repeat("é", audit.MaxText/2), strings.Repeat("a", audit.MaxText+1), strings.Repeat("é", 3000), "x" + strings.Repeat("é", 3000), strings.Repeat("\xff", 4000)} {
		if _, err := l.Append(t.Context(), audit.Record{Event: audit.EventPlan, Root: &audit.Root{Path: text}}); err != nil {
			t.Fatal(err)
		}
		all, err := records(t, l, audit.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		got := all[len(all)-1].Root.Path
		if len(text) <= audit.MaxText && utf8.ValidString(text) {
			if got != text {
				t.Errorf("a text of %d bytes is changed", len(text))
			}
			continue
		}
		mark := fmt.Sprintf("...[cut: %d bytes, sha256 %x]", len(text), sha256.Sum256([]byte(text)))
		head, ok := strings.CutSuffix(got, mark)
		if !ok || !strings.HasPrefix(strings.ToValidUTF8(text, ""), strings.Trim(head, "\ufffd")) || len(got) > audit.MaxText || len(got) < audit.MaxText-3 {
			t.Errorf("a text of %d bytes became %d bytes: %q ... %q", len(text), len(got), got[:10], got[len(got)-100:])
		}
	}
}

// fieldKinds says of each field of a record what it can hold. There is none for bytes of a file, a value, or a message.
var fieldKinds = map[string]string{
	"Format": "ours", "Seq": "ours", "Prev": "ours", "Time": "ours", "Hash": "ours",
	"Event": "token", "Transaction": "token", "Of": "token", "Action": "token", "Scope": "token", "Outcome": "token",
	"Root.Path": "path", "Root.Identity": "name",
	"Module.Name": "name", "Module.Version": "name", "Module.Digest": "digest",
	"Extensions[].Name": "name", "Extensions[].Version": "name", "Extensions[].Digest": "digest", "Extensions[].Tier": "number",
	"Extensions[].Level": "name", "Extensions[].Grants[]": "name",
	"Consents[].Kind": "token", "Consents[].What": "name", "Consents[].How": "token",
	"Intents[].Extension": "name", "Intents[].Op": "token", "Intents[].Path": "path", "Intents[].To": "path", "Intents[].Digest": "digest",
	"Intents[].Mode": "token", "Intents[].URL": "url",
	"IntentList.Count": "number", "IntentList.Digest": "digest",
	"Findings[].Rule": "token", "Findings[].Extension": "name", "Findings[].Path": "path",
	"FindingList.Count": "number", "FindingList.Digest": "digest",
	"Dialled.Extension": "name", "Dialled.URL": "url", "Dialled.Address": "address",
	"Rotated.File": "ours", "Rotated.Last": "ours", "Rotated.Head": "ours",
	"Dropped.File": "ours", "Dropped.Bytes": "ours", "Dropped.Begins": "ours", "Dropped.Prev": "ours",
	"Scrap.Bytes": "ours", "Scrap.Digest": "ours",
}

// leaves calls f with the path and JSON names of every field that holds no others.
func leaves(typ reflect.Type, path string, f func(path, name string)) {
	for field := range typ.Fields() {
		at := strings.TrimPrefix(path+"."+field.Name, ".")
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				at += "[]"
			}
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[audit.Time]() {
			f("", name)
			leaves(inner, at, f)
			continue
		}
		f(at, name)
	}
}

// TestFieldsAreClassified: a new field fails here until it is said what it can hold, and in FORMAT.md what it means.
func TestFieldsAreClassified(t *testing.T) {
	seen := map[string]bool{}
	format := formatText(t)
	leaves(reflect.TypeFor[audit.Record](), "", func(path, name string) {
		if !strings.Contains(format, "`"+name+"`") {
			t.Errorf("FORMAT.md does not name the field %q", name)
		}
		if path == "" {
			return
		}
		seen[path] = true
		if fieldKinds[path] == "" {
			t.Errorf("%s: what can it hold? Say it in fieldKinds", path)
		}
		if (fieldKinds[path] == "url") != strings.HasSuffix(path, "URL") {
			t.Errorf("%s: what is named URL, and only that, is redacted", path)
		}
	})
	for path := range fieldKinds {
		if !seen[path] {
			t.Errorf("%s is no field", path)
		}
	}
	for _, e := range audit.Events {
		if !strings.Contains(format, "| `"+string(e)+"` |") {
			t.Errorf("FORMAT.md does not name the event %q", e)
		}
	}
}

// TestTokens: fields that are words of ours take nothing else.
func TestTokens(t *testing.T) {
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	for _, word := range []string{"Apply", "a b", "-a", "a/b", "a:b", "é", strings.Repeat("a", 65), "a\n", `a"`} {
		for path, rec := range map[string]audit.Record{
			"Event": {Event: audit.Event(word)}, "Transaction": {Transaction: word}, "Of": {Of: word}, "Action": {Action: word}, "Scope": {Scope: word}, "Outcome": {Outcome: word},
			"Consents[].Kind": {Consents: []audit.Consent{{Kind: word}}}, "Consents[].How": {Consents: []audit.Consent{{Kind: "trust", How: word}}},
			"Intents[].Op": {Intents: []audit.Intent{{Op: word}}}, "Intents[].Mode": {Intents: []audit.Intent{{Op: "write", Mode: word}}},
			"Findings[].Rule": {Findings: []audit.Finding{{Rule: word}}},
		} {
			if fieldKinds[path] != "token" {
				t.Errorf("%s is no token", path)
			}
			if rec.Event == "" {
				rec.Event = audit.EventRefused
			}
			if _, err := l.Append(t.Context(), rec); err == nil {
				t.Errorf("%s takes %q", path, word)
			}
		}
	}
	for _, e := range []audit.Event{audit.EventRotated, audit.EventDropped, audit.EventTorn, audit.EventDamaged} {
		if _, err := l.Append(t.Context(), audit.Record{Event: e}); err == nil {
			t.Errorf("a caller can write %q", e)
		}
	}
	if _, err := l.Append(t.Context(), audit.Record{}); err == nil {
		t.Error("a record without an event is written")
	}
	if _, err := os.Lstat(filepath.Join(home, "audit")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was refused made the folder: %v", err)
	}
}

// TestRedactURL: scheme, host, port and path, and never more; and the same once more.
func TestRedactURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"https://example.org":                "https://example.org",
		"https://example.org:8443/a/b":       "https://example.org:8443/a/b",
		"https://u:p@example.org/a?t=1#x":    "https://example.org/a",
		"https://token@example.org/a":        "https://example.org/a",
		"https://example.org/a?t=1":          "https://example.org/a",
		"https://example.org?t=1":            "https://example.org",
		"https://example.org/#t":             "https://example.org/",
		"https://example.org/a%2Fb":          "https://example.org/a%2Fb",
		"https://example.org/a?":             "https://example.org/a",
		"https://example.org/@scope/pkg":     "https://example.org/@scope/pkg",
		"https://[2001:db8::1]:443/x?y":      "https://[2001:db8::1]:443/x",
		"ssh://git@example.org/x.git":        "ssh://example.org/x.git",
		"//u:p@example.org/a?b":              "[unreadable URL]",
		"//://@":                             "[unreadable URL]",
		"git@example.org:a/b.git":            "ssh://example.org/a/b.git",
		"git@forge:/a/b c":                   "ssh://forge/a/b%20c",
		"example.org:a":                      "ssh://example.org/a",
		"a@b@example.org:a":                  "[unreadable URL]",
		"git@-\x1b:a":                        "[unreadable URL]",
		"u:p@example.org:a/b.git":            "[unreadable URL]",
		"https://u:p/w@example.org/":         "[unreadable URL]",
		"https://u:p?w@example.org/":         "[unreadable URL]",
		"https://u:p#w@example.org/":         "[unreadable URL]",
		"https:\\\\u:p@example.org/":         "[unreadable URL]",
		"https:u:p@example.org":              "[unreadable URL]",
		"https://example.org/a b?t=1":        "[unreadable URL]",
		"https://u:p@example.org:port/?t=1":  "[unreadable URL]",
		"https:///a?t":                       "[unreadable URL]",
		"example.org/a?t=1":                  "[unreadable URL]",
		"git@example.org:a/b.git?token=1":    "[unreadable URL]",
		"git@example.org:a/b@c":              "[unreadable URL]",
		"mailto:u@example.org":               "[unreadable URL]",
		"data:text/plain;base64,c2VjcmV0":    "[unreadable URL]",
		"javascript:c2VjcmV0":                "[unreadable URL]",
		"https://example.org/a\n?t=1":        "[unreadable URL]",
		"https://u:p@example.org\x00/a?t=1":  "[unreadable URL]",
		"https://%zz:p@example.org/":         "[unreadable URL]",
		"https://example.org\\u:p@evil/?a=b": "[unreadable URL]",
	} {
		if got := audit.RedactURL(in); got != want {
			t.Errorf("RedactURL(%q) = %q, want %q", in, got, want)
		} else if again := audit.RedactURL(got); again != got {
			t.Errorf("RedactURL(%q) = %q", got, again)
		}
	}
	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	secret := "https://me:hunter2@example.org/a?token=hunter2#hunter2"
	if _, err := l.Append(t.Context(), audit.Record{
		Event: audit.EventDialled, Dialled: &audit.Dialled{Extension: "x", URL: secret, Address: "192.0.2.1:443"},
		Intents: []audit.Intent{{Op: "fetch", Path: "a", URL: secret}},
	}); err != nil {
		t.Fatal(err)
	}
	if text := files(t, home)[one]; bytes.Contains(text, []byte("hunter2")) || bytes.Count(text, []byte(`"url":"https://example.org/a"`)) != 2 {
		t.Errorf("the log has %s", text)
	}
}

// TestLongLists: of more than a thousand elements, or more than fit, count and digest are kept, and the digest is the one that
// FORMAT.md defines.
func TestLongLists(t *testing.T) {
	intents := func(n, length int) (all []audit.Intent) {
		for i := range n {
			all = append(all, audit.Intent{Extension: "x", Op: "write", Path: fmt.Sprintf("%d/%s\u202e", i, strings.Repeat("p", length)), Digest: audit.Digest{byte(i)}, Mode: "0644"})
		}
		return all
	}
	findings := func(n, length int) (all []audit.Finding) {
		for i := range n {
			all = append(all, audit.Finding{Rule: "same-path", Path: fmt.Sprintf("%d/%s", i, strings.Repeat("p", length))})
		}
		return all
	}
	for what, c := range map[string]struct {
		in             audit.Record
		intents, found int // kept; -1: summed up
	}{
		"a thousand":              {audit.Record{Intents: intents(1000, 10), Findings: findings(1000, 10)}, 1000, 1000},
		"a thousand and one":      {audit.Record{Intents: intents(1001, 10), Findings: findings(1001, 10)}, -1, -1},
		"65,536":                  {audit.Record{Intents: intents(65536, 1000)}, -1, 0},
		"a thousand long ones":    {audit.Record{Intents: intents(1000, 1000), Findings: findings(10, 1000)}, -1, 10},
		"a thousand of each long": {audit.Record{Intents: intents(1000, 1000), Findings: findings(1000, 2000)}, -1, -1},
	} {
		home := t.TempDir()
		l := at(t, home, audit.Options{}, nil)
		c.in.Event = audit.EventRefused
		head, err := l.Append(t.Context(), c.in)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		holds(t, l, 1, head)
		all, err := records(t, l, audit.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		got := all[0]
		compare(t, what+": intents", c.in.Intents, got.Intents, got.IntentList, c.intents)
		compare(t, what+": findings", c.in.Findings, got.Findings, got.FindingList, c.found)
		if size := len(files(t, home)[one]); size > audit.MaxRecord {
			t.Errorf("%s: %d bytes", what, size)
		}
	}

	home := t.TempDir()
	l := at(t, home, audit.Options{}, nil)
	head := appendN(t, l, 1, small)
	grants := slices.Repeat([]string{strings.Repeat("g", 4000)}, 300)
	_, err := l.Append(t.Context(), audit.Record{Event: audit.EventPlan, Extensions: []audit.Extension{{Name: "x", Grants: grants}}})
	limit := (*abi.LimitError)(nil)
	if !errors.As(err, &limit) || limit.Bound != audit.MaxRecord {
		t.Errorf("a record that is too large: %v", err)
	}
	holds(t, l, 1, head)
}

func compare[E any](t *testing.T, what string, in, got []E, list *audit.List, want int) {
	t.Helper()
	if want >= 0 {
		if len(got) != want || list != nil || want > 0 && !reflect.DeepEqual(got, in) {
			t.Errorf("%s: %d are kept, list %+v", what, len(got), list)
		}
		return
	}
	h := sha256.New()
	for _, e := range in {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s\n", strings.ReplaceAll(string(text), "\u202e", `\u202e`))
	}
	if got != nil || list == nil || list.Count != len(in) || !bytes.Equal(list.Digest[:], h.Sum(nil)) {
		t.Errorf("%s: %d are kept, list %+v, want %d, %x", what, len(got), list, len(in), h.Sum(nil))
	}
}
