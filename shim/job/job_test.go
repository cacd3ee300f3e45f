package job

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func reader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }

var aJob = Job{Do: Run, Memory: 1 << 28, Plan: 1 << 26, Diagnostics: 1 << 18, Request: 12, CPU: 31, Digest: [32]byte{1, 2, 0xff}, Level: "landlock", Code: "/home/me/.lola/code é"}

func TestJobComesBackAndLeavesTheRest(t *testing.T) {
	for _, j := range []Job{aJob, {Do: Inspect, ModuleSize: 1}, {Do: Run, ModuleSize: MaxModule, Digest: [32]byte{3}, Request: maxNumber}, {Do: Compile, ModuleSize: 1, Code: "/a \xff\n\" b"}} {
		r := reader(string(j.Append(nil)) + "the request")
		got, err := ReadJob(r)
		if err != nil || got != j {
			t.Errorf("got %+v, %v\nwant %+v", got, err, j)
		}
		if rest, _ := io.ReadAll(r); string(rest) != "the request" {
			t.Errorf("the rest is %q", rest)
		}
	}
}

func TestRepliesComeBack(t *testing.T) {
	for _, text := range []string{"", "it is so", "two\nlines \x1b[31m\u202e \"quoted\" \\ = é 🜁", strings.Repeat("é", MaxText/2)} {
		for _, o := range Outcomes {
			want := Reply{Outcome: o, Memory: 65536, Written: 3, Dropped: 7, Cut: true, Text: text}
			if o == OK {
				want.Body = 1 << 40
			}
			r := reader(string(want.Append(nil)) + "body")
			got, err := ReadReply(r)
			if err != nil || got != want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, want)
			}
			if rest, _ := io.ReadAll(r); string(rest) != "body" {
				t.Errorf("the rest is %q", rest)
			}
		}
	}
	for _, level := range []string{"none", "landlock-7+seccomp", strings.Repeat("a", 64)} {
		want := Hello{Level: level, Landlock: 7, Seccomp: len(level) > 4}
		if got, err := ReadHello(reader(string(want.Append(nil)))); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestForeignTextIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a", MaxText+1), strings.Repeat("é", MaxText), "a" + strings.Repeat("é", MaxText), strings.Repeat("\xff", 100*MaxText),
		strings.Repeat("\x00", 1<<20), strings.Repeat("\U0010ffff", MaxText), "ok \xc3(",
	} {
		line := Reply{Outcome: Status, Text: text}.Append(nil)
		if len(line) > MaxLine || bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%d bytes of line for %.20q", len(line), text)
		}
		got, err := ReadReply(bufio.NewReader(bytes.NewReader(line)))
		if err != nil || len(got.Text) > MaxText || got.Cut != (len(text) > MaxText) {
			t.Errorf("got %d bytes of text, cut: %t, %v for %.20q", len(got.Text), got.Cut, err, text)
		}
	}
}

func TestLinesAreReadInOneFormOnly(t *testing.T) {
	good := string(aJob.Append(nil))
	refuse := func(what, line string) {
		t.Helper()
		var frame *FrameError
		if j, err := ReadJob(reader(line)); !errors.As(err, &frame) {
			t.Errorf("%s: got %+v, %v", what, j, err)
		}
	}
	replace := func(what, old, new string) {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in %q", old, good)
		}
		refuse(what, strings.Replace(good, old, new, 1))
	}
	refuse("nothing", "")
	refuse("only a line end", "\n")
	refuse("no line end", strings.TrimSuffix(good, "\n"))
	refuse("half of it", good[:len(good)/2])
	refuse("endless", strings.Repeat("a", 1<<20))
	refuse("too long", strings.TrimSuffix(good, "\n")+strings.Repeat(" ", MaxLine)+"\n")
	refuse("JSON", `{"do":"run"}`+"\n")
	replace("another word", "lola-job", "lola-reply")
	replace("another version", "job/2", "job/1")
	replace("carriage return", "\n", "\r\n")
	replace("two spaces", " do", "  do")
	replace("space at the end", "\n", " \n")
	replace("one more pair", "\n", " x=1\n")
	replace("one twice", " plan=", " memory=5 plan=")
	replace("capital", "plan=", "Plan=")
	replace("none", " plan=67108864", "")
	replace("order", "memory=268435456 plan=67108864", "plan=67108864 memory=268435456")
	replace("leading zero", "request=12", "request=012")
	replace("plus", "request=12", "request=+12")
	replace("minus", "request=12", "request=-12")
	replace("underscore", "request=12", "request=1_2")
	replace("hexadecimal", "request=12", "request=0xc")
	replace("empty number", "request=12", "request=")
	replace("too large a number", "request=12", "request=9223372036854775808")
	replace("the largest number", "request=12", "request=9223372036854775807")
	replace("a number that is too high", "request=12", "request=4294967297")
	replace("capital digest", "0102ff", "0102FF")
	replace("short digest", "0102ff", "0102")
	replace("long digest", "0102ff", "0102ff00")
	replace("no level", "level=landlock", "level=")
	replace("a level in capitals", "level=landlock", "level=Full")
	replace("unknown work", "do=run", "do=rm")
	refuse("no module", string(Job{Do: Inspect}.Append(nil)))
	refuse("too large a module", string(Job{Do: Inspect, ModuleSize: MaxModule + 1}.Append(nil)))
	replace("no folder", ` code="/home/me/.lola/code \u00e9"`, "")
	replace("a folder without quotes", `"/home/me/.lola/code \u00e9"`, "/home")
	replace("too long a folder", "/home", "/"+strings.Repeat("a", MaxPath))
	replace("a folder to inspect", "do=run", "do=inspect")
	replace("no folder to compile into", `do=run`, "do=compile code=")
	refuse("both a module and its code", string(Job{Do: Run, ModuleSize: 1, Code: "/a"}.Append(nil)))
	refuse("neither a module nor its code", string(Job{Do: Run}.Append(nil)))
	refuse("compiling into nothing", string(Job{Do: Compile, ModuleSize: 1}.Append(nil)))
	replace("NUL", "do=run", "do=run\x00")

	for what, line := range map[string]string{
		"empty level":        "lola-hello/2 level= landlock=0 seccomp=false\n",
		"long level":         "lola-hello/2 level=" + strings.Repeat("a", 65) + " landlock=0 seccomp=false\n",
		"level with a space": "lola-hello/2 level=a b landlock=0 seccomp=false\n",
		"level in capitals":  "lola-hello/2 level=None landlock=0 seccomp=false\n",
		"escape in a level":  "lola-hello/2 level=\x1b[31m landlock=0 seccomp=false\n",
		"no detail":          "lola-hello/2 level=none\n",
		"negative Landlock":  "lola-hello/2 level=none landlock=-1 seccomp=false\n",
		"another bool":       "lola-hello/2 level=none landlock=0 seccomp=1\n",
		"status instead":     string(Reply{Outcome: OK}.Append(nil)),
	} {
		if h, err := ReadHello(reader(line)); err == nil {
			t.Errorf("%s: got %+v", what, h)
		}
	}
	status := string(Reply{Outcome: Status, Text: "it is so"}.Append(nil))
	for _, c := range [][3]string{
		{"unknown outcome", "outcome=status", "outcome=fine"},
		{"no outcome", "outcome=status", "outcome="},
		{"a failure with a body", "body=0", "body=1"},
		{"another bool", "cut=false", "cut=0"},
		{"no quotes", `"it is so"`, "it is so"},
		{"one quote", `"it is so"`, `"it is so`},
		{"back quotes", `"it is so"`, "`it is so`"},
		{"single quotes", `"it is so"`, "'i'"},
		{"raw UTF-8", `"it is so"`, `"é"`},
		{"needless escape", `"it is so"`, `"\x69t is so"`},
		{"invalid UTF-8 in an escape", `"it is so"`, `"\xff"`},
		{"more after the text", `"it is so"`, `"it is so" x`},
		{"two texts", `"it is so"`, `"it is so""`},
		{"too long a text", `"it is so"`, `"` + strings.Repeat("a", MaxText+1) + `"`},
	} {
		line := strings.Replace(status, c[1], c[2], 1)
		if line == status {
			t.Fatalf("%s: nothing was replaced", c[0])
		}
		if p, err := ReadReply(reader(line)); err == nil {
			t.Errorf("%s: got %+v", c[0], p)
		}
	}
}

func TestNothingAtAllIsToldApart(t *testing.T) {
	if _, err := ReadHello(reader("")); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: got %v", err)
	}
	if _, err := ReadHello(reader("lola")); errors.Is(err, io.EOF) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a part: got %v", err)
	}
}

func TestInfoComesBack(t *testing.T) {
	want := Info{
		Form: FormReactor, ABI: 1, MemoryMin: 1 << 16, MemoryMax: 1 << 20, MoreExports: 3, Problem: ForbiddenImport, Text: "an import\nis odd",
		Imports: []Name{{"func", "wasi_snapshot_preview1", "fd_write", "(i32, i32, i32, i32) -> (i32)"}, {"global", "env", "\x1b[0m \u202e", ""}},
		Exports: []Name{{"memory", "", "memory", ""}},
	}
	got, err := ReadInfo(bytes.NewReader(want.Append(nil)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	// However much there is, what is written can be read.
	for range 5000 {
		want.Imports = append(want.Imports, Name{"func", strings.Repeat("\x00", 9999), strings.Repeat("\xff", 9999), strings.Repeat("é", 9999)})
		want.Exports = append(want.Exports, want.Imports[len(want.Imports)-1])
	}
	b := want.Append(nil)
	got, err = ReadInfo(bytes.NewReader(b))
	if err != nil || len(b) > MaxInfo || len(got.Imports) != MaxNames || got.MoreImports != 5002-MaxNames {
		t.Errorf("got %d bytes, %d imports and %d more, %v", len(b), len(got.Imports), got.MoreImports, err)
	}
}

func TestInfoOfAnotherFormIsRefused(t *testing.T) {
	good := string(Info{Form: FormNone, Problem: BadExport, Imports: []Name{{Kind: "func", Name: "f"}}}.Append(nil))
	for _, c := range [][3]string{
		{"a form", "form=none", "form=both"},
		{"a problem", "problem=bad-export", "problem=dire"},
		{"a kind", "kind=func", "kind=\x1b"},
		{"one import more", "imports=1 ", "imports=2 "},
		{"one import less", "imports=1 ", "imports=0 "},
		{"a billion imports", "imports=1 ", "imports=1000000000 "},
		{"a huge number of exports", "exports=0 ", "exports=9223372036854775806 "},
		{"more after it", "\n", "\n\n"},
	} {
		bad := strings.Replace(good, c[1], c[2], 1)
		if i, err := ReadInfo(strings.NewReader(bad)); err == nil || bad == good {
			t.Errorf("%s: got %+v", c[0], i)
		}
	}
	for n := range len(good) {
		if i, err := ReadInfo(strings.NewReader(good[:n])); err == nil {
			t.Errorf("the first %d bytes: got %+v", n, i)
		}
	}
}

func TestAsksComeBackAndLeaveTheRest(t *testing.T) {
	r := reader(string(Ask{Request: 5}.Append(nil)) + "hello" + string(Ask{}.Append(nil)))
	if a, err := ReadAsk(r); err != nil || a.Request != 5 {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := r.Discard(5); err != nil {
		t.Fatal(err)
	}
	if a, err := ReadAsk(r); err != nil || a.Request != 0 {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := ReadAsk(r); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: got %v", err)
	}
	for _, line := range []string{"lola-ask/1 request=1\n", "lola-ask/2 request=-1\n", "lola-ask/2 request=01\n", "lola-ask/2\n", "\n", "lola-ask/2 request=1"} {
		if a, err := ReadAsk(reader(line)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: got %+v, %v", line, a, err)
		}
	}
}

func TestCodeOfAnotherFormIsRefused(t *testing.T) {
	key := strings.Repeat("0a", 32)
	good := Code{Entry: "wazero-v1.12.0+dirty_1-amd64-linux/" + key, Size: MaxCode}
	if got, err := ReadCode(bytes.NewReader(good.Append(nil))); err != nil || got != good {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, c := range []Code{
		{"wazero-dev/" + key, 0}, {"wazero-dev/" + key, MaxCode + 1}, {"wazero-dev/" + key[1:], 1}, {"wazero-dev/" + strings.ToUpper(key), 1},
		{"wazero-dev", 1}, {key, 1}, {"dev/" + key, 1}, {"wazero-../" + key, 1}, {"../wazero-dev/" + key, 1}, {"wazero-dev/../" + key, 1},
		{"/wazero-dev/" + key, 1}, {"wazero-dev\\" + key, 1}, {"wazero-c:/" + key, 1}, {"wazero-" + strings.Repeat("a", 300) + "/" + key, 1},
	} {
		if got, err := ReadCode(bytes.NewReader(c.Append(nil))); err == nil {
			t.Errorf("got %+v", got)
		}
	}
	if _, err := ReadCode(bytes.NewReader(append(good.Append(nil), '\n'))); err == nil {
		t.Error("more follows")
	}
}

func TestDonated(t *testing.T) {
	if n, err := Donated([]string{"x", "module=3", "module=4"}, Module); n != 3 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, args := range [][]string{nil, {"module"}, {"module="}, {"module=x"}, {"module=-1"}, {"module=99999999999999999999"}} {
		if n, err := Donated(args, Module); err == nil {
			t.Errorf("%q: got %d", args, n)
		}
	}
}

func FuzzReplies(f *testing.F) {
	f.Add(Hello{Level: "none"}.Append(nil))
	f.Add(Ask{Request: 7}.Append(nil))
	f.Add(Code{Entry: "wazero-dev-amd64-linux/" + strings.Repeat("ab", 32), Size: 5}.Append(nil))
	f.Add(Reply{Outcome: Status, Text: "é\n"}.Append(nil))
	f.Add(Info{Form: FormNone, Problem: OK, Imports: []Name{{Kind: "func", Name: "f"}}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		// What is accepted is what is written.
		if h, err := ReadHello(bufio.NewReader(bytes.NewReader(b))); err == nil && !bytes.HasPrefix(b, h.Append(nil)) {
			t.Errorf("hello %+v", h)
		}
		if p, err := ReadReply(bufio.NewReader(bytes.NewReader(b))); err == nil && !bytes.HasPrefix(b, p.Append(nil)) {
			t.Errorf("reply %+v", p)
		}
		if a, err := ReadAsk(bufio.NewReader(bytes.NewReader(b))); err == nil && !bytes.HasPrefix(b, a.Append(nil)) {
			t.Errorf("ask %+v", a)
		}
		if c, err := ReadCode(bytes.NewReader(b)); err == nil && !bytes.Equal(b, c.Append(nil)) {
			t.Errorf("code %+v", c)
		}
		if i, err := ReadInfo(bytes.NewReader(b)); err == nil && !bytes.Equal(b, i.Append(nil)) {
			t.Errorf("info %+v", i)
		}
	})
}
