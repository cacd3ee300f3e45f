package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/lola-ext/lola/targets"
)

// fill writes files into a new folder and returns it.
func fill(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// clean wants output of which no line can be taken for a command, no character is obeyed, and no text of another's stands at
// the margin.
func clean(t *testing.T, what, output string) {
	t.Helper()
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, " \t")
		for _, command := range []string{"::", "##[", "##vso["} {
			if strings.HasPrefix(bare, command) {
				t.Errorf("%s: a line begins with a command: %q", what, line)
			}
		}
		for _, r := range line {
			if r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
				t.Errorf("%s: a line holds %U: %.300q", what, r, line)
				break
			}
		}
		if strings.HasPrefix(line, "lola: note: signature") || strings.HasPrefix(line, "lola: error: forged") {
			t.Errorf("%s: a line of another's stands at the margin: %q", what, line)
		}
	}
}

const evil = "\x1b[2J\x1b]8;;http://e\x07link\x1b]8;;\x07\r\n::error::forged\n##[command]x\n##vso[task.setvariable]x\nlola: note: signature verified\nlola: error: forged\nb\u202ea\u200bc\u2028::set-output name=a::b\u0085::x\n"

// TestO01O02: names, paths and texts of a module come out escaped wherever they are shown, and a record of the log is one
// line.
func TestO01O02(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names cannot be there")
	}
	t.Setenv("LOLA_HOME", filepath.Join(t.TempDir(), "home"))
	escaped := strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\r", `\r`, "\n", `\n`).Replace(evil)
	name := strings.ReplaceAll(evil, "/", "_")
	skill := map[string]string{"skills/s/SKILL.md": "s"}
	for what, files := range map[string]map[string]string{
		"text of a skill":        {"skills/s/SKILL.md": evil, "skills/s/x.txt": evil},
		"tools in a frontmatter": {"skills/s/SKILL.md": "---\nname: s\nallowed-tools: \"" + escaped + "\"\n---\n" + evil},
		"broken frontmatter":     {"skills/s/SKILL.md": "---\nallowed-tools: [" + evil + "\n---\n" + evil},
		"name of a file":         {"skills/s/SKILL.md": "s", "skills/s/" + name: "x", "skills/s/##[command]x": "y"},
		"invisible in a name":    {"skills/s/SKILL.md": "s", "skills/s/a\u202eb\u200b": "x"},
		"name of a skill":        {"skills/" + name + "/SKILL.md": "s"},
		"left out":               {"skills/s/SKILL.md": "s", "commands/::error::x\u202e": "x", "commands/##[x": "x"},
		"name of a module":       {"lola.yaml": "name: \"" + escaped + "\"\n", "skills/s/SKILL.md": "s"},
		"description":            {"lola.yaml": "name: mod\ndescription: \"" + escaped + "\"\n", "skills/s/SKILL.md": "s"},
		"hook":                   {"lola.yaml": "name: mod\nhooks:\n  pre-install: \"" + escaped + "\"\n", "skills/s/SKILL.md": "s"},
		"field of lola.yaml":     {"lola.yaml": "\"" + escaped + "\": 1\n", "skills/s/SKILL.md": "s"},
		"server":                 {"mcps.json": `{"mcpServers": {"::error::x": {"command": "` + escaped + `", "` + escaped + `": 1}, "x": {"command": "` + escaped + `"}}}`},
		"broken servers":         {"mcps.json": evil, "skills/s/SKILL.md": "s"},
		"agent":                  {"agents/a.md": "---\nname: a\ndescription: \"" + escaped + "\"\ntools: \"" + escaped + "\"\n---\n" + evil},
		"instructions":           {"AGENTS.md": evil},
	} {
		for _, args := range [][]string{{"--dry-run"}, {"--dry-run", "--json"}, {}} {
			dir, project := fill(t, "mod", files), t.TempDir()
			args = append([]string{"install", dir, "-a", "gemini-cli", "--project", project}, args...)
			_, out, errs := lola(t, args...)
			clean(t, what+", output", out)
			clean(t, what+", errors", errs)
			if out+errs == "" {
				t.Errorf("%s: nothing was said", what)
			}
		}
	}
	for _, args := range [][]string{
		{"install", evil}, {"install", fill(t, "mod", skill), "-a", evil}, {"install", fill(t, "mod", skill), "-a", "cursor", "--project", evil},
		{"uninstall", evil}, {"undo", evil}, {"plan", "show", evil}, {"explain", evil}, {evil}, {"--" + evil}, {"log", "--since", evil},
		{"log", "verify", "--anchor", evil}, {"ext", "info", evil}, {"install", "x", "--trust", evil}, {"install", "x", "--scope", evil},
		{"install", fill(t, "mod", skill), "-a", "cursor", "--follow", evil, "--project", t.TempDir(), "--dry-run"},
	} {
		code, out, errs := lola(t, args...)
		clean(t, fmt.Sprintf("%q, output", args), out)
		clean(t, fmt.Sprintf("%q, errors", args), errs)
		if args[len(args)-1] != "--dry-run" && (code == exitOK || !strings.HasPrefix(errs, "lola: error: ")) {
			t.Errorf("%q: exit code %d, %q", args, code, errs)
		}
	}
	for _, args := range [][]string{{"log"}, {"log", "--json"}} {
		code, out, errs := lola(t, args...)
		clean(t, "log", out)
		clean(t, "log", errs)
		if code != exitOK || !strings.Contains(out, "refused") {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, errs)
		}
		for line := range strings.Lines(out) {
			if args[len(args)-1] == "--json" && !strings.HasPrefix(line, `{"v":1,`) {
				t.Errorf("%q is no record", line)
			}
		}
	}
}

// TestM05: a skill arrives whole for every assistant, bytes and modes alike, whatever is in it, and goes whole.
func TestM05(t *testing.T) {
	t.Setenv("LOLA_HOME", filepath.Join(t.TempDir(), "home"))
	binary := make([]byte, 5<<20)
	for i := range binary {
		binary[i] = byte(rand.Uint32())
	}
	files := map[string]string{
		"SKILL.md": "s", "README.md": "r", ".hidden": "h", ".dir/.more": "m", "empty": "", "run.sh": "#!/bin/sh\n", "data.bin": string(binary),
		"größe.md": "ü", "日本語/文書.md": "x", "with space.md": "x", "deep/1/2/3/4/5.txt": "x", "crlf.txt": "a\r\nb\r\n", "zero.bin": "\x00\xff",
	}
	in := map[string]string{}
	for path, text := range files {
		in["skills/s/"+path] = text
	}
	dir := fill(t, "mod", in)
	if err := os.Chmod(filepath.Join(dir, "skills", "s", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "skills", "s", "README.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets.Manifests() {
		t.Run(target.Name, func(t *testing.T) {
			project := t.TempDir()
			code, out, errs := lola(t, "install", dir, "-a", target.Name, "--project", project, "--dry-run")
			if code != exitOK || len(out) > 64<<10 || !strings.Contains(out, "data.bin") || !strings.Contains(out, "5,242,880") {
				t.Errorf("dry run: exit code %d, %d bytes of output, errors %s", code, len(out), errs)
			}
			clean(t, "dry run", out)
			if code, _, errs := lola(t, "install", dir, "-a", target.Name, "--project", project); code != exitOK {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			found, err := filepath.Glob(filepath.Join(project, ".*", "skills", "s"))
			if err != nil || len(found) != 1 {
				t.Fatalf("skills: %v, %v", found, err)
			}
			n := 0
			for path, text := range files {
				at := filepath.Join(found[0], path)
				got, err := os.ReadFile(at)
				if err != nil || !bytes.Equal(got, []byte(text)) {
					t.Errorf("%q: %d bytes, %v, want %d", path, len(got), err, len(text))
					continue
				}
				n++
				if runtime.GOOS == "windows" {
					continue
				}
				was, err := os.Stat(filepath.Join(dir, "skills", "s", path))
				if err != nil {
					t.Fatal(err)
				}
				if is, err := os.Stat(at); err != nil || is.Mode() != was.Mode() {
					t.Errorf("%q: mode %v, %v, want %v", path, is.Mode(), err, was.Mode())
				}
			}
			if code, out, errs := lola(t, "uninstall", "mod", "--project", project); code != exitOK || !strings.Contains(out, fmt.Sprintf("%d removed", n)) {
				t.Errorf("uninstall: exit code %d: %s%s", code, out, errs)
			}
			if left := mustTree(t, project); left != "\n" {
				t.Errorf("left: %s", left)
			}
		})
	}
}

func mustTree(t *testing.T, dir string) string {
	t.Helper()
	tree, err := snapshot(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestManyFiles: the preview of thousands of files can be read: it says what is cut, dangers are not, and the summary is the
// last line. --full cuts nothing.
func TestManyFiles(t *testing.T) {
	t.Setenv("LOLA_HOME", filepath.Join(t.TempDir(), "home"))
	const many = 3000
	files := map[string]string{"skills/zz/SKILL.md": "---\nallowed-tools: Bash\n---\nx"}
	for i := range many {
		files[fmt.Sprintf("skills/s%d/f%04d.md", i%10, i)] = strings.Repeat(fmt.Sprintf("line of %d\n", i), 5)
	}
	for i := range 10 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = "s"
	}
	dir, project := fill(t, "mod", files), t.TempDir()
	foreign := filepath.Join(project, ".cursor", "skills", "s9", "f2999.md")
	if err := os.MkdirAll(filepath.Dir(foreign), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte("my own words\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := mustTree(t, project)
	args := []string{"install", dir, "-a", "cursor", "--project", project, "--dry-run"}
	code, short, errs := lola(t, args...)
	if code != exitOK {
		t.Fatal(errs)
	}
	lines := strings.Split(strings.TrimSuffix(short, "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "mod 0.0.0: would install for cursor: 3,010 new, 1 changed") {
		t.Errorf("the last line is %q", last)
	}
	first := strings.Join(lines[:min(len(lines), 8)], "\n")
	if !strings.Contains(first, "skills/zz/SKILL.md") || !strings.Contains(first, "s9/f2999.md") || !strings.Contains(short, "-my own words") {
		t.Errorf("dangers are not first or were cut: %s", first)
	}
	code, full, errs := lola(t, append(args, "--full")...)
	if code != exitOK {
		t.Fatal(errs)
	}
	n := strings.Count(full, "+line of ")
	if n != 5*many || len(short) >= len(full) {
		t.Errorf("%d bytes are %d with --full, of %d lines", len(short), len(full), n)
	}
	if !strings.Contains(short+errs, "--full") {
		t.Error("that --full shows the rest is not said")
	}
	if after := mustTree(t, project); after != before {
		t.Error("the dry run changed the project")
	}
}
