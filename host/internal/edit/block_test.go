package edit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

func block(id, text string) abi.EditBlock { return abi.EditBlock{ID: id, Text: &text} }

const (
	start = "<!-- lola:x:start -->\n"
	end   = "<!-- lola:x:end -->\n"
)

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// TestBlock holds each file to what is written into it, and reverting to the bytes that were there.
func TestBlock(t *testing.T) {
	for name, c := range map[string]struct {
		path string // empty: A.md
		old  string
		edit abi.EditBlock
		want string
		kind edit.Kind // empty: add
	}{
		"behind text":                 {"", "text\n", block("x", "one\ntwo"), "text\n\n" + start + "one\ntwo\n" + end, ""},
		"behind an empty line":        {"", "text\n\n", block("x", "one\n"), "text\n\n" + start + "one\n" + end, ""},
		"no last line end":            {"", "text", block("x", "one"), "text\n\n" + start + "one\n" + end, ""},
		"empty file":                  {"", "", block("x", "one"), start + "one\n" + end, ""},
		"one empty line":              {"", "\n", block("x", "one"), "\n" + start + "one\n" + end, ""},
		"empty text":                  {"", "text\n", block("x", ""), "text\n\n" + start + end, ""},
		"CRLF":                        {"", "a\r\nb\r\n", block("x", "one\ntwo\n"), crlf("a\nb\n\n" + start + "one\ntwo\n" + end), ""},
		"CRLF, no last line end":      {"", "a\r\nb", block("x", "one\r\ntwo"), crlf("a\nb\n\n" + start + "one\ntwo\n" + end), ""},
		"CRLF in the text alone":      {"", "a\n", block("x", "one\r\ntwo"), "a\n\n" + start + "one\ntwo\n" + end, ""},
		"byte order mark":             {"", "\ufeffa\n", block("x", "one"), "\ufeffa\n\n" + start + "one\n" + end, ""},
		"byte order mark and a block": {"", "\ufeff" + start + "one\n" + end, block("x", "two"), "\ufeff" + start + "two\n" + end, edit.Replace},
		"another block":               {"", "a\n\n<!-- lola:y:start -->\n<!-- lola:y:end -->\n", block("x", "one"), "a\n\n<!-- lola:y:start -->\n<!-- lola:y:end -->\n\n" + start + "one\n" + end, ""},
		"other":                       {"conf/a.toml", "a = 1\n", block("x", "b = 2"), "a = 1\n\n# lola:x:start\nb = 2\n# lola:x:end\n", ""},
		"no extension":                {"a.md/.gitignore", "", block("x", "b"), "# lola:x:start\nb\n# lola:x:end\n", ""},
		"other, markers of HTML":      {"a.yaml", start, block("x", "b: 2"), start + "\n# lola:x:start\nb: 2\n# lola:x:end\n", ""},
		"upper case extension":        {"A.MDC", "", block("x", "one"), start + "one\n" + end, ""},
		"same":                        {"", "a\n" + start + "one\n" + end + "b", block("x", "one"), "a\n" + start + "one\n" + end + "b", edit.Same},
		"same, other line ends":       {"", "a\n" + start + "one\r\n" + end, block("x", "one"), "a\n" + start + "one\r\n" + end, edit.Same},
		"replace":                     {"", "a\n" + start + "one\n\n" + end + "b", block("x", "two"), "a\n" + start + "two\n" + end + "b", edit.Replace},
		"replace, CRLF":               {"", crlf("a\n" + start + "one\n" + end), block("x", "two\n"), crlf("a\n" + start + "two\n" + end), edit.Replace},
		"replace, respaced":           {"", "  <!--lola:x:start-->\t\none\n  <!--  lola:x:end  -->", block("x", "two"), "  <!--lola:x:start-->\t\ntwo\n  <!--  lola:x:end  -->", edit.Replace},
		"remove":                      {"", "a\n\n" + start + "one\n" + end, abi.EditBlock{ID: "x"}, "a\n", edit.Remove},
		"remove, no empty line":       {"", "a\n" + start + "one\n" + end + "b\n", abi.EditBlock{ID: "x"}, "a\nb\n", edit.Remove},
		"remove between lines":        {"", "a\n\n" + start + "one\n" + end + "b", abi.EditBlock{ID: "x"}, "a\n\nb", edit.Remove},
		"remove between empty lines":  {"", "a\n\n" + start + "one\n" + end + "\nb", abi.EditBlock{ID: "x"}, "a\n\nb", edit.Remove},
		"remove, CRLF":                {"", crlf("a\n\n" + start + "one\n" + end + "\nb"), abi.EditBlock{ID: "x"}, crlf("a\n\nb"), edit.Remove},
		"remove all there is":         {"", start + end, abi.EditBlock{ID: "x"}, "", edit.Remove},
		"remove, no last line end":    {"", "a\n" + start + "<!-- lola:x:end -->", abi.EditBlock{ID: "x"}, "a\n", edit.Remove},
		"remove what is absent":       {"", "a", abi.EditBlock{ID: "x"}, "a", edit.Same},
		"what is no marker":           {"", "# lola:x:start\n<!-- lola:X:start -->\n<!-- lola:x:begin -->\n", block("x", ""), "# lola:x:start\n<!-- lola:X:start -->\n<!-- lola:x:begin -->\n\n" + start + end, ""},
		"carriage return at the end":  {"", "a\r", block("x", "one"), "a\r\n\n" + start + "one\n" + end, ""},
		"carriage return alone":       {"", "\r", block("x", ""), "\r\n\n" + start + end, ""}, // found by FuzzBlockEdit
		"longest id":                  {"", "", block(strings.Repeat("a", 64), ""), "<!-- lola:" + strings.Repeat("a", 64) + ":start -->\n<!-- lola:" + strings.Repeat("a", 64) + ":end -->\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path == "" {
				c.path = "A.md"
			}
			if c.kind == "" {
				c.kind = edit.Add
			}
			result, err := edit.Block(c.path, []byte(c.old), true, c.edit)
			if err != nil {
				t.Fatal(err)
			}
			if string(result.New) != c.want {
				t.Errorf("got  %q\nwant %q", result.New, c.want)
			}
			if len(result.Records) != 1 || result.Records[0].Kind != c.kind || result.Records[0].ID != c.edit.ID || result.Changed != (c.kind != edit.Same) {
				t.Errorf("result %+v", result)
			}
			again(t, c.path, result, func(old []byte) (edit.Result, error) { return edit.Block(c.path, old, true, c.edit) })
			back(t, c.path, []byte(c.old), result)
		})
	}
}

func TestBlockRefuses(t *testing.T) {
	other := "<!-- lola:y:start -->\n"
	for name, c := range map[string]struct {
		path string
		old  string
		edit abi.EditBlock
		want string
	}{
		"id":                     {"", "", block("X", ""), `editing block "X": an id is`},
		"id, long":               {"", "", block(strings.Repeat("a", 65), ""), "an id is"},
		"id, none":               {"", "", block("", ""), "an id is"},
		"marker in the text":     {"", "", block("x", "a\n <!--lola:other:end--> \nb"), `its text holds the marker line "<!--lola:other:end-->"`},
		"other marker in it":     {"", "", block("x", "#lola:x:end"), "its text holds the marker line"},
		"carriage return in it":  {"", "", block("x", "a\r<!-- lola:x:end -->"), "a carriage return without a line feed"},
		"zero byte in it":        {"", "", block("x", "a\x00"), "a zero byte"},
		"not UTF-8 in it":        {"", "", block("x", "\xff"), "its text is not valid UTF-8"},
		"not UTF-8":              {"", "\xff", block("x", ""), `editing block "x": the file is not UTF-8 text`},
		"UTF-16":                 {"", "a\x00b\x00", block("x", ""), "the file is not UTF-8 text"},
		"JSON":                   {"a.json", "", block("x", ""), `a file named "*.json" has no line comment`},
		"JavaScript":             {"A.MJS", "", block("x", ""), `a file named "*.mjs" has no line comment`},
		"no end":                 {"", "a\n" + start + "one\n", block("x", ""), `editing block "x": line 2: it starts and does not end`},
		"no end of another":      {"", other, block("x", ""), `editing block "y": line 1: it starts and does not end`},
		"no start":               {"", "a\n" + end, block("x", ""), `editing block "x": line 2: it ends where it has not started`},
		"twice":                  {"", start + end + "\n" + start + end, block("x", ""), `editing block "x": line 4: it is there twice, first on line 1`},
		"within another":         {"", other + start + end, block("x", ""), `editing block "x": line 2: it starts within block "y" of line 1`},
		"within itself":          {"", start + start + end, block("x", ""), `line 2: it starts within block "x" of line 1`},
		"crossed":                {"", other + end, block("x", ""), `editing block "x": line 2: it ends where it has not started`},
		"removal, no end":        {"", start, abi.EditBlock{ID: "x"}, "it starts and does not end"},
		"large":                  {"", strings.Repeat("a", edit.MaxFile+1), block("x", ""), "bytes: want at most"},
		"large by the edit":      {"", strings.Repeat("a", edit.MaxFile-10), block("x", ""), "the file would have"},
		"markers in mixed order": {"", end + start, block("x", ""), "line 1: it ends where it has not started"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path == "" {
				c.path = "A.md"
			}
			result, err := edit.Block(c.path, []byte(c.old), true, c.edit)
			var e *edit.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v\nwant  %q", err, c.want)
			}
			if result.New != nil || result.Records != nil {
				t.Errorf("result %v", result)
			}
		})
	}
}

// TestBlockRevert: what a person did between install and revert stays.
func TestBlockRevert(t *testing.T) {
	whole := "\n" + start + "one\n" + end
	for name, c := range map[string]struct {
		old, now, want string
		left           string
	}{
		"text before":              {"a\n", "a\nmore\n" + whole, "a\nmore\n", ""},
		"text before, no line end": {"a", "a\nmore\n" + whole, "a\nmore\n", ""},
		"text behind":              {"a\n", "a\n" + whole + "more\n", "a\n\nmore\n", ""},
		"paragraph behind":         {"a\n", "a\n" + whole + "\nmore\n", "a\n\nmore\n", ""},
		"text behind, no line end": {"a", "a\n" + whole + "\nmore", "a\n\nmore", ""},
		"empty line of the user's": {"a\n\n", "b\n\n" + start + "one\n" + end, "b\n\n", ""},
		"empty line gone":          {"a\n", "a\n" + start + "one\n" + end, "a\n", ""},
		"moved to the front":       {"a\n", start + "one\n" + end + "a\n", "a\n", ""},
		"all else gone":            {"a\n", start + "one\n" + end, "", ""},
		"block gone":               {"a\n", "b\n", "b\n", ""},
		"line ends changed":        {"a\n", crlf("a\n" + whole), "a\r\n", ""},
		"block changed":            {"a\n", "a\n\n" + start + "one\ntwo\n" + end, "a\n\n" + start + "one\ntwo\n" + end, "x"},
		"second block behind":      {"a\n", "a\n" + whole + "\n<!-- lola:y:start -->\n<!-- lola:y:end -->\n", "a\n\n<!-- lola:y:start -->\n<!-- lola:y:end -->\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := edit.Block("A.md", []byte(c.old), true, block("x", "one"))
			if err != nil {
				t.Fatal(err)
			}
			got, empty, left, err := edit.Revert("A.md", []byte(c.now), stored(t, result.Records))
			if err != nil || empty || string(got) != c.want || leftOf(left) != c.left {
				t.Errorf("got %q, empty %t, left %v, %v\nwant %q", got, empty, left, err, c.want)
			}
		})
	}
}

func leftOf(left []edit.Left) string {
	var all []string
	for _, l := range left {
		if l.Why == "" {
			return "without a reason"
		}
		all = append(all, l.What)
	}
	return strings.Join(all, " ")
}

func TestBlockRevertsOthers(t *testing.T) {
	old := "a\n\n" + start + "one\n" + end + "\nb\n"
	replaced, err := edit.Block("A.md", []byte(old), true, block("x", "two"))
	if err != nil {
		t.Fatal(err)
	}
	removed, err := edit.Block("A.md", []byte(old), true, abi.EditBlock{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		records   []edit.Record
		now, want string
		left      string
	}{
		"replaced, text elsewhere":  {replaced.Records, "a\n\n" + start + "two\n" + end + "\nb\nc\n", "a\n\n" + start + "one\n" + end + "\nb\nc\n", ""},
		"replaced, changed since":   {replaced.Records, start + "three\n" + end, start + "three\n" + end, "x"},
		"replaced, gone":            {replaced.Records, "a\n", "a\n", ""},
		"removed, text elsewhere":   {removed.Records, "a\n\nb\nc\n", "a\n\nb\nc\n\n" + start + "one\n" + end, ""},
		"removed, there again":      {removed.Records, start + "one\n" + end, start + "one\n" + end, ""},
		"removed, there, other":     {removed.Records, start + "three\n" + end, start + "three\n" + end, "x"},
		"removed, all else is gone": {removed.Records, "", start + "one\n" + end, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, empty, left, err := edit.Revert("A.md", []byte(c.now), stored(t, c.records))
			if err != nil || empty || string(got) != c.want || leftOf(left) != c.left {
				t.Errorf("got %q, empty %t, left %v, %v\nwant %q", got, empty, left, err, c.want)
			}
		})
	}
	if _, _, _, err := edit.Revert("A.md", []byte(start), replaced.Records); err == nil || !strings.Contains(err.Error(), "line 1: it starts and does not end") {
		t.Errorf("reverting in a broken file: %v", err)
	}
}

func TestBlockMakesTheFile(t *testing.T) {
	result, err := edit.Block("A.md", nil, false, block("x", "one"))
	if err != nil || string(result.New) != start+"one\n"+end {
		t.Fatalf("%q, %v", result.New, err)
	}
	if now, empty, left, err := edit.Revert("A.md", result.New, result.Records); now != nil || !empty || left != nil || err != nil {
		t.Errorf("reverted: %q, empty %t, left %v, %v", now, empty, left, err)
	}
	if now, empty, _, err := edit.Revert("A.md", []byte("mine\n"+string(result.New)), result.Records); string(now) != "mine\n" || empty || err != nil {
		t.Errorf("reverted: %q, empty %t, %v", now, empty, err)
	}
	nothing, err := edit.Block("A.md", nil, false, abi.EditBlock{ID: "x"})
	if err != nil || nothing.Changed || nothing.New != nil || kinds(nothing.Records) != "same" {
		t.Errorf("removing from no file: %+v, %v", nothing, err)
	}
}
