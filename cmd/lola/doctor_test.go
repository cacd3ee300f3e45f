package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim/policy"
)

// TestDiagnosisCode: the gravest problem gives the exit code, whatever the order.
func TestDiagnosisCode(t *testing.T) {
	for _, c := range []struct {
		kinds []host.ProblemKind
		want  int
	}{
		{[]host.ProblemKind{host.ProblemLog}, exitDamaged},
		{[]host.ProblemKind{host.ProblemUnfinished}, exitDamaged},
		{[]host.ProblemKind{host.ProblemState}, exitDamaged},
		{[]host.ProblemKind{host.ProblemState, host.ProblemDifference}, exitLevel},
		{[]host.ProblemKind{host.ProblemConfinement, host.ProblemLog}, exitLevel},
		{[]host.ProblemKind{host.ProblemLog, host.ProblemChild, host.ProblemConfinement}, exitExtension},
	} {
		var d diagnosed
		for _, k := range c.kinds {
			d.problems = append(d.problems, host.Problem{Kind: k, Text: "text\nof " + string(k), Help: "help", Err: errors.New("cause")})
		}
		code, _ := exitCode(fmt.Errorf("wrapped: %w", d))
		if code != c.want {
			t.Errorf("%v: exit code %d, want %d", c.kinds, code, c.want)
		}
		if n := strings.Count(d.Error(), "\n"); n != len(c.kinds)-1 || strings.Count(d.Error(), "; help") != len(c.kinds) {
			t.Errorf("%q", d.Error())
		}
	}
}

// TestDiagnosisIsEscaped: what comes from the system is foreign to a terminal.
func TestDiagnosisIsEscaped(t *testing.T) {
	const evil = "a\x1b[31m\n::error::b\u202e"
	d := &host.Diagnosis{
		Machine: host.Machine{
			Release: evil, Emulator: evil, Walls: []host.Wall{{Name: policy.WallLandlock, Up: "no", Why: evil, Help: evil}},
			Confinement: host.Confinement{Level: policy.None, Open: []string{evil}},
		},
		State:    host.State{Path: evil, Exists: true, Unfinished: []host.Unfinished{{ID: evil, Project: evil}}},
		Problems: []host.Problem{{Kind: host.ProblemState, Text: evil}},
	}
	var out strings.Builder
	if err := (&app{stdout: &out}).printDiagnosis(d); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.ContainsAny(line, "\x1b\u202e") || strings.HasPrefix(line, "::") {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(out.String(), "not usable") {
		t.Errorf("got %q", out.String())
	}
}

// TestConfinementError: its exit code is its own, and the next step is the doctor.
func TestConfinementError(t *testing.T) {
	err := &host.ConfinementError{
		Extension: "x", Level: policy.Process, Required: policy.Full,
		Missing: []host.Wall{{Name: policy.WallLandlock, Why: "it is switched off", Help: "switch it on"}},
	}
	code, hint := exitCode(fmt.Errorf("installing: %w", err))
	if code != exitLevel || !strings.Contains(hint, `"lola doctor"`) {
		t.Errorf("exit code %d, hint %q", code, hint)
	}
	for _, want := range []string{`"x"`, `"process"`, `"full"`, "landlock is missing: it is switched off", "switch it on"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}
