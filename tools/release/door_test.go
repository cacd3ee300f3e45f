// Package release_test holds the command that people get to what must not be in it.
package release_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/bazelbuild/rules_go/go/runfiles"
)

// doors are names of what only tests have, which lets code inside a locked child call the kernel as it likes.
var doors = []string{"LOLA_LOCKDOWN_ORDERS", "lockdown.obey", "lockdown.deeds"}

// TestNoDoor: the program that attacks its own walls has the door, and the command, which puts up the same walls, has not.
// Function names are in every Go program, a stripped one too.
func TestNoDoor(t *testing.T) {
	for _, program := range []struct {
		path string
		door bool
	}{
		{os.Getenv("ATTACKER"), true},
		{os.Getenv("LOLA"), false},
	} {
		if program.path == "" {
			t.Skip("the programs are built by Bazel: tools/bazel test //tools/release/...")
		}
		path, err := runfiles.Rlocation(program.path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("lockdown.Enter")) {
			t.Errorf("%s puts up no walls", program.path)
		}
		for _, name := range doors {
			if has := bytes.Contains(text, []byte(name)); has != program.door {
				t.Errorf("%s has %q: %v, want %v", program.path, name, has, program.door)
			}
		}
	}
}
