package audit

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/lola-ext/lola/abi"
)

// Format is the number that each record bears.
const Format = 1

const maxSeq = 1<<53 - 1 // what every JSON reader keeps exactly; a record a nanosecond would take three months

// Event says what a record tells of.
type Event string

// The events. Those from EventRotated on are the log's own: [Log.Append] writes them, and refuses them from a caller.
const (
	EventPlan       Event = "plan"        // a checked plan is about to be applied
	EventApplied    Event = "applied"     // it was
	EventRolledBack Event = "rolled-back" // it was not, and the tree is as before
	EventRecovered  Event = "recovered"   // what a crash left was finished or taken back
	EventUndone     Event = "undone"      // an applied plan was taken back
	EventRefused    Event = "refused"     // a plan, or a user's answer to it, was no
	EventRun        Event = "run"         // a child is about to be run
	EventDialled    Event = "dialled"     // an address is about to be dialled

	EventRotated Event = "rotated" // a new file begins
	EventDropped Event = "dropped" // the oldest file is about to go
	EventTorn    Event = "torn"    // a cut write lies before this record
	EventDamaged Event = "damaged" // something that no writer leaves lies before this record
)

// Events lists every event, in the order of FORMAT.md.
var Events = []Event{
	EventPlan, EventApplied, EventRolledBack, EventRecovered, EventUndone, EventRefused, EventRun, EventDialled,
	EventRotated, EventDropped, EventTorn, EventDamaged,
}

// Record is one record. The caller fills what applies; [Log.Append] sets Format, Seq, Prev, Time and Hash. All texts may be
// foreign. Order of fields is the order in a line.
type Record struct {
	Format      int         `json:"v"`
	Seq         uint64      `json:"seq"`  // 1, 2, 3, ...
	Prev        Digest      `json:"prev"` // Hash of the record before; zero in the first
	Time        Time        `json:"time"`
	Event       Event       `json:"event"`
	Transaction string      `json:"transaction,omitempty"` // a token: what ties "plan" and "applied" together
	Of          string      `json:"of,omitempty"`          // a token: the transaction that this one undoes or recovers
	Action      string      `json:"action,omitempty"`      // a token: "install", "uninstall", "plan-apply", "undo", "recover"
	Scope       string      `json:"scope,omitempty"`       // a token: "project", "user"
	Outcome     string      `json:"outcome,omitempty"`     // a token: the class of an error, never its text, which may hold a credential
	Root        *Root       `json:"root,omitempty"`
	Module      *Module     `json:"module,omitempty"`
	Extensions  []Extension `json:"extensions,omitempty"`
	Consents    []Consent   `json:"consents,omitempty"`
	Intents     []Intent    `json:"intents,omitempty"`
	IntentList  *List       `json:"intent_list,omitempty"` // instead of Intents: see [MaxList]
	Findings    []Finding   `json:"findings,omitempty"`
	FindingList *List       `json:"finding_list,omitempty"`
	Dialled     *Dialled    `json:"dialled,omitempty"`
	Rotated     *Rotated    `json:"rotated,omitempty"`
	Dropped     *Dropped    `json:"dropped,omitempty"`
	Scrap       *Scrap      `json:"scrap,omitempty"`
	Hash        Digest      `json:"hash,omitzero"` // SHA-256 of the line before this field
}

// Root is the tree that is about to change.
type Root struct {
	Path     string `json:"path"`
	Identity string `json:"identity,omitempty"`
}

// Module is the module that is installed or taken away.
type Module struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Digest  Digest `json:"digest,omitzero"` // package digest
}

// Extension is one extension whose plan this is.
type Extension struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Digest  Digest   `json:"digest,omitzero"` // package digest
	Tier    int      `json:"tier,omitempty"`  // 1 or 2
	Level   string   `json:"level,omitempty"` // the confinement that was reached
	Grants  []string `json:"grants,omitempty"`
}

// Consent is something that the user said yes to.
type Consent struct {
	Kind string `json:"kind"`           // a token: "foreign", "trust", "root", "hook"
	What string `json:"what,omitempty"` // as in NAME@sha256:HEX
	How  string `json:"how,omitempty"`  // a token: "asked", "flag", "stored"
}

// Intent is one effect. A write or an edit has the digest of the bytes that will lie at Path.
type Intent struct {
	Extension string `json:"extension,omitempty"`
	Op        string `json:"op"` // a token
	Path      string `json:"path"`
	To        string `json:"to,omitempty"`
	Digest    Digest `json:"digest,omitzero"`
	Mode      string `json:"mode,omitempty"` // as [abi.Mode] prints it
	URL       string `json:"url,omitempty"`  // kept as [RedactURL] leaves it
}

// Finding is one reason for a refusal.
type Finding struct {
	Rule      string `json:"rule"` // a token: the rule's id
	Extension string `json:"extension,omitempty"`
	Path      string `json:"path,omitempty"`
}

// List stands for a list that is too long to be kept: how many, and the SHA-256 digest of what FORMAT.md says.
type List struct {
	Count  int    `json:"count"`
	Digest Digest `json:"digest"`
}

// Dialled is one connection.
type Dialled struct {
	Extension string `json:"extension,omitempty"`
	URL       string `json:"url,omitempty"` // kept as [RedactURL] leaves it
	Address   string `json:"address"`       // the very address and port
}

// Rotated says which file ended and with which record.
type Rotated struct {
	File string `json:"file"`
	Last uint64 `json:"last"`
	Head Digest `json:"head"`
}

// Dropped says which file went to keep the quota, and where the log begins without it.
type Dropped struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Begins uint64 `json:"begins"` // Seq of the first record that is left
	Prev   Digest `json:"prev"`   // its Prev
}

// Scrap is what lies between this record and the one before it.
type Scrap struct {
	Bytes  int64  `json:"bytes"`
	Digest Digest `json:"digest"`
}

// Digest is a SHA-256 digest, as 64 lower-case hexadecimal digits in JSON.
type Digest abi.Digest

// String returns the digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := abi.ParseDigest(string(text))
	*d = Digest(parsed)
	return err
}

// Time is an instant to the microsecond, in UTC.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000000Z"

func timeOf(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// MarshalJSON implements [json.Marshaler]: that of [time.Time] would leave out zeros.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeLayout) + `"`), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Time) UnmarshalJSON(text []byte) error {
	parsed, err := time.Parse(`"`+timeLayout+`"`, string(text))
	if err != nil || len(text) != len(timeLayout)+2 {
		return fmt.Errorf("time %q: want the form %q", text, timeLayout)
	}
	t.Time = parsed
	return nil
}
