package preview

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// patch applies a diff the way any reader of it would, by its signs and the heads of its hunks, and returns what was there
// by it and what will be.
func patch(t *testing.T, before []string, rows []row) (was, will string) {
	t.Helper()
	var a, b strings.Builder
	at, toLine := 0, 0
	var pendingA, pendingB bool // a line whose end is not written yet: a remark may say that it has none
	end := func() {
		if pendingA {
			a.WriteString("\n")
		}
		if pendingB {
			b.WriteString("\n")
		}
		pendingA, pendingB = false, false
	}
	for _, r := range rows {
		if r.sign == '\\' {
			pendingA, pendingB = false, false
			continue
		}
		end()
		if r.sign == '@' {
			var from, fromN, to, toN int
			if n, err := fmt.Sscanf(strings.NewReplacer("@", "", "-", "", "+", "", ",", " ").Replace(full(r.text)), "%d %d %d %d", &from, &fromN, &to, &toN); n != 4 {
				t.Fatalf("head of a hunk %q: %v", r.text, err)
			}
			start := from - 1
			if fromN == 0 {
				start = from
			}
			if start < at {
				t.Fatalf("hunk %q begins before line %d", r.text, at)
			}
			for _, line := range before[at:start] {
				a.WriteString(line)
				b.WriteString(line)
				toLine++
			}
			at = start
			if want := to - 1; toN > 0 && want != toLine {
				t.Fatalf("hunk %q: it is at line %d of what will be", r.text, toLine)
			}
			continue
		}
		if r.sign != '+' {
			a.WriteString(r.text)
			at++
			pendingA = true
		}
		if r.sign != '-' {
			b.WriteString(r.text)
			toLine++
			pendingB = true
		}
	}
	end()
	for _, line := range before[min(at, len(before)):] {
		a.WriteString(line)
		b.WriteString(line)
	}
	return a.String(), b.String()
}

// full writes the counts into a head that leaves out those that are 1.
func full(head string) string {
	var out []string
	for _, f := range strings.Fields(head) {
		if (f[0] == '-' || f[0] == '+') && !strings.Contains(f, ",") {
			f += ",1"
		}
		out = append(out, f)
	}
	return strings.Join(out, " ")
}

func checkDiff(t *testing.T, before, after string) {
	t.Helper()
	a, b := split(before), split(after)
	rows := compare(a, b)
	was, will := patch(t, a, rows)
	if was != before || will != after {
		t.Fatalf("the diff of %q and %q is of %q and %q:\n%v", before, after, was, will, rows)
	}
	if before == after && len(rows) > 0 {
		t.Fatalf("the diff of %q and itself is %v", before, rows)
	}
}

// FuzzDiff: a diff, read as anyone would, is of the two texts that it was made of.
func FuzzDiff(f *testing.F) {
	for _, s := range [][2]string{
		{"", ""}, {"", "a"}, {"a", ""}, {"a\n", "a"}, {"a\nb\nc\n", "a\nc\n"}, {"a\r\nb", "a\nb"}, {"x\ny\nz\n", "z\ny\nx\n"}, {"\n\n\n", "\n"},
		{"a\nb\nc\nd\ne\nf\ng\nh\ni\n", "A\nb\nc\nd\ne\nf\ng\nh\nI\n"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) { checkDiff(t, before, after) })
}

// TestDiffRandom compares texts of few and of many different lines.
func TestDiffRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(lines, words int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "%d\n", r.IntN(words))
		}
		s := b.String()
		if r.IntN(3) == 0 {
			s = strings.TrimSuffix(s, "\n")
		}
		return s
	}
	for range 3000 {
		words := []int{1, 2, 5, 50, 1000}[r.IntN(5)]
		before := text(r.IntN(60), words)
		after := text(r.IntN(60), words)
		if r.IntN(2) == 0 { // alike
			lines := split(before)
			for range r.IntN(5) {
				if i := r.IntN(len(lines) + 1); i < len(lines) {
					lines[i] = []string{"", "new\n", lines[i] + "more\n"}[r.IntN(3)]
				}
			}
			after = strings.Join(lines, "")
		}
		checkDiff(t, before, after)
	}
}

// TestDiffTime: no pair of files of the size that is compared takes long.
func TestDiffTime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	lines := func(line func(i int) string) []string {
		out := make([]string, compareLines)
		for i := range out {
			out[i] = line(i)
		}
		return out
	}
	random := func(words int) []string { return lines(func(int) string { return fmt.Sprint(r.IntN(words), "\n") }) }
	up := lines(func(i int) string { return fmt.Sprint(i, "\n") })
	long := strings.Repeat("x", 1<<20/compareLines-2)
	for name, pair := range map[string][2][]string{
		"all differ":        {up, lines(func(i int) string { return fmt.Sprint(-i-1, "\n") })},
		"reversed":          {up, lines(func(i int) string { return up[compareLines-1-i] })},
		"shifted":           {up, append(up[compareLines/2:len(up):len(up)], up[:compareLines/2]...)},
		"two words":         {random(2), random(2)},
		"twenty words":      {random(20), random(20)},
		"many words":        {random(10000), random(10000)},
		"one line, another": {lines(func(int) string { return "a\n" }), lines(func(int) string { return "b\n" })},
		"one line, fewer":   {lines(func(int) string { return "a\n" }), lines(func(int) string { return "a\n" })[:compareLines/2]},
		"periods":           {lines(func(i int) string { return fmt.Sprint(i%7, "\n") }), lines(func(i int) string { return fmt.Sprint(i%11, "\n") })},
		"near periods":      {lines(func(i int) string { return fmt.Sprint(i%100 == 0, "\n") }), lines(func(i int) string { return fmt.Sprint(i%101 == 0, "\n") })},
		"every second":      {up, lines(func(i int) string { return fmt.Sprint(i*(1-i%2*2), "\n") })},
		"ends alike":        {lines(func(i int) string { return long + fmt.Sprint(i%2) + "\n" }), lines(func(i int) string { return long + fmt.Sprint(i%3) + "\n" })},
		"shuffled":          {up, shuffled(r, up)},
	} {
		start := time.Now()
		rows := compare(pair[0], pair[1])
		t.Logf("%s: %v, %d rows", name, time.Since(start), len(rows))
		was, will := patch(t, pair[0], rows)
		if was != strings.Join(pair[0], "") || will != strings.Join(pair[1], "") {
			t.Errorf("%s: the diff is of other texts", name)
		}
	}
}

func shuffled(r *rand.Rand, lines []string) []string {
	out := append([]string(nil), lines...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
