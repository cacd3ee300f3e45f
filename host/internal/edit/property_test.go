package edit_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

// source makes choices: from random bytes in a property test, from what the fuzzer found in a fuzz target.
type source struct{ bytes []byte }

func (s *source) pick(n int) int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b) % n
}

func one[T any](s *source, of ...T) T { return of[s.pick(len(of))] }

func random(r *rand.Rand, n int) *source {
	s := &source{make([]byte, n)}
	for i := range s.bytes {
		s.bytes[i] = byte(r.Uint32())
	}
	return s
}

var names = []string{"a", "b", "c", "d", "a/b", "~", "", "-x", "0", "mcpServers", "ü\u2028", "\"\\"}

// document writes a random file in a random layout.
func (s *source) document() []byte {
	var b bytes.Buffer
	end, unit := one(s, "\n", "\n", "\r\n"), one(s, "  ", "\t", "    ", "")
	mode := s.pick(4) // lines, one line, mixed, compact
	comments := s.pick(3) == 0
	extra := func(indent string, lines bool) {
		if mode == 3 {
			return
		}
		if comments && s.pick(4) == 0 {
			b.WriteString(one(s, "", " ", end) + one(s, "/* c */", "/**/", "// d"+end, "//"+end+" ", "/* {,\"}"+end+"*/ "))
		}
		switch {
		case lines && (mode == 0 || mode == 2 && s.pick(2) == 0):
			b.WriteString(one(s, end, end, end+end) + indent)
		case mode == 2:
			b.WriteString(one(s, "", " ", "  ", end))
		}
	}
	var write func(indent string, depth int)
	write = func(indent string, depth int) {
		kind := s.pick(8)
		if depth == 0 {
			kind = one(s, 0, 0, 0, 0, 0, 1, 7)
		}
		switch {
		case kind < 4 && depth < 4:
			array := kind == 1 || kind == 3
			b.WriteString(one(s, "{", "[")[:1])
			b.Truncate(b.Len() - 1)
			b.WriteByte("{["[b2i(array)])
			n := s.pick(4)
			used := map[string]bool{}
			first := true
			for range n {
				name := one(s, names...)
				if used[name] && !array {
					continue
				}
				used[name] = true
				if !first {
					b.WriteByte(',')
				}
				first = false
				extra(indent+unit, true)
				if !array {
					quoted := string(hujson.String(name))
					b.WriteString(one(s, quoted, quoted, strings.ReplaceAll(quoted, "a", `\u0061`)))
					if mode == 2 {
						extra("", false)
					}
					b.WriteByte(':')
					if mode != 3 {
						b.WriteByte(' ')
					}
				}
				write(indent+unit, depth+1)
				if mode == 2 {
					extra("", false)
				}
			}
			if !first && comments && s.pick(3) == 0 {
				b.WriteByte(',')
			}
			extra(indent, !first || s.pick(2) == 0)
			b.WriteByte("}]"[b2i(array)])
		default:
			b.WriteString(one(s, "1", "1.0", "-0", "10e-1", `"x"`, `"\u0078"`, "true", "null", "9007199254740993", `"/*"`))
		}
	}
	b.WriteString(one(s, "", "", "", "\ufeff"))
	extra("", false)
	if s.pick(12) > 0 {
		write("", 0)
		extra("", false)
	}
	b.WriteString(one(s, end, "", end+end, "// end", " "))
	return b.Bytes()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *source) value(depth int) any {
	switch s.pick(9 - 3*depth) {
	case 0:
		return int64(1)
	case 1:
		return one[any](s, nil, true, false, "x", "/*", "", int64(0), int64(9007199254740993))
	case 2:
		return one(s, "x", "\u2028\n\"")
	case 3, 4:
		list := []any{}
		for range s.pick(3) {
			list = append(list, s.value(depth+1))
		}
		return list
	default:
		object := map[string]any{}
		for range s.pick(3) {
			object[one(s, names...)] = s.value(depth + 1)
		}
		return object
	}
}

// edits makes edits, most of them to places that a file has.
func (s *source) edits(file []byte) []abi.JSONEdit {
	var places []string
	if tree, err := hujson.Parse(append(bytes.TrimPrefix(bytes.Clone(file), []byte("\ufeff")), '\n')); err == nil {
		var look func(v hujson.ValueTrimmed, at string)
		look = func(v hujson.ValueTrimmed, at string) {
			if len(places) > 50 {
				return
			}
			switch v := v.(type) {
			case *hujson.Object:
				places = append(places, at)
				for _, m := range v.Members {
					name := strings.NewReplacer("~", "~0", "/", "~1").Replace(m.Name.Value.(hujson.Literal).String())
					places = append(places, at+"/"+name)
					look(m.Value.Value, at+"/"+name)
				}
			case *hujson.Array:
				places = append(places, at+"/-")
			}
		}
		look(tree.Value, "")
	}
	if len(places) == 0 {
		places = []string{""}
	}
	var edits []abi.JSONEdit
	for range one(s, 1, 1, 2, 3, 5) {
		e := abi.JSONEdit{At: one(s, places...), Set: s.pick(4) > 0}
		for range s.pick(3) {
			if strings.HasSuffix(e.At, "/-") {
				break
			}
			e.At += "/" + one(s, append([]string{"-", "new", "z"}, "a", "b")...)
		}
		if e.Set {
			e.Value = s.value(0)
		}
		edits = append(edits, e)
	}
	return edits
}

// TestJSONProperties: random files, random edits; the promises of checkJSON.
func TestJSONProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	done, changed := 0, 0
	for range 10_000 {
		s := random(r, 300)
		old := s.document()
		result, err := checkJSON(t, old, true, s.edits(old))
		if err == nil {
			done++
		}
		if result.Changed {
			changed++
		}
	}
	t.Logf("%d applied, %d changed something", done, changed)
	if done < 2_000 || changed < 2_000 {
		t.Errorf("only %d applied, %d changed something: the generator has worn out", done, changed)
	}
	for range 1_000 {
		s := random(r, 100)
		checkJSON(t, nil, false, s.edits(nil))
	}
}

// sorted brings lists into one order: which of two owners' elements comes first is left open.
func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = sorted(v[i])
		}
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprintf("%#v", a), fmt.Sprintf("%#v", b)) })
		return list
	case map[string]any:
		object := map[string]any{}
		for k := range v {
			object[k] = sorted(v[k])
		}
		return object
	}
	return v
}

// TestOwnersProperties: two owners edit one file, and the first goes, then the second; or the first has another version.
func TestOwnersProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 92))
	done, exact := 0, 0
	for range 20_000 {
		s := random(r, 400)
		old := s.document()
		before, clear := meaning(old)
		ours, theirs := s.edits(old), s.edits(old)
		if s.pick(3) == 0 {
			theirs = append(theirs, ours[0])
		}
		x, err := edit.Keys(abi.EditJSON{Edits: ours})
		if err != nil {
			t.Fatal(err)
		}
		y, err := edit.Keys(abi.EditJSON{Edits: theirs})
		if err != nil {
			t.Fatal(err)
		}
		clash := false
		for _, c := range edit.Conflicts(append(x, y...)) {
			clash = clash || !c.Same
		}
		alone, errAlone := edit.JSON(old, true, theirs)
		first, err1 := edit.JSON(old, true, ours)
		if !clear || clash || errAlone != nil || err1 != nil {
			continue
		}
		both, err := edit.JSON(first.New, true, theirs)
		if err != nil {
			continue
		}
		done++
		gone, kept := edit.Release(first.Records, both.Records)
		after, _, left, err := edit.Revert("x.json", both.New, stored(t, gone))
		context := fmt.Sprintf("old    %q\nours   %+v\ntheirs %+v\nboth   %q\nafter  %q", old, ours, theirs, both.New, after)
		if err != nil || len(left) > 0 {
			t.Fatalf("first owner: left %v, %v\n%s", left, err, context)
		}
		got, _ := meaning(after)
		if want, _ := meaning(alone.New); !reflect.DeepEqual(sorted(got), sorted(want)) {
			t.Fatalf("without the first owner: got %v, want %v\n%s", got, want, context)
		}
		back, _, left, err := edit.Revert("x.json", after, stored(t, kept))
		if got, _ := meaning(back); err != nil || len(left) > 0 || !reflect.DeepEqual(got, before) {
			t.Fatalf("second owner: left %v, %v\n%s\nback   %q", left, err, context, back)
		}
		if bytes.Equal(back, old) {
			exact++
		}

		// An upgrade of the second owner to what it shares with nobody.
		next := ours
		drop, keep := edit.Drop(alone.Records, abi.EditJSON{Edits: next})
		now, _, left, err := edit.Revert("x.json", alone.New, stored(t, drop))
		if err != nil || len(left) > 0 {
			t.Fatalf("upgrade: left %v, %v\n%s", left, err, context)
		}
		upgraded, err := edit.JSON(now, true, next)
		if err != nil {
			continue
		}
		now, _, left, err = edit.Revert("x.json", upgraded.New, stored(t, edit.Merge(keep, upgraded.Records)))
		if got, _ := meaning(now); err != nil || len(left) > 0 || !reflect.DeepEqual(got, before) {
			t.Fatalf("after the upgrade: left %v, %v\n%s\nback   %q", left, err, context, now)
		}
	}
	t.Logf("%d pairs, %d back to the byte", done, exact)
	if done < 1_000 || exact*100 < done*95 {
		t.Errorf("only %d pairs: the generator has worn out", done)
	}
}
