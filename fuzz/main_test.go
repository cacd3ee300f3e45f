package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestReadKeepsTheLastCounts(t *testing.T) {
	const printed = `fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed
fuzz: elapsed: 0s, gathering baseline coverage: 12/12 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 325017 (108336/sec), new interesting: 11 (total: 23)
fuzz: elapsed: 6s, execs: 650001 (108331/sec), new interesting: 12 (total: 24)
PASS`
	var o outcome
	o.read(strings.NewReader(printed))
	if o.execs != "650001" || o.interesting != "12" || o.total != "24" {
		t.Errorf("got %+v", o)
	}
}

func TestReadTellsWhatCrashed(t *testing.T) {
	const late = "--- FAIL: FuzzPath (5.05s)\n    context deadline exceeded\nFAIL\n"
	for _, tc := range []struct {
		printed     string
		late, saved bool
	}{
		{late, true, false},
		{"--- FAIL: FuzzPath (0.10s)\n    --- FAIL: FuzzPath (0.00s)\n        x_test.go:9: context deadline exceeded\n\n    Failing input written to testdata/fuzz/FuzzPath/771e938e4458e983\n", false, true},
		{"    Failing input written to testdata/fuzz/FuzzPath/1\n" + late, true, true},
		{"panic: x\n", false, false},
	} {
		var o outcome
		o.read(strings.NewReader(tc.printed))
		if o.late != tc.late || o.saved != tc.saved {
			t.Errorf("%q: late %t, saved %t", tc.printed, o.late, o.saved)
		}
	}
}

func TestSummary(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		exit int
		want string
	}{
		{"no crash", nil, 0, "ok"},
		{"crash", errors.New("exit status 1"), 1, "CRASHED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			got := summary(&out, []outcome{{name: "FuzzOther", execs: "1"}, {name: "FuzzPath", execs: "9", err: tc.err}})
			if got != tc.exit || !strings.Contains(out.String(), tc.want) {
				t.Errorf("exit %d, want %d:\n%s", got, tc.exit, out.String())
			}
		})
	}
}

func TestWrongUse(t *testing.T) {
	for _, args := range [][]string{{"--time", "soon"}, {"--target", "("}, {"--nothing"}} {
		var out, diag bytes.Buffer
		if got := run(context.Background(), args, &out, &diag); got != 2 || diag.Len() == 0 {
			t.Errorf("%q: exit %d, want 2; said %q", args, got, diag.String())
		}
	}
}
