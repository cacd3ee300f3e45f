package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim"
	"github.com/lola-ext/lola/targets"
)

// TestMain makes this test binary able to be the host's child, as main does in a program.
func TestMain(m *testing.M) {
	deny() // if this is the program of lessConfined
	shim.RunIfChild()
	os.Exit(m.Run())
}

// A program that installs a module: it shows what would change and makes the change.
func Example() {
	// First in main stands shim.RunIfChild(): the host runs untrusted code in a child of this very program.
	dir, err := os.MkdirTemp("", "lola-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	module, project := filepath.Join(dir, "hello"), filepath.Join(dir, "project")
	for path, text := range map[string]string{
		filepath.Join(module, "commands", "hello.md"): "Say hello.\n",
		filepath.Join(project, "README.md"):           "# A project\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	var options host.Options
	options.Home = filepath.Join(dir, "home")
	for _, t := range targets.Manifests() {
		options.Builtins = append(options.Builtins, host.Builtin{Manifest: t.YAML, Artifact: targets.Wasm()})
	}
	h, err := host.New(options)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()

	change, err := h.Install(context.Background(), host.Install{
		Module: module, Project: project, Targets: []string{"claude-code", "cursor"},
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
	// create .claude/commands/hello.md
	// create .cursor/commands/hello.md
}
