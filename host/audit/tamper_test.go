package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/audit"
)

// whole writes a log of some files and returns them, and its head.
func whole(t *testing.T) (map[string][]byte, audit.Head) {
	t.Helper()
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 1 << 10}, nil)
	head := appendN(t, l, 7, small)
	texts := files(t, home)
	if len(texts) < 3 {
		t.Fatalf("%d files: too few to tamper with", len(texts))
	}
	return texts, head
}

// linesOf cuts text into lines with their LF.
func linesOf(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// with returns the files with another text in that one, or without it.
func with(texts map[string][]byte, name string, text []byte) map[string][]byte {
	texts = maps.Clone(texts)
	texts[name] = text
	if text == nil {
		delete(texts, name)
	}
	return texts
}

var sealed = regexp.MustCompile(`^(\{"v":1,"seq":)([0-9]+)(,"prev":")([0-9a-f]{64})(",.*),"hash":"([0-9a-f]{64})"\}\n$`)

// seal makes line record seq after prev, with a right hash, as somebody does who knows the format, and returns the hash.
func seal(t testing.TB, line []byte, seq int, prev string) ([]byte, string) {
	t.Helper()
	m := sealed.FindSubmatch(line)
	if m == nil {
		t.Fatalf("no record: %q", line)
	}
	body := fmt.Sprintf("%s%d%s%s%s", m[1], seq, m[3], prev, m[5])
	sum := sha256.Sum256([]byte(body))
	hash := hex.EncodeToString(sum[:])
	return []byte(body + `,"hash":"` + hash + "\"}\n"), hash
}

func check(t *testing.T, o audit.VerifyOptions, texts map[string][]byte) audit.Report {
	t.Helper()
	r, err := audit.VerifyBytes(o, texts)
	if err != nil {
		t.Fatalf("verifying: %v", err)
	}
	return r
}

// TestEveryByte: no byte of a log can be changed without notice. Three changes of each: one bit, an LF, a tilde. With the
// head anchored all are broken; without it, what changes the last record's end into what a cut write leaves is told as such.
func TestEveryByte(t *testing.T) {
	texts, head := whole(t)
	names := slices.Sorted(maps.Keys(texts))
	newest := names[len(names)-1]
	changed, passed := 0, 0
	for _, name := range names {
		last := len(texts[name]) - len(linesOf(texts[name])[len(linesOf(texts[name]))-1])
		for i, was := range texts[name] {
			for _, now := range []byte{was ^ 1, '\n', '~'} {
				if now == was {
					continue
				}
				changed++
				text := slices.Clone(texts[name])
				text[i] = now
				contents := with(texts, name, text)
				if r := check(t, audit.VerifyOptions{Anchor: head}, contents); r.OK() {
					t.Fatalf("%s, byte %d, %q for %q: anchored, and it holds", name, i, now, was)
				}
				r := check(t, audit.VerifyOptions{}, contents)
				if !r.OK() {
					// A changed byte can only make that line or, by its chain, the one after it the first broken one.
					if r.Broken.File == name && r.Broken.Offset > int64(i)+1 || r.Broken.File < name {
						t.Fatalf("%s, byte %d: broken at %+v", name, i, r.Broken)
					}
					continue
				}
				passed++
				if name != newest || i < last || r.TornCount != 1 || r.Torn[0].Marked || r.Head.Seq != head.Seq-1 {
					t.Fatalf("%s, byte %d of %d, %q for %q: it holds, head %d, torn %+v", name, i, len(text), now, was, r.Head.Seq, r.Torn)
				}
			}
		}
	}
	t.Logf("%d changes; %d of them look like a cut write without an anchor", changed, passed)
	if passed != 1 {
		t.Errorf("%d changes pass as a cut write, want the one that FORMAT.md tells of", passed)
	}
}

// TestLines: lines that were taken out, put in, or changed places.
func TestLines(t *testing.T) {
	texts, head := whole(t)
	names := slices.Sorted(maps.Keys(texts))
	anchored := audit.VerifyOptions{Anchor: head}
	seq := 0
	for f, name := range names {
		lines := linesOf(texts[name])
		for i := range lines {
			seq++
			end := f == len(names)-1 && i == len(lines)-1
			without := bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)
			if r := check(t, audit.VerifyOptions{}, with(texts, name, without)); r.OK() != end {
				t.Errorf("%s without line %d: holds %v", name, i+1, r.OK())
			} else if !end && seq > 1 && r.Broken.Seq != uint64(seq) {
				t.Errorf("%s without line %d: record %d is named, want %d", name, i+1, r.Broken.Seq, seq)
			}
			if r := check(t, anchored, with(texts, name, without)); r.OK() {
				t.Errorf("%s without line %d: anchored, and it holds", name, i+1)
			}
			twice := bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil)
			if r := check(t, audit.VerifyOptions{}, with(texts, name, twice)); r.OK() {
				t.Errorf("%s with line %d twice: holds", name, i+1)
			}
			for _, text := range []string{"\n", "{}\n", "null\n", " \n", "\x1b[2J\n"} {
				put := bytes.Join(slices.Insert(slices.Clone(lines), i, []byte(text)), nil)
				if r := check(t, audit.VerifyOptions{}, with(texts, name, put)); r.OK() {
					t.Errorf("%s with %q before line %d: holds", name, text, i+1)
				}
			}
			scrap := bytes.Join(slices.Insert(slices.Clone(lines), i, []byte("{\"v\":~\n")), nil)
			if r := check(t, audit.VerifyOptions{}, with(texts, name, scrap)); r.OK() {
				t.Errorf("%s with a scrap that no record tells of before line %d: holds", name, i+1)
			}
			if i > 0 {
				swapped := slices.Clone(lines)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				if r := check(t, audit.VerifyOptions{}, with(texts, name, bytes.Join(swapped, nil))); r.OK() {
					t.Errorf("%s with lines %d and %d swapped: holds", name, i, i+1)
				}
			}
			m := sealed.FindSubmatch(lines[i])
			forged, _ := seal(t, bytes.Replace(lines[i], []byte(`"time":"2026`), []byte(`"time":"2025`), 1), seq, string(m[4]))
			edited := bytes.Join(slices.Concat(lines[:i], [][]byte{forged}, lines[i+1:]), nil)
			if r := check(t, audit.VerifyOptions{}, with(texts, name, edited)); r.OK() != end {
				t.Errorf("%s with line %d edited and its own hash made right: holds %v", name, i+1, r.OK())
			}
			if r := check(t, anchored, with(texts, name, edited)); r.OK() {
				t.Errorf("%s with line %d edited and its own hash made right: anchored, and it holds", name, i+1)
			}
		}
	}
	if uint64(seq) != head.Seq {
		t.Fatalf("%d lines, head %d", seq, head.Seq)
	}
}

// TestFiles: whole files that were taken away, emptied or exchanged.
func TestFiles(t *testing.T) {
	texts, head := whole(t)
	names := slices.Sorted(maps.Keys(texts))
	for i, name := range names {
		for what, left := range map[string]map[string][]byte{
			"gone":  with(texts, name, nil),
			"empty": with(texts, name, []byte{}),
		} {
			last := i == len(names)-1
			r := check(t, audit.VerifyOptions{}, left)
			if r.OK() != last {
				t.Errorf("%s %s: holds %v", name, what, r.OK())
			}
			if r := check(t, audit.VerifyOptions{Anchor: head}, left); r.OK() {
				t.Errorf("%s %s: anchored, and it holds", name, what)
			}
		}
		if i > 0 {
			a, b := texts[names[i-1]], texts[name]
			swapped := maps.Clone(texts)
			swapped[names[i-1]], swapped[name] = b, a
			if r := check(t, audit.VerifyOptions{}, swapped); r.OK() {
				t.Errorf("%s and %s exchanged: holds", names[i-1], name)
			}
		}
	}
}

// TestMadeAnew: whoever may write the folder can write it anew from some record on. The chain alone holds then, and says so
// in FORMAT.md; an anchor at or after that record tells.
func TestMadeAnew(t *testing.T) {
	texts, _ := whole(t)
	names := slices.Sorted(maps.Keys(texts))
	var all [][]byte
	for _, n := range names {
		all = append(all, linesOf(texts[n])...)
	}
	const edited = 4 // of these lines, from 0
	heads := make([]audit.Head, len(all))
	for i, line := range all {
		h, err := audit.ParseHead(strconv.Itoa(i+1) + ":" + string(sealed.FindSubmatch(line)[6]))
		if err != nil {
			t.Fatal(err)
		}
		heads[i] = h
	}
	anew := slices.Clone(all)
	anew[edited] = bytes.Replace(anew[edited], []byte(`"project"`), []byte(`"user"`), 1)
	prev := heads[edited-1].Hash.String()
	for i := edited; i < len(anew); i++ {
		if bytes.Contains(anew[i], []byte(`"event":"rotated"`)) {
			anew[i] = regexp.MustCompile(`"head":"[0-9a-f]{64}"`).ReplaceAll(anew[i], []byte(`"head":"`+prev+`"`))
		}
		anew[i], prev = seal(t, anew[i], i+1, prev)
	}
	contents := map[string][]byte{}
	for rest := anew; len(contents) < len(names); {
		name := names[len(contents)]
		n := len(linesOf(texts[name]))
		contents[name] = bytes.Join(rest[:n], nil)
		rest = rest[n:]
	}
	if r := check(t, audit.VerifyOptions{}, contents); !r.OK() {
		t.Fatalf("the forger made a mistake: %v", r.Broken)
	}
	for i, head := range heads {
		r := check(t, audit.VerifyOptions{Anchor: head}, contents)
		if r.OK() != (i < edited) || r.OK() != r.Anchored {
			t.Errorf("anchored at record %d, forged from %d on: holds %v", i+1, edited+1, r.OK())
		}
		if !r.OK() && r.Broken.Seq != head.Seq {
			t.Errorf("anchored at record %d: %v", i+1, r.Broken)
		}
	}
}

// TestLogsOwnRecords: what the log tells of itself is held to what is there, also when its hashes are right.
func TestLogsOwnRecords(t *testing.T) {
	texts, _ := whole(t)
	names := slices.Sorted(maps.Keys(texts))
	second := linesOf(texts[names[1]])
	if !bytes.Contains(second[0], []byte(`"event":"rotated"`)) {
		t.Fatalf("the second file begins with %s", second[0])
	}
	m := sealed.FindSubmatch(second[0])
	seq, _ := strconv.Atoi(string(m[2]))
	for _, edit := range [][2]string{
		{`"file":"audit-00000001`, `"file":"audit-00000007`},
		{`"last":`, `"last":1`},
		{`"head":"`, `"head":"0`},
		{`"event":"rotated"`, `"event":"torn"`},
		{`"event":"rotated"`, `"event":"plan"`},
	} {
		line := strings.Replace(string(second[0]), edit[0], edit[1], 1)
		if edit[1] == `"head":"0` {
			at := strings.Index(line, edit[1]) + len(edit[1])
			line = line[:at+63] + line[at+64:]
		}
		forged, _ := seal(t, []byte(line), seq, string(m[4]))
		r := check(t, audit.VerifyOptions{}, map[string][]byte{names[0]: texts[names[0]], names[1]: forged})
		if r.OK() || r.Broken.Line != 1 || r.Broken.File != names[1] {
			t.Errorf("%s for %s: %+v", edit[1], edit[0], r.Broken)
		}
	}

	// A log whose beginning is gone must tell of just that.
	home := t.TempDir()
	l := at(t, home, audit.Options{MaxFile: 1 << 10, Quota: 3 << 10}, nil)
	head := appendN(t, l, 20, small)
	r := verify(t, l, head)
	if !r.OK() || r.First < 2 || r.Head != head {
		t.Fatalf("after files were dropped: %+v", r)
	}
	kept := files(t, home)
	oldest := slices.Sorted(maps.Keys(kept))[0]
	if r := check(t, audit.VerifyOptions{}, with(kept, oldest, nil)); r.OK() || r.Broken.Seq != 1 {
		t.Errorf("without its oldest file: %+v", r)
	}
	old := audit.Head{Seq: 1, Hash: audit.Digest{1}}
	if r := verify(t, l, old); r.OK() || r.Anchored || !strings.Contains(r.Broken.Why, "anchor a newer one") {
		t.Errorf("anchored at a record that was dropped: %+v", r.Broken)
	}
}
