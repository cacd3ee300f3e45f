package module

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/strictyaml"
)

// Run is one thing that the module makes run by itself once it is installed: without anybody asking for it at that moment.
type Run struct {
	What string `json:"what"` // in a few words
	Path string `json:"path"` // the file of the module that says so
	Text string `json:"text"` // what it says, verbatim; foreign text
}

// MaxFrontmatter bounds what is looked at of a file's frontmatter, in bytes from the beginning of the file. A file whose
// frontmatter ends later counts as one that makes something run.
const MaxFrontmatter = 64 << 10

// serversFile holds the MCP servers of a module: programs that the assistant starts, or hosts that it talks to.
const serversFile = "mcps.json"

// runKeys are the keys of a frontmatter that make an assistant run something, or let it run something without asking. They
// are written as [runs] makes them.
var runKeys = []struct{ key, what string }{
	{"hooks", "hooks that the assistant runs"},
	{"hook", "hooks that the assistant runs"},
	{"mcpservers", "MCP servers that the assistant starts"},
	{"mcpserver", "MCP servers that the assistant starts"},
	{"allowedtools", "tools that the assistant may use without asking"},
	{"alwaysallow", "tools that the assistant may use without asking"},
	{"autoapprove", "tools that the assistant may use without asking"},
	{"permissionmode", "permissions by which the assistant acts without asking"},
	{"permissions", "permissions by which the assistant acts without asking"},
	{"permission", "permissions by which the assistant acts without asking"},
}

// runs says what a key makes run, "" for nothing. allowed-tools, allowed_tools and allowedTools are one.
func runs(key string) string {
	key = strings.ToLower(joined.Replace(strings.Trim(key, " \t\"'")))
	for _, k := range runKeys {
		if key == k.key {
			return k.what
		}
	}
	return ""
}

var joined, newlines = strings.NewReplacer("-", "", "_", ""), strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Runs lists what the module makes run by itself: its MCP servers, what the frontmatter of a Markdown file asks for, and the
// commands in the text of one that [MayCommand]. A frontmatter that cannot be read counts: an assistant may read it otherwise.
// Install hooks are not in it, see [Package.Hooks].
func (p *Package) Runs() ([]Run, error) {
	var runs []Run
	for _, f := range p.files {
		servers := strings.EqualFold(f.path, serversFile)
		if !servers && !strings.EqualFold(path.Ext(f.path), ".md") && !strings.EqualFold(path.Ext(f.path), ".mdc") {
			continue
		}
		if servers && f.size > MaxShown {
			runs = append(runs, Run{What: "MCP servers that the assistant starts", Path: f.path, Text: fmt.Sprintf("(%d bytes, too long to be shown)", f.size)})
			continue
		}
		text, err := p.read(f)
		if err != nil {
			return nil, fmt.Errorf("reading %q of module %q: %w", f.path, p.Name, err)
		}
		if servers {
			runs = append(runs, Run{What: "MCP servers that the assistant starts", Path: f.path, Text: string(text)})
			continue
		}
		runs = append(runs, TextRuns(f.path, text, MayCommand(f.path))...)
	}
	return runs, nil
}

// TextRuns lists what the text of a file makes run by itself, for an assistant that finds it at the path: by its frontmatter
// and, if commands are run there, by those.
func TextRuns(path string, text []byte, commands bool) []Run {
	var runs []Run
	if what, head := FrontmatterRuns(text); what != "" {
		runs = append(runs, Run{What: what, Path: path, Text: head})
	}
	if commands {
		if all := CommandRuns(text); all != "" {
			runs = append(runs, Run{What: "commands that the assistant runs when it reads the file", Path: path, Text: all})
		}
	}
	return runs
}

// Looked returns the digests of the files that [Package.Runs] looks at for all that a Markdown file can make run.
func (p *Package) Looked() map[abi.Digest]bool {
	all := map[abi.Digest]bool{}
	for _, f := range p.files {
		if MayCommand(f.path) {
			all[f.digest] = true
		}
	}
	return all
}

// FrontmatterRuns says what the frontmatter of a Markdown file makes run, "" for nothing, and the frontmatter. The beginning
// of the text, twice [MaxFrontmatter] bytes, is enough.
//
// Assistants read a frontmatter in ways of their own: as YAML, line by line, or in the language that stands behind the first
// fence, JavaScript among them. What one of them could take for a key that makes something run counts, and so does what
// cannot be told.
func FrontmatterRuns(text []byte) (what, head string) {
	f := readFrontmatter(text)
	switch {
	case f.unclear != "":
		return f.unclear, f.head
	case strings.TrimSpace(f.head) == "":
		return f.byLine(), f.head
	}
	var keys map[string]any
	if err := strictyaml.ParseSome([]byte(f.head), &keys); err != nil {
		return "a frontmatter that cannot be read", f.head
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if what := runs(key); what != "" {
			return what, f.head
		}
	}
	return f.byLine(), f.head
}

// front is a frontmatter. The zero value is none.
type front struct {
	head    string // what stands between the fences
	lines   string // the same and, if the second fence is one to some readers only, what follows up to one that is
	unclear string // why it cannot be told what it makes run
}

// byLine is what a reader finds that takes each line for a key and a value, wherever YAML sees it.
func (f front) byLine() string {
	for line := range strings.Lines(f.lines) {
		key, _, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			continue
		}
		if what := runs(key); what != "" {
			return what
		}
	}
	return ""
}

// readFrontmatter reads what stands between the first line, if it begins with "---", and the next line of that alone. One
// without an end goes to the end of the text. White space and marks before it do not hide it, for there are readers that
// drop those.
func readFrontmatter(text []byte) front {
	text = text[:min(len(text), 2*MaxFrontmatter)]
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) ||
		bytes.IndexByte(text[:min(len(text), maxFence)], 0) >= 0 { // an editor reads it all the same
		return front{unclear: "a beginning that is not UTF-8 text"}
	}
	body := strings.TrimLeftFunc(string(text), hides)
	past := len(text) - len(body)
	var f front
	if past > MaxFrontmatter {
		f.unclear = "a beginning too long to be read"
	}
	if !strings.HasPrefix(body, "---") {
		return f
	}
	var head, lines strings.Builder
	closed := false
	for i, line := range strings.SplitAfter(newlines.Replace(body), "\n") {
		past += len(line)
		if past > MaxFrontmatter && !closed {
			f.unclear = "a frontmatter too long to be read"
			break
		}
		bare := strings.TrimSuffix(line, "\n")
		switch {
		case i == 0:
			if !isFence(bare[3:]) {
				f.unclear = "a frontmatter in another language than YAML"
			}
			continue
		case strings.TrimRight(bare, " \t") == "---":
			closed = true
		case !closed:
			head.WriteString(line)
		}
		if bare == "---" {
			break
		}
		lines.WriteString(line)
	}
	f.head, f.lines = head.String(), lines.String()
	return f
}

// maxFence bounds where a text says in which form it is, in bytes.
const maxFence = 512

// isFence reports whether what stands behind the first three hyphens leaves the text YAML.
func isFence(rest string) bool {
	switch rest = strings.TrimRight(rest, " \t"); strings.ToLower(strings.TrimLeft(rest, " \t")) {
	case "", "yaml", "yml":
		return true
	}
	return strings.Trim(rest, "-") == ""
}

// hides holds for what some reader drops from the beginning of a text.
func hides(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
}
