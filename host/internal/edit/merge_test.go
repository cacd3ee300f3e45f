package edit_test

import (
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

// TestMerge: an old version's edit, what somebody does then, the new version's edit of the same place, and what a revert
// gives after that.
func TestMerge(t *testing.T) {
	keep := func(s string) string { return s }
	for name, c := range map[string]struct {
		file     string
		old      abi.JSONEdit
		between  func(string) string
		new      abi.JSONEdit
		upgraded string
		kind     edit.Kind
		want     string
	}{
		"added, other value":           {`{"a": 1}`, set("/b", int64(1)), keep, set("/b", int64(2)), `{"a": 1, "b": 2}`, edit.Add, `{"a": 1}`},
		"added, same value":            {`{"a": 1}`, set("/b", int64(1)), keep, set("/b", int64(1)), `{"a": 1, "b": 1}`, edit.Add, `{"a": 1}`},
		"added, removed":               {`{"a": 1}`, set("/b", int64(1)), keep, remove("/b"), `{"a": 1}`, edit.Same, `{"a": 1}`},
		"added with parents, removed":  {`{"a": 1}`, set("/b/c", int64(1)), keep, remove("/b/c"), `{"a": 1, "b": {}}`, edit.Same, `{"a": 1}`},
		"added with parents, again":    {`{"a": 1}`, set("/b/c", int64(1)), keep, set("/b/c", int64(2)), `{"a": 1, "b": {"c": 2}}`, edit.Add, `{"a": 1}`},
		"added, changed by the user":   {`{"a": 1}`, set("/b", int64(1)), func(string) string { return `{"a": 1, "b": 5}` }, set("/b", int64(2)), `{"a": 1, "b": 2}`, edit.Replace, `{"a": 1, "b": 5}`},
		"added, removed by the user":   {`{"a": 1}`, set("/b", int64(1)), func(string) string { return `{"a": 1}` }, set("/b", int64(2)), `{"a": 1, "b": 2}`, edit.Add, `{"a": 1}`},
		"replaced, other value":        {`{"a": 1.0}`, set("/a", int64(2)), keep, set("/a", int64(3)), `{"a": 3}`, edit.Replace, `{"a": 1.0}`},
		"replaced, same value":         {`{"a": 1.0}`, set("/a", int64(2)), keep, set("/a", int64(2)), `{"a": 2}`, edit.Replace, `{"a": 1.0}`},
		"replaced, removed":            {`{"a": 1.0}`, set("/a", int64(2)), keep, remove("/a"), `{}`, edit.Remove, `{"a": 1.0}`},
		"replaced, changed, again":     {`{"a": 1.0}`, set("/a", int64(2)), func(string) string { return `{"a": 5}` }, set("/a", int64(3)), `{"a": 3}`, edit.Replace, `{"a": 5}`},
		"replaced, the new one's then": {`{"a": 1.0}`, set("/a", int64(2)), func(string) string { return `{"a": 3.0}` }, set("/a", int64(3)), `{"a": 3.0}`, edit.Same, `{"a": 3.0}`},
		"removed, added":               {`{"a": 1.0}`, remove("/a"), keep, set("/a", int64(3)), "{\n  \"a\": 3\n}", edit.Replace, "{\n  \"a\": 1.0\n}"},
		"removed, removed":             {`{"a": 1.0}`, remove("/a"), keep, remove("/a"), `{}`, edit.Remove, `{"a": 1.0}`},
		"there, other value":           {`{"a": 1.0}`, set("/a", int64(1)), keep, set("/a", int64(2)), `{"a": 2}`, edit.Replace, `{"a": 1.0}`},
		"element, again":               {`{"a": []}`, set("/a/-", int64(1)), keep, set("/a/-", int64(1)), `{"a": [1]}`, edit.Add, `{"a": []}`},
		"from nothing":                 {" ", set("/a", int64(1)), keep, set("/a", int64(2)), "{\n  \"a\": 2\n}\n", edit.Add, " "},
	} {
		t.Run(name, func(t *testing.T) {
			first, err := edit.JSON([]byte(c.file), true, []abi.JSONEdit{c.old})
			if err != nil {
				t.Fatal(err)
			}
			drop, kept := edit.Drop(first.Records, abi.EditJSON{Edits: []abi.JSONEdit{c.new}})
			if len(drop) != 0 || len(kept) != 1 {
				t.Fatalf("drop %v, keep %v", drop, kept)
			}
			second, err := edit.JSON([]byte(c.between(string(first.New))), true, []abi.JSONEdit{c.new})
			if err != nil || string(second.New) != c.upgraded {
				t.Fatalf("upgraded to %q, %v; want %q", second.New, err, c.upgraded)
			}
			merged := edit.Merge(stored(t, kept), second.Records)
			if len(merged) != 1 || merged[0].Kind != c.kind {
				t.Errorf("merged %+v, want %s", merged, c.kind)
			}
			got, empty, left, err := edit.Revert("x.json", second.New, stored(t, merged))
			if err != nil || empty || len(left) > 0 || string(got) != c.want {
				t.Errorf("got %q, empty %t, left %v, %v\nwant %q", got, empty, left, err, c.want)
			}
		})
	}
}

// TestMergeBlocks is TestMerge for blocks.
func TestMergeBlocks(t *testing.T) {
	whole := func(text string) string { return start + text + end }
	for name, c := range map[string]struct {
		file, between string // between empty: as the first edit left it
		old, new      abi.EditBlock
		want          string
	}{
		"added, other text":          {"a", "", block("x", "one"), block("x", "two"), "a"},
		"added, same text":           {"a", "", block("x", "one"), block("x", "one"), "a"},
		"added, removed":             {"a\n", "", block("x", "one"), abi.EditBlock{ID: "x"}, "a\n"},
		"added, changed by the user": {"a\n", "a\n\n" + whole("mine\n"), block("x", "one"), block("x", "two"), "a\n\n" + whole("mine\n")},
		"replaced, other text":       {whole("mine\n"), "", block("x", "one"), block("x", "two"), whole("mine\n")},
		"replaced, removed":          {"a\n\n" + whole("mine\n"), "", block("x", "one"), abi.EditBlock{ID: "x"}, "a\n\n" + whole("mine\n")},
		"removed, added":             {"a\n\n" + whole("mine\n"), "", abi.EditBlock{ID: "x"}, block("x", "two"), "a\n\n" + whole("mine\n")},
	} {
		t.Run(name, func(t *testing.T) {
			first, err := edit.Block("A.md", []byte(c.file), true, c.old)
			if err != nil {
				t.Fatal(err)
			}
			if c.between == "" {
				c.between = string(first.New)
			}
			second, err := edit.Block("A.md", []byte(c.between), true, c.new)
			if err != nil {
				t.Fatal(err)
			}
			merged := edit.Merge(first.Records, second.Records)
			got, empty, left, err := edit.Revert("A.md", second.New, stored(t, merged))
			if err != nil || empty || len(left) > 0 || string(got) != c.want {
				t.Errorf("got %q, empty %t, left %v, %v\nwant %q\nmerged %+v", got, empty, left, err, c.want, merged)
			}
		})
	}
}

// TestRelease: three owners of one file that they made; whoever goes, what the others need stays, and the last one takes the
// file along.
func TestRelease(t *testing.T) {
	edits := [][]abi.JSONEdit{
		{set("/servers/x", int64(1)), set("/shared", true)},
		{set("/servers/y", int64(2)), set("/shared", true)},
		{set("/servers/z/deep", int64(3)), set("/list/-", "e")},
	}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		var file []byte
		records := make([][]edit.Record, len(edits))
		for i, e := range edits {
			result, err := edit.JSON(file, i > 0, e)
			if err != nil {
				t.Fatal(err)
			}
			file, records[i] = result.New, result.Records
		}
		for n, going := range order {
			var others []edit.Record
			var whose []int
			for _, i := range order[n+1:] {
				others = append(others, records[i]...)
				whose = append(whose, i)
			}
			gone, kept := edit.Release(records[going], others)
			for _, i := range whose {
				records[i], kept = kept[:len(records[i])], kept[len(records[i]):]
			}
			now, empty, left, err := edit.Revert("x.json", file, stored(t, gone))
			if err != nil || len(left) > 0 || empty != (n == 2) {
				t.Fatalf("order %v, %d: %q, empty %t, left %v, %v", order, going, now, empty, left, err)
			}
			file = now
			for _, i := range whose {
				again, err := edit.JSON(file, true, edits[i])
				if err != nil || again.Changed {
					t.Fatalf("order %v: without %d, %d lacks something: %q, %v", order, going, i, file, err)
				}
			}
		}
	}
}

// TestReleaseBlocks is TestRelease for blocks.
func TestReleaseBlocks(t *testing.T) {
	for _, old := range []string{"", "a", "a\n", "a\n\n"} {
		for _, order := range [][]string{{"x", "y", "z"}, {"x", "z", "y"}, {"y", "x", "z"}, {"y", "z", "x"}, {"z", "x", "y"}, {"z", "y", "x"}} {
			file, exists := []byte(old), old != ""
			records := map[string][]edit.Record{}
			for _, id := range []string{"x", "y", "z"} {
				result, err := edit.Block("A.md", file, exists || id != "x", block(id, "text"))
				if err != nil {
					t.Fatal(err)
				}
				file, records[id] = result.New, result.Records
			}
			for n, id := range order {
				var others []edit.Record
				for _, o := range order[n+1:] {
					others = append(others, records[o]...)
				}
				gone, kept := edit.Release(records[id], others)
				for i, o := range order[n+1:] {
					records[o] = kept[i : i+1]
				}
				now, empty, left, err := edit.Revert("A.md", file, gone)
				if err != nil || len(left) > 0 || empty != (n == 2 && !exists) || strings.Contains(string(now), "lola:"+id) {
					t.Fatalf("%q, order %v, %s: %q, empty %t, left %v, %v", old, order, id, now, empty, left, err)
				}
				file = now
			}
			if string(file) != old {
				t.Errorf("order %v: got %q, want %q", order, file, old)
			}
		}
	}
}
