// Package preview shows what a change would do before it happens.
//
// It works from plain data, so that what it prints is decided here alone and a test can hold it to that with any text:
//
//	p := &preview.Preview{Action: "install", Module: "git-doctor", Changes: changes, DryRun: true}
//	err := p.Write(os.Stdout, source, preview.Options{})
//
// Dangers come first and are never cut: what the module makes run by itself, guarded paths, foreign changes, what stays.
// Then a unified diff per file, as much of it as a person reads; then notes; the last line sums it up. Every text is taken
// for foreign: it is escaped, stands on one line and never at the margin. What an edit replaces or removes is never shown,
// nor is the file around it.
//
// It does not judge and does not ask, and it believes what it is told of sizes, digests and dangers. It shows what the bytes
// are, not what they mean to who reads them later: a letter that looks like another is not told apart.
//
// The JSON form is stable as docs/report.schema.json says: fields may be added. The text is for people and may change.
package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Preview is what a change would do.
type Preview struct {
	Action  string // "install", "uninstall", "undo", ...
	Module  string
	Version string
	Digest  string // package digest of the module, hexadecimal
	Project string
	Scope   string // "project" or "user"; empty: not said
	Targets []string
	Level   string // the lowest confinement that an extension ran under; empty: none ran
	// Confined is how each of them ran.
	Confined []Confined
	// Stranger says that the change is a saved plan of whoever: what it says of the module may be untrue.
	Stranger bool
	Runs     []Run
	Changes  []Change
	Stays    []Mark // what is left where it is
	Skipped  []Mark // what is no part of the module
	Notices  []string
	// Messages and Diagnostics are what extensions said.
	Messages    []Message
	Diagnostics []Diagnostic
	DryRun      bool
	Changed     bool // whether anything changes: a file, or only what is recorded
}

// Confined says how an extension ran.
type Confined struct {
	Extension string
	Level     string
	Full      bool     // it is the highest level that there is
	Landlock  int      // version of Landlock's ABI that was in force, 0: none
	Seccomp   bool     // a list of system calls was
	Words     string   // the level and what it consists of
	Open      []string // what stays open at it
}

// Run is one thing that the module makes run by itself, as an MCP server or a hook.
type Run struct {
	What string // in a few words
	Path string // the file that says so
	Text string // what it says, verbatim
}

// Mark is a path with a reason.
type Mark struct {
	Path string
	Why  string
}

// Message is one message of an extension.
type Message struct {
	Extension string
	Level     string // "debug", "info", "warn", "error"
	Text      string
}

// Diagnostic is what an extension wrote to its standard error.
type Diagnostic struct {
	Extension string
	Text      string
	Truncated bool
}

// Change is what happens at one path.
type Change struct {
	Action  string // "create", "update", "keep", "remove", "move", "fetch", "clone"
	Path    string
	To      string // of a move: where it goes
	Dir     bool   // the path is a folder
	Entries int    // of a folder: how many entries are in it
	// Mode, Size and Digest are those afterwards, OldMode, OldSize and OldDigest those before; a mode is four octal digits,
	// a digest hexadecimal, and empty says that there is none or that it does not count.
	Mode, OldMode     string
	Size, OldSize     int64
	Digest, OldDigest string
	Owners            []string // the extensions that asked for it
	// Guarded are paths that other programs run or obey, Foreign those that this program did not install or that changed
	// since. An empty path in them is Path.
	Guarded, Foreign []Mark
	// Edits, if there are any, are shown instead of the contents, and the contents are not read.
	Edits []Edit
	// OldSecret and NewSecret say that what is there, or what will be there, may hold secrets of the user's, as by the name of
	// the file. Neither it nor its digest is shown. NewSecret is for what is put back; what a module writes is its own.
	OldSecret, NewSecret bool
	URL                  string // of a fetch or clone
	Ref                  string // of a clone
}

// Edit is one edit in a file. Old is never shown, only its length.
type Edit struct {
	Kind string // "add", "replace", "remove", "same"
	At   string // JSON pointer, if ID is empty
	ID   string // name of a block
	New  string
	Old  string
	// ShowNew says that New is the module's own. Without it New is masked as Old is: what an uninstall or undo puts back is
	// the user's.
	ShowNew bool
}

// Source opens contents for a preview, which reads no more of them than it shows. A nil Source shows none.
type Source interface {
	Before(path string) (io.ReadCloser, error) // what is there now
	After(path string) (io.ReadCloser, error)  // what will be there
}

// Options says how a preview is written. The zero value is for a file: no colour, lines as long as they are.
type Options struct {
	Color bool
	Width int  // columns of the terminal, 20 or more; else lines are not wrapped
	Full  bool // show what is cut otherwise; what bounds a comparison stays
	// NoNotes leaves out what [Preview.WriteNotes] writes.
	NoNotes bool
	// MaxFiles is how many files of a kind are shown, 0: 200. Beyond, contents are left out, and then names.
	MaxFiles int
	// MaxLines is how many lines of contents are shown in all, 0: 5,000; MaxFileLines how many of one file, 0: 400. A guarded
	// path has its contents shown whole, and they do not count.
	MaxLines, MaxFileLines int
	// MaxBytes is how large a file may be to be read and compared, 0: 1 MiB; 16 MiB at most.
	MaxBytes int64
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		n   *int
		def int
	}{{&o.MaxFiles, 200}, {&o.MaxLines, 5000}, {&o.MaxFileLines, 400}} {
		if *d.n <= 0 {
			*d.n = d.def
		}
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 20
	}
	o.MaxBytes = min(o.MaxBytes, 16<<20)
	if o.Width < 20 {
		o.Width = 0
	}
	return o
}

// Write writes the preview. Its errors are those of w: contents that cannot be read are said in their place.
func (p *Preview) Write(w io.Writer, src Source, o Options) error {
	o = o.withDefaults()
	pr := newPrinter(w, o)
	if p.dangers(pr) {
		pr.blank()
	}
	if p.changes(pr, src) {
		pr.blank()
	}
	if !o.NoNotes {
		p.notes(pr)
	}
	p.summary(pr)
	return pr.flush()
}

// WriteNotes writes what [Preview.Write] leaves out under [Options.NoNotes]: what is not part of the module, notices, what
// extensions said, their confinement.
func (p *Preview) WriteNotes(w io.Writer, o Options) error {
	pr := newPrinter(w, o.withDefaults())
	p.notes(pr)
	return pr.flush()
}

// StrangerWarning is what is said first of a [Preview.Stranger].
const StrangerWarning = "this plan was not made here: module, version and digest are what it says"

// dangers writes what needs attention, all of it, and says whether there is any.
func (p *Preview) dangers(pr *printer) bool {
	if p.Stranger {
		pr.line(danger, "! ", StrangerWarning)
	}
	if len(p.Runs) > 0 && p.Digest != "" {
		pr.line(danger, "! ", name(p.Module)+"@sha256:"+name(p.Digest)+" makes this run by itself:")
	}
	for _, r := range p.Runs {
		pr.line(danger, "! ", "runs by itself: "+name(r.Path)+": "+r.What)
		for line := range lines(r.Text) {
			pr.line(plain, gutter+" ", line)
		}
	}
	for _, kind := range []struct {
		word  string
		marks func(Change) []Mark
	}{{"guarded", func(c Change) []Mark { return c.Guarded }}, {"foreign", func(c Change) []Mark { return c.Foreign }}} {
		for _, c := range p.Changes {
			for _, m := range kind.marks(c) {
				path := m.Path
				if path == "" {
					path = c.Path
				}
				pr.line(danger, "! ", kind.word+", "+c.verb()+": "+name(path)+": "+m.Why)
			}
		}
	}
	for _, s := range p.Stays {
		pr.line(danger, "! ", "stays: "+name(s.Path)+": "+s.Why)
	}
	c := p.counts()
	return p.Stranger || c.Runs+c.Guarded+c.Foreign+c.Stays > 0
}

// noteLines bounds what an extension's messages and diagnostics take up unless all is asked for.
const noteLines = 100

func (p *Preview) notes(pr *printer) {
	cut := func(n, max int) bool { return n > max && !pr.o.Full }
	for i, s := range p.Skipped {
		if cut(len(p.Skipped), noteLines) && i == noteLines {
			pr.line(faint, "lola: note: ", count(len(p.Skipped)-i)+" more are not part of the module; --full shows all")
			break
		}
		pr.line(plain, "lola: note: ", name(s.Path)+" is not part of the module: "+s.Why)
	}
	for _, n := range p.Notices {
		pr.line(plain, "lola: note: ", n)
	}
	left := noteLines
	var more int
	say := func(extension, text string) {
		for line := range lines(text) {
			if left--; left < 0 && !pr.o.Full {
				more++
				continue
			}
			pr.line(plain, "  ", label(extension)+" │ "+Escape(line))
		}
	}
	for _, m := range p.Messages {
		if m.Level != "debug" || pr.o.Full {
			say(m.Extension, m.Level+": "+strings.TrimRight(m.Text, "\r\n"))
		}
	}
	for _, d := range p.Diagnostics {
		say(d.Extension, d.Text)
		if d.Truncated {
			pr.line(plain, "lola: note: ", "the rest of what "+name(d.Extension)+" printed was dropped")
		}
	}
	if more > 0 {
		pr.line(faint, "lola: note: ", "extensions said "+count(more)+" more lines; --full shows all")
	}
	for _, line := range p.Confinement() {
		pr.line(plain, "lola: note: ", line)
	}
}

// Confinement says in a line or more how extensions ran, and what stayed open where that was less than there is.
func (p *Preview) Confinement() []string {
	var said []string
	for i, c := range p.Confined {
		same := func(o Confined) bool { return o.Words == c.Words && slices.Equal(o.Open, c.Open) }
		if slices.ContainsFunc(p.Confined[:i], same) {
			continue
		}
		who := "extensions"
		if slices.ContainsFunc(p.Confined, func(o Confined) bool { return !same(o) }) {
			var names []string
			for _, o := range p.Confined[i:] {
				if same(o) {
					names = append(names, name(o.Extension))
				}
			}
			who = strings.Join(names, ", ")
		}
		said = append(said, who+" ran confined: "+c.Words)
		if !c.Full {
			said = append(said, "at that level stays open to one that breaks out of the WASM runtime: "+strings.Join(c.Open, "; "))
		}
	}
	return said
}

// label is a name that may begin a line.
func label(text string) string {
	if plainName(text) {
		return text
	}
	return `"` + strings.Trim(name(text), `"`) + `"`
}

// counts is what the summary says, in numbers.
type counts struct {
	New       int `json:"new"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Moved     int `json:"moved"`
	Fetched   int `json:"fetched"`
	Cloned    int `json:"cloned"`
	Unchanged int `json:"unchanged"`
	Runs      int `json:"runs"`
	Guarded   int `json:"guarded"`
	Foreign   int `json:"foreign"`
	Stays     int `json:"stays"`
}

func (p *Preview) counts() counts {
	c := counts{Runs: len(p.Runs), Stays: len(p.Stays)}
	for _, ch := range p.Changes {
		n := 1
		if ch.Dir {
			n = max(1, ch.Entries) // what a reader counts
		}
		switch ch.Action {
		case "create":
			c.New++
		case "keep":
			c.Unchanged++
		case "remove":
			c.Removed += n
		case "move":
			c.Moved += n
		case "fetch":
			c.Fetched++
		case "clone":
			c.Cloned++
		default:
			c.Changed++
		}
		c.Guarded += len(ch.Guarded)
		c.Foreign += len(ch.Foreign)
	}
	return c
}

// Summary is the last line without its end: what would happen or, once it is done, what has. It is escaped.
func (p *Preview) Summary(done bool) string {
	c := p.counts()
	var parts, dangers []string
	add := func(to *[]string, n int, word string) {
		if n > 0 {
			*to = append(*to, count(n)+" "+word)
		}
	}
	add(&parts, c.New, "new")
	add(&parts, c.Changed, "changed")
	add(&parts, c.Removed, "removed")
	add(&parts, c.Moved, "moved")
	add(&parts, c.Fetched, "fetched")
	add(&parts, c.Cloned, "cloned")
	add(&parts, c.Unchanged, "as they were")
	if len(parts) == 0 {
		parts = []string{"no files"}
	}
	add(&dangers, c.Runs, "run by themselves")
	if c.Runs == 1 {
		dangers[0] = "1 runs by itself"
	}
	add(&dangers, c.Guarded, "guarded")
	add(&dangers, c.Foreign, "foreign")
	add(&dangers, c.Stays, "left")

	var b strings.Builder
	if plainName(p.Module) {
		b.WriteString(p.Module)
	} else {
		b.WriteString("module " + name(p.Module))
	}
	if p.Version != "" {
		b.WriteString(" " + name(p.Version))
	}
	b.WriteString(": " + p.state(done))
	for i, t := range p.Targets {
		b.WriteString([]string{" for ", ", "}[min(i, 1)] + name(t))
	}
	if p.Scope == "user" {
		b.WriteString(" in the user's own folder " + name(p.Project))
	}
	b.WriteString(": " + strings.Join(parts, ", "))
	if len(dangers) > 0 {
		b.WriteString("; " + strings.Join(dangers, ", "))
	}
	return Escape(b.String())
}

// state says what becomes of the module.
func (p *Preview) state(done bool) string {
	action, past := "change", "changed"
	if plainName(p.Action) {
		action = p.Action
		past = strings.TrimSuffix(action, "e") + "ed"
		switch action {
		case "undo":
			past = "undone"
		case "apply":
			past = "applied"
		}
	}
	switch {
	case !p.Changed:
		return "unchanged"
	case p.DryRun:
		return "would " + action
	case done:
		return past
	}
	return "will " + action
}

func (p *Preview) summary(pr *printer) { pr.line(strong, "", p.Summary(false)) }

// verb says what happens at the path.
func (c Change) verb() string {
	switch c.Action {
	case "create":
		return "new"
	case "update":
		if len(c.Edits) > 0 {
			return "edited"
		}
		return "changed"
	case "remove":
		return "removed"
	case "move":
		return "moved"
	case "fetch":
		return "fetched"
	case "clone":
		return "cloned"
	case "keep":
		return "as it was"
	}
	return name(c.Action)
}

// count writes a number as people read it: 9,800.
func count[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// lines yields the lines of a text without their ends; a CR before the end is part of the line.
func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if !yield(strings.TrimSuffix(line, "\n")) {
				return
			}
		}
	}
}

// sorted returns the changes by path.
func sorted(changes []Change) []Change {
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}
