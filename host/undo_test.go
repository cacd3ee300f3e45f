package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
)

// undo takes a change back, the last one if id is empty.
func (s *scene) undo(t *testing.T, id string) error {
	t.Helper()
	p, err := s.host.Undo(t.Context(), host.Undo{ID: id, Project: s.project})
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Apply(t.Context(), host.Consent{})
}

// TestUndoGivesBack: whatever a plan does, undo gives back what was there, the record included; and a second undo finds
// nothing more to take back.
func TestUndoGivesBack(t *testing.T) {
	text := "block\n"
	for name, intents := range map[string][]abi.Intent{
		"new":       {abi.Write{Path: ".guest/n/e/w", Mode: 0o600, Content: abi.Bytes("new")}},
		"overwrite": {abi.Write{Path: ".guest/a", Mode: 0o755, Content: abi.Bytes("new")}},
		"delete":    {abi.Delete{Path: ".guest/a"}},
		"folder":    {abi.Delete{Path: ".guest/dir"}},
		"exchange":  {abi.Delete{Path: ".guest/dir"}, abi.Write{Path: ".guest/dir/new", Mode: 0o644, Content: abi.Bytes("new")}},
		"rename":    {abi.Rename{From: ".guest/dir", To: ".guest/moved/dir"}},
		"values":    {set(".guest/c.json", value("/s/own", "theirs"), value("/s/new", int64(1)), abi.JSONEdit{At: "/gone"})},
		"block":     {abi.EditBlock{Path: ".guest/d.md", ID: "x", Text: &text}, abi.EditBlock{Path: ".guest/new.md", ID: "x", Text: &text}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t, intents...), abi.Limits{})
			for path, text := range map[string]string{
				"a": "mine", "dir/b": "b", "dir/sub/c": "c", "d.md": "# Mine\r\n", "c.json": "{\r\n\t\"gone\": 2, // x\r\n\t\"s\": {\"own\": \"token\"},\r\n}\r\n",
			} {
				write(t, filepath.Join(s.project, ".guest", path), text)
			}
			before := tree(t, s.project)
			if err := s.install(t.Context()); err != nil {
				t.Fatal(err)
			}
			if tree(t, s.project) == before {
				t.Fatal("nothing was changed")
			}
			if err := s.undo(t, ""); err != nil {
				t.Fatal(err)
			}
			if after := tree(t, s.project); after != before {
				t.Errorf("the project was %q, is %q", before, after)
			}
			if list, err := s.host.List(s.project); err != nil || len(list) > 0 {
				t.Errorf("installed: %v, %v", list, err)
			}
			if err := s.undo(t, ""); err == nil || !strings.Contains(err.Error(), "can be undone") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// TestUndoRefused: a change to any of what a plan made refuses all of it and names what changed, and nothing is changed.
func TestUndoRefused(t *testing.T) {
	text := "block\n"
	intents := []abi.Intent{
		abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}, abi.Delete{Path: ".guest/gone"},
		abi.Rename{From: ".guest/from", To: ".guest/to"}, set(".guest/c.json", value("/s/a", "x")), abi.EditBlock{Path: ".guest/d.md", ID: "x", Text: &text},
	}
	for name, c := range map[string]struct {
		path string
		do   func(path string) error
	}{
		"written":          {".guest/a", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) }},
		"removed":          {".guest/a", os.Remove},
		"a folder now":     {".guest/a", func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) }},
		"there again":      {".guest/gone", func(p string) error { return os.WriteFile(p, []byte("gone"), 0o644) }},
		"added to values":  {".guest/c.json", func(p string) error { return os.WriteFile(p, []byte(`{"s": {"a": "x"}, "mine": 1}`), 0o644) }},
		"added to text":    {".guest/d.md", func(p string) error { return os.WriteFile(p, []byte("mine\n"), 0o644) }},
		"renamed, else":    {".guest/to", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) }},
		"in the old place": {".guest/from", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t, intents...), abi.Limits{})
			write(t, filepath.Join(s.project, ".guest", "gone"), "gone")
			write(t, filepath.Join(s.project, ".guest", "from"), "from")
			if err := s.install(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.do(filepath.Join(s.project, filepath.FromSlash(c.path))); err != nil {
				t.Fatal(err)
			}
			before := tree(t, s.project)
			var changed *host.ChangedError
			if err := s.undo(t, ""); !errors.As(err, &changed) || len(changed.Left) != 1 || changed.Left[0].Path != c.path {
				t.Errorf("got %v, want that %s was changed", err, c.path)
			}
			if after := tree(t, s.project); after != before {
				t.Errorf("the project was %q, is %q", before, after)
			}
			if list, err := s.host.List(s.project); err != nil || len(list) != 1 {
				t.Errorf("installed: %v, %v", list, err)
			}
		})
	}
}

// TestUndoMeanwhile: what changes between the look and the undo refuses it too.
func TestUndoMeanwhile(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}), abi.Limits{})
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := s.host.Undo(t.Context(), host.Undo{Project: s.project})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	write(t, filepath.Join(s.project, ".guest", "a"), "mine")
	before := tree(t, s.project)
	if err := p.Apply(t.Context(), host.Consent{Foreign: true}); err == nil {
		t.Error("it was undone")
	}
	if after := tree(t, s.project); after != before {
		t.Errorf("the project was %q, is %q", before, after)
	}
}

// TestUndoOfOneOfTwo: one module's change is taken back under a later one of another module's that it does not touch.
func TestUndoOfOneOfTwo(t *testing.T) {
	one := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")}), abi.Limits{})
	if err := one.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, err := one.host.Undoable(one.project)
	if err != nil || len(first) != 1 {
		t.Fatalf("undoable: %v, %v", first, err)
	}
	two := one.beside(t, answering(t, abi.Write{Path: ".guest/b", Mode: 0o644, Content: abi.Bytes("b")}))
	if err := two.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := one.undo(t, first[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, one.project); got != ".guest .guest/b bmine mine\n" {
		t.Errorf("the project is %q", got)
	}
	if list, err := one.host.List(one.project); err != nil || len(list) != 1 || list[0].Module != filepath.Base(two.module) {
		t.Errorf("installed: %v, %v", list, err)
	}
	if err := one.undo(t, ""); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, one.project); got != "mine mine\n" {
		t.Errorf("the project is %q", got)
	}
}

// TestUndoOfWhatAnotherUses: a module that found all as it wants it changed nothing when it was installed. What the change
// before it put there is not taken away from it.
func TestUndoOfWhatAnotherUses(t *testing.T) {
	text := "block\n"
	file := abi.Write{Path: ".guest/x/a", Mode: 0o644, Content: abi.Bytes("a")}
	values := set(".guest/c.json", value("/s/a", "x"))
	block := abi.EditBlock{Path: ".guest/d.md", ID: "x", Text: &text}
	for name, c := range map[string]struct {
		first, other []abi.Intent
		refused      bool
	}{
		"a file":               {[]abi.Intent{file}, []abi.Intent{file}, true},
		"a value":              {[]abi.Intent{values}, []abi.Intent{values}, true},
		"a part of a value":    {[]abi.Intent{set(".guest/c.json", value("/s", map[string]any{"a": "x"}))}, []abi.Intent{values}, true},
		"a block":              {[]abi.Intent{block}, []abi.Intent{block}, true},
		"a value that was":     {[]abi.Intent{set(".guest/mine.json", value("/b", "x"))}, []abi.Intent{set(".guest/mine.json", value("/a", "x"))}, false},
		"something else of it": {[]abi.Intent{file, values}, []abi.Intent{abi.Write{Path: ".guest/x/b", Mode: 0o644, Content: abi.Bytes("b")}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, answering(t, c.first...), abi.Limits{})
			write(t, filepath.Join(s.project, ".guest", "mine.json"), "{\"a\": \"x\"}")
			if err := s.install(t.Context()); err != nil {
				t.Fatal(err)
			}
			list, err := s.host.Undoable(s.project)
			if err != nil || len(list) != 1 {
				t.Fatalf("it can be undone: %v, %v", list, err)
			}
			if err := s.beside(t, answering(t, c.other...)).install(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := tree(t, s.project)
			err = s.undo(t, list[0].ID)
			if !c.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "installed for \"guest\" since") {
				t.Errorf("got %v, want that another module needs it", err)
			}
			if after := tree(t, s.project); after != before {
				t.Errorf("the project was %q, is %q", before, after)
			}
		})
	}
}
