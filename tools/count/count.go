package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// tally is what came of a run, or of a part of it.
type tally struct {
	targets                 int // test targets that ran, or that a cache answered for
	passed, failed, skipped int // cases
	broken                  []string
}

func (t *tally) add(o tally) {
	t.targets += o.targets
	t.passed += o.passed
	t.failed += o.failed
	t.skipped += o.skipped
	t.broken = append(t.broken, o.broken...)
}

// event is the little that is read of a build event; Bazel's protocol has much
// more (build_event_stream.proto in its sources).
type event struct {
	ID struct {
		TargetConfigured *struct{ Label string }
		TargetCompleted  *struct{ Label string }
		TestResult       *struct {
			Label               string
			Run, Shard, Attempt int
		}
	}
	Configured *struct {
		TargetKind string // "go_test rule"
		TestSize   string // only of tests
	}
	Aborted    *struct{ Reason string }
	TestResult *struct {
		Status           string
		TestActionOutput []struct{ Name, URI string }
	}
}

// count adds up one run. read gives the contents of a report.
func count(events io.Reader, read func(string) ([]byte, error)) (tally, error) {
	var sum tally
	var problems []error
	awaited := map[string]bool{} // tests that have not reported yet
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return sum, fmt.Errorf("read build events: %w", err)
		}
		switch {
		case e.ID.TargetConfigured != nil && e.Configured != nil:
			if e.Configured.TestSize != "" {
				awaited[e.ID.TargetConfigured.Label] = true
			}
		case e.ID.TargetCompleted != nil && e.Aborted != nil && e.Aborted.Reason == "SKIPPED":
			// Not for this platform: target_compatible_with.
			delete(awaited, e.ID.TargetCompleted.Label)
		case e.ID.TargetConfigured != nil && e.Aborted != nil && e.Aborted.Reason != "SKIPPED":
			// Its BUILD file was not understood as far as its kind: it may be a test.
			awaited[e.ID.TargetConfigured.Label] = true
		case e.ID.TestResult != nil && e.TestResult != nil:
			label := e.ID.TestResult.Label
			delete(awaited, label)
			one, err := countTarget(label, &e, read)
			sum.add(one)
			problems = append(problems, err)
		}
	}
	for label := range awaited {
		sum.failed++
		sum.broken = append(sum.broken, label+" did not run")
	}
	sort.Strings(sum.broken)
	return sum, errors.Join(problems...)
}

// countTarget reads what a target reported. The target's own status has the last
// word: one that failed without a failing case (it crashed, or hung) is one.
func countTarget(label string, e *event, read func(string) ([]byte, error)) (tally, error) {
	one := tally{targets: 1}
	var problem error
	for _, out := range e.TestResult.TestActionOutput {
		if out.Name != "test.xml" {
			continue
		}
		path, err := filePath(out.URI)
		if err != nil {
			problem = fmt.Errorf("report of %s: %w", label, err)
			break
		}
		text, err := read(path)
		if err != nil {
			problem = fmt.Errorf("report of %s: %w", label, err)
			break
		}
		cases, err := parseReport(text)
		if err != nil {
			problem = fmt.Errorf("report of %s: %w", label, err)
			break
		}
		one.add(cases)
	}
	ok := e.TestResult.Status == "PASSED" || e.TestResult.Status == "FLAKY"
	if !ok && one.failed == 0 {
		one.failed = 1
	}
	if problem != nil && one.failed == 0 {
		one.failed = 1 // what cannot be counted must not pass for nothing
	}
	if one.failed > 0 {
		one.broken = append(one.broken, fmt.Sprintf("%s (%s, %d cases)", label, e.TestResult.Status, one.failed))
	}
	return one, problem
}

func filePath(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	if u.Scheme != "file" {
		return "", fmt.Errorf("%q is not on this machine: run with --remote_download_outputs=all", uri)
	}
	return u.Path, nil
}

type report struct {
	Suites []suite `xml:"testsuite"`
}

type suite struct {
	Cases []struct {
		Failure []struct{} `xml:"failure"`
		Error   []struct{} `xml:"error"`
		Skipped []struct{} `xml:"skipped"`
	} `xml:"testcase"`
	Suites []suite `xml:"testsuite"`
	Output string  `xml:"system-out"`
}

// parseReport reads a JUnit report.
func parseReport(text []byte) (tally, error) {
	var r report
	if err := xml.Unmarshal(text, &r); err != nil {
		return tally{}, fmt.Errorf("parse XML: %w", err)
	}
	var sum tally
	for _, s := range r.Suites {
		sum.add(countSuite(s))
	}
	return sum, nil
}

func countSuite(s suite) tally {
	// A program that writes no report of its own gets one from Bazel, with one
	// case and all that it printed. Rust's says there how many tests it ran.
	if sum, ok := rustSummary(s.Output); ok && len(s.Cases) <= 1 {
		return sum
	}
	var sum tally
	for _, c := range s.Cases {
		switch {
		case len(c.Failure)+len(c.Error) > 0:
			sum.failed++
		case len(c.Skipped) > 0:
			sum.skipped++
		default:
			sum.passed++
		}
	}
	for _, below := range s.Suites {
		sum.add(countSuite(below))
	}
	return sum
}

var rustResult = regexp.MustCompile(`(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored`)

func rustSummary(output string) (tally, bool) {
	var sum tally
	found := rustResult.FindAllStringSubmatch(strings.ReplaceAll(output, "\r", ""), -1)
	for _, m := range found {
		for i, n := range []*int{&sum.passed, &sum.failed, &sum.skipped} {
			v, _ := strconv.Atoi(m[i+1]) // digits, by the pattern
			*n += v
		}
	}
	return sum, len(found) > 0
}
