// Package job is the frame between a host and the child that runs a guest for it: what is written on the child's
// descriptors 0 and 1, and the words that both use.
//
// The host starts the program that holds package shim with the argument [Command] and, unless code is loaded, the donated
// descriptor [Module], and writes on descriptor 0:
//
//	job line                      once
//	ask line, request bytes       as often as it likes, each after the answer to the one before
//
// and then nothing. The end of file between two asks is the end of the work; at any other time it says that the host is gone.
// The child writes on descriptor 1:
//
//	hello line                    once, before it looks at the module: nothing foreign has run in it yet
//	status line, body             for each ask; the body has as many bytes as the line says: the plan, or what [Info.Append]
//	                              or [Code.Append] makes
//
// and the guest's diagnostics on descriptor 2. A line is a word with the frame's version, then "key=value" pairs in one
// fixed order, then LF; text is quoted ASCII (strconv.QuoteToASCII). A line is read only in the one form that is written:
// what was understood is written again and compared, so there is no second spelling, no duplicate and no unknown key.
//
//	line := job.Job{Do: job.Run, Memory: 256 << 20, Plan: 64 << 20, ...}.Append(nil)
//
// What it does not protect against: a child in which a guest ran may be the guest's. Only the hello line is the word of
// our own program; all that follows is a claim, bounded and of the right form.
//
// What may change: the frame is between two runs of one program file, and promises nothing to others. [Version] changes
// with it. The package makes no system calls and imports only the standard library; its values may be used concurrently.
package job

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Version is the version of the frame.
const Version = 2

// Command is the first argument of a child.
const Command = "__extension-host"

// Module is the name of the donated file that holds the module.
const Module = "module"

const (
	// MaxLine is the most bytes that a line may have, LF included. A status line with MaxText bytes of text, each as long
	// as quoting makes it, has fewer.
	MaxLine = 32 << 10
	// MaxText is the most bytes of text in a status line, before quoting: an error is a few lines for a person.
	MaxText = 4 << 10
	// MaxModule is the most bytes that a module may have. The largest that is in sight, a Go guest with everything in it,
	// has 4 MiB; an interpreter with its library some 25 MiB.
	MaxModule = 64 << 20
	// MaxPath is the most bytes that the path of a folder may have: what Linux takes (PATH_MAX).
	MaxPath = 4096
)

// maxNumber is the highest bound that a job may have, so that sums of them do not run over.
const maxNumber = 1 << 32

// Do says what a child is to do.
type Do string

// What a child can do.
const (
	Run     Do = "run"     // run the guest, answer its plan
	Inspect Do = "inspect" // compile the module, run it as far as its ABI version, answer an [Info]
	Compile Do = "compile" // compile the module, leave the code in a folder, answer a [Code]; none of the module's code runs
)

// Job is the first line. Its bounds are for each ask.
type Job struct {
	Do          Do
	Memory      int64    // bytes of the guest's linear memory at most
	Plan        int64    // bytes of a plan at most
	Diagnostics int64    // bytes of diagnostics at most
	Request     int64    // bytes of a request at most
	CPU         int64    // seconds of processor time for all that the child does; 0: no bound
	ModuleSize  int64    // bytes of the module that is donated, 1 to MaxModule; 0 if the code is loaded: there is none then
	Digest      [32]byte // SHA-256 of the module
	// Level is the least level of confinement (package shim/policy) at which code of the guest may run before the first ask, which
	// the host sends after it has seen the hello; "": any.
	Level string
	// Code is a folder, absolute, at most MaxPath bytes. To Compile: it is empty and takes the code. To Run: it has what
	// Compile left in it, which is loaded; "": the module is compiled first. To Inspect: "".
	Code string
}

// Loads reports whether code is loaded, so that there is no module.
func (j Job) Loads() bool { return j.Do == Run && j.Code != "" }

const jobForm = "lola-job/%d do=%s memory=%d plan=%d diagnostics=%d request=%d cpu=%d module=%d sha256=%s level=%s code=%s\n"

// Append appends the line to b.
func (j Job) Append(b []byte) []byte {
	return fmt.Appendf(b, jobForm, Version, j.Do, j.Memory, j.Plan, j.Diagnostics, j.Request, j.CPU,
		j.ModuleSize, hex.EncodeToString(j.Digest[:]), cmp.Or(j.Level, LevelNone), strconv.QuoteToASCII(j.Code))
}

// ReadJob reads the line. What follows it stays in r.
func ReadJob(r *bufio.Reader) (Job, error) {
	var j Job
	err := readLine(r, "job", func(f *fields) ([]byte, error) {
		f.word("lola-job")
		j.Do = Do(f.text("do"))
		j.Memory, j.Plan, j.Diagnostics = f.number("memory"), f.number("plan"), f.number("diagnostics")
		j.Request, j.CPU, j.ModuleSize = f.number("request"), f.number("cpu"), f.number("module")
		digest := f.text("sha256")
		if n, err := hex.Decode(j.Digest[:], []byte(digest[:min(len(digest), 64)])); err != nil || n != 32 {
			f.fail("sha256")
		}
		if j.Level = f.level(); j.Level == LevelNone {
			j.Level = ""
		}
		j.Code = f.quoted("code")
		switch {
		case f.err != nil:
		case j.Do != Run && j.Do != Inspect && j.Do != Compile:
			f.err = fmt.Errorf("there is nothing called %q to do", j.Do)
		case j.Loads() && j.ModuleSize != 0:
			f.err = fmt.Errorf("a module of %d bytes and its code, want one of them", j.ModuleSize)
		case !j.Loads() && (j.ModuleSize < 1 || j.ModuleSize > MaxModule):
			f.err = fmt.Errorf("the module has %d bytes, want 1 to %d", j.ModuleSize, MaxModule)
		case max(j.Memory, j.Plan, j.Diagnostics, j.Request, j.CPU) > maxNumber:
			f.fail("bounds")
		case len(j.Code) > MaxPath || j.Do == Compile && j.Code == "" || j.Do == Inspect && j.Code != "":
			f.fail("code")
		}
		return j.Append(nil), f.err
	})
	return j, err
}

// Ask is the line before a request.
type Ask struct {
	Request int64 // bytes of the request that follow the line
}

// Append appends the line to b.
func (a Ask) Append(b []byte) []byte {
	return fmt.Appendf(b, "lola-ask/%d request=%d\n", Version, a.Request)
}

// ReadAsk reads the line. What follows it stays in r. Failures are [*FrameError]; one that wraps io.EOF means that there is
// no ask any more.
func ReadAsk(r *bufio.Reader) (Ask, error) {
	var a Ask
	err := readLine(r, "ask", func(f *fields) ([]byte, error) {
		f.word("lola-ask")
		a.Request = f.number("request")
		return a.Append(nil), f.err
	})
	return a, err
}

// Donated returns the number of the file that was donated under name: the argument "name=NUMBER".
func Donated(args []string, name string) (uintptr, error) {
	for _, arg := range args {
		if v, ok := strings.CutPrefix(arg, name+"="); ok {
			n, err := strconv.ParseUint(v, 10, strconv.IntSize)
			if err != nil {
				return 0, fmt.Errorf("reading the number of the donated file %q: %w", name, err)
			}
			return uintptr(n), nil
		}
	}
	return 0, fmt.Errorf("no file %q was donated", name)
}

// fields takes a line apart, pair by pair in order. The first failure stays.
type fields struct {
	rest string
	err  error
}

func (f *fields) fail(key string) {
	if f.err == nil {
		f.err = fmt.Errorf("no proper %q", key)
	}
}

func (f *fields) word(name string) {
	if f.next() != name+"/"+strconv.Itoa(Version) {
		f.fail(name)
	}
}

// next returns what stands before the next space.
func (f *fields) next() string {
	head, rest, _ := strings.Cut(f.rest, " ")
	f.rest = rest
	return head
}

func (f *fields) text(key string) string {
	v, ok := strings.CutPrefix(f.next(), key+"=")
	if !ok {
		f.fail(key)
	}
	return v
}

func (f *fields) number(key string) int64 {
	n, err := strconv.ParseInt(f.text(key), 10, 64)
	if err != nil || n < 0 || n == math.MaxInt64 {
		f.fail(key)
		return 0
	}
	return n
}

// level reads a level of confinement: [a-z0-9.+-]{1,64}.
func (f *fields) level() string {
	v := f.text("level")
	if len(v) < 1 || len(v) > 64 || strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789.+-") != "" {
		f.fail("level")
	}
	return v
}

func (f *fields) bool(key string) bool { return f.text(key) == "true" }

// quoted takes a quoted text; it may hold spaces.
func (f *fields) quoted(key string) string {
	rest, ok := strings.CutPrefix(f.rest, key+"=")
	if !ok {
		f.fail(key)
		return ""
	}
	q, err := strconv.QuotedPrefix(rest)
	if err != nil {
		f.fail(key)
		return ""
	}
	f.rest = strings.TrimPrefix(rest[len(q):], " ")
	s, err := strconv.Unquote(q)
	if err != nil {
		f.fail(key)
	}
	return s
}

// readLine reads one line of at most MaxLine bytes, has it taken apart, and compares it with what it is when written
// again.
func readLine(r *bufio.Reader, what string, parse func(*fields) (again []byte, err error)) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLine {
			return &FrameError{What: what, Err: fmt.Errorf("it has more than %d bytes", MaxLine)}
		}
		if err == nil {
			break
		}
		if err == io.EOF && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != bufio.ErrBufferFull {
			return &FrameError{What: what, Err: err}
		}
	}
	again, err := parse(&fields{rest: strings.TrimSuffix(string(line), "\n")})
	if err == nil && string(again) != string(line) {
		err = fmt.Errorf("it is not in the one form that is written")
	}
	if err != nil {
		return &FrameError{What: what, Err: err}
	}
	return nil
}

// FrameError says that something other than the frame was read.
type FrameError struct {
	What string // which part: "job", "ask", "hello", "status", "info", "code"
	Err  error  // [io.EOF]: nothing at all was there
}

// Error implements error.
func (e *FrameError) Error() string { return fmt.Sprintf("reading the %s: %v", e.What, e.Err) }

// Unwrap returns the cause.
func (e *FrameError) Unwrap() error { return e.Err }
