package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/lola-ext/lola/shim/job"
)

// answer is what a child writes on descriptor 1, read in the one form that it may have.
type answer struct {
	bound int64                                  // bytes of body at most
	take  func(body io.Reader, size int64) error // reads a body

	hello  job.Hello
	status job.Reply // with an outcome once the status line was read
}

// frameError says that a child's answer is not of the form that shim/job describes.
type frameError struct{ err error }

func (e *frameError) Error() string { return e.err.Error() }
func (e *frameError) Unwrap() error { return e.err }

// read reads a whole answer up to the end of r. Errors of the form are [*frameError], others come from take or r.
func (a *answer) read(r io.Reader) error {
	br := bufio.NewReader(r)
	var err error
	if a.hello, err = job.ReadHello(br); err != nil {
		return &frameError{err}
	}
	if a.status, err = job.ReadReply(br); err != nil {
		return &frameError{err}
	}
	if a.status.Body > a.bound {
		return &frameError{fmt.Errorf("it announces a body of %d bytes, the limit is %d", a.status.Body, a.bound)}
	}
	if a.status.Outcome == job.OK {
		body := &io.LimitedReader{R: br, N: a.status.Body}
		if err := a.take(body, a.status.Body); err != nil {
			return err
		}
		if body.N != 0 {
			return &frameError{fmt.Errorf("%d bytes are left over of the body it announced", body.N)}
		}
	}
	switch _, err := br.ReadByte(); {
	case err == nil:
		return &frameError{errors.New("more follows its answer")}
	case err != io.EOF:
		return err
	}
	return nil
}
