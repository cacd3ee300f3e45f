package edit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

// FuzzJSONEdit: whatever a file holds, an edit does what the model does or is refused, a second time it does nothing, and
// reverting gives the file back to the byte.
func FuzzJSONEdit(f *testing.F) {
	for _, file := range []string{
		"", "{}", "[]", "// x", "{\"a\": 1, // one\n \"b\": {\"c\": [1, {}]}, }\r\n", "\ufeff{\n\t\"a\": \"\\ud800\"\n}", "[[[[", "{\"a\":1,\"a\":2}",
		"{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"npx\", \"args\": [\"-y\"]} /* mine */\n  },\n}\n",
	} {
		f.Add([]byte(file), []byte("\x00\x01\x02\x03\x04\x05\x06\x07"), true)
		f.Add([]byte(file), []byte("\x03\x09\x01\x00\x05\x02\x03\x01\x04\x08\x02"), false)
	}
	f.Fuzz(func(t *testing.T, file, choices []byte, exists bool) {
		if !exists {
			file = nil
		}
		checkJSON(t, file, exists, (&source{choices}).edits(file))
	})
}

// FuzzBlockEdit: whatever a file holds, editing a block leaves every other line, a second time it does nothing, and reverting
// gives the file back to the byte.
func FuzzBlockEdit(f *testing.F) {
	for _, file := range []string{
		"", "\n", "a", "a\n\n", "a\r\nb", "\ufeffa\n", start + "one\n" + end, "a\n\n" + start + "one\n" + end + "\nb", start, end, start + start + end,
		"# lola:x:start\n# lola:x:end", "<!--lola:y:start-->\n<!-- lola:x:end -->",
	} {
		f.Add("A.md", []byte(file), "x", "one\ntwo", true)
		f.Add("a.toml", []byte(file), "x", "", false)
	}
	f.Fuzz(func(t *testing.T, path string, old []byte, id, text string, put bool) {
		e := abi.EditBlock{ID: id}
		if put {
			e.Text = &text
		}
		result, err := edit.Block(path, old, true, e)
		if err != nil {
			var refused *edit.Error
			if !errors.As(err, &refused) || result.New != nil {
				t.Fatalf("%v, %q", err, result.New)
			}
			return
		}
		if !result.Changed && !bytes.Equal(result.New, old) {
			t.Fatalf("old %q, new %q, which is said not to have changed", old, result.New)
		}
		again(t, path, result, func(old []byte) (edit.Result, error) { return edit.Block(path, old, true, e) })
		back(t, path, old, result)

		// The other lines are the same, but for an empty one.
		if got, want := outside(string(result.New), id), outside(string(old), id); got != want {
			t.Fatalf("outside of the block: %q, want %q", got, want)
		}
		// And stay, if somebody writes more.
		more := append(bytes.Clone(result.New), "\nmore\n"...)
		if now, _, _, err := edit.Revert(path, more, result.Records); err != nil || outside(string(now), id) != outside(string(old)+"\nmore", id) {
			t.Fatalf("with more lines: %q, %v; old %q", now, err, old)
		}
	})
}

// outside is the text without empty lines and without the lines from a start to an end of a block.
func outside(text, id string) string {
	var kept []string
	within := false
	for _, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.Trim(line, " \t\r")
		marker := strings.HasPrefix(line, "<!--") || strings.HasPrefix(line, "#")
		switch {
		case marker && strings.Contains(line, "lola:"+id+":start"):
			within = true
		case marker && strings.Contains(line, "lola:"+id+":end"):
			within = false
		case !within && line != "":
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// FuzzDecode: stored records that pass can be reverted in any file without a panic, and what comes out is JSON or text.
func FuzzDecode(f *testing.F) {
	for _, edits := range [][]abi.JSONEdit{{set("/a/b", int64(1))}, {remove("/a")}, {set("/a", nil)}} {
		result, err := edit.JSON([]byte(`{"a": {"c": 1}, "b": 2}`), true, edits)
		if err != nil {
			continue
		}
		f.Add(storedBytes(f, result.Records), result.New)
		f.Add(storedBytes(f, result.Records), []byte("{}"))
	}
	f.Fuzz(func(t *testing.T, stored, file []byte) {
		records, err := edit.Decode(stored)
		if err != nil {
			return
		}
		now, _, _, err := edit.Revert("A.md", file, records)
		if err != nil || len(records) == 0 || records[0].ID != "" {
			return
		}
		if _, err := edit.JSON(now, true, []abi.JSONEdit{remove("/surely/not/there")}); err != nil && strings.Contains(err.Error(), "it is no JSON") {
			t.Fatalf("reverted to %q: %v", now, err)
		}
	})
}
