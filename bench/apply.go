package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// modeApply is the word on the command line for measuring how files come onto the disk.
const modeApply = "apply"

// The ways in which files come to lie in a project.
const (
	writeName    = "os.WriteFile"
	gitName      = "git checkout"
	applyName    = "plan.Check + apply.Run"
	fileBytes    = 1 << 10
	perDirectory = 20 // files, about as many as a skill has
)

// applyOptions is the command line of that mode.
type applyOptions struct {
	lola, tool string
	scratch    string
	sizes      []int
	growth     int // files; ten times as many as well. 0: not measured
	intents    int // of plans that are judged only; an eighth as many as well. 0: not measured
	rounds     int
	warm       int
	limit      time.Duration
	settle     bool
	json       bool
}

func parseApplyOptions(args []string, stderr io.Writer) (applyOptions, error) {
	var o applyOptions
	flags := flag.NewFlagSet("bench apply", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.lola, "lola", "", "the lola `binary`; default: built from this checkout with go build")
	flags.StringVar(&o.tool, "applybench", "", "the `binary` of host/internal/apply/applybench; default: built like lola")
	flags.StringVar(&o.scratch, "scratch", "", "where files are written; default: the system's folder for temporary files. A file system in memory hides what syncing costs")
	sizes := flags.String("sizes", "1,100,1000,10000", "how many files a plan has, `numbers` with commas")
	flags.IntVar(&o.growth, "growth", 6000, "compare so many `files` with ten times as many; 0: do not")
	flags.IntVar(&o.intents, "intents", 65536, "judge plans of so many `intents`, and of an eighth; 0: do not")
	flags.IntVar(&o.rounds, "n", 5, "how many `rounds` are counted")
	flags.IntVar(&o.warm, "warm", 1, "how many `rounds` go before them uncounted")
	flags.DurationVar(&o.limit, "limit", 5*time.Minute, "how long one command may take")
	flags.BoolVar(&o.settle, "settle", true, "write everything back before each run, so that none pays for another's files")
	flags.BoolVar(&o.json, "json", false, "print JSON, every sample included, in place of the tables")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("parse arguments: unexpected %q", flags.Arg(0))
	}
	for size := range strings.SplitSeq(*sizes, ",") {
		if size == "" {
			continue
		}
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return o, fmt.Errorf("parse arguments: -sizes has %q, want numbers from 1", size)
		}
		o.sizes = append(o.sizes, n)
	}
	if o.rounds < 1 || o.warm < 0 || o.growth < 0 || o.intents < 0 {
		return o, errors.New("parse arguments: -n is to be at least 1, -warm, -growth and -intents at least 0")
	}
	return o, nil
}

// benchApply measures in groups: the ways for each size, then growth, then judging alone. All of a group is interleaved.
func benchApply(ctx context.Context, o applyOptions, stderr io.Writer) (_ *ApplyReport, err error) {
	scratch, err := os.MkdirTemp(o.scratch, "lola-bench-")
	if err != nil {
		return nil, fmt.Errorf("make scratch folder: %w", err)
	}
	defer func() {
		if e := os.RemoveAll(scratch); e != nil && err == nil {
			err = fmt.Errorf("remove scratch folder %q: %w", scratch, e)
		}
	}()
	a, err := newApplying(ctx, o, scratch, stderr)
	if err != nil {
		return nil, err
	}
	report := &ApplyReport{
		Schema: applySchema, Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Rounds: o.rounds,
		FileSystem: fileSystem(scratch),
	}
	m := measurer{self: a.self, scratch: scratch, limit: o.limit}
	measure := func(title string, base string, commands []*command) error {
		fmt.Fprintf(stderr, "bench: measuring %s\n", title)
		before := load()
		series, err := measureAll(ctx, commands, o.warm, o.rounds, m.measure)
		if err != nil {
			return err
		}
		report.Groups = append(report.Groups, newGroup(title, base, commands, series, before, load()))
		return nil
	}
	for _, n := range o.sizes {
		ways, err := a.ways(ctx, n)
		if err == nil {
			err = measure(fmt.Sprintf("%d new files of 1 KiB", n), writeName, ways)
		}
		if err != nil {
			return nil, err
		}
	}
	if n := o.growth; n > 0 {
		var ways []*command
		for _, n := range []int{n, 10 * n} {
			for _, c := range []*command{a.write(n), a.apply(n)} {
				c.name = fmt.Sprintf("%s, %d files", c.name, n)
				ways = append(ways, c)
			}
		}
		if err := measure(fmt.Sprintf("growth from %d to %d files", n, 10*n), ways[0].name, ways); err != nil {
			return nil, err
		}
	}
	// What removes files comes behind what makes them: ext4 looks for an inode that was not freed within the last minutes, so
	// that files are dear to make where many were removed. For the same reason nothing is cleaned up before the end.
	for _, n := range o.sizes {
		if err := measure(fmt.Sprintf("%d files of 1 KiB that lola made", n), writeName, a.later(n)); err != nil {
			return nil, err
		}
	}
	if n := o.intents; n > 0 {
		ways := []*command{a.check("spread", 0)}
		for _, shape := range []string{"flat", "spread", "deep"} {
			ways = append(ways, a.check(shape, n/8), a.check(shape, n))
		}
		if err := measure(fmt.Sprintf("judging up to %d intents", n), ways[0].name, ways); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// applying makes the commands of this mode.
type applying struct {
	self, lola, tool string
	folders          *scratchFolders
	env              []string
	settle           func()
}

// sources are what other programs read: the files, an archive of them and a repository that has them.
type sources struct{ dir, archive, git, module string }

func newApplying(ctx context.Context, o applyOptions, scratch string, stderr io.Writer) (a *applying, err error) {
	if scratch, err = filepath.Abs(scratch); err != nil {
		return nil, fmt.Errorf("find scratch folder: %w", err)
	}
	a = &applying{folders: &scratchFolders{root: scratch}, settle: func() {}}
	if o.settle {
		a.settle = settle
	}
	if a.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find own binary: %w", err)
	}
	home, err := a.folders.fresh("home", 0o700)
	if err != nil {
		return nil, err
	}
	a.env = append(environment(home, filepath.Join(home, "lola")), "GIT_CONFIG_NOSYSTEM=1")
	if len(o.sizes) > 0 {
		if a.lola, err = binary(ctx, o.lola, scratch, "lola", "./cmd/lola", stderr); err != nil {
			return nil, fmt.Errorf("find lola: %w; name its binary by --lola", err)
		}
	}
	if a.tool, err = binary(ctx, o.tool, scratch, "applybench", "./host/internal/apply/applybench", stderr); err != nil {
		return nil, fmt.Errorf("find applybench: %w; name its binary by --applybench", err)
	}
	return a, nil
}

// binary is the binary that was named, or one built for the purpose.
func binary(ctx context.Context, named, scratch, name, pkg string, stderr io.Writer) (string, error) {
	if named != "" {
		return locate(named)
	}
	return build(ctx, scratch, name, pkg, stderr)
}

// ways returns every way of bringing n files onto the disk.
func (a *applying) ways(ctx context.Context, n int) ([]*command, error) {
	src, err := a.sources(ctx, n)
	if err != nil {
		return nil, err
	}
	commands := []*command{
		a.write(n),
		a.into(n, "os.WriteFile, then sync all", nil, func(dir string) []string { return []string{a.self, roleWrite, writeAll, dir, strconv.Itoa(n)} }),
		a.into(n, "os.WriteFile, fsync each", nil, func(dir string) []string { return []string{a.self, roleWrite, writeEach, dir, strconv.Itoa(n)} }),
	}
	for _, rival := range []struct {
		name    string
		argv    func(dir string) []string
		prepare func() error
	}{
		{gitName, func(dir string) []string {
			return []string{"git", "--git-dir=" + src.git, "--work-tree=" + dir, "checkout", "-q", "-f", "main"}
		}, func() error { return removed(filepath.Join(src.git, "index")) }},
		{"tar x", func(dir string) []string { return []string{"tar", "-xf", src.archive, "-C", dir} }, nil},
		{"cp -r", func(dir string) []string { return []string{"cp", "-r", src.dir + "/.", dir} }, nil},
	} {
		program, err := exec.LookPath(rival.argv("")[0])
		if err != nil {
			continue // not on this machine
		}
		commands = append(commands, a.into(n, rival.name, rival.prepare, func(dir string) []string {
			argv := rival.argv(dir)
			argv[0] = program
			return argv
		}))
	}
	return append(commands, a.apply(n), a.install(n, src)), nil
}

// later returns what is done with files that lola made, beside writing as many anew.
func (a *applying) later(n int) []*command {
	return []*command{
		a.write(n),
		a.with(n, "all changed", n, "update", "apply"),
		a.with(n, "the same, undone", n, "undo", "apply", "update"),
		a.with(n, "all removed", 0, "remove", "apply"),
	}
}

// into is a command that fills a fresh folder with n files.
func (a *applying) into(n int, name string, before func() error, argv func(dir string) []string) *command {
	c := &command{name: name, env: a.env}
	c.prepare = func() (err error) {
		if c.dir, err = a.folders.fresh("project", 0o755); err != nil {
			return err
		}
		if c.argv = argv(c.dir); before != nil {
			err = before()
		}
		a.settle()
		return err
	}
	c.check = func() error { return holds(c.dir, n) }
	return c
}

func (a *applying) write(n int) *command {
	return a.into(n, writeName, nil, func(dir string) []string { return []string{a.self, roleWrite, writeOnly, dir, strconv.Itoa(n)} })
}

func (a *applying) apply(n int) *command { return a.with(n, applyName, n, "apply") }

// with is a job of applybench after others, which leaves so many files.
func (a *applying) with(n int, name string, left int, job string, before ...string) *command {
	c := &command{name: name, env: a.env, inside: true}
	var base string
	argv := func(job string) []string {
		argv := []string{a.tool, job, c.dir, filepath.Join(base, "state")}
		if job != "undo" {
			argv = append(argv, strconv.Itoa(n))
		}
		return argv
	}
	c.prepare = func() (err error) {
		if base, err = a.folders.fresh("lola", 0o755); err != nil {
			return err
		}
		c.dir = filepath.Join(base, "project")
		for _, dir := range []string{c.dir, filepath.Join(base, "state")} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return fmt.Errorf("make scratch folder: %w", err)
			}
		}
		for _, job := range before {
			argv := argv(job)
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s before: %w\n%s", job, err, out)
			}
		}
		c.argv = argv(job)
		a.settle()
		return nil
	}
	c.check = func() error { return holds(c.dir, left) }
	return c
}

func (a *applying) check(shape string, n int) *command {
	c := a.into(0, fmt.Sprintf("%s, %d intents", shape, n), nil, func(dir string) []string {
		return []string{a.tool, "check", dir, shape, strconv.Itoa(n)}
	})
	c.inside = true
	return c
}

// install is the whole command: a module whose skills have n files.
func (a *applying) install(n int, src *sources) *command {
	c := a.into(n, "lola install of them all", nil, func(dir string) []string {
		return []string{a.lola, "install", src.module, "-a", "claude-code", "--project", dir, "--yes"}
	})
	c.check = func() error {
		got, err := count(filepath.Join(c.dir, ".claude"))
		if err == nil && got < n {
			err = fmt.Errorf("look at what was installed: %d files, want %d", got, n)
		}
		return err
	}
	return c
}

// sources makes what the others read, once for each n.
func (a *applying) sources(ctx context.Context, n int) (*sources, error) {
	dir, err := a.folders.fresh("sources", 0o755)
	if err != nil {
		return nil, err
	}
	src := &sources{dir: filepath.Join(dir, "files"), archive: filepath.Join(dir, "files.tar"), git: filepath.Join(dir, "git"), module: filepath.Join(dir, "module")}
	if err := writeFiles(src.dir, n, writeOnly); err != nil {
		return nil, err
	}
	if err := archive(src.archive, n); err != nil {
		return nil, err
	}
	if err := writeModule(src.module, n); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return src, nil
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "files"},
		{"gc", "-q"}, // packed, as what was cloned is
	} {
		// Git's own upkeep would begin behind a commit, and be in the way of the one that is asked for.
		git := exec.CommandContext(ctx, "git", append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "--git-dir=" + src.git, "--work-tree=" + src.dir}, args...)...)
		git.Dir, git.Env = src.dir, a.env
		if out, err := git.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make a repository: git %s: %w\n%s", args[0], err, out)
		}
	}
	return src, nil
}

// filePath is where file i lies.
func filePath(i int) string { return fmt.Sprintf("skills/skill-%d/file-%d.md", i/perDirectory, i) }

// fileText is what file i holds, 1 KiB that no other file has.
func fileText(i int) []byte {
	text := fmt.Appendf(make([]byte, 0, fileBytes), "This is file %d, and its text is of no use.\n", i)
	return append(text, filling[:fileBytes-len(text)]...)
}

// filling is what files hold behind their first line. Making it for each would be what is measured.
var filling = bytes.Repeat([]byte("One line is as good as another.\n"), fileBytes/32)

// roleWrite is the process that writes files in the plainest way.
const roleWrite = "__write"

// How durable that is.
const (
	writeOnly = "only" // whenever the system gets to it
	writeAll  = "all"  // everything on all disks once, at the end
	writeEach = "each" // each file and each directory
)

func writeRole(args []string) int {
	if len(args) != 3 {
		fmt.Fprintf(os.Stderr, "bench: error: write: %d arguments, want 3\n", len(args))
		return 1
	}
	n, err := strconv.Atoi(args[2])
	if err == nil {
		err = writeFiles(args[1], n, args[0])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: %v\n", err)
		return 1
	}
	return 0
}

func writeFiles(dir string, n int, how string) error {
	at := ""
	for i := range n {
		path := filepath.Join(dir, filepath.FromSlash(filePath(i)))
		if up := filepath.Dir(path); up != at {
			if err := leave(at, how); err != nil {
				return err
			}
			if at = up; os.MkdirAll(up, 0o755) != nil {
				return fmt.Errorf("make folder %q", up)
			}
		}
		err := os.WriteFile(path, fileText(i), 0o644)
		if err == nil && how == writeEach {
			err = syncPath(path)
		}
		if err != nil {
			return fmt.Errorf("write file %d: %w", i, err)
		}
	}
	if how == writeAll {
		settle()
	}
	return leave(at, how)
}

// leave makes the entries of a folder durable.
func leave(dir, how string) error {
	if how != writeEach || dir == "" {
		return nil
	}
	return syncPath(dir)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func archive(path string, n int) error {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		err := w.WriteHeader(&tar.Header{Name: filePath(i), Mode: 0o644, Size: fileBytes, Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write(fileText(i))
		}
		if err != nil {
			return fmt.Errorf("make archive: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("make archive: %w", err)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// writeModule makes a module whose skills have n files.
func writeModule(dir string, n int) error {
	for i := range n {
		name, text := fmt.Sprintf("file-%d.md", i), fileText(i)
		if i%perDirectory == 0 {
			head := fmt.Sprintf("---\nname: skill-%d\ndescription: It is of no use.\n---\n", i/perDirectory)
			name, text = "SKILL.md", append([]byte(head), text[:fileBytes-len(head)]...)
		}
		path := filepath.Join(dir, "skills", fmt.Sprintf("skill-%d", i/perDirectory), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make module: %w", err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("make module: %w", err)
		}
	}
	return nil
}

// holds says whether a folder holds n files, and nothing that somebody forgot.
func holds(dir string, n int) error {
	got, err := count(dir)
	if err == nil && got != n {
		err = fmt.Errorf("look at what was written: %d files, want %d", got, n)
	}
	return err
}

func count(dir string) (int, error) {
	n := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n, err
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// load is how busy the machine was of late, as /proc/loadavg has it; empty where there is none.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// fileSystem names the file system that a folder lies on, as /proc/self/mounts has it; empty where there is none.
func fileSystem(dir string) string {
	text, _ := os.ReadFile("/proc/self/mounts")
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	best, name := "", ""
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 || len(f[1]) < len(best) {
			continue
		}
		if at := strings.TrimSuffix(f[1], "/"); dir == at || strings.HasPrefix(dir, at+"/") {
			best, name = f[1], f[2]
		}
	}
	return name
}

// index is the position of a command.
func index(commands []*command, name string) int { return slices.IndexFunc(commands, named(name)) }
