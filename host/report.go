package host

import (
	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/host/module"
	"github.com/lola-ext/lola/host/plan"
)

// Report says what a change would do, or has done. Texts that come from modules and extensions are foreign: escape them
// before they reach a terminal.
type Report struct {
	Action  string   `json:"action"` // "install" or "uninstall"
	Module  string   `json:"module"`
	Version string   `json:"version,omitempty"`
	Digest  string   `json:"sha256,omitempty"` // package digest of the module
	Project string   `json:"project"`
	Targets []string `json:"targets"`
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
	// Level is the confinement that the extensions' children had.
	Level string `json:"level,omitempty"`
}

// FileChange is what happens at one path.
type FileChange struct {
	Path    string      `json:"path"`
	Action  plan.Action `json:"action"`
	Size    int64       `json:"size,omitempty"`
	Mode    string      `json:"mode,omitempty"`
	Targets []string    `json:"targets,omitempty"`
	// Foreign says why the change needs consent; empty: it does not.
	Foreign string `json:"foreign,omitempty"`
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
	Level   string `json:"level"` // confinement of the child that looked
	Digest  string `json:"sha256"`
	Size    int    `json:"size"`
}

func newInspection(artifact []byte, info *runner.Info) *Inspection {
	in := &Inspection{
		Form: info.Form, ABI: info.ABIVersion, Exports: info.Exports, Imports: info.Imports,
		MoreExports: info.MoreExports, MoreImports: info.MoreImports, MemoryMin: info.MemoryMin, MemoryMax: info.MemoryMax,
		Level: info.Level, Digest: abi.DigestOf(artifact).String(), Size: len(artifact),
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
	r.Level = reply.Level
}

// foreign returns the paths that need consent.
func (r *Report) foreign() []string {
	var paths []string
	for _, f := range r.Files {
		if f.Foreign != "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
