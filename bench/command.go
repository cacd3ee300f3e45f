package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// command is one thing that is measured. Its functions may change argv, env and dir before each run.
type command struct {
	name    string
	argv    []string
	env     []string
	dir     string
	prepare func() error // before each run, not measured
	check   func() error // after each run, not measured: a command that did nothing must not look fast
	inside  bool         // it prints how long it judged and applied
}

// The commands that others are compared with, or that are.
const (
	floorName   = "floor"
	installName = "lola install"
	rivalName   = "skills add"
)

// newCommands returns what is measured, the floor first. All that they write lies in scratch.
func newCommands(f found, scratch string) ([]*command, error) {
	scratch, err := filepath.Abs(scratch)
	if err != nil {
		return nil, fmt.Errorf("find scratch folder: %w", err)
	}
	s := &scratchFolders{root: scratch}
	home, err := s.fresh("home", 0o700)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(home, "lola")
	env := environment(home, state)
	nothing := func() error { return nil }
	commands := []*command{
		{name: floorName, argv: []string{f.self, roleFloor}, env: env, dir: scratch, prepare: nothing, check: nothing},
		{name: "lola version", argv: []string{f.lola, "version"}, env: env, dir: scratch, prepare: nothing, check: nothing},
	}
	agreed, err := agreement(f.lola, f.module, s, env)
	if err != nil {
		return nil, err
	}
	install := func(project string) []string {
		return append([]string{f.lola, "install", f.module, "-a", "claude-code", "--project", project, "--yes"}, agreed...)
	}
	freshProject := func(c *command) (err error) {
		if c.dir, err = s.fresh("project", 0o755); err == nil {
			c.argv = install(c.dir)
		}
		return err
	}

	fresh := &command{name: installName, env: env}
	fresh.prepare = func() error { return freshProject(fresh) }
	fresh.check = func() error { return hasFiles(fresh.dir) }

	first := &command{name: "lola install, first"}
	first.prepare = func() error {
		home, err := s.fresh("home", 0o700)
		if err != nil {
			return err
		}
		first.env = environment(home, filepath.Join(home, "lola"))
		return freshProject(first)
	}
	first.check = func() error { return hasFiles(first.dir) }

	var before []string
	again := &command{name: "lola install, again", env: env}
	again.prepare = func() error {
		if again.argv != nil {
			return nil
		}
		if err := freshProject(again); err != nil {
			return err
		}
		once := exec.Command(again.argv[0], again.argv[1:]...)
		once.Dir, once.Env = again.dir, again.env
		if out, err := once.CombinedOutput(); err != nil {
			return fmt.Errorf("install into %q for the first time: %w\n%s", again.dir, err, out)
		}
		var err error
		before, err = listTree(again.dir)
		return errors.Join(err, hasFiles(again.dir))
	}
	again.check = func() error {
		after, err := listTree(again.dir)
		if err == nil && !slices.Equal(before, after) {
			err = fmt.Errorf("compare project %q: the second install changed it", again.dir)
		}
		return err
	}
	commands = append(commands, fresh, first, again)

	if f.skills != "" {
		rival := &command{name: rivalName, env: append(slices.Clone(env), "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1")}
		rival.argv = append(slices.Clone(f.skillsVia), f.skills, "add", f.module, "-a", "claude-code", "-y", "--copy")
		rival.prepare = func() (err error) {
			rival.dir, err = s.fresh("project", 0o755)
			return err
		}
		rival.check = func() error { return hasFiles(rival.dir) }
		commands = append(commands, rival)
	}
	return commands, nil
}

// agreement is what the command line says of a module that makes something run by itself, such as MCP servers: that it may,
// and which module. It is for one that this checkout or the caller named.
func agreement(lola, module string, s *scratchFolders, env []string) ([]string, error) {
	project, err := s.fresh("project", 0o755)
	if err != nil {
		return nil, err
	}
	preview := exec.Command(lola, "install", module, "-a", "claude-code", "--project", project, "--dry-run", "--json")
	var errs strings.Builder
	preview.Dir, preview.Env, preview.Stderr = project, env, &errs
	out, err := preview.Output()
	if err != nil {
		return nil, fmt.Errorf("ask what the module %q would do: %w\n%s", module, err, errs.String())
	}
	var report struct {
		Module string            `json:"module"`
		Digest string            `json:"sha256"`
		Runs   []json.RawMessage `json:"runs"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("read what the module %q would do: %w", module, err)
	}
	if len(report.Runs) == 0 {
		return nil, nil
	}
	return []string{"--trust", report.Module + "@sha256:" + strings.TrimPrefix(report.Digest, "sha256:")}, nil
}

// environment is all that a measured command sees: the system's own variables and scratch folders.
func environment(home, state string) []string {
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "LOLA_HOME=" + state, "NO_COLOR=1"}
	for _, name := range []string{"PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "SystemDrive", "PATHEXT", "ComSpec"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// scratchFolders makes numbered folders. None is used twice, as lola knows a project by its path and identity.
type scratchFolders struct {
	root string
	made int
}

func (s *scratchFolders) fresh(kind string, mode fs.FileMode) (string, error) {
	s.made++
	dir := filepath.Join(s.root, fmt.Sprintf("%s-%d", kind, s.made))
	if err := os.Mkdir(dir, mode); err != nil {
		return "", fmt.Errorf("make scratch folder: %w", err)
	}
	return dir, nil
}

// hasFiles says whether something was installed for Claude Code into project.
func hasFiles(project string) error {
	lines, err := listTree(filepath.Join(project, ".claude"))
	if err != nil {
		return fmt.Errorf("look for what was installed: %w", err)
	}
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "-") }) {
		return fmt.Errorf("look for what was installed into %q: no file", project)
	}
	return nil
}

// listTree returns a line for each entry beneath dir that changes when the entry does.
func listTree(dir string) ([]string, error) {
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%v %d %d %s", info.Mode(), info.Size(), info.ModTime().UnixNano(), path))
		return nil
	})
	return lines, err
}
