package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// found is what is measured, by absolute path.
type found struct {
	self          string   // this program
	lola          string   // the lola binary
	module        string   // the module to install
	skills        string   // the rival's entry point; empty: not at hand
	skillsVia     []string // what runs it, if it cannot be run by itself
	skillsVersion string
}

// rivalVersion is the version of the npm package that comparisons are made with.
const rivalVersion = "1.5.7"

// find looks for all that is measured. What it decides by itself it says on stderr.
func find(ctx context.Context, o options, scratch string, stderr io.Writer) (f found, err error) {
	if f.self, err = os.Executable(); err != nil {
		return f, fmt.Errorf("find own binary: %w", err)
	}
	switch {
	case o.module != "":
		f.module, err = locate(o.module)
	default:
		f.module, err = exampleModule()
	}
	if err != nil {
		return f, fmt.Errorf("find the module to install: %w; name one by --module", err)
	}
	switch {
	case o.lola != "":
		f.lola, err = locate(o.lola)
	default:
		f.lola, err = build(ctx, scratch, "lola", "./cmd/lola", stderr)
	}
	if err != nil {
		return f, fmt.Errorf("find lola: %w; name its binary by --lola", err)
	}
	return f, findRival(ctx, o.skills, &f, stderr)
}

// locate returns the absolute path of name: as it stands, from where the user called Bazel, or among the runfiles of this
// binary, by the path that $(rlocationpath) gives.
func locate(name string) (string, error) {
	tried := []string{name}
	if dir := os.Getenv("BUILD_WORKING_DIRECTORY"); dir != "" && !filepath.IsAbs(name) {
		tried = append(tried, filepath.Join(dir, name))
	}
	tried = append(tried, runfiles(name)...)
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("find %q: %w", name, fs.ErrNotExist)
}

// runfiles returns where Bazel may have put name: into a folder of runfiles, or anywhere, as a manifest says.
func runfiles(name string) []string {
	var paths []string
	if dir := os.Getenv("RUNFILES_DIR"); dir != "" {
		paths = append(paths, filepath.Join(dir, name))
	}
	if len(os.Args) > 0 {
		paths = append(paths, filepath.Join(os.Args[0]+".runfiles", name))
	}
	manifest, err := os.Open(os.Getenv("RUNFILES_MANIFEST_FILE"))
	if err != nil {
		return paths
	}
	defer manifest.Close() //nolint:errcheck // it is only read
	for lines := bufio.NewScanner(manifest); lines.Scan(); {
		if path, ok := strings.CutPrefix(lines.Text(), filepath.ToSlash(name)+" "); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

const rootModule = "module github.com/lola-ext/lola"

// checkout returns the folder of the checkout that this program is run in.
func checkout() (string, error) {
	dir := os.Getenv("BUILD_WORKSPACE_DIRECTORY")
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", fmt.Errorf("find working directory: %w", err)
		}
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && slices.Contains(strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n"), rootModule) {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("find the checkout above %q: %w", start, fs.ErrNotExist)
		}
	}
}

func exampleModule() (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return locate(filepath.Join(root, "examples", "git-doctor"))
}

// build builds a command as lola is released: static, stripped, no paths of this machine.
func build(ctx context.Context, scratch, name, pkg string, stderr io.Writer) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	binary, err := filepath.Abs(filepath.Join(scratch, executable(name)))
	if err != nil {
		return "", err
	}
	fmt.Fprintf(stderr, "bench: building %s\n", name)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, pkg)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s in %q: %w\n%s", pkg, root, err, out)
	}
	return binary, nil
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// findRival fills in the rival, if it is at hand. Only one that was named and cannot be run is an error.
func findRival(ctx context.Context, named string, f *found, stderr io.Writer) error {
	var tried []string
	if named != "" {
		path, err := locate(named)
		if err != nil {
			return fmt.Errorf("find the rival: %w", err)
		}
		tried = []string{path}
	} else {
		tried = rivals()
	}
	var errs []error
	for _, path := range tried {
		via := interpreter(path)
		argv := append(slices.Clone(via), path, "--version")
		version := exec.CommandContext(ctx, argv[0], argv[1:]...)
		version.Env = append(os.Environ(), "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1")
		out, err := version.Output()
		got := strings.TrimSpace(string(out))
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("run %q: %w", path, err))
			continue
		case got != rivalVersion && named == "":
			continue // a program of the same name, or another version: nobody asked for it
		case got != rivalVersion:
			fmt.Fprintf(stderr, "bench: the rival says that it is version %.40q; figures are kept for %s\n", got, rivalVersion)
		}
		f.skills, f.skillsVia, f.skillsVersion = path, via, got
		return nil
	}
	if named != "" {
		return errors.Join(errs...)
	}
	fmt.Fprintf(stderr, "bench: the npm package skills %s is not at hand and goes unmeasured; npm install skills@%[1]s in some folder, then --skills-bin FOLDER/node_modules/.bin/skills\n", rivalVersion)
	return nil
}

// rivals returns where npm leaves the rival: on PATH, or where npx keeps what it fetched.
func rivals() []string {
	var paths []string
	if path, err := exec.LookPath("skills"); err == nil {
		paths = append(paths, path)
	}
	cache := os.Getenv("npm_config_cache")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return paths
		}
		cache = filepath.Join(home, ".npm")
		if runtime.GOOS == "windows" {
			cache = filepath.Join(os.Getenv("LOCALAPPDATA"), "npm-cache")
		}
	}
	kept, err := filepath.Glob(filepath.Join(cache, "_npx", "*", "node_modules", ".bin", "skills"))
	if err != nil { // the cache's own path is no pattern
		return paths
	}
	return append(paths, kept...)
}

// interpreter returns what runs path: Node.js itself for a script, so that what finds it by PATH is not measured, in the
// rival's favour.
func interpreter(path string) []string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	switch filepath.Ext(target) {
	case ".mjs", ".js", ".cjs":
		if node, err := exec.LookPath("node"); err == nil {
			return []string{node}
		}
	}
	return nil
}
