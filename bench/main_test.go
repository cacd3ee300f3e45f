package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain plays the roles, as main does, and a stand-in for lola where the binary is called by a name that says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if code, ok := playRole(os.Args[1], os.Args[2:]); ok {
			os.Exit(code)
		}
	}
	if name, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "standin-"); ok {
		os.Exit(standIn(strings.TrimSuffix(name, ".exe"), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// standIn behaves like lola as far as this program can tell, or badly in the way that its name says.
func standIn(behaviour string, args []string) int {
	if len(args) > 0 && args[0] == "version" {
		return 0
	}
	if behaviour, ok := strings.CutPrefix(behaviour, "ask-"); ok {
		return standInAsk(behaviour, args)
	}
	if len(args) < 7 || args[0] != "install" {
		return standInJob(behaviour, args)
	}
	trusted := ""
	if behaviour == "running" {
		trusted = "m@sha256:abcd"
	}
	switch want := []string{"install", args[1], "-a", "claude-code", "--project", args[5], "--yes"}; {
	case len(args) == 8 && args[7] == "--no-memo" && args[6] == "--dry-run", len(args) == 7 && args[6] == "--dry-run":
		return 0
	case len(args) == 8 && slices.Equal(args[6:], []string{"--dry-run", "--json"}):
		report := `{"module": "m", "sha256": "abcd"}`
		if trusted != "" {
			report = `{"module": "m", "sha256": "abcd", "runs": [{"what": "servers"}]}`
		}
		os.Stdout.WriteString(report)
		return 0
	case trusted != "" && !slices.Equal(args, append(want, "--trust", trusted)), trusted == "" && !slices.Equal(args, want):
		os.Stderr.WriteString("unexpected arguments: " + strings.Join(args, " "))
		return 2
	}
	switch behaviour {
	case "idle":
		return 0
	case "failing":
		os.Stdout.WriteString("the last words of the stand-in")
		return 3
	case "hanging":
		time.Sleep(time.Hour)
	}
	if os.Getenv("LOLA_HOME") == "" || os.Getenv("HOME") != filepath.Dir(os.Getenv("LOLA_HOME")) {
		os.Stderr.WriteString("no scratch home")
		return 4
	}
	if behaviour == "copying" {
		if err := os.CopyFS(filepath.Join(args[5], ".claude"), os.DirFS(args[1])); err != nil {
			os.Stderr.WriteString(err.Error())
			return 1
		}
		return 0
	}
	file := filepath.Join(args[5], ".claude", "skills", filepath.Base(args[1]), "SKILL.md")
	if _, err := os.Stat(file); err == nil && behaviour != "restless" {
		return 0 // nothing changes
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	if err := os.WriteFile(file, []byte(time.Now().String()), 0o644); err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

// standInBinary returns a copy of this test under a name that makes it a stand-in.
func standInBinary(t *testing.T, behaviour string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), executable("standin-"+behaviour))
	if err := os.Symlink(self, binary); err == nil {
		return binary
	}
	data, err := os.ReadFile(self) // a system, or a user, without links
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return binary
}

// benchWith runs the whole program with a stand-in and no rival.
func benchWith(t *testing.T, behaviour string, more ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("PATH", t.TempDir()) // no rival there
	t.Setenv("HOME", t.TempDir())
	t.Setenv("npm_config_cache", t.TempDir())
	scratch := t.TempDir()
	module := filepath.Join(t.TempDir(), "m")
	if err := os.Mkdir(module, 0o755); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--lola", standInBinary(t, behaviour), "--module", module, "--scratch", scratch, "-n", "3", "-warm", "1"}, more...)
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	left, err := os.ReadDir(scratch)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("%d entries are left in the scratch folder, %q the first", len(left), left[0].Name())
	}
	return code, out.String(), errs.String()
}

func TestRunTable(t *testing.T) {
	code, out, errs := benchWith(t, "good")
	if code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, errs)
	}
	for _, want := range []string{"floor", "lola version", "lola install", "lola install, first", "lola install, again", "3 rounds", `module "m"`, "Noise: "} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "skills add") {
		t.Errorf("the table has a rival that is not there:\n%s", out)
	}
	if !strings.Contains(errs, "npm install skills@1.5.7") {
		t.Errorf("stderr does not say how to get the rival:\n%s", errs)
	}
}

// A module that makes something run by itself is agreed to, by the digest that lola has for it.
func TestRunAgrees(t *testing.T) {
	if code, _, errs := benchWith(t, "running"); code != 0 {
		t.Errorf("exit code %d, stderr:\n%s", code, errs)
	}
}

func TestRunJSON(t *testing.T) {
	code, out, errs := benchWith(t, "good", "--json")
	if code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, errs)
	}
	var r Report
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("decode %s: %v", out, err)
	}
	if len(r.Rows) != 5 || r.Rows[0].Name != floorName || r.Rounds != 3 || r.Schema != reportSchema {
		t.Fatalf("report %+v, want 5 commands, the floor first, of 3 rounds", r)
	}
	for _, row := range r.Rows {
		if len(row.Samples) != 3 || row.Wall.Min <= 0 || row.Wall.Min > row.Wall.Median || row.Wall.Median > row.Wall.Max {
			t.Errorf("command %q: %d samples, wall %+v", row.Name, len(row.Samples), row.Wall)
		}
		if runtime.GOOS == "linux" && (row.Peak.Min <= 0 || row.Faults.Min <= 0) {
			t.Errorf("command %q: peak %+v, faults %+v, want some", row.Name, row.Peak, row.Faults)
		}
	}
	if floor := r.Rows[0]; floor.WallRatio != (Summary{1, 1, 1}) {
		t.Errorf("the floor's ratio to itself is %+v", floor.WallRatio)
	}
}

// TestRunBadCommands: a command that fails, does nothing, changes what it should leave or never ends is an error and no
// figure.
func TestRunBadCommands(t *testing.T) {
	for behaviour, want := range map[string]string{
		"failing":  "the last words of the stand-in",
		"idle":     "look for what was installed",
		"restless": "the second install changed it",
		"hanging":  "takes longer than 200ms",
	} {
		t.Run(behaviour, func(t *testing.T) {
			limit := "1m"
			if behaviour == "hanging" {
				limit = "200ms"
			}
			code, out, errs := benchWith(t, behaviour, "-limit", limit)
			if code != 1 || out != "" || !strings.Contains(errs, want) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want code 1, no output and %q", code, out, errs, want)
			}
		})
	}
}

func TestRunUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-n", "0"}, {"-warm", "-1"}, {"x"}, {"--nonesuch"}} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, &out, &errs); code != 2 || out.Len() != 0 || errs.Len() == 0 {
			t.Errorf("run %q: exit code %d, stdout %q, stderr %q; want 2, none, some", args, code, &out, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"-h"}, &out, &errs); code != 0 || !strings.Contains(errs.String(), "-skills-bin") {
		t.Errorf("run -h: exit code %d, stderr %q", code, &errs)
	}
}

func TestMeasureAllInterleaves(t *testing.T) {
	t.Parallel()
	commands := []*command{{name: "a"}, {name: "b"}, {name: "c"}}
	var order strings.Builder
	series, err := measureAll(context.Background(), commands, 1, 3, func(_ context.Context, c *command) (Sample, error) {
		order.WriteString(c.name)
		return Sample{Faults: int64(c.name[0])}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := order.String(); got != "abcbcacababc" {
		t.Errorf("order %q, want every command once a round, each round from another one on", got)
	}
	for i, c := range commands {
		if len(series[i]) != 3 || series[i][0].Faults != int64(c.name[0]) {
			t.Errorf("command %q has samples %+v, want three of its own", c.name, series[i])
		}
	}
	broken := errors.New("broken")
	if _, err := measureAll(context.Background(), commands, 0, 1, func(context.Context, *command) (Sample, error) {
		return Sample{}, broken
	}); !errors.Is(err, broken) {
		t.Errorf("error %v, want the measurement's", err)
	}
}

func TestFloorPlan(t *testing.T) {
	t.Parallel()
	var reply bytes.Buffer
	if err := answerFloor(strings.NewReader(`{"abi":1,"action":"install","params":{"name":"x"}}`), &reply); err != nil {
		t.Fatal(err)
	}
	if n := reply.Len(); n < planBytes || n > planBytes*5/4 {
		t.Errorf("the floor's plan has %d bytes, want about %d", n, planBytes)
	}
	if err := answerFloor(strings.NewReader(""), &reply); err == nil {
		t.Error("no request is answered with a plan")
	}
	plan, err := askFloorChild()
	if err != nil || len(plan.Intents) == 0 {
		t.Errorf("ask the floor's child: %d intents, %v", len(plan.Intents), err)
	}
}

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "_main", "cmd"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "_main", "cmd", "lola")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "MANIFEST")
	if err := os.WriteFile(manifest, []byte("_main/x/y /nowhere\nelsewhere/lola "+file+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BUILD_WORKING_DIRECTORY", filepath.Join(dir, "_main"))
	t.Setenv("RUNFILES_DIR", dir)
	t.Setenv("RUNFILES_MANIFEST_FILE", manifest)
	for _, name := range []string{file, "cmd/lola", "_main/cmd/lola", "elsewhere/lola"} {
		if got, err := locate(name); err != nil || got != file {
			t.Errorf("locate(%q) = %q, %v, want %q", name, got, err, file)
		}
	}
	for _, name := range []string{"nowhere", "_main/x/y"} {
		if got, err := locate(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("locate(%q) = %q, %v, want that it does not exist", name, got, err)
		}
	}
}

func TestCheckout(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(dir, "go.mod"):      rootModule + "\n\ngo 1.26\n",
		filepath.Join(dir, "a", "go.mod"): rootModule + "/bench\n", // this program's own, which is not it
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("BUILD_WORKSPACE_DIRECTORY", deep)
	if got, err := checkout(); err != nil || got != dir {
		t.Errorf("checkout() = %q, %v, want %q", got, err, dir)
	}
	t.Setenv("BUILD_WORKSPACE_DIRECTORY", t.TempDir())
	if got, err := checkout(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("checkout() = %q, %v, want that there is none", got, err)
	}
}
