package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/abitest"
)

// shapesByVector names the shapes as the vectors do. An op has a name of its own, for intentShape holds them all.
func shapesByVector() map[string][]string {
	keys := func(s *shape) (names []string) {
		for _, k := range s.keys {
			names = append(names, k.name)
		}
		return names
	}
	m := map[string][]string{
		"header": keys(headerShape), "message": keys(messageShape), "entry": keys(entryShape), "finding": keys(findingShape),
		"json-edit": keys(jsonEditShape), "request": keys(requestShape), "extension": keys(extensionShape),
		"module": keys(moduleShape), "file": keys(fileShape), "input": keys(inputShape),
		"entries": {"entries"}, "resolved": {"source", "version", "digest"}, "scan": {"verdict", "findings"},
	}
	for _, r := range ops {
		name := string(r.op)
		if r.format != "" {
			name += "-" + r.format
		}
		m[name] = slices.Concat(r.need, r.may)
		if r.op == abi.OpWrite {
			m["write"] = append(m["write"], "content")
			m["write-module"] = append(slices.Concat(r.need, r.one[1:]), "expect")
		}
	}
	return m
}

// TestEveryKeyHasVectors: each key of each map has a vector in which it is of the wrong type, and one in which it is left
// out; each map has one with an unknown key, one with a key twice, and one that is whole.
func TestEveryKeyHasVectors(t *testing.T) {
	vectors, err := abitest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, v := range vectors {
		have[v.Name] = v.Expect
	}
	want := func(name string, expect ...abi.Class) {
		t.Helper()
		got, ok := have[name]
		if !ok {
			t.Errorf("no vector %q", name)
		} else if !slices.Contains(expect, abi.Class(got)) {
			t.Errorf("vector %q expects %q, want one of %q", name, got, expect)
		}
	}
	for subject, keys := range shapesByVector() {
		want(subject+"_full", abitest.Valid)
		want(subject+"_unknown_key", abi.ClassUnknownKey)
		for _, k := range keys {
			want(subject+"_type_"+k, abi.ClassType)
			if _, optional := have[subject+"_without_"+k]; optional {
				want(subject+"_without_"+k, abitest.Valid)
			} else {
				want(subject+"_missing_"+k, abi.ClassMissingKey, abi.ClassExclusive)
			}
		}
	}
}

// TestEveryOpHasARow: the ops, kinds of lists and versions of package abi are those of the shapes.
func TestEveryOpHasARow(t *testing.T) {
	row := abi.Versions[len(abi.Versions)-1]
	if row.Version != abi.Version {
		t.Errorf("the last row is of version %d, not %d", row.Version, abi.Version)
	}
	var want []string
	for _, op := range row.Ops {
		want = append(want, string(op))
	}
	if got := opNames(); !slices.Equal(got, want) {
		t.Errorf("ops are %q, version %d has %q", got, row.Version, want)
	}
	for _, list := range []struct {
		s    *shape
		name string
		want []string
	}{
		{messageShape, "level", []string{string(abi.LevelDebug), string(abi.LevelInfo), string(abi.LevelWarn), string(abi.LevelError)}},
		{resultShape, "verdict", []string{string(abi.VerdictPass), string(abi.VerdictWarn), string(abi.VerdictFail)}},
		{requestShape, "scope", []string{string(abi.ScopeProject), string(abi.ScopeUser)}},
		{inputShape, "state", []string{string(abi.InputAbsent), string(abi.InputFile)}},
	} {
		if got := list.s.keys[list.s.find(0, []byte(list.name))].list; !slices.Equal(got, list.want) {
			t.Errorf("%s is one of %q, package abi has %q", list.name, got, list.want)
		}
	}
	all := uint32(0)
	for _, m := range opMasks {
		all |= m.allowed
	}
	if unused := uint32(1<<len(intentShape.keys)-1) &^ all; unused != 0 {
		t.Errorf("no op has the key %q", intentShape.firstOf(unused))
	}
}

func TestMarkers(t *testing.T) {
	for line, want := range map[string]bool{
		"<!-- lola:a:start -->": true, "<!-- lola:a.b-1:end -->": true, "# lola:a:start": true, "# lola:a:end": true,
		"<!--lola:a:end-->": true, "#lola:a:end": true, "# lola::end": true, "# lola:A B:end": true,
		"<!-- lola:a:middle -->": false, "# lola:a": false, "# lola:": false, "lola:a:end": false, "## lola:a:end": false,
		"<!-- lola:a:end": false, "": false, "#": false, "<!---->": false, "x # lola:a:end": false, "# lola:a:end x": false,
	} {
		if got := isMarker(line); got != want {
			t.Errorf("isMarker(%q) = %v, want %v", line, got, want)
		}
	}
	if wrong := badBlockText([]byte(strings.Repeat("line\n", 3) + "\t<!-- lola:a:end --> \r\nx")); wrong == "" {
		t.Error("a marker line among others passes")
	}
}
