// Command demo installs the example module into a scratch project, shows what
// that did, and takes it away again:
//
//	tools/bazel run //:demo
//
// It runs the real command and nothing of its own, prints each line as one would
// type it, and exits with status 1 if the project is not as it was before.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bazelbuild/rules_go/go/runfiles"
)

func main() {
	if err := demo(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "demo: error: %v\n", err)
		os.Exit(1)
	}
}

const module = "git-doctor"

func demo(w io.Writer) (err error) {
	lola, err := place("LOLA")
	if err != nil {
		return err
	}
	manifest, err := place("MODULE")
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "lola-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	// A copy: what Bazel lays out are links, and a module's links are not read.
	if err := copyTree(filepath.Join(scratch, module), filepath.Dir(manifest)); err != nil {
		return err
	}
	project := filepath.Join(scratch, "project")
	if err := os.MkdirAll(filepath.Join(project, ".claude"), 0o777); err != nil {
		return err
	}
	d := session{w: w, lola: lola, dir: project, home: filepath.Join(scratch, "home"), last: new(string)}
	fmt.Fprintf(w, "A project of somebody who uses Claude Code, and a module beside it:\n\n")
	d.typed("mkdir -p project/.claude; cd project")
	before, err := tree(project)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"ext", "list"},
		{"install", "../" + module, "--dry-run"},
	} {
		if err := d.run(args...); err != nil {
			return err
		}
	}
	// The module has an MCP server, which starts by itself; the preview says what to agree to.
	trust, err := d.trust()
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"install", "../" + module, "--trust", trust},
		{"list"},
		{"status"},
		{"log"},
	} {
		if err := d.run(args...); err != nil {
			return err
		}
	}
	after, err := tree(project)
	if err != nil {
		return err
	}
	d.typed("find . -type f")
	fmt.Fprintln(w, strings.Join(files(after), "\n"))
	if slices.Equal(before, after) {
		return errors.New("installed the module, but nothing is in the project")
	}
	if err := d.run("uninstall", module); err != nil {
		return err
	}
	d.typed("find .")
	gone, err := tree(project)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, strings.Join(gone, "\n"))
	if !slices.Equal(before, gone) {
		return fmt.Errorf("uninstalled the module, but the project is not as it was: %q", before)
	}
	fmt.Fprintln(w, "\nThe project is as it was before.")
	return nil
}

// place finds a file that Bazel names in an environment variable.
func place(name string) (string, error) {
	path, err := runfiles.Rlocation(os.Getenv(name))
	if err != nil {
		return "", fmt.Errorf("%w; start the demo with: tools/bazel run //:demo", err)
	}
	// The real file: some of what lies beside it is told apart by identity.
	return filepath.EvalSymlinks(path)
}

// session is somebody at a shell in the folder dir.
type session struct {
	w               io.Writer
	lola, dir, home string
	last            *string // what the last command printed
}

// trust finds NAME@sha256:HEX in what the last command printed.
func (s session) trust() (string, error) {
	if found := regexp.MustCompile(module + `@sha256:[0-9a-f]{64}`).FindString(*s.last); found != "" {
		return found, nil
	}
	return "", errors.New("the preview does not say what to agree to")
}

func (s session) typed(line string) { fmt.Fprintf(s.w, "\n$ %s\n", line) }

func (s session) run(args ...string) error {
	s.typed("lola " + strings.Join(args, " "))
	cmd := exec.Command(s.lola, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LOLA_HOME="+s.home)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	_, _ = s.w.Write(out.Bytes())
	*s.last = out.String()
	if err != nil {
		return fmt.Errorf("run lola %s: %w", args[0], err)
	}
	return nil
}

// tree lists what is beneath dir, folders with a slash.
func tree(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if e.IsDir() {
			rel += "/"
		}
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

func files(tree []string) []string {
	return slices.DeleteFunc(slices.Clone(tree), func(name string) bool { return strings.HasSuffix(name, "/") })
}

// copyTree copies the regular files beneath from, following links.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o666)
	})
}
