package host

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/host/module"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/shim/policy"
)

// Report says what a change would do, or has done. Texts that come from modules and extensions are foreign: escape them
// before they reach a terminal.
type Report struct {
	Action  string    `json:"action"` // "install", "uninstall", "undo" or "plan apply"
	Module  string    `json:"module"`
	Version string    `json:"version,omitempty"`
	Digest  string    `json:"sha256,omitempty"` // package digest of the module
	Scope   abi.Scope `json:"scope,omitempty"`
	Project string    `json:"project"` // path of the root: of a project, or in user scope of the assistant's folder
	Targets []string  `json:"targets"`
	// Stranger says that it is a saved plan that was not made here: module, version and digest are what it says, and what it
	// removes or replaces of an installed module is foreign.
	Stranger bool `json:"stranger,omitempty"`
	// Runs are what the module makes run by itself. It needs the consent [Consent.Trust].
	Runs []module.Run `json:"runs,omitempty"`
	// Changed says whether anything changes: a file, or only what is recorded.
	Changed bool `json:"changed"`
	// Files are the files that the change is about, sorted by path, those that stay as they are included.
	Files []FileChange `json:"files"`
	// Stays are files of the module that are left where they are, with the reason.
	Stays []Stay `json:"stays,omitempty"`
	// Notices are the host's own remarks, as on what it does not handle yet.
	Notices     []string         `json:"notices,omitempty"`
	Skipped     []module.Skipped `json:"skipped,omitempty"`
	Messages    []Message        `json:"messages,omitempty"`
	Diagnostics []Diagnostic     `json:"diagnostics,omitempty"`
	// Level is the lowest confinement that an extension's child had; empty: none ran. Confined says it for each.
	Level    policy.Level `json:"level,omitempty"`
	Confined []Confined   `json:"confined,omitempty"`
}

// FileChange is what happens at one path.
type FileChange struct {
	Path    string      `json:"path"`
	To      string      `json:"to,omitempty"` // of a move
	Action  plan.Action `json:"action"`
	Dir     bool        `json:"dir,omitempty"`     // a directory goes or moves
	Entries int         `json:"entries,omitempty"` // with so many files and directories in it
	// Size, Mode and Digest are those afterwards, OldSize, OldMode and OldDigest those before.
	Size      int64    `json:"size,omitempty"`
	Mode      string   `json:"mode,omitempty"`
	Digest    string   `json:"sha256,omitempty"`
	OldSize   int64    `json:"old_size,omitempty"`
	OldMode   string   `json:"old_mode,omitempty"`
	OldDigest string   `json:"old_sha256,omitempty"`
	Targets   []string `json:"targets,omitempty"`
	// Guarded are the paths that other programs obey without being asked, Foreign what needs the consent
	// [Consent.Foreign], both with the reason.
	Guarded []Mark `json:"guarded,omitempty"`
	Foreign []Mark `json:"foreign,omitempty"`
	Edits   []Edit `json:"edits,omitempty"` // the change consists of these alone
	URL     string `json:"url,omitempty"`
	Ref     string `json:"ref,omitempty"`
	// OldSecret and NewSecret say that what is there, or what will be, may be a secret of the user's.
	OldSecret bool `json:"-"`
	NewSecret bool `json:"-"`
}

// Mark is a path with a reason.
type Mark struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Edit is one value or block that is changed in a file. Old may be a secret of the user's and is for no report.
type Edit struct {
	Kind string  `json:"kind"` // "add", "replace", "remove" or "same"
	At   string  `json:"at,omitempty"`
	ID   string  `json:"id,omitempty"`
	New  *string `json:"new,omitempty"`
	Old  *string `json:"-"`
}

// Stay is a file that is left although its module goes or changes.
type Stay struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Message is one message of an extension.
type Message struct {
	Extension string    `json:"extension"`
	Level     abi.Level `json:"level"`
	Text      string    `json:"text"`
}

// Diagnostic is what an extension wrote to its standard error.
type Diagnostic struct {
	Extension string `json:"extension"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
}

// Inspection is what a child found in a WASM module.
type Inspection struct {
	Form    string   `json:"form"` // "reactor", "command" or "none"
	ABI     int      `json:"abi"`  // 0: the command form, which says none, or a module that cannot run
	Exports []string `json:"exports"`
	Imports []string `json:"imports"`
	// MoreExports and MoreImports say how many are left out: a list has its bound.
	MoreExports int `json:"more_exports,omitempty"`
	MoreImports int `json:"more_imports,omitempty"`
	// MemoryMin and MemoryMax are bytes of linear memory at the beginning and, if it says so, at most.
	MemoryMin int64 `json:"memory_min"`
	MemoryMax int64 `json:"memory_max,omitempty"`
	// Problem says how a run would fail; empty: nothing is known against the module. Foreign text is in it.
	Problem string `json:"problem,omitempty"`
	Digest  string `json:"sha256"`
	Size    int    `json:"size"`
	// Confinement is that of the child that looked.
	Confinement
}

func newInspection(artifact []byte, info *runner.Info) *Inspection {
	in := &Inspection{
		Form: info.Form, ABI: info.ABIVersion, Exports: info.Exports, Imports: info.Imports,
		MoreExports: info.MoreExports, MoreImports: info.MoreImports, MemoryMin: info.MemoryMin, MemoryMax: info.MemoryMax,
		Digest: abi.DigestOf(artifact).String(), Size: len(artifact),
		Confinement: Confinement{Level: info.Level, Landlock: info.Landlock, Seccomp: info.Seccomp, Open: info.Open},
	}
	if info.Problem != "" {
		in.Problem = string(info.Problem) + ": " + info.ProblemText
	}
	return in
}

func (r *Report) addReply(name string, reply *runner.Reply) {
	for _, m := range reply.Plan.Messages {
		r.Messages = append(r.Messages, Message{Extension: name, Level: m.Level, Text: m.Text})
	}
	if len(reply.Diagnostics) > 0 {
		r.Diagnostics = append(r.Diagnostics, Diagnostic{Extension: name, Text: string(reply.Diagnostics), Truncated: reply.DiagnosticsTruncated})
	}
	r.Confined = append(r.Confined, Confined{name, Confinement{Level: reply.Level, Landlock: reply.Landlock, Seccomp: reply.Seccomp, Open: reply.Open}})
	if len(r.Confined) == 1 || !reply.Level.AtLeast(r.Level) {
		r.Level = reply.Level
	}
}

// foreign returns the paths that need consent.
func (r *Report) foreign() []string {
	var paths []string
	for _, f := range r.Files {
		for _, m := range f.Foreign {
			paths = append(paths, m.Path)
		}
	}
	return slices.Compact(paths)
}

func compareStays(a, b Stay) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Why, b.Why))
}
