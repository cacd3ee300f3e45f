package module

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/lola-ext/lola/host/internal/strictyaml"
)

// Run is one thing that the module makes run by itself once it is installed: without anybody asking for it at that moment.
type Run struct {
	What string `json:"what"` // in a few words
	Path string `json:"path"` // the file of the module that says so
	Text string `json:"text"` // what it says, verbatim; foreign text
}

// MaxFrontmatter bounds what is looked at of a file's frontmatter, in bytes. A file whose frontmatter is longer counts as
// one that makes something run.
const MaxFrontmatter = 64 << 10

// serversFile holds the MCP servers of a module: programs that the assistant starts, or hosts that it talks to.
const serversFile = "mcps.json"

// runKeys are the keys of a frontmatter, in lower case, that make an assistant run something, or let it run something
// without asking.
var runKeys = []struct{ key, what string }{
	{"hooks", "hooks that the assistant runs"},
	{"hook", "hooks that the assistant runs"},
	{"mcpservers", "MCP servers that the assistant starts"},
	{"mcp-servers", "MCP servers that the assistant starts"},
	{"mcp_servers", "MCP servers that the assistant starts"},
	{"allowed-tools", "tools that the assistant may use without asking"},
	{"allowedtools", "tools that the assistant may use without asking"},
	{"allowed_tools", "tools that the assistant may use without asking"},
}

// Runs lists what the module makes run by itself: its MCP servers, and what the frontmatter of a Markdown file asks for.
// A frontmatter that cannot be read counts: an assistant may read it otherwise. Install hooks are not in it, see
// [Package.Hooks].
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
		if what, head := FrontmatterRuns(text); what != "" {
			runs = append(runs, Run{What: what, Path: f.path, Text: head})
		}
	}
	return runs, nil
}

// FrontmatterRuns says what the frontmatter of a Markdown file makes run, "" for nothing, and the frontmatter. The beginning
// of the text, twice [MaxFrontmatter] bytes, is enough.
func FrontmatterRuns(text []byte) (what, head string) {
	head, ok := frontmatter(text)
	if !ok {
		return "", ""
	}
	if len(head) > MaxFrontmatter {
		return "a frontmatter too long to be read", head[:MaxFrontmatter]
	}
	if strings.TrimSpace(head) == "" {
		return "", ""
	}
	var keys map[string]any
	if err := strictyaml.ParseSome([]byte(head), &keys); err != nil {
		return "a frontmatter that cannot be read", head
	}
	for _, k := range runKeys {
		for key := range keys {
			if strings.ToLower(strings.TrimSpace(key)) == k.key {
				return k.what, head
			}
		}
	}
	return "", ""
}

// frontmatter returns what stands between the first line, if it is "---", and the next such line. One without an end goes
// to the end of the text. A byte order mark and empty lines before it do not hide it.
func frontmatter(text []byte) (string, bool) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.TrimLeft(text, " \t\r\n")
	var head strings.Builder
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		fence := strings.TrimRight(string(line[:min(len(line), 80)]), " \t\r\n")
		switch {
		case i == 0 && !strings.HasPrefix(fence, "---"):
			return "", false
		case i == 0:
		case fence == "---" || fence == "...":
			return head.String(), true
		default:
			head.Write(line)
		}
		if head.Len() > MaxFrontmatter {
			break
		}
	}
	return head.String(), true
}
