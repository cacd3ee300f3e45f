package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
)

// TestSavedHere: the newest plans are known, the oldest are forgotten, and one that is saved again is new.
func TestSavedHere(t *testing.T) {
	h := open(t, filepath.Join(t.TempDir(), "home"))
	digest := func(i int) abi.Digest { return abi.DigestOf(fmt.Append(nil, i)) }
	knows := func(i int, want bool) {
		t.Helper()
		if got, err := h.SavedHere(digest(i)); err != nil || got != want {
			t.Errorf("plan %d: %v, %v, want %v", i, got, err, want)
		}
	}
	knows(0, false)
	for i := range 3 {
		if err := h.KeepSaved(digest(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.KeepSaved(digest(0)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		knows(i, true)
	}
	knows(3, false)
	for i := 3; i < home.MaxPlans+1; i++ { // 1, the oldest by now, goes
		if err := h.KeepSaved(digest(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: true, home.MaxPlans: true} {
		knows(i, want)
	}
}

// TestSavedHereDamaged: a list that cannot be read says nothing, and is not written over.
func TestSavedHereDamaged(t *testing.T) {
	digest := abi.DigestOf(nil)
	for _, text := range []string{"", "{", `{"format": 2, "saved": []}`, `{"format": 1, "saved": ["x"]}`, `{"format": 1, "more": 1}`, `{"format": 1} {}`} {
		path := filepath.Join(t.TempDir(), "home")
		h := open(t, path)
		at := filepath.Join(path, "plans.json")
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := h.SavedHere(digest); ok || err == nil {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
		if err := h.KeepSaved(digest); err == nil {
			t.Errorf("%q: it was written over", text)
		}
		if now, err := os.ReadFile(at); string(now) != text {
			t.Errorf("%q is %q now, %v", text, now, err)
		}
	}
}
