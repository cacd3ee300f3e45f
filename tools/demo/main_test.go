package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestDemo is what a new user sees first, so it has to work.
func TestDemo(t *testing.T) {
	if os.Getenv("LOLA") == "" {
		t.Skip("the demo gets the command from Bazel: tools/bazel test //tools/demo:all")
	}
	var out bytes.Buffer
	if err := demo(&out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"$ lola install ../git-doctor", ".claude/skills/git-doctor/SKILL.md", "as it was before"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not show %q:\n%s", want, out.String())
		}
	}
}
