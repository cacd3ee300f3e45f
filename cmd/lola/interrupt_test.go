package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host"
)

// TestAskInterrupted: a question that nobody answers ends with the context and is no "no".
func TestAskInterrupted(t *testing.T) {
	stdin, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app{stdin: stdin, stderr: io.Discard}
	yes, err := a.ask(ctx, "Really?")
	if yes || !errors.Is(err, context.Canceled) {
		t.Errorf("ask: %t, %v, want the interruption", yes, err)
	}
	if code, _ := exitCode(err); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
}

// full is a standard output on which there is no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestReportOfMadeChange: when the report cannot be printed, the error says that the change is made.
func TestReportOfMadeChange(t *testing.T) {
	t.Setenv("LOLA_HOME", t.TempDir()+"/home")
	project := t.TempDir()
	var errs strings.Builder
	dir := example(t)
	args := []string{"install", dir, "-a", "cursor", "--project", project, "--json", "--trust", trust(t, dir)}
	if code := run(t.Context(), args, strings.NewReader(""), full{}, &errs); code != exitFailed || !strings.Contains(errs.String(), "a change that is made: no space left") {
		t.Errorf("exit code %d, %q, want %d and that the change is made", code, errs.String(), exitFailed)
	}
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if list, err := h.List(project); err != nil || len(list) != 1 {
		t.Errorf("installed: %v, %v, want the module", list, err)
	}
}
