package edit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

func values(edits ...abi.JSONEdit) abi.Intent { return abi.EditJSON{Path: "x", Edits: edits} }

func TestOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		a, b abi.Intent
		want bool
	}{
		"equal":                        {values(set("/a", nil)), values(set("/a", nil)), true},
		"prefix":                       {values(set("/a", nil)), values(remove("/a/b")), true},
		"prefix of the text alone":     {values(set("/a", nil)), values(set("/ab", nil)), false},
		"root":                         {values(set("", nil)), values(set("/a", nil)), true},
		"siblings":                     {values(set("/a/b", nil)), values(set("/a/c", nil)), false},
		"empty name":                   {values(set("/a/", nil)), values(set("/a", nil)), true},
		"empty names":                  {values(set("/", nil)), values(set("//", nil)), true},
		"empty name and another":       {values(set("/", nil)), values(set("/a", nil)), false},
		"escaped slash":                {values(set("/a~1b", nil)), values(set("/a", nil)), false},
		"escapes alike":                {values(set("/~01", nil)), values(set("/~1", nil)), false},
		"zero bytes":                   {values(set("/a\x00", nil)), values(set("/a", nil)), false},
		"zero byte and a part":         {values(set("/a\x00\x00b", nil)), values(set("/a", nil)), false},
		"any of many":                  {values(set("/a", nil), set("/b", nil)), values(set("/c", nil), set("/b/x", nil)), true},
		"none of many":                 {values(set("/a", nil), set("/a/b", nil)), values(set("/c", nil), set("/c/x", nil)), false},
		"two elements":                 {values(set("/a/-", int64(1))), values(set("/a/-", int64(2))), false},
		"one element":                  {values(set("/a/-", object{"x": nil, "y": int64(1)})), values(set("/a/-", object{"y": int64(1), "x": nil})), true},
		"element and list":             {values(set("/a/-", int64(1))), values(set("/a", nil)), true},
		"element and member":           {values(set("/a/-", int64(1))), values(set("/a/x", nil)), true},
		"element and what is within":   {values(set("/a/-", int64(1))), values(set("/a/x/y", nil)), true},
		"element and a name that is -": {values(set("/a/-", int64(1))), values(set("/a/-/x", nil)), true},
		"elements of two lists":        {values(set("/a/-", int64(1))), values(set("/b/-", int64(1))), false},
		"element at the root":          {values(set("/-", int64(1))), values(set("/a", int64(1))), true},
		"blocks":                       {block("x", "a"), block("y", "a"), false},
		"one block":                    {block("x", "a"), abi.EditBlock{ID: "x"}, true},
		"block and value":              {block("x", "a"), values(set("/a", nil)), true},
		"no edit":                      {abi.Delete{Path: "x"}, values(set("/a", nil)), false},
		"malformed":                    {values(set("a", nil)), values(set("a", nil)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := edit.Overlap(c.a, c.b); got != c.want {
				t.Errorf("overlap is %t", got)
			}
			if got := edit.Overlap(c.b, c.a); got != c.want {
				t.Errorf("the other way round it is %t", got)
			}
		})
	}
}

// TestConflictsAgainstPairs holds the quick way to comparing every pair.
func TestConflictsAgainstPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 71))
	for range 5_000 {
		var intents []abi.Intent
		for range 1 + r.IntN(8) {
			switch r.IntN(12) {
			case 0:
				intents = append(intents, block(string(rune('a'+r.IntN(2))), fmt.Sprint(r.IntN(2))))
			default:
				at := ""
				for range 1 + r.IntN(3) {
					at += "/" + string("ab-\x00\x02"[r.IntN(5)])
				}
				intents = append(intents, values(set(at, int64(r.IntN(2)))))
			}
		}
		var keys []edit.Key
		for _, in := range intents {
			k, err := edit.Keys(in)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k...)
		}
		overlaps, differs := map[int]bool{}, map[int]bool{}
		for i := range keys {
			for j := range i {
				if !keys[i].Overlaps(keys[j]) {
					continue
				}
				overlaps[i], overlaps[j] = true, true
				if keys[i] != keys[j] {
					differs[i] = true
				}
			}
		}
		found, other := map[int]bool{}, false
		for _, c := range edit.Conflicts(keys) {
			if c.A >= c.B || !keys[c.A].Overlaps(keys[c.B]) || c.Same != (keys[c.A] == keys[c.B]) {
				t.Fatalf("conflict %+v of %+v", c, intents)
			}
			found[c.A], found[c.B] = true, true
			other = other || !c.Same
		}
		if fmt.Sprint(found) != fmt.Sprint(overlaps) || other != (len(differs) > 0) {
			t.Fatalf("got %v, %t; want %v, %t\n%+v", found, other, overlaps, len(differs) > 0, intents)
		}
	}
}

// TestManyEdits: as many as a plan can have, in time that grows with their number. The bound is a hundred times what it takes.
func TestManyEdits(t *testing.T) {
	const n = 65_536
	for name, at := range map[string]func(i int) abi.JSONEdit{
		"one object":  func(i int) abi.JSONEdit { return set(fmt.Sprintf("/a/%d", i), int64(i)) },
		"one array":   func(i int) abi.JSONEdit { return set("/a/-", int64(i)) },
		"own parents": func(i int) abi.JSONEdit { return set(fmt.Sprintf("/a/%d/b", i), int64(i)) },
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			edits := make([]abi.JSONEdit, n)
			for i := range edits {
				edits[i] = at(i)
			}
			old := []byte("{}\n")
			result, err := edit.JSON(old, true, edits)
			if err != nil {
				t.Fatal(err)
			}
			applied := time.Since(began)
			edit.Merge(result.Records, result.Records)
			gone, kept := edit.Release(result.Records[:n/2], result.Records[n/2:])
			now, _, left, err := edit.Revert("x", result.New, gone)
			if err != nil || len(left) > 0 {
				t.Fatal(left, err)
			}
			now, _, left, err = edit.Revert("x", now, kept)
			if err != nil || len(left) > 0 || string(now) != string(old) {
				t.Fatalf("%.100q, left %v, %v", now, left, err)
			}
			t.Logf("applied in %v, taken back in %v", applied, time.Since(began)-applied)
		})
	}
	t.Run("clash", func(t *testing.T) {
		edits := make([]abi.JSONEdit, n)
		for i := range edits {
			edits[i] = set(strings.Repeat("/a", 1+i%100), nil)
		}
		if _, err := edit.JSON(nil, false, edits); err == nil || !strings.Contains(err.Error(), "overlaps it") {
			t.Errorf("error %v", err)
		}
	})
}
