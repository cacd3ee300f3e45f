// Export writes all guests to a folder, for tests that are run without Bazel:
//
//	tools/bazel run //testwasm/export -- DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lola-ext/lola/testwasm"
)

func main() {
	if len(os.Args) != 2 || !filepath.IsAbs(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "usage: export DIR, an absolute path")
		os.Exit(2)
	}
	if err := export(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func export(dir string) error {
	for _, g := range testwasm.Catalogue() {
		wasm, err := testwasm.Read(g.ID())
		if err != nil {
			return err
		}
		path := filepath.Join(dir, string(g.Language), g.Name+".wasm")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, wasm, 0o644); err != nil {
			return err
		}
		fmt.Println(path, len(wasm))
	}
	return nil
}
