package abi_test

import (
	_ "embed"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
)

//go:embed errors.go
var errorsSource string

// TestClassesAreAll holds the list of classes to the constants.
func TestClassesAreAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", errorsSource, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []abi.Class
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Class") || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			name, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			constants = append(constants, abi.Class(name))
		}
		return true
	})
	if len(constants) == 0 || !slices.Equal(constants, abi.Classes) {
		t.Errorf("the constants are %q, the list is %q", constants, abi.Classes)
	}
}

//go:embed SPEC.md
var spec string

// TestSpecNamesAll finds each class, limit and op in the normative text.
func TestSpecNamesAll(t *testing.T) {
	for _, c := range abi.Classes {
		if !strings.Contains(spec, "#### `"+string(c)+"`") {
			t.Errorf("SPEC.md has no section for class %q", c)
		}
	}
	for _, row := range abi.Versions {
		for _, op := range row.Ops {
			if !strings.Contains(spec, "### `"+string(op)+"`") {
				t.Errorf("SPEC.md has no section for op %q", op)
			}
		}
	}
	for _, r := range abi.Rights {
		if !strings.Contains(spec, "| `"+string(r.Kind)+"` | `"+r.Action+"`") {
			t.Errorf("SPEC.md has no row for kind %q, action %q", r.Kind, r.Action)
		}
	}
}

func TestFormError(t *testing.T) {
	limit := &abi.LimitError{Limit: "plan", Bound: 1, Got: 2}
	err := error(&abi.FormError{Class: abi.ClassLimitPlan, Item: 3, Offset: 4, Key: "a.b", Detail: "why", Limit: limit})
	if got, want := err.Error(), `limit-plan (item 3, byte 4, key "a.b"): why`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, &abi.FormError{Class: abi.ClassLimitPlan}) || errors.Is(err, &abi.FormError{Class: abi.ClassTag}) || errors.Is(err, io.EOF) {
		t.Error("an error is of its own class alone")
	}
	var got *abi.LimitError
	if !errors.As(err, &got) || got != limit {
		t.Errorf("got %v, want %v", got, limit)
	}
	if errors.As(error(&abi.FormError{Class: abi.ClassTag}), &got) {
		t.Error("a tag is about no limit")
	}
}

func TestDigest(t *testing.T) {
	d := abi.DigestOf(nil)
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if d.String() != empty {
		t.Errorf("got %s, want %s", d, empty)
	}
	if got, err := abi.ParseDigest(empty); err != nil || got != d {
		t.Errorf("got %v (%v), want %v", got, err, d)
	}
	for _, s := range []string{"", empty[1:], empty + "0", strings.ToUpper(empty), "g" + empty[1:]} {
		if _, err := abi.ParseDigest(s); err == nil {
			t.Errorf("ParseDigest(%q) is no error", s)
		}
	}
}

func TestLimits(t *testing.T) {
	got, err := abi.Limits{}.Resolve()
	if err != nil || got != abi.DefaultLimits() {
		t.Errorf("zero: got %+v (%v), want the defaults", got, err)
	}
	if _, err := abi.HardLimits().Resolve(); err != nil {
		t.Errorf("the hard caps: %v", err)
	}
	if got, err := (abi.Limits{Plan: 1, Values: 2}).Resolve(); err != nil || got.Plan != 1 || got.Values != 2 || got.Item != abi.DefaultLimits().Item {
		t.Errorf("lowered: got %+v (%v)", got, err)
	}
	for name, l := range map[string]abi.Limits{
		"plan": {Plan: 1<<30 + 1}, "content": {Content: -1}, "path": {Path: 1025}, "deadline": {Deadline: -1}, "values": {Values: 1<<22 + 1},
	} {
		if _, err := l.Resolve(); err == nil || !strings.Contains(err.Error(), strconv.Quote(name)) {
			t.Errorf("limit %q out of range: got %v", name, err)
		}
	}
}

func TestBytes(t *testing.T) {
	b := abi.Bytes("abc")
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "abc" || b.Size() != 3 || b.Digest() != abi.DigestOf([]byte("abc")) {
		t.Errorf("got %q (%v), %d bytes, digest %v", got, err, b.Size(), b.Digest())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestRights(t *testing.T) {
	if r, ok := abi.RightOf(abi.KindScan, "scan"); !ok || !r.Result || len(r.Ops) != 0 {
		t.Errorf("scan: got %+v, %v", r, ok)
	}
	if _, ok := abi.RightOf(abi.KindScan, "install"); ok {
		t.Error("a scan may not install")
	}
}

func TestMode(t *testing.T) {
	if got := abi.Mode(0o7).String(); got != "0007" {
		t.Errorf("got %q", got)
	}
}
