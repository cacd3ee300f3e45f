package home_test

import (
	"slices"
	"testing"

	"github.com/lola-ext/lola/host/internal/home"
)

// TestAgreeAdds: two commands that read what was agreed to before either wrote it down lose nothing of one another.
func TestAgreeAdds(t *testing.T) {
	h, r := open(t, t.TempDir()+"/home"), openRoot(t, t.TempDir())
	first, err := h.Agreed(r)
	if err != nil {
		t.Fatal(err)
	}
	second := first
	first.Follow, second.Follow, second.Allowed = []string{"b"}, []string{"a"}, true
	for _, a := range []home.Agreed{second, first, first} {
		if err := h.Agree(a); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.Agreed(r)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Allowed || !slices.Equal(got.Follow, []string{"a", "b"}) {
		t.Errorf("agreed to: allowed %v, links %q; want both links once, and allowed", got.Allowed, got.Follow)
	}
}
