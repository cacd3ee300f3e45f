package audit_test

import (
	_ "embed"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/audit"
)

//go:embed FORMAT.md
var formatFile string

func formatText(t *testing.T) string {
	t.Helper()
	if formatFile == "" {
		t.Fatal("FORMAT.md is empty")
	}
	return strings.ReplaceAll(formatFile, "\r\n", "\n")
}

// TestFormatExample: the example of FORMAT.md holds.
func TestFormatExample(t *testing.T) {
	_, example, ok := strings.Cut(formatText(t), "## 9. Example\n")
	if !ok {
		t.Fatal("FORMAT.md has no example")
	}
	var text strings.Builder
	for line := range strings.Lines(example) {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			line = strings.TrimSuffix(line, "\n")
			text.WriteString(line)
			if strings.HasPrefix(line, `"hash"`) {
				text.WriteByte('\n')
			}
		}
	}
	r, err := audit.VerifyBytes(audit.VerifyOptions{}, map[string][]byte{one: []byte(text.String())})
	if err != nil || !r.OK() || r.Records != 2 {
		t.Errorf("the example: %+v, %v", r, err)
	}
}

// TestFormatProgram: the program in FORMAT.md, which shares nothing with this package, judges as Verify does.
func TestFormatProgram(t *testing.T) {
	_, program, ok := strings.Cut(formatText(t), "```python\n")
	program, _, ok2 := strings.Cut(program, "```")
	if !ok || !ok2 {
		t.Fatal("FORMAT.md has no program")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no python3 to run it")
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import hashlib").Run(); err != nil {
		t.Skipf("%s does not run here: %v", python, err)
	}
	script := filepath.Join(t.TempDir(), "verify.py")
	if err := os.WriteFile(script, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	judge := func(home string, anchor ...string) (string, bool) {
		out, err := exec.CommandContext(t.Context(), python, append([]string{script, filepath.Join(home, "audit")}, anchor...)...).CombinedOutput()
		return string(out), err == nil
	}

	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 2 << 10, Quota: 8 << 10}, nil)
	appendN(t, l, 20, small)
	rec := full()
	rec.Event, rec.Module.Name = audit.EventRefused, strings.Join(hostile[:14], "")
	if _, err := l.Append(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	texts := files(t, home)
	names := slices.Sorted(maps.Keys(texts))
	newest := names[len(names)-1]
	put(t, home, newest, texts[newest][:len(texts[newest])-20]) // a cut write
	if out, ok := judge(home); !ok || !strings.Contains(out, "scrap at the end") {
		t.Errorf("a cut write at the end: %v, %s", ok, out)
	}
	head := appendN(t, l, 2, sample)
	r := holds(t, l, int64(head.Seq-verify(t, l, head).First+1), head)
	if r.First == 1 || r.TornCount != 1 {
		t.Fatalf("the log has no dropped file or no cut write: %+v", r)
	}
	if out, ok := judge(home); !ok || strings.TrimSpace(out) != head.String() {
		t.Errorf("a whole log: %v, %s; want %s", ok, out, head)
	}
	if out, ok := judge(home, head.String()); !ok {
		t.Errorf("anchored at its head: %s", out)
	}
	if out, ok := judge(home, audit.Head{Seq: head.Seq, Hash: audit.Digest{}}.String()); ok {
		t.Errorf("anchored at another record: %s", out)
	}
	texts = files(t, home)
	names = slices.Sorted(maps.Keys(texts))
	for i, name := range names {
		for at := 7; at < len(texts[name]); at += len(texts[name])/3 + 1 {
			text := slices.Clone(texts[name])
			text[at] ^= 1
			broken := lay(t, with(texts, name, text))
			out, ok := judge(broken, head.String())
			if r := verify(t, openAt(t, broken), head); ok || r.OK() {
				t.Errorf("%s, byte %d changed: the program says %v, %s; Verify says %v", name, at, ok, out, r.Broken)
			}
		}
		if i < len(names)-1 {
			broken := lay(t, with(texts, name, nil))
			if out, ok := judge(broken); ok {
				t.Errorf("%s taken away: %s", name, out)
			}
		}
	}
}

func openAt(t *testing.T, home string) *audit.Log {
	t.Helper()
	return at(t, home, audit.Options{}, nil)
}
