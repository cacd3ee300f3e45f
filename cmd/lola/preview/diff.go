package preview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// compareLines is how many lines a file may have to be compared: what a person reads is far less, and the time that a comparison
// takes is bounded by it.
const compareLines = 20_000

// around is how many lines that stay are shown around those that change.
const around = 3

// row is one line of a body: its sign and its text without the end. The sign is '+', '-', ' ', '@' for where a hunk is, '\\'
// for a remark on the line before and '!' for one on the file.
type row struct {
	sign byte
	text string
}

// noNewline is the remark that other programs make too.
const noNewline = " No newline at end of file"

// split cuts a text after each newline.
func split(text string) []string { return slices.Collect(strings.Lines(text)) }

// compare returns the unified diff of two texts, hunk after hunk. The time that it takes grows with the lines, not with their
// square. That has a price: where more than about a hundred lines differ without one between them that occurs once in each
// text, it may show more as replaced than is.
func compare(before, after []string) []row {
	a, b := numbered(before, after)
	var rows []row
	diffs := differences(a, b)
	for i := 0; i < len(diffs); {
		j := i + 1
		for j < len(diffs) && diffs[j].Start-diffs[j-1].End <= 2*around {
			j++
		}
		rows = append(rows, hunk(before, after, diffs[i:j])...)
		i = j
	}
	return rows
}

// hunk shows differences that lie close together.
func hunk(before, after []string, diffs []lcs.Diff) []row {
	first, last := diffs[0], diffs[len(diffs)-1]
	lead := min(around, first.Start, first.ReplStart)
	tail := min(around, len(before)-last.End, len(after)-last.ReplEnd)
	rows := []row{{'@', fmt.Sprintf("@ -%s +%s @@", span(first.Start-lead, last.End+tail), span(first.ReplStart-lead, last.ReplEnd+tail))}}
	at := first.Start - lead
	for _, d := range diffs {
		rows = appendLines(rows, ' ', before[at:d.Start])
		rows = appendLines(rows, '-', before[d.Start:d.End])
		rows = appendLines(rows, '+', after[d.ReplStart:d.ReplEnd])
		at = d.End
	}
	return appendLines(rows, ' ', before[at:last.End+tail])
}

// span is how a hunk's head names lines from start to end: from 1, and the line before if there are none.
func span(start, end int) string {
	switch end - start {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, end-start)
}

func appendLines(rows []row, sign byte, lines []string) []row {
	for _, line := range lines {
		text, ended := strings.CutSuffix(line, "\n")
		rows = append(rows, row{sign, text})
		if !ended {
			rows = append(rows, row{'\\', noNewline})
		}
	}
	return rows
}

// numbered gives each line a number, equal lines the same, so that comparing two takes the same time whatever their length.
func numbered(before, after []string) (a, b []rune) {
	numbers := make(map[string]rune, len(before))
	number := func(lines []string) []rune {
		out := make([]rune, len(lines))
		for i, line := range lines {
			n, ok := numbers[line]
			if !ok {
				n = rune(len(numbers))
				numbers[line] = n
			}
			out[i] = n
		}
		return out
	}
	return number(before), number(after)
}

// differences compares what lies between anchors, each part for itself.
func differences(a, b []rune) []lcs.Diff {
	var diffs []lcs.Diff
	add := func(d lcs.Diff) {
		if n := len(diffs); n > 0 && diffs[n-1].End == d.Start && diffs[n-1].ReplEnd == d.ReplStart {
			diffs[n-1].End, diffs[n-1].ReplEnd = d.End, d.ReplEnd
			return
		}
		diffs = append(diffs, d)
	}
	i, j := 0, 0
	for _, at := range append(anchors(a, b), [2]int{len(a), len(b)}) {
		switch {
		case i == at[0] && j == at[1]:
		case i == at[0] || j == at[1]:
			add(lcs.Diff{Start: i, End: at[0], ReplStart: j, ReplEnd: at[1]})
		default:
			for _, d := range lcs.DiffRunes(a[i:at[0]], b[j:at[1]]) {
				add(lcs.Diff{Start: d.Start + i, End: d.End + i, ReplStart: d.ReplStart + j, ReplEnd: d.ReplEnd + j})
			}
		}
		i, j = at[0]+1, at[1]+1
	}
	return diffs
}

// anchors are pairs of equal lines that occur once in each text, as many as are in the same order in both.
func anchors(a, b []rune) [][2]int {
	type seen struct{ inA, inB, atA, atB int }
	all := make(map[rune]*seen, len(a))
	for i, n := range a {
		s := all[n]
		if s == nil {
			s = &seen{}
			all[n] = s
		}
		s.inA, s.atA = s.inA+1, i
	}
	for i, n := range b {
		if s := all[n]; s != nil {
			s.inB, s.atB = s.inB+1, i
		}
	}
	// The longest increasing run of places in b, taken in the order of a: piles, and behind each pair the one before it.
	type pair struct{ at, before int }
	var (
		pairs [][2]int
		back  []int
		tops  []pair // by length: the place in b that ends a run of it, and which pair that is
	)
	for i, n := range a {
		s := all[n]
		if s.inA != 1 || s.inB != 1 {
			continue
		}
		k, _ := slices.BinarySearchFunc(tops, s.atB, func(p pair, at int) int { return p.at - at })
		prev := -1
		if k > 0 {
			prev = tops[k-1].before
		}
		pairs, back = append(pairs, [2]int{i, s.atB}), append(back, prev)
		if top := (pair{s.atB, len(pairs) - 1}); k == len(tops) {
			tops = append(tops, top)
		} else {
			tops[k] = top
		}
	}
	var run [][2]int
	if len(tops) > 0 {
		for i := tops[len(tops)-1].before; i >= 0; i = back[i] {
			run = append(run, pairs[i])
		}
	}
	slices.Reverse(run)
	return run
}
