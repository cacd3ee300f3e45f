package preview

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// screen runs the pager at a made-up terminal of 10 columns and 4 rows, with keys given.
func screen(keys string, write func(io.Writer) error) (out, left string, err error) {
	var b strings.Builder
	raw := 0
	p := &pager{
		out:  bufio.NewWriter(&b),
		size: func() (int, int) { return 10, 4 },
		raw:  func() (func() error, error) { raw++; return func() error { raw--; return nil }, nil },
		key: func() (byte, error) {
			if keys == "" || raw != 1 {
				return 0, io.EOF
			}
			k := keys[0]
			keys = keys[1:]
			return k, nil
		},
	}
	if err = p.page(write); raw != 0 {
		err = fmt.Errorf("the terminal is left raw; %w", err)
	}
	return strings.ReplaceAll(b.String(), prompt+"\r"+strings.Repeat(" ", len(prompt))+"\r", "<more>"), keys, err
}

func numbers(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		for i := range n {
			if _, err := fmt.Fprintf(w, "%d\n", i); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestPager: a screenful at a time, and each key does what it says.
func TestPager(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(io.Writer) error
		keys  string
		want  string
		err   error
	}{
		{"it fits", numbers(3), "", "0\n1\n2\n", nil},
		{"space", numbers(7), "  ", "0\n1\n2\n<more>3\n4\n5\n<more>6\n", nil},
		{"enter", numbers(5), "\r\n", "0\n1\n2\n<more>3\n<more>4\n", nil},
		{"quit", numbers(100), "q", "0\n1\n2\n<more>", nil},
		{"other keys", numbers(4), "x\x1b[B ", "0\n1\n2\n<more>3\n", nil},
		{"interrupt", numbers(100), "\x03", "0\n1\n2\n<more>", context.Canceled},
		{"no more keys", numbers(100), "", "0\n1\n2\n<more>", io.EOF},
		{"long lines", func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Repeat("x", 25)+"\ny\n\x1b[1;31m0123456789\x1b[0m\n")
			return err
		}, " ", strings.Repeat("x", 25) + "\n<more>y\n\x1b[1;31m0123456789\x1b[0m\n", nil},
		{"line in pieces", func(w io.Writer) error {
			for _, s := range []string{"a", "b\nc", "d"} {
				if _, err := io.WriteString(w, s); err != nil {
					return err
				}
			}
			return nil
		}, "", "ab\ncd", nil},
		{"writer fails", func(io.Writer) error { return os.ErrInvalid }, "", "", os.ErrInvalid},
	} {
		out, left, err := screen(c.keys, c.write)
		if out != c.want || left != "" || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, keys left %q, error %v; want %q, error %v", c.name, out, left, err, c.want, c.err)
		}
	}
}

// TestPageNoTerminal: what is no terminal gets all of it at once.
func TestPageNoTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := Page(t.Context(), out, out, numbers(1000)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != 1000 {
		t.Errorf("%d lines came out, error %v", strings.Count(string(text), "\n"), err)
	}
}
