package preview

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Page writes to out, a screenful at a time if both ends are terminals: space shows the next, enter the next line, q ends
// it. It starts no program and reads no variable but NO_PAGER, which switches it off. What does not fill the screen is
// written and that is all.
//
// Errors: those of write; one that is [context.Canceled] when the user interrupts with ^C or the context ends meanwhile. The
// terminal is as it was on return. Ended by q it returns nil, and write was stopped by an error of its writer.
func Page(ctx context.Context, in, out *os.File, write func(io.Writer) error) error {
	if os.Getenv("NO_PAGER") != "" || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return write(out)
	}
	p := &pager{
		out: bufio.NewWriter(out),
		size: func() (int, int) {
			width, height, err := term.GetSize(int(out.Fd()))
			if err != nil {
				return 80, 24
			}
			return width, height
		},
		raw: func() (func() error, error) {
			state, err := term.MakeRaw(int(in.Fd()))
			return func() error { return term.Restore(int(in.Fd()), state) }, err
		},
		key: func() (byte, error) { return key(ctx, in) },
	}
	return p.page(write)
}

// key waits for one key.
func key(ctx context.Context, in io.Reader) (byte, error) {
	type pressed struct {
		key byte
		err error
	}
	got := make(chan pressed, 1)
	go func() { // it cannot be ended; when the context is, so is the process
		var b [1]byte
		_, err := io.ReadFull(in, b[:])
		got <- pressed{b[0], err}
	}()
	select {
	case p := <-got:
		return p.key, p.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// errQuit stops a writer whose reader has seen enough.
var errQuit = errors.New("the reader has seen enough")

// pager is a writer that stops after each screenful.
type pager struct {
	out  *bufio.Writer
	size func() (width, height int)
	raw  func() (restore func() error, err error) // keys come one by one and are not shown, until it is restored
	key  func() (byte, error)
	rest string // of a line that has not ended
	left int    // rows until it stops
	err  error
}

func (p *pager) page(write func(io.Writer) error) error {
	_, height := p.size()
	p.left = max(height-1, 1)
	err := write(p)
	switch {
	case errors.Is(p.err, errQuit):
		return nil
	case p.err != nil:
		return fmt.Errorf("showing the preview: %w", p.err)
	case err != nil:
		return err
	}
	if p.rest != "" {
		p.out.WriteString(p.rest) // its error stays until the flush
	}
	return p.out.Flush()
}

// Write implements io.Writer.
func (p *pager) Write(b []byte) (int, error) {
	text := p.rest + string(b)
	p.rest = ""
	for p.err == nil && text != "" {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			p.rest = text
			break
		}
		p.row(text[:i+1])
		text = text[i+1:]
	}
	if p.err != nil {
		return 0, p.err
	}
	return len(b), nil
}

// row writes one line, and waits before it if there is no room.
func (p *pager) row(line string) {
	width, _ := p.size()
	n := max((cells(uncolored(strings.TrimSuffix(line, "\n")))+max(width, 1)-1)/max(width, 1), 1)
	if p.left < n {
		p.wait()
	}
	if p.err == nil {
		_, p.err = p.out.WriteString(line)
		p.left -= n
	}
}

const prompt = "-- more: space, enter, q --"

// wait asks for a key until it is one that says how to go on.
func (p *pager) wait() {
	restore, err := p.raw()
	if err != nil {
		p.err = err
		return
	}
	defer func() {
		if err := restore(); p.err == nil {
			p.err = err
		}
	}()
	p.out.WriteString(prompt) // its error stays until the flush
	if p.err = p.out.Flush(); p.err != nil {
		return
	}
	for asking := true; asking; {
		var key byte
		key, p.err = p.key()
		_, height := p.size()
		asking = false
		switch {
		case p.err != nil:
		case key == ' ' || key == 'f':
			p.left = max(height-1, 1)
		case key == '\r' || key == '\n' || key == 'j':
			p.left = 1
		case key == 'q' || key == 'Q' || key == 4: // ^D
			p.err = errQuit
		case key == 3: // ^C, which raw mode does not turn into a signal
			p.err = context.Canceled
		default:
			asking = true
		}
	}
	p.out.WriteString("\r" + strings.Repeat(" ", len(prompt)) + "\r")
	if err := p.out.Flush(); p.err == nil {
		p.err = err
	}
}

// uncolored takes away the colours, which are the only escape sequences that this package writes.
func uncolored(line string) string {
	for {
		before, after, ok := strings.Cut(line, "\x1b[")
		if !ok {
			return line
		}
		_, after, _ = strings.Cut(after, "m")
		line = before + after
	}
}
