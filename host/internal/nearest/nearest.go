// Package nearest finds what somebody meant to write.
//
//	nearest.Of("wirtes", []string{"reads", "writes"}) // "writes", true
//
// It is for the hint of an error about a word that is not known. It judges letters, not meaning; what it finds may change.
package nearest

import "strings"

// maxWord bounds the words that are compared, in bytes: the cost is the product of two lengths.
const maxWord = 64

// Of returns the known word that differs least from word, and false if none is close: at most a third of its letters and at
// most three may differ. The case of ASCII letters does not count.
func Of(word string, known []string) (string, bool) {
	best, found := 0, ""
	for _, k := range known {
		if len(word) > maxWord || len(k) > maxWord {
			continue
		}
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d <= min(3, max(len(k), len(word))/3) && (found == "" || d < best) {
			best, found = d, k
		}
	}
	return found, found != ""
}

// distance is the number of bytes to insert, remove, replace or swap with their neighbour (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
