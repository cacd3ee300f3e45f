package host_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
)

// FuzzSavedPlan: any bytes as a plan file are an error or a change that is judged and has not happened; there is no panic, and
// neither the project nor the state folder holds more than before.
func FuzzSavedPlan(f *testing.F) {
	text := "block\n"
	plans := [][]abi.Intent{
		{},
		{abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("text")}, abi.Delete{Path: ".guest/b"}},
		{abi.EditJSON{Path: ".guest/a.json", Edits: []abi.JSONEdit{{At: "/s/a", Set: true, Value: "x"}}}, abi.EditBlock{Path: ".guest/a.md", ID: "b", Text: &text}},
		{abi.Rename{From: ".guest/c", To: ".guest/d"}},
	}
	state := map[string]string{".guest/a": "nothing", ".guest/a.json": "nothing", ".guest/a.md": "nothing"}
	for _, intents := range plans {
		encoded := encode(f, intents...)
		f.Add(savedPlan(f, header(len(encoded), state), encoded))
		f.Add(savedPlan(f, header(1<<40, nil), encoded))
	}
	f.Add([]byte("lola-plan 1\n{}\n"))
	f.Add([]byte{})

	dir := f.TempDir()
	project, file := filepath.Join(dir, "project"), filepath.Join(dir, "plan.lola")
	for path, text := range map[string]string{"mine": "mine", ".guest/b": "b", ".guest/c": "c"} {
		write(f, filepath.Join(project, path), text)
	}
	h, err := host.New(host.Options{
		Home: filepath.Join(dir, "home"), Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: []byte("\x00asm\x01\x00\x00\x00")}},
		Limits: abi.Limits{Plan: 1 << 20},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { h.Close() })
	before := tree(f, project)
	f.Fuzz(func(t *testing.T, saved []byte) {
		if err := os.WriteFile(file, saved, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := h.OpenPlan(t.Context(), host.OpenPlan{File: file, Project: project, DryRun: true})
		if err == nil {
			if d := abi.DigestOf(saved); p.Trust().Digest != d {
				t.Errorf("the digest is %v, want %v", p.Trust().Digest, d)
			}
			if again := (bytes.Buffer{}); p.Save(t.Context(), &again) != nil || again.Len() == 0 {
				t.Error("what was read from a file cannot be saved again")
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if after := tree(t, project); after != before {
			t.Errorf("the project was %q, is %q", before, after)
		}
		if left := tree(t, filepath.Join(h.Home(), "tmp")); left != "" {
			t.Errorf("the state folder holds %q", left)
		}
	})
}
