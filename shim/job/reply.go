package job

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LevelNone is the confinement level of a child that is only a process of its own: the guest is held by the engine alone.
const LevelNone = "none"

// Hello is the child's first line. It is written before the module is looked at, so it is our own program's word.
type Hello struct {
	Level    string // the confinement level that is in force from now on: [a-z0-9.+-]{1,64}
	Landlock int64  // version of Landlock's ABI that is in force; 0: none
	Seccomp  bool   // a list of system calls is in force
}

// Append appends the line to b.
func (h Hello) Append(b []byte) []byte {
	return fmt.Appendf(b, "lola-hello/%d level=%s landlock=%d seccomp=%t\n", Version, h.Level, h.Landlock, h.Seccomp)
}

// ReadHello reads the line. Failures are [*FrameError]; one that wraps io.EOF means that the child said nothing.
func ReadHello(r *bufio.Reader) (Hello, error) {
	var h Hello
	err := readLine(r, "hello", func(f *fields) ([]byte, error) {
		f.word("lola-hello")
		h.Level = f.level()
		h.Landlock, h.Seccomp = f.number("landlock"), f.bool("seccomp")
		return h.Append(nil), f.err
	})
	return h, err
}

// Outcome is how a job ended: OK, or the class of its failure.
type Outcome string

// The outcomes.
const (
	OK              Outcome = "ok"
	BadModule       Outcome = "bad-module"       // not a WebAssembly module that the engine takes, or not the one that was named
	ForbiddenImport Outcome = "forbidden-import" // an import that is no function of WASI preview 1 with its right type
	BadExport       Outcome = "bad-export"       // an export of the ABI is missing or has another type, or two forms are mixed
	ABIVersion      Outcome = "abi-version"      // it speaks another version of the ABI
	AllocFailed     Outcome = "alloc-failed"     // it gave no memory for the request, or memory that it does not have
	Trap            Outcome = "trap"             // its code trapped: unreachable, out of bounds, stack overflow, ...
	Exit            Outcome = "exit"             // it called proc_exit; in command form with another status than 0
	Status          Outcome = "status"           // lola_run returned another status than 0: its own word that it failed
	BadPlanPointer  Outcome = "bad-plan-pointer" // the plan lies outside its memory
	PlanTooLarge    Outcome = "plan-too-large"   // the plan is over its limit
	EmptyPlan       Outcome = "empty-plan"       // there is no plan at all, not even an empty one
	Memory          Outcome = "memory"           // it wants more memory to begin with than it may have
	StaleCode       Outcome = "stale-code"       // the compiled code that it was to load is missing, damaged or another module's
	Internal        Outcome = "internal"         // our own mistake, or the engine's
)

// Outcomes are all outcomes.
var Outcomes = []Outcome{
	OK, BadModule, ForbiddenImport, BadExport, ABIVersion, AllocFailed, Trap, Exit, Status, BadPlanPointer, PlanTooLarge,
	EmptyPlan, Memory, StaleCode, Internal,
}

func (o Outcome) known() bool { return slices.Contains(Outcomes, o) }

// cut makes s valid UTF-8 of at most bound bytes.
func cut(s string, bound int) (_ string, shorter bool) {
	if len(s) > 2*bound { // what is far beyond need not be looked at
		s, shorter = s[:2*bound], true
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= bound {
		return s, shorter
	}
	n := bound
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], true
}

// Reply is the status line.
type Reply struct {
	Outcome Outcome
	Body    int64  // bytes that follow the line
	Memory  int64  // bytes of linear memory that the guest had at its end, which is the most it had
	Written int64  // bytes of diagnostics that were written on descriptor 2 for this ask, before this line
	Dropped int64  // bytes of diagnostics that were dropped because of their limit
	Cut     bool   // Text was cut to MaxText bytes
	Text    string // why it failed; may hold the guest's own words; valid UTF-8 of at most MaxText bytes
}

// Append appends the line to b. Text is made valid UTF-8 and cut.
func (r Reply) Append(b []byte) []byte {
	text, shorter := cut(r.Text, MaxText)
	r.Text, r.Cut = text, r.Cut || shorter
	return fmt.Appendf(b, "lola-reply/%d outcome=%s body=%d memory=%d written=%d dropped=%d cut=%t text=%s\n",
		Version, r.Outcome, r.Body, r.Memory, r.Written, r.Dropped, r.Cut, strconv.QuoteToASCII(r.Text))
}

// ReadReply reads the line. What follows it stays in r. A failed job has no body. Failures are [*FrameError].
func ReadReply(r *bufio.Reader) (Reply, error) {
	var p Reply
	err := readLine(r, "status", func(f *fields) ([]byte, error) {
		f.word("lola-reply")
		p.Outcome = Outcome(f.text("outcome"))
		p.Body, p.Memory = f.number("body"), f.number("memory")
		p.Written, p.Dropped = f.number("written"), f.number("dropped")
		p.Cut = f.bool("cut")
		p.Text = f.quoted("text")
		switch {
		case f.err != nil:
		case !p.Outcome.known():
			f.err = fmt.Errorf("there is no outcome %q", p.Outcome)
		case p.Outcome != OK && p.Body != 0:
			f.err = fmt.Errorf("a failure has a body of %d bytes", p.Body)
		case len(p.Text) > MaxText:
			f.err = fmt.Errorf("its text has %d bytes, want at most %d", len(p.Text), MaxText)
		}
		return p.Append(nil), f.err
	})
	return p, err
}
