package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// standInAsk behaves like askbench, or badly in the way that its name says.
func standInAsk(behaviour string, args []string) int {
	known := args[0] == "compile" && len(args) == 3 || args[0] == "run" && len(args) == 2 || args[0] == "load" && len(args) == 3 && args[1] == "digest" ||
		args[0] == "preview" && (len(args) == 2 || len(args) == 3 && args[1] == "-no-memo") || args[0] == "warm" && len(args) == 6 && args[5] == roleFloorChild
	if !known {
		os.Stderr.WriteString("unexpected arguments: " + strings.Join(args, " "))
		return 2
	}
	home := os.Getenv("LOLA_HOME")
	if args[0] == "preview" { // its home has what an earlier one left there, unless there is to be none
		_, err := os.Stat(home)
		if err := os.MkdirAll(home, 0o700); err != nil || behaviour == "breaking" {
			os.Stderr.WriteString("the last words of askbench")
			return 1
		}
		if behaviour == "recording" {
			log, e := os.OpenFile(filepath.Join(filepath.Dir(args[len(args)-1]), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if e != nil {
				return 1
			}
			fmt.Fprintln(log, strings.Join(args[1:len(args)-1], ""), err == nil)
			if log.Close() != nil {
				return 1
			}
		}
	}
	if args[0] == "compile" {
		fmt.Println("digest")
	}
	if args[0] == "warm" {
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return 2
		}
		if behaviour == "mute" {
			n = 0
		}
		for i := range n {
			fmt.Println(1000+i, 10000)
		}
		fmt.Println(1, 2, 3, 4)
	}
	return 0
}

// tier1With runs the mode with stand-ins and without rivals.
func tier1With(t *testing.T, tool string, more ...string) (code int, stdout, stderr, guests string) {
	t.Helper()
	scratch, guests := t.TempDir(), t.TempDir()
	for _, name := range []string{"rust", "go"} {
		if err := os.Mkdir(filepath.Join(guests, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(guests, name, "echo.wasm"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{modeTier1, "--askbench", standInBinary(t, "ask-"+tool), "--lola", standInBinary(t, "good"), "--module", t.TempDir(),
		"--scratch", scratch, "-guests", guests, "-rivals=false", "-n", "2", "-warm", "1", "-calls", "3"}, more...)
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) != 0 {
		t.Errorf("%d entries are left in the scratch folder (%v)", len(left), err)
	}
	return code, out.String(), errs.String(), guests
}

func TestTier1Table(t *testing.T) {
	code, out, errs, _ := tier1With(t, "good")
	if code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, errs)
	}
	for _, want := range []string{
		"| floor |", "| lola version |", "| lola install --dry-run, repeated |", "| tier 1 child, Go guest, compiles |",
		"| host, preview, small guest, compiled earlier |", "| warm pool |", "| small guest | 0.0 |", "2 rounds", "Noise: ",
		"| tier 1 child, small guest, compiled earlier ≤ 1.4 × floor |", "| warm pool, Go guest ≤ 0.25 × spawn | 0.10 | - | met |",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the tables lack %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "extism") {
		t.Errorf("the tables have a rival that was not measured:\n%s", out)
	}
}

// What compiles finds no home, what was compiled earlier and what is repeated find theirs, in uncounted rounds too.
func TestTier1Homes(t *testing.T) {
	code, out, errs, guests := tier1With(t, "recording", "--json", "-calls", "0")
	if code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, errs)
	}
	for _, name := range []string{"rust", "go"} {
		log, err := os.ReadFile(filepath.Join(guests, name, "log"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
		slices.Sort(lines)
		// Three rounds of each way, and the one that makes the home of the latter two.
		want := slices.Concat(slices.Repeat([]string{" false"}, 1), slices.Repeat([]string{" true"}, 3),
			slices.Repeat([]string{"-no-memo false"}, 4), slices.Repeat([]string{"-no-memo true"}, 3))
		if !slices.Equal(lines, want) {
			t.Errorf("%s: previews with their flags, and whether their home was there: %q, want %q", name, lines, want)
		}
	}
	var r Tier1Report
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 15 || r.Rows[0].Name != floorName || r.Schema != tier1Schema || len(r.Warm) != 0 || len(r.Rows[14].Samples) != 2 {
		t.Errorf("%d commands, the first %q, %d warm pools; want 15 of 2 rounds, the floor, none", len(r.Rows), r.Rows[0].Name, len(r.Warm))
	}
}

func TestTier1Bad(t *testing.T) {
	for behaviour, want := range map[string]string{
		"breaking": "the last words of askbench",
		"mute":     "1 lines, want 4",
	} {
		t.Run(behaviour, func(t *testing.T) {
			if code, out, errs, _ := tier1With(t, behaviour); code != 1 || out != "" || !strings.Contains(errs, want) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want code 1, no output and %q", code, out, errs, want)
			}
		})
	}
	t.Setenv(guestsVariable, "")
	for _, args := range [][]string{{}, {"-guests", "x", "-n", "0"}, {"-guests", "x", "-gap", "-1s"}, {"-guests", "x", "y"}} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), append([]string{modeTier1}, args...), &out, &errs); code != 2 || out.Len() != 0 || errs.Len() == 0 {
			t.Errorf("run %q: exit code %d, stdout %q, stderr %q; want 2, none, some", args, code, &out, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{modeTier1, "-guests", t.TempDir()}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "//testwasm/export") {
		t.Errorf("a folder without guests: exit code %d, stderr %q; want 1 and how they are made", code, &errs)
	}
}

// A target is met when both ratios are within its bound, and where there is no CPU by the one.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wall, cpu float64
		want      string
	}{{1, 1, "met"}, {1.4, 0, "met"}, {2, 1, "by CPU only"}, {1, 2, "by time only"}, {2, 2, "missed"}, {2, 0, "missed"}} {
		if got := newTarget("x", 1.4, c.wall, c.cpu).Met; got != c.want {
			t.Errorf("time %g, CPU %g of 1.4: %q, want %q", c.wall, c.cpu, got, c.want)
		}
	}
	row := func(name string, took time.Duration, faults int64) Row {
		s := []Sample{{Wall: took, CPU: took, Faults: faults}}
		return newRow(name, s, s)
	}
	small := runName + ", " + smallGuest + compiled
	got := judge(&Tier1Report{Rows: []Row{row(floorName, 100, 1), row(small, 150, 800), row(netRPCName, 300, 1)}})
	var words []string
	for _, g := range got {
		words = append(words, g.Met)
	}
	if want := []string{"missed", "met", "met"}; !slices.Equal(words, want) {
		t.Errorf("targets %+v: %q, want %q: others have no rows", got, words, want)
	}
}
