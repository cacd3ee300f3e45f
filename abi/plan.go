package abi

// Plan is an extension's whole answer: a header, then intents. It is a set, not a script: order means nothing.
type Plan struct {
	Result   Result    // nil: none
	Messages []Message // never fail a run
	Intents  []Intent
}

// Header is the first item of a plan on the wire.
type Header struct {
	Count    int // how many intents follow, exactly
	Result   Result
	Messages []Message
}

// Level is how loud a message is.
type Level string

// The levels.
const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Message is text for the user. It comes from the extension: a host shows it as foreign text, escaped.
type Message struct {
	Level Level
	Text  string
}

// Result is what catalog and scan extensions answer: [Entries], [Resolved] or [Scan].
type Result interface{ result() }

// Entries answers the actions search and list.
type Entries []Entry

// Entry is one module that a catalog knows.
type Entry struct {
	Name        string
	Source      string
	Version     string // empty: not said
	Description string // empty: not said
}

// Resolved answers the action resolve.
type Resolved struct {
	Source  string
	Version string  // empty: not said
	Digest  *Digest // nil: not said
}

// Verdict is a scan's conclusion.
type Verdict string

// The verdicts.
const (
	VerdictPass Verdict = "pass"
	VerdictWarn Verdict = "warn"
	VerdictFail Verdict = "fail"
)

// Scan answers the action scan.
type Scan struct {
	Verdict  Verdict
	Findings []ScanFinding
}

// ScanFinding is one thing that a scan saw.
type ScanFinding struct {
	Rule     string
	Severity string
	Text     string
	Path     string // empty: about the whole module
}

func (Entries) result()  {}
func (Resolved) result() {}
func (Scan) result()     {}
