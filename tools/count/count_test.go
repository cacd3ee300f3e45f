package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	goReport = `<testsuites>
	<testsuite name="a" tests="5" skipped="1">
		<testcase classname="a" name="TestOne" time="0.0"></testcase>
		<testcase classname="a" name="TestTwo" time="0.0"></testcase>
		<testcase classname="a" name="TestTwo/sub" time="0.0"><failure message="Failed" type="">want 1</failure></testcase>
		<testcase classname="a" name="TestThree" time="0.0"><skipped message="Skipped" type="">no kernel</skipped></testcase>
		<testcase classname="a" name="TestFour" time="0.0"><error message="Interrupted" type=""></error></testcase>
	</testsuite>
</testsuites>`
	rustReport = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="r" tests="1" failures="0" errors="0">
    <testcase name="r" status="run" duration="0" time="0"></testcase>
      <system-out>
Generated test.log (if the file is not UTF-8, then this may be unreadable):
<![CDATA[running 3 tests
test a ... ok
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
]]>
      </system-out>
  </testsuite>
</testsuites>`
	plainReport = `<testsuites><testsuite name="s" tests="1"><testcase name="s"></testcase></testsuite></testsuites>`
	emptyReport = `<testsuites></testsuites>`
)

func TestParseReport(t *testing.T) {
	for _, tc := range []struct {
		name, text              string
		passed, failed, skipped int
	}{
		{"go", goReport, 2, 2, 1},
		{"rust", rustReport, 3, 0, 1},
		{"a program without a report", plainReport, 1, 0, 0},
		{"nothing", emptyReport, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseReport([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if got.passed != tc.passed || got.failed != tc.failed || got.skipped != tc.skipped {
				t.Errorf("got %d passed, %d failed, %d skipped; want %d, %d, %d",
					got.passed, got.failed, got.skipped, tc.passed, tc.failed, tc.skipped)
			}
		})
	}
	if _, err := parseReport([]byte("<testsuites>")); err == nil {
		t.Error("a report that is cut off was taken")
	}
}

func configured(label string) string {
	return fmt.Sprintf(`{"id":{"targetConfigured":{"label":%q}},"configured":{"targetKind":"go_test rule","testSize":"MEDIUM"}}`, label)
}

func result(label, status, report string) string {
	return fmt.Sprintf(`{"id":{"testResult":{"label":%q,"run":1}},"testResult":{"status":%q,"testActionOutput":[{"name":"test.log","uri":"file:///log"},{"name":"test.xml","uri":"file:///%s"}]}}`, label, status, report)
}

func TestCount(t *testing.T) {
	reports := map[string]string{"/go": goReport, "/rust": rustReport, "/plain": plainReport, "/empty": emptyReport}
	read := func(path string) ([]byte, error) {
		text, ok := reports[path]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}
	for _, tc := range []struct {
		name           string
		events         []string
		passed, failed int
		broken         string // part of a line about what failed
		problem        bool
	}{
		{name: "two that pass", events: []string{
			configured("//a"), configured("//b"), result("//a", "PASSED", "rust"), result("//b", "PASSED", "plain"),
		}, passed: 4},
		{name: "failing cases", events: []string{configured("//a"), result("//a", "FAILED", "go")}, passed: 2, failed: 2, broken: "//a (FAILED, 2 cases)"},
		{name: "no case failed but the target did", events: []string{configured("//a"), result("//a", "TIMEOUT", "plain")}, passed: 1, failed: 1, broken: "//a (TIMEOUT"},
		{name: "a crash before the first case", events: []string{configured("//a"), result("//a", "FAILED", "empty")}, failed: 1, broken: "//a"},
		{name: "it does not compile", events: []string{
			configured("//a"), `{"id":{"targetCompleted":{"label":"//a"}},"completed":{}}`,
		}, failed: 1, broken: "//a did not run"},
		{name: "a visibility that is not there", events: []string{
			`{"id":{"targetConfigured":{"label":"//a"}},"aborted":{"reason":"ANALYSIS_FAILURE"}}`,
		}, failed: 1, broken: "//a did not run"},
		{name: "not for this platform", events: []string{
			configured("//a"), `{"id":{"targetCompleted":{"label":"//a"}},"aborted":{"reason":"SKIPPED"}}`,
		}},
		{name: "a library", events: []string{`{"id":{"targetConfigured":{"label":"//l"}},"configured":{"targetKind":"go_library rule"}}`}},
		{name: "a report that is gone", events: []string{configured("//a"), result("//a", "PASSED", "gone")}, failed: 1, broken: "//a", problem: true},
		{name: "events that are cut off", events: []string{`{"id":`}, problem: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := count(strings.NewReader(strings.Join(tc.events, "\n")), read)
			if (err != nil) != tc.problem {
				t.Errorf("got error %v", err)
			}
			if got.passed != tc.passed || got.failed != tc.failed {
				t.Errorf("got %d passed, %d failed; want %d, %d", got.passed, got.failed, tc.passed, tc.failed)
			}
			if all := strings.Join(got.broken, "\n"); !strings.Contains(all, tc.broken) || tc.broken == "" && all != "" {
				t.Errorf("said what failed: %q, want %q", all, tc.broken)
			}
		})
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	xml := filepath.ToSlash(write("test.xml", rustReport))
	events := write("events.json", configured("//a")+"\n"+result("//a", "PASSED", strings.TrimPrefix(xml, "/")))

	for _, tc := range []struct {
		name string
		args []string
		exit int
		last string
	}{
		{"one run", []string{"native=" + events}, 0, "3 passed, 0 failed"},
		{"two runs", []string{"native=" + events, "arm64=" + events}, 0, "6 passed, 0 failed"},
		{"a run that never was", []string{"native=" + events, "arm64=" + filepath.Join(dir, "none")}, 1, "3 passed, 1 failed"},
		{"nothing to count", nil, 2, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out, diag bytes.Buffer
			if got := run(tc.args, &out, &diag); got != tc.exit {
				t.Errorf("exit %d, want %d: %s", got, tc.exit, diag.String())
			}
			lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
			if got := lines[len(lines)-1]; got != tc.last {
				t.Errorf("last line %q, want %q", got, tc.last)
			}
		})
	}
}
