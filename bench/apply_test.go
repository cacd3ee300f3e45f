package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// standInJob behaves like applybench as far as this program can tell, or badly in the way that its name says.
func standInJob(behaviour string, args []string) (code int) {
	defer func() {
		if code == 0 && behaviour != "silent" {
			fmt.Println("check", 1000, "apply", 2000)
		}
	}()
	if behaviour == "idle" {
		return 0
	}
	n, err := strconv.Atoi(args[len(args)-1])
	switch {
	case args[0] == "undo" && len(args) == 3:
		err = nil // there is no number
	case args[0] == "check" && len(args) == 4 && err == nil:
	case len(args) != 4 || err != nil:
		return 2
	case args[0] == "remove":
		err = os.RemoveAll(filepath.Join(args[1], "skills"))
	default:
		err = writeFiles(args[1], n, writeOnly)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

// benchApplyWith runs the mode with stand-ins.
func benchApplyWith(t *testing.T, tool, lola string, more ...string) (code int, stdout, stderr string) {
	t.Helper()
	scratch := t.TempDir()
	args := append([]string{modeApply, "--applybench", standInBinary(t, tool), "--lola", standInBinary(t, lola), "--scratch", scratch,
		"-n", "2", "-warm", "0", "-sizes", "1,45", "-growth", "3", "-intents", "8", "-settle=false"}, more...)
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) != 0 {
		t.Errorf("%d entries are left in the scratch folder (%v)", len(left), err)
	}
	return code, out.String(), errs.String()
}

func TestApplyTable(t *testing.T) {
	code, out, errs := benchApplyWith(t, "good", "copying")
	if code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, errs)
	}
	for _, want := range []string{
		"45 new files", "45 files of 1 KiB that lola made", "fsync each", applyName, "the same, undone", "all removed", "lola install of them all",
		"Ten times as many files take \"os.WriteFile\"", "Ten times as many files take \"plan.Check + apply.Run\"", "deep, 8 intents",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the tables lack %q:\n%s", want, out)
		}
	}
}

func TestApplyJSON(t *testing.T) {
	code, out, errs := benchApplyWith(t, "good", "copying", "--json")
	if code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, errs)
	}
	var r ApplyReport
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Groups) != 6 || r.Schema != applySchema || len(r.Groups[2].Growth) != 2 || len(r.Groups[5].Rows) != 7 {
		t.Fatalf("report %+v", r)
	}
	_, err := exec.LookPath("git")
	if has := r.Groups[0].ToGit != nil; has != (err == nil) {
		t.Errorf("a ratio to git checkout: %v; is git here: %v", has, err)
	}
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			if row.Name == g.Base && row.WallRatio != (Summary{1, 1, 1}) {
				t.Errorf("%s: the base's ratio to itself is %+v", g.Title, row.WallRatio)
			}
			if inside := strings.HasPrefix(row.Name, applyName) || strings.Contains(row.Name, "intents"); inside && row.Samples[0].Apply != 2*time.Microsecond {
				t.Errorf("%s: %q says nothing of itself", g.Title, row.Name)
			}
		}
	}
}

// TestApplyBad: what did not do its work has no speed.
func TestApplyBad(t *testing.T) {
	for _, tt := range []struct{ tool, lola, want string }{
		{"idle", "copying", "0 files, want 1"},
		{"silent", "copying", "says of itself"},
		{"good", "idle", ".claude"},
		{"good", "failing", "the last words of the stand-in"},
	} {
		code, out, errs := benchApplyWith(t, tt.tool, tt.lola)
		if code != 1 || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%s, %s: exit code %d, stdout %q, stderr %q; want code 1, no output and %q", tt.tool, tt.lola, code, out, errs, tt.want)
		}
	}
}

func TestApplyUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-n", "0"}, {"-sizes", "x"}, {"-sizes", "0"}, {"-growth", "-1"}, {"x"}} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), append([]string{modeApply}, args...), &out, &errs); code != 2 || out.Len() != 0 || errs.Len() == 0 {
			t.Errorf("run apply %q: exit code %d, stdout %q, stderr %q; want 2, none, some", args, code, &out, &errs)
		}
	}
}

// TestFileText: files are of one size, and no two are alike.
func TestFileText(t *testing.T) {
	t.Parallel()
	a, b := fileText(7), fileText(60_000)
	if len(a) != fileBytes || len(b) != fileBytes || bytes.Equal(a, b) {
		t.Errorf("%d and %d bytes, alike: %v", len(a), len(b), bytes.Equal(a, b))
	}
	if n := strings.Count(filePath(20), "/"); n != 2 || filePath(19) == filePath(20) {
		t.Errorf("paths %q and %q", filePath(19), filePath(20))
	}
	dir := t.TempDir()
	if err := writeFiles(dir, 21, writeEach); err != nil {
		t.Fatal(err)
	}
	if err := holds(dir, 21); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "skills", "skill-1", "file-20.md")); errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
