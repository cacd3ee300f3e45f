package home_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// expired is a context that has ended.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestLockExcludes: one holder at a time, also among those that opened the folder on their own, as another process does.
func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lola")
	one, two := open(t, path), open(t, path)
	unlock, err := one.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []interface {
		Lock(context.Context) (func(), error)
	}{one, two} {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := h.Lock(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), strconv.Quote(path)) || !strings.Contains(err.Error(), "another") {
			t.Errorf("the second Lock: %v, want it to wait, give up and say on what", err)
		}
		if took := time.Since(start); took < 100*time.Millisecond {
			t.Errorf("it gave up after %v", took)
		}
	}
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := two.Lock(ctx); !errors.Is(err, cause) {
		t.Errorf("Lock with an ended context: %v, want its cause", err)
	}

	got := make(chan error)
	go func() {
		unlock, err := two.Lock(t.Context())
		if err == nil {
			unlock()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("the lock was had while it was held: %v", err)
	case <-time.After(60 * time.Millisecond):
	}
	unlock()
	if err := <-got; err != nil {
		t.Errorf("Lock after it was released: %v", err)
	}
	unlock, err = one.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestLockGoesWithItsProcess: another process excludes this one as long as it lives, and no longer.
func TestLockGoesWithItsProcess(t *testing.T) {
	const variable = "LOLA_TEST_HOLD_LOCK"
	if path := os.Getenv(variable); path != "" { // the child
		h := open(t, path)
		if _, err := h.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("held\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	path := filepath.Join(t.TempDir(), "lola")
	h := open(t, path)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program, "-test.run=^TestLockGoesWithItsProcess$")
	child.Env = append(os.Environ(), variable+"="+path)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		if strings.Contains(err.Error(), "exec format error") {
			t.Skip("this system cannot start programs of its own kind: an emulator runs the test alone")
		}
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); strings.TrimSpace(line) != "held" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	if _, err := h.Lock(expired()); err == nil {
		t.Error("the lock was had while another process held it")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	unlock, err := h.Lock(ctx)
	if err != nil {
		t.Fatalf("after its holder died: %v", err)
	}
	unlock()
}
