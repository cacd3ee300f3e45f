package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Sample is what one run of one command took.
type Sample struct {
	Wall   time.Duration `json:"wall_ns"`
	CPU    time.Duration `json:"cpu_ns"` // user and system, children that were waited for included
	Peak   int64         `json:"peak_bytes"`
	Faults int64         `json:"minor_faults"`
	// Check and Apply are what the process says of itself: how long it judged and how long it applied. Zero: it does not say.
	Check time.Duration `json:"check_ns,omitempty"`
	Apply time.Duration `json:"apply_ns,omitempty"`
}

// roleMeasure is the small process that starts a command and measures it.
//
// It stands between this program and the command because Linux counts the memory of the process that forked towards the
// peak of the one that was started, and this program is larger than what it measures. The small process does as little as
// it can before it starts the command, so that what is counted too much is little and always the same.
const roleMeasure = "__measure"

// measureRole runs the command args[1:] for at most args[0] and prints a sample to its standard output. The command's own
// output goes to where the standard error of this process goes.
func measureRole(args []string) int {
	if len(args) < 2 {
		fmt.Fprintf(os.Stderr, "bench: error: measure: no command\n")
		return 1
	}
	limit, err := time.ParseDuration(args[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: read limit: %v\n", err)
		return 1
	}
	args = args[1:]
	null, err := os.Open(os.DevNull)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: open the null device: %v\n", err)
		return 1
	}
	start := time.Now()
	process, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{null, os.Stderr, os.Stderr}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: start %q: %v\n", args[0], err)
		return 1
	}
	killer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "bench: error: run %q: it takes longer than %v\n", args[0], limit)
		process.Kill() //nolint:errcheck // it fails only if the process has ended
	})
	state, err := process.Wait()
	wall := time.Since(start)
	killer.Stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: wait for %q: %v\n", args[0], err)
		return 1
	}
	if !state.Success() {
		fmt.Fprintf(os.Stderr, "bench: error: run %q: %v\n", args[0], state)
		return 1
	}
	peak, faults := memory(state)
	fmt.Println(int64(wall), int64(state.UserTime()+state.SystemTime()), peak, faults)
	return 0
}

// measurer starts commands by way of the small process.
type measurer struct {
	self    string
	scratch string
	limit   time.Duration
}

// outputTail is how much of a failed command's output an error shows: enough for its last words.
const outputTail = 2 << 10

// measure prepares c, runs it once and checks what it did. Only the run is measured.
func (m measurer) measure(ctx context.Context, c *command) (s Sample, err error) {
	if err := c.prepare(); err != nil {
		return s, fmt.Errorf("prepare %q: %w", c.name, err)
	}
	// A file takes the output, since a reader of a pipe would run beside the command and be measured with it.
	output, err := os.Create(filepath.Join(m.scratch, "output"))
	if err != nil {
		return s, fmt.Errorf("make file for the output of %q: %w", c.name, err)
	}
	defer output.Close() //nolint:errcheck // it is scratch, and read before
	var result bytes.Buffer
	cmd := exec.CommandContext(ctx, m.self, append([]string{roleMeasure, m.limit.String()}, c.argv...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &result, output
	if err := cmd.Run(); err != nil {
		if e := context.Cause(ctx); e != nil {
			err = e
		}
		return s, fmt.Errorf("measure %q: %w\n%s", c.name, err, tail(output))
	}
	if _, err := fmt.Sscan(result.String(), &s.Wall, &s.CPU, &s.Peak, &s.Faults); err != nil {
		return s, fmt.Errorf("read measurement of %q: %w", c.name, err)
	}
	if err := c.check(); err != nil {
		return s, fmt.Errorf("check what %q did: %w\n%s", c.name, err, tail(output))
	}
	if c.inside {
		var words [2]string
		if _, err := fmt.Sscan(tail(output), &words[0], &s.Check, &words[1], &s.Apply); err != nil {
			return s, fmt.Errorf("read what %q says of itself: %w", c.name, err)
		}
	}
	return s, nil
}

func tail(f *os.File) string {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	b := make([]byte, min(size, outputTail))
	n, err := f.ReadAt(b, size-int64(len(b)))
	if err != nil && err != io.EOF {
		return ""
	}
	return string(b[:n])
}

// measureAll runs every command once a round, warm rounds uncounted. Each round begins with another command, so that none
// always follows the same one. The result has a row for each command, of one sample for each round.
func measureAll(ctx context.Context, commands []*command, warm, rounds int,
	measure func(context.Context, *command) (Sample, error),
) ([][]Sample, error) {
	series := make([][]Sample, len(commands))
	for round := range warm + rounds {
		for i := range commands {
			at := (round + i) % len(commands)
			s, err := measure(ctx, commands[at])
			if err != nil {
				return nil, err
			}
			if round >= warm {
				series[at] = append(series[at], s)
			}
		}
	}
	return series, nil
}
