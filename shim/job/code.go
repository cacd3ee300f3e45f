package job

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxCode is the most bytes that compiled code may have. It takes about four times the bytes of its module.
const MaxCode = 512 << 20

// Code is what a child left that compiled a module. It is the child's own word: no guest ran in it, but foreign bytes were
// read.
type Code struct {
	// Entry is the path of the one file within the folder that the job named: "wazero-VERSION-ARCH-OS/KEY", KEY 64 lower-case
	// hexadecimal digits. The parts that a path can be led astray by are not in it.
	Entry string
	Size  int64 // bytes, 1 to MaxCode
}

// Append appends the encoded form to b: one line.
func (c Code) Append(b []byte) []byte {
	return fmt.Appendf(b, "lola-code/%d entry=%s size=%d\n", Version, c.Entry, c.Size)
}

// ReadCode reads the encoded form, and nothing may follow it. Failures are [*FrameError].
func ReadCode(r io.Reader) (Code, error) {
	var c Code
	br := bufio.NewReader(io.LimitReader(r, MaxLine+1))
	err := readLine(br, "code", func(f *fields) ([]byte, error) {
		f.word("lola-code")
		c.Entry, c.Size = f.text("entry"), f.number("size")
		set, key, _ := strings.Cut(c.Entry, "/")
		if b, err := hex.DecodeString(key); err != nil || len(b) != 32 || strings.ToLower(key) != key || !isWord(set, 200) || !strings.HasPrefix(set, "wazero-") {
			f.fail("entry")
		}
		if c.Size < 1 || c.Size > MaxCode {
			f.fail("size")
		}
		return c.Append(nil), f.err
	})
	if err != nil {
		return c, err
	}
	if _, err := br.ReadByte(); err != io.EOF {
		return c, &FrameError{What: "code", Err: errors.New("more follows its line")}
	}
	return c, nil
}

// isWord reports whether s is one of 1 to bound letters, digits, dots, underscores, pluses and hyphens. Versions are such words.
func isWord(s string, bound int) bool {
	return len(s) >= 1 && len(s) <= bound &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") == "" && !strings.Contains(s, "..")
}
