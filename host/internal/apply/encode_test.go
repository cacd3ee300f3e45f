package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
)

// TestChangeWrite: a change that is written piece by piece is what json.Marshal makes of it.
func TestChangeWrite(t *testing.T) {
	file := func(i int) *node {
		return &node{Mode: 0o644, Size: int64(i), Digest: digest(abi.DigestOf([]byte{byte(i)})), At: int64(i)}
	}
	tree := newDir()
	for i := range 3 {
		tree.Tree = append(tree.Tree, entry{Path: fmt.Sprintf("f<%d>\u2028", i), node: *file(i)}, entry{Path: "d", node: *newDir()})
	}
	whole := change{
		Format: changeFormat, ID: "20260101-000000", Time: time.Unix(1, 0).UTC(), Root: "/a \"b\"", Identity: "1", Staging: "s",
		Moves: []move{
			{Kind: kindRemove, Path: "r", Before: file(1)}, {Kind: kindSwap, Path: "s", Before: tree, After: tree}, {Kind: kindMkdir, Path: "m", After: newDir()},
			{Kind: kindRename, Path: "a", To: "b", Before: &node{Link: "x", Mode: 0o777}}, {Kind: kindPut, Path: "p", After: tree},
		},
		Made: []string{"m", "p"}, Prune: []entry{{Path: "x", node: *newDir()}}, Gone: []string{"y"}, Undoes: "z", Undo: true, Meta: json.RawMessage(`{"a":1}`),
	}
	one, none := whole, whole
	one.Moves, none.Moves = whole.Moves[:1], nil
	for _, c := range []change{whole, one, none, {}} {
		want, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := c.write(&got); err != nil || got.String() != string(want) {
			t.Errorf("%d moves: %v\n got %s\nwant %s", len(c.Moves), err, &got, want)
		}
		for n := range want {
			limit := (*abi.LimitError)(nil)
			if err := c.write(&bounded{w: &got, left: int64(n)}); !errors.As(err, &limit) {
				t.Fatalf("%d bytes of %d are allowed: %v, want a *abi.LimitError", n, len(want), err)
			}
		}
	}
	whole.Meta = json.RawMessage(`{`)
	if err := whole.write(&bytes.Buffer{}); err == nil {
		t.Error("meta that is no JSON is written")
	}
}
