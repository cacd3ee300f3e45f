package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim"
	"github.com/lola-ext/lola/targets"
)

// TestMain makes this test binary able to be the host's child, as main does in a program.
func TestMain(m *testing.M) {
	shim.RunIfChild()
	os.Exit(m.Run())
}

// A program that installs a module: it shows what would change and makes the change.
func Example() {
	// First in main stands shim.RunIfChild(): the host runs untrusted code in a child of this very program.
	home, project := scratch(), scratch()
	defer os.RemoveAll(home)
	defer os.RemoveAll(project)

	var options host.Options
	options.Home = home
	for _, t := range targets.Manifests() {
		options.Builtins = append(options.Builtins, host.Builtin{Manifest: t.YAML, Artifact: targets.Wasm()})
	}
	h, err := host.New(options)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()

	change, err := h.Install(context.Background(), host.Install{
		Module: "../examples/git-doctor", Project: project, Targets: []string{"cursor"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer change.Close()
	for _, f := range change.Report().Files {
		fmt.Println(f.Action, f.Path)
	}
	if err := change.Apply(context.Background(), host.Consent{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// create .cursor/agents/git-medic.md
	// create .cursor/commands/doctor.md
	// create .cursor/rules/git-doctor.mdc
	// create .cursor/skills/git-doctor/SKILL.md
	// create .cursor/skills/git-doctor/references/treatments.md
	// create .cursor/skills/git-doctor/scripts/checkup.sh
}

// scratch makes a private folder.
func scratch() string {
	dir, err := os.MkdirTemp("", "lola-example-")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}
