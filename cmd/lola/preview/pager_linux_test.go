package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens a terminal of 20 rows and returns both its ends.
func terminal(t *testing.T) (user, tty *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 80}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return user, tty
}

// TestPageTerminal: at a terminal it waits for a key, and the terminal's settings are as they were, be it by the end, q, ^C or
// a signal, which is a context that ends.
func TestPageTerminal(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		lines      int
		last       string
		err        error
	}{{"to the end", "  ", 50, "49\r\n", nil}, {"quit", "q", 19, "\r", nil}, {"interrupted", "\x03", 19, "\r", context.Canceled}, {"signal", "", 19, "\r", context.Canceled}} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NO_PAGER", "")
			user, tty := terminal(t)
			before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- Page(ctx, tty, tty, numbers(50)) }()
			var seen strings.Builder
			read := func(until func() bool) {
				t.Helper()
				buf := make([]byte, 4096)
				for !until() {
					n, err := user.Read(buf)
					if err != nil {
						t.Fatalf("reading the screen: %v", err)
					}
					seen.Write(buf[:n])
				}
			}
			prompts := max(len(c.keys), 1)
			for i := range prompts {
				read(func() bool { return strings.Count(seen.String(), prompt) == i+1 })
				if i < len(c.keys) {
					if _, err := io.WriteString(user, c.keys[i:i+1]); err != nil {
						t.Fatal(err)
					}
				}
			}
			if c.keys == "" {
				cancel()
			}
			select {
			case err = <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("it does not return")
			}
			if !errors.Is(err, c.err) {
				t.Errorf("it returns %v, want %v", err, c.err)
			}
			read(func() bool { return strings.HasSuffix(seen.String(), c.last) })
			if n := strings.Count(seen.String(), "\n"); n != c.lines {
				t.Errorf("%d lines are on the screen, want %d: %q", n, c.lines, seen.String())
			}
			after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			if *after != *before {
				t.Errorf("the terminal is %+v, was %+v", after, before)
			}
		})
	}
	t.Run("NO_PAGER", func(t *testing.T) {
		t.Setenv("NO_PAGER", "1")
		user, tty := terminal(t)
		go io.Copy(io.Discard, user)
		if err := Page(t.Context(), tty, tty, numbers(50)); err != nil {
			t.Error(err)
		}
	})
}
