// Refresh puts the module that Bazel has just built into the checkout, with the name of the compiler that made it:
//
//	tools/bazel run //targets/refresh
//
// Commit both files with the change that made them differ.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}

// run copies args[0], the module, and args[1], the compiler's version, to where they are committed.
func run(args []string) error {
	root := os.Getenv("BUILD_WORKSPACE_DIRECTORY") // set by bazel run
	if len(args) != 2 || root == "" {
		return fmt.Errorf("finding the checkout: this is run with tools/bazel run //targets/refresh")
	}
	for i, name := range []string{"targets.wasm", "targets.wasm.rustc"} {
		b, err := os.ReadFile(args[i])
		if err != nil {
			return fmt.Errorf("reading what was built: %w", err)
		}
		path := filepath.Join(root, "targets", name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return fmt.Errorf("refreshing %q: %w", name, err)
		}
		fmt.Println(path, len(b))
	}
	return nil
}
