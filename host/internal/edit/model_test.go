package edit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

// The model is plain maps and lists, read by encoding/json. It knows nothing of bytes.

// number is a JSON number that equals another of the same value.
type number string

// meaning reads a file as the model sees it. ok is false where encoding/json reads less than there is: a name twice, half of
// a surrogate pair, a number that would take too many digits.
func meaning(file []byte) (v any, ok bool) {
	text := bytes.TrimPrefix(file, []byte("\ufeff"))
	if len(text) > 1<<16 {
		return nil, false
	}
	tree, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, false
	}
	unclear := regexp.MustCompile(`(?i)\\ud[89a-f]|[0-9]e[+-]?[0-9]{3}`).Match(text)
	for part := range tree.All() {
		names := map[string]bool{}
		if o, is := part.Value.(*hujson.Object); is {
			for _, m := range o.Members {
				name := m.Name.Value.(hujson.Literal).String()
				unclear = unclear || names[name]
				names[name] = true
			}
		}
	}
	tree.Standardize()
	d := json.NewDecoder(bytes.NewReader(tree.Pack()))
	d.UseNumber()
	if unclear || d.Decode(&v) != nil {
		return nil, false
	}
	return plain(v), true
}

func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return number(r.String())
	case int64:
		return number(new(big.Rat).SetInt64(v).String())
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for k := range v {
			object[k] = plain(v[k])
		}
		return object
	}
	return v
}

var errModel = errors.New("the model refuses it")

// expect applies an edit to what a file means. v nil and absent: no value in the file.
type state struct {
	value any
	there bool
}

func (s *state) apply(e abi.JSONEdit) error {
	if e.At == "" {
		return errModel
	}
	tokens := strings.Split(e.At[1:], "/")
	for i := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i])
	}
	if !e.Set && (tokens[len(tokens)-1] == "-" || !s.there) {
		if s.there || tokens[len(tokens)-1] == "-" {
			return errModel
		}
		return nil
	}
	var put func(v any, there bool, tokens []string) (any, error)
	put = func(v any, there bool, tokens []string) (any, error) {
		if len(tokens) == 1 && tokens[0] == "-" {
			list, is := v.([]any)
			if there && !is {
				return nil, errModel
			}
			for _, o := range list {
				if reflect.DeepEqual(o, plain(e.Value)) {
					return v, nil
				}
			}
			return append(list[:len(list):len(list)], plain(e.Value)), nil
		}
		object, is := v.(map[string]any)
		switch {
		case !there:
			object = map[string]any{}
		case !is:
			return nil, errModel
		}
		inner, there := object[tokens[0]]
		switch {
		case len(tokens) == 1 && e.Set:
			object[tokens[0]] = plain(e.Value)
		case len(tokens) == 1:
			delete(object, tokens[0])
		case there || e.Set:
			var err error
			if object[tokens[0]], err = put(inner, there, tokens[1:]); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	v, err := put(s.value, s.there, tokens)
	if err == nil {
		s.value, s.there = v, true
	}
	return err
}

// checkJSON holds one application of edits to everything that JSON and Revert promise.
func checkJSON(t *testing.T, old []byte, exists bool, edits []abi.JSONEdit) (edit.Result, error) {
	t.Helper()
	before, clear := meaning(old)
	model := state{before, clear}
	if blank, _ := meaning(append(bytes.TrimSuffix(bytes.Clone(old), []byte("\n")), "\n{}"...)); !clear && reflect.DeepEqual(blank, map[string]any{}) {
		clear = true // a file without a value
	}
	keys, err := edit.Keys(abi.EditJSON{Edits: edits})
	if err != nil {
		t.Fatal(err)
	}
	var refused error
	for _, c := range edit.Conflicts(keys) {
		if !c.Same || !strings.HasSuffix(edits[c.A].At, "/-") {
			refused = errModel
		}
	}
	for _, e := range edits {
		if refused == nil {
			refused = model.apply(e)
		}
	}
	result, err := edit.JSON(bytes.Clone(old), exists, edits)
	if err != nil {
		var e *edit.Error
		if !errors.As(err, &e) {
			t.Fatalf("%v: no *edit.Error", err)
		}
		if clear && refused == nil && !strings.Contains(err.Error(), "carriage return") && !strings.Contains(err.Error(), "not valid UTF-8") {
			t.Fatalf("refused: %v\nold   %q\nedits %+v", err, old, edits)
		}
		return result, err
	}
	if clear && refused != nil {
		t.Fatalf("not refused\nold   %q\nedits %+v\nnew   %q", old, edits, result.New)
	}
	if !result.Changed {
		if !bytes.Equal(result.New, old) {
			t.Fatalf("old %q\nnew %q, which is said not to have changed", old, result.New)
		}
	} else if after, is := meaning(result.New); clear && is != model.there || clear && !reflect.DeepEqual(after, model.value) {
		t.Fatalf("old   %q\nedits %+v\nnew   %q\nmeans %v\nwant  %v", old, edits, result.New, after, model.value)
	}
	second, err := edit.JSON(result.New, exists || result.Changed, edits)
	if err != nil || second.Changed || !bytes.Equal(second.New, result.New) {
		t.Fatalf("a second time: %v\nold   %q\nedits %+v\nfirst  %q\nsecond %q", err, old, edits, result.New, second.New)
	}
	for _, records := range [][]edit.Record{result.Records, edit.Merge(result.Records, second.Records)} {
		got, empty, left, err := edit.Revert("x.json", result.New, stored(t, records))
		if exists && (err != nil || empty || len(left) > 0 || !bytes.Equal(got, old)) ||
			!exists && (err != nil || empty != result.Changed || len(left) > 0 || len(got) > 0) {
			t.Fatalf("reverted: empty %t, left %v, %v\nedits %+v\nnew  %q\nold  %q\nback %q", empty, left, err, edits, result.New, old, got)
		}
	}
	if len(edits) == 1 {
		checkOutside(t, old, result)
	}
	return result, nil
}

// checkOutside holds one edit to the bytes that it may touch: the value that it replaces or removes, or white space where it
// adds, and a comma.
func checkOutside(t *testing.T, old []byte, result edit.Result) {
	t.Helper()
	r := result.Records[0]
	head, tail := 0, 0
	for head < len(old) && head < len(result.New) && old[head] == result.New[head] {
		head++
	}
	for tail < len(old)-head && tail < len(result.New)-head && old[len(old)-1-tail] == result.New[len(result.New)-1-tail] {
		tail++
	}
	gone, come := string(old[head:len(old)-tail]), string(result.New[head:len(result.New)-tail])
	const space = " \t\r\n"
	ok := true
	switch r.Kind {
	case edit.Same:
		ok = gone == "" && come == ""
	case edit.Replace:
		ok = strings.Contains(*r.Old, gone) && strings.Contains(*r.New, come)
	case edit.Add:
		stays := strings.TrimRight(gone, space)
		ok = stays == "" || strings.HasPrefix(come, ","+stays) || strings.HasPrefix(strings.TrimLeft(come, space), strings.TrimLeft(stays, space))
	case edit.Remove:
		ok = len(come) == 0 || commented(come)
	}
	if !ok {
		t.Fatalf("%s changed more than it says\nold  %q\nnew  %q\ngone %q\ncome %q", r.Kind, old, result.New, gone, come)
	}
}

// commented reports whether text is all white space and comments, whole or in part.
func commented(text string) bool {
	return strings.Trim(text, " \t\r\n") == "" || strings.Contains(text, "/") || strings.Contains(text, "*")
}
