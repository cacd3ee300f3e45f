package preview

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// hostile are texts that a terminal, a log or a reader would take for something else.
var hostile = []string{
	"", "x", "::error::x", "  ::set-output name=a::b", "##[group]x", "a ##vso[task.setvariable]b", "##teamcity[x]", "#", "##", "[",
	"one\n::error::two\n##[command]three\n", "one\r::two", "one\r\ntwo\r\n", "\x1b[31mred\x1b[0m", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\u009b31m",
	"a\u202eb\u2066c", "zero\u200bwidth\u200d\ufeff", "\u2028::x\u2029##[x", "\xff\xc3\xe9::", "\xed\xa0\x80", "\x00\x07\x08\x7f", "\v::x\f::y\x85::z",
	"lola: error: fake", "git-doctor 1.2.0: installed", "  │ fake", "! runs by itself: fake", strings.Repeat(" ", 200) + "lola: verified", "e\u0301\u0301\u0301 日本 🚀",
	`" (0644)`, `\`, "a/b/c.md", "\t\ttabs", strings.Repeat("##[", 50), strings.Repeat("日", 300), "::", "\n", "\r", "\n\n\n",
}

var actions = []string{"create", "update", "keep", "remove", "move", "fetch", "clone", "::error::x\n"}

// filler fills every field of a value: texts, numbers, lists of up to three.
type filler struct {
	r    *rand.Rand
	text func() string
}

func (f filler) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, 5000, 1 << 40, int64(f.r.Uint64())}[f.r.IntN(5)] & (1<<62 - 1))
	case reflect.Slice:
		if n := f.r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
		if c, ok := v.Addr().Interface().(*Change); ok {
			c.Action = actions[f.r.IntN(len(actions))]
			c.Size, c.OldSize = c.Size%10000, c.OldSize%10000 // or none is small enough to read
			c.Entries %= 1000
			if f.r.IntN(2) == 0 {
				c.Edits = nil
			}
			if f.r.IntN(2) == 0 {
				c.Guarded, c.Foreign, c.Dir = nil, nil, false
			}
			for i := range c.Edits {
				c.Edits[i].Kind = []string{"add", "replace", "remove", "same", "##[x"}[f.r.IntN(5)]
			}
		}
	default:
		panic(v.Kind())
	}
}

// everywhere is a source that answers any path.
type everywhere struct{ before, after func() string }

func (e everywhere) Before(path string) (io.ReadCloser, error) { return e.open(e.before) }
func (e everywhere) After(path string) (io.ReadCloser, error)  { return e.open(e.after) }
func (e everywhere) open(make func() string) (io.ReadCloser, error) {
	text := make()
	if text == "" {
		return nil, fmt.Errorf("opening %s: ::error::\x1b[31m", make())
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

var (
	// runnerCommands is what a runner looks for in a line.
	runnerCommands = regexp.MustCompile(`^\s*::|##[A-Za-z]*\[`)
	// heads is what a line of text may begin with.
	heads    = regexp.MustCompile(`^(! |[~>?+-] |  [~>?+-] |  │ |    > |lola: note: |… and [0-9]|  [A-Za-z0-9"])`)
	jsonHead = regexp.MustCompile(`^ *(["{}\[\]]|-?[0-9]|true|false)`)
	ourColor = regexp.MustCompile("\x1b\\[(0|1|2|1;31|31|32|36)m")
)

// checkOutput holds every line of an output to what no text may change.
func checkOutput(t *testing.T, p *Preview, o Options, out string) {
	t.Helper()
	if o.Color {
		out = ourColor.ReplaceAllString(out, "")
	}
	if !utf8.ValidString(out) || !strings.HasSuffix(out, "\n") {
		t.Fatalf("it is no text: %+q", out)
	}
	summary := p.Summary(false)
	all := split(out)
	for i, line := range all {
		line = strings.TrimSuffix(line, "\n")
		for _, r := range line {
			if !printable(r) && (r != '\t' || !strings.HasPrefix(line, gutter)) { // contents keep their tabs
				t.Fatalf("the line %+q holds %U", line, r)
			}
		}
		if runnerCommands.MatchString(line) {
			t.Fatalf("the line %+q holds a command", line)
		}
		if line != "" && !heads.MatchString(line) && !strings.HasPrefix(summary, line) {
			t.Fatalf("the line %+q begins with foreign text", line)
		}
		if o.Width > 0 && cells(line) >= o.Width {
			t.Fatalf("the line %+q is wider than %d", line, o.Width)
		}
		if i == len(all)-1 && o.Width == 0 && line != summary {
			t.Fatalf("the last line is %+q, want %+q", line, summary)
		}
	}
}

func checkJSON(t *testing.T, p *Preview) {
	t.Helper()
	var b strings.Builder
	if err := p.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range split(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		for _, r := range line {
			if !printable(r) {
				t.Fatalf("the line %+q holds %U", line, r)
			}
		}
		if runnerCommands.MatchString(line) || !jsonHead.MatchString(line) {
			t.Fatalf("the line %+q holds a command or begins with foreign text", line)
		}
	}
	var back report
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatalf("it is no JSON: %v", err)
	}
	if want := p.report(); back.Module != want.Module || len(back.Changes) != len(want.Changes) {
		t.Fatal("what is read from it is another than what was written")
	}
	for i, r := range p.Runs {
		if utf8.ValidString(r.Text) && back.Runs[i].Text != r.Text {
			t.Fatalf("the text %+q comes back as %+q", r.Text, back.Runs[i].Text)
		}
	}
}

func checkPreview(t *testing.T, seed uint64, text func(r *rand.Rand) string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func() string { return text(r) }
	f := filler{r, pick}
	var p Preview
	f.fill(reflect.ValueOf(&p).Elem())
	o := Options{
		Color: r.IntN(2) == 0, Width: []int{0, 0, 20, 80, r.IntN(200)}[r.IntN(5)], Full: r.IntN(3) == 0,
		MaxFiles: r.IntN(4), MaxLines: r.IntN(30), MaxFileLines: r.IntN(10), MaxBytes: []int64{0, 10}[r.IntN(2)],
	}
	var out strings.Builder
	if err := p.Write(&out, everywhere{pick, pick}, o); err != nil {
		t.Fatal(err)
	}
	checkOutput(t, &p, o.withDefaults(), out.String())
	for _, c := range p.Changes { // never cut
		for _, m := range append(c.Guarded, c.Foreign...) {
			if o.Width == 0 && m.Path != "" && !strings.Contains(out.String(), name(m.Path)+": "+strings.TrimSuffix(Escape("x" + m.Why)[1:], "\n")) {
				t.Fatalf("the danger %+q is not in %+q", m, out.String())
			}
		}
	}
	checkJSON(t, &p)
}

// TestO01O02Hostile puts hostile texts into every field and every content.
func TestO01O02Hostile(t *testing.T) {
	for seed := range uint64(1000) {
		checkPreview(t, seed, func(r *rand.Rand) string {
			s := hostile[r.IntN(len(hostile))]
			if r.IntN(3) == 0 {
				s += hostile[r.IntN(len(hostile))]
			}
			return s
		})
	}
	for _, s := range hostile { // one text in all fields
		checkPreview(t, 1, func(*rand.Rand) string { return s })
	}
}

// FuzzPreview: whatever texts are in a preview and in its files, each line of the output begins with what is ours, holds no
// character that is obeyed or cannot be seen and no command to a CI system; the summary is the last one; no danger is left
// out; the JSON form reads back.
func FuzzPreview(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, hostile[(i+7)%len(hostile)], uint64(i))
	}
	f.Fuzz(func(t *testing.T, a, b string, seed uint64) {
		checkPreview(t, seed, func(r *rand.Rand) string {
			switch r.IntN(5) {
			case 0, 1:
				return a
			case 2:
				return b
			case 3:
				return a + "\n" + b
			}
			return hostile[r.IntN(len(hostile))]
		})
	})
}

// TestMasked: no piece of what is the user's is in any output: what an edit replaces, removes or puts back, the file around
// it, contents and digests of a file that holds secrets.
func TestMasked(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 9))
		token := fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
		user := func() string {
			return []string{token, "a\n" + token + "\nb", `{"TOKEN":"` + token + `"}`, strings.Repeat(token+"\n", 50)}[r.IntN(4)]
		}
		own := func() string { return hostile[r.IntN(len(hostile))] }
		after, putBack := own, r.IntN(2) == 0
		if putBack {
			after = user
		}
		p, f := doctor(), filler{r, own}
		for range 1 + r.IntN(10) {
			var c Change
			f.fill(reflect.ValueOf(&c).Elem())
			c.OldDigest, c.Digest = token, token
			if len(c.Edits) == 0 {
				if c.OldSecret, c.NewSecret = true, putBack; !putBack {
					c.Digest = digest1
				}
			}
			for i := range c.Edits {
				if c.Edits[i].Old = user(); !c.Edits[i].ShowNew || c.Edits[i].Kind != "add" && c.Edits[i].Kind != "replace" {
					c.Edits[i].New = user()
				}
			}
			p.Changes = append(p.Changes, c)
		}
		for _, o := range []Options{{}, {Full: true}, {Width: 60, Color: true}, {MaxFiles: 1, MaxLines: 1}} {
			var out, js strings.Builder
			if err := p.Write(&out, everywhere{user, after}, o); err != nil {
				t.Fatal(err)
			}
			if err := p.WriteJSON(&js); err != nil {
				t.Fatal(err)
			}
			for i := 0; i+6 <= len(token); i++ {
				if piece := token[i : i+6]; strings.Contains(out.String(), piece) || strings.Contains(js.String(), piece) {
					t.Fatalf("seed %d: %q of the user's %q is shown:\n%s\n%s", seed, piece, token, out.String(), js.String())
				}
			}
		}
	}
}

// TestScale: a change of very many files is a few hundred lines to read and takes no time, but every danger and removal is
// named.
func TestScale(t *testing.T) {
	p, f := doctor(), newFiles()
	for i := range 10_000 {
		put(p, f, Change{Action: "create", Path: fmt.Sprintf("new/%03d/file-%d.md", i%12, i), Mode: "0644", Owners: []string{"cursor"}}, "", "text\nof it\n")
		put(p, f, Change{Action: "update", Path: fmt.Sprintf("changed/%d/file.md", i), Mode: "0644", OldMode: "0644"}, "before\n", "after\n")
	}
	for i := range 1000 {
		put(p, f, Change{Action: "remove", Path: fmt.Sprintf("gone/file-%d.md", i), OldMode: "0644"}, "before\n", "")
		put(p, f, Change{Action: "update", Path: fmt.Sprintf("foreign/file-%d.md", i), Foreign: []Mark{{"", "it is not ours"}}}, "before\n", "after\n")
	}
	put(p, f, Change{Action: "create", Path: "new/003/.envrc", Guarded: []Mark{{"", "direnv runs it"}}}, "", "export X=1\n")
	run := func(o Options) string {
		start := time.Now()
		var out strings.Builder
		if err := p.Write(&out, f, o); err != nil {
			t.Fatal(err)
		}
		t.Logf("with %+v it took %v", o, time.Since(start))
		return out.String()
	}
	out := run(Options{})
	// 1000 dangers, 1000 removals, 1000 foreign changes of which 200 with four lines more, and what is listed
	if n := strings.Count(out, "\n"); n > 3000+800+1000 {
		t.Errorf("it has %d lines", n)
	}
	if !strings.HasPrefix(out, "! guarded, new: new/003/.envrc: direnv runs it\n! foreign, changed: foreign/file-0.md: it is not ours\n") {
		t.Errorf("dangers are not first: %.200s", out)
	}
	for i := range 1000 {
		for _, want := range []string{fmt.Sprintf("\n! foreign, changed: foreign/file-%d.md: ", i), fmt.Sprintf("\n~ foreign/file-%d.md (", i), fmt.Sprintf("\n  - file-%d.md (", i)} {
			if !strings.Contains(out, want) {
				t.Fatalf("%q is left out", want)
			}
		}
	}
	for _, want := range []string{
		"\n  │ +export X=1\n", "\n+ in new/000/: 834 new files, 9,174 bytes\n", "\n… and 9,800 more new files in 12 folders; --full shows all\n",
		"\n… and 9,800 more changed files in 9,800 folders; --full shows all\n",
		"\ngit-doctor 1.2.0: would install for claude-code, cursor: 10,001 new, 11,000 changed, 1,000 removed; 1 guarded, 1,000 foreign\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no line %q", want)
		}
	}
	if full := run(Options{Full: true}); strings.Contains(full, "--full") || strings.Count(full, "│ +of it\n") != 10_000 {
		t.Error("something is left out with --full")
	}
}

// failing is a writer that fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// TestWriteError: an output that cannot be written is the error, wherever it breaks off.
func TestWriteError(t *testing.T) {
	p, f, o := goldens()["actions"]()
	for _, left := range []int{0, 100} {
		if err := p.Write(&failing{left}, f, o); err != io.ErrShortWrite {
			t.Errorf("after %d bytes: %v", left, err)
		}
		if err := p.WriteJSON(&failing{left}); err != io.ErrShortWrite {
			t.Errorf("as JSON after %d bytes: %v", left, err)
		}
	}
}

// TestSummary says what is done in each state.
func TestSummary(t *testing.T) {
	p := doctor()
	p.Changes = []Change{{Action: "create", Path: "a"}}
	for _, c := range []struct {
		action       string
		dry, done    bool
		changed      bool
		scope, want  string
		module, vers string
	}{
		{action: "install", dry: true, changed: true, want: "git-doctor 1.2.0: would install for claude-code, cursor: 1 new"},
		{action: "install", changed: true, want: "git-doctor 1.2.0: will install for claude-code, cursor: 1 new"},
		{action: "install", done: true, changed: true, want: "git-doctor 1.2.0: installed for claude-code, cursor: 1 new"},
		{action: "uninstall", done: true, changed: true, want: "git-doctor 1.2.0: uninstalled for claude-code, cursor: 1 new"},
		{action: "undo", done: true, changed: true, want: "git-doctor 1.2.0: undone for claude-code, cursor: 1 new"},
		{action: "apply", done: true, changed: true, want: "git-doctor 1.2.0: applied for claude-code, cursor: 1 new"},
		{action: "remove", done: true, changed: true, want: "git-doctor 1.2.0: removed for claude-code, cursor: 1 new"},
		{action: "install", done: true, want: "git-doctor 1.2.0: unchanged for claude-code, cursor: 1 new"},
		{action: "install", dry: true, changed: true, scope: "user", want: "git-doctor 1.2.0: would install for claude-code, cursor in the user's own folder /home/u/project: 1 new"},
		{action: "install", dry: true, changed: true, module: "lola: error", vers: "1 2", want: `module "lola: error" "1 2": would install for claude-code, cursor: 1 new`},
		{action: "::x", dry: true, changed: true, want: "git-doctor 1.2.0: would change for claude-code, cursor: 1 new"},
	} {
		q := *p
		q.Action, q.DryRun, q.Changed, q.Scope = c.action, c.dry, c.changed, c.scope
		if c.module != "" {
			q.Module, q.Version = c.module, c.vers
		}
		if got := q.Summary(c.done); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// TestNotes: what was said is bounded, and WriteNotes writes what Write leaves out.
func TestNotes(t *testing.T) {
	p := doctor()
	p.Diagnostics = []Diagnostic{{"cursor", strings.Repeat("line\n", 500), false}}
	for range 300 {
		p.Skipped = append(p.Skipped, Mark{"link", "it leads out"})
	}
	write := func(o Options) (text, notes string) {
		var a, b strings.Builder
		if err := p.Write(&a, nil, o); err != nil {
			t.Fatal(err)
		}
		if err := p.WriteNotes(&b, o); err != nil {
			t.Fatal(err)
		}
		return a.String(), b.String()
	}
	text, notes := write(Options{})
	if want := notes + p.Summary(false) + "\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if strings.Count(notes, "\n") != 202 || !strings.Contains(notes, "extensions said 400 more lines; --full") || !strings.Contains(notes, "200 more are not part of the module; --full") {
		t.Errorf("the notes are %q", notes)
	}
	if text, _ := write(Options{NoNotes: true}); text != p.Summary(false)+"\n" {
		t.Errorf("without notes it writes %q", text)
	}
	if _, notes := write(Options{Full: true}); strings.Count(notes, "\n") != 800 {
		t.Errorf("with --full there are %d lines", strings.Count(notes, "\n"))
	}
}
