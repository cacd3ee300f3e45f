// Command count adds up test cases, which Bazel does not: its summary counts
// targets, and a target that ran one test looks like one that ran a thousand.
//
//	bazel test //... --build_event_json_file=native.json
//	count native=native.json
//
// prints a line for each run and, last, "N passed, N failed". It reads which
// targets ran from the event file and what they ran from their XML reports, so
// reports that an earlier run left behind do not count. Count a run before the
// next one: Bazel writes each platform's reports in the same place. A target that was to run
// and did not (it does not compile, say) is one failure. It exits with status 1
// if anything failed.
//
// A case is whatever the test's report names: for Go each test and each subtest.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "count: error: no event file given")
		fmt.Fprintln(stderr, "count: hint: count NAME=FILE..., where FILE is what --build_event_json_file wrote")
		return 2
	}
	var total tally
	for _, arg := range args {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			name, file = arg, arg
		}
		sum, err := countFile(file)
		if err != nil {
			// A run that left no events failed as a whole, and has to show.
			fmt.Fprintf(stderr, "count: error: count run %q: %v\n", name, err)
			sum.failed++
		}
		fmt.Fprintf(stdout, "%s: %d targets, %d passed, %d failed, %d skipped\n", name, sum.targets, sum.passed, sum.failed, sum.skipped)
		for _, broken := range sum.broken {
			fmt.Fprintf(stdout, "%s: FAILED %s\n", name, broken)
		}
		total.add(sum)
	}
	fmt.Fprintf(stdout, "%d passed, %d failed\n", total.passed, total.failed)
	if total.failed > 0 {
		return 1
	}
	return 0
}

func countFile(file string) (tally, error) {
	f, err := os.Open(file)
	if err != nil {
		return tally{}, err
	}
	sum, err := count(f, os.ReadFile)
	return sum, errors.Join(err, f.Close())
}
