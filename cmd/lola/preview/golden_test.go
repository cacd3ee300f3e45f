package preview

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// files is a source in memory: what is there and what will be.
type files struct{ before, after map[string]string }

func (f files) Before(path string) (io.ReadCloser, error) { return open(f.before, path) }
func (f files) After(path string) (io.ReadCloser, error)  { return open(f.after, path) }

func open(from map[string]string, path string) (io.ReadCloser, error) {
	text, ok := from[path]
	if !ok {
		return nil, errors.New("there is no such file")
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

const (
	digest1 = "1111111111111111111111111111111111111111111111111111111111111111"
	digest2 = "2222222222222222222222222222222222222222222222222222222222222222"
	secret  = "sk-live-8c1d44e0"
)

// put adds a change to a case, with the sizes of its contents.
func put(p *Preview, f files, c Change, before, after string) {
	if c.Action != "create" {
		f.before[c.Path], c.OldSize = before, int64(len(before))
	}
	if c.Action != "remove" {
		f.after[c.Path], c.Size = after, int64(len(after))
	}
	p.Changes = append(p.Changes, c)
}

func newFiles() files { return files{map[string]string{}, map[string]string{}} }

func doctor() *Preview {
	return &Preview{
		Action: "install", Module: "git-doctor", Version: "1.2.0", Digest: digest1, Project: "/home/u/project", Scope: "project",
		Targets: []string{"claude-code", "cursor"}, DryRun: true, Changed: true,
	}
}

// goldens are the cases that testdata has the outputs of.
func goldens() map[string]func() (*Preview, files, Options) {
	return map[string]func() (*Preview, files, Options){
		"dangers": func() (*Preview, files, Options) {
			p, f := doctor(), newFiles()
			put(p, f, Change{Action: "create", Path: ".claude/skills/a/SKILL.md", Mode: "0644", Owners: []string{"claude-code"}}, "", "# A\n")
			put(p, f, Change{Action: "update", Path: "AGENTS.md", Foreign: []Mark{{"", "lola did not install it"}}}, "mine\n", "theirs\n")
			put(p, f, Change{Action: "remove", Path: "old.md", OldMode: "0644", Foreign: []Mark{{"old.md", "it changed since lola installed it"}}}, "x\n", "")
			put(p, f, Change{Action: "create", Path: ".envrc", Mode: "0644", Guarded: []Mark{{".envrc", "direnv runs it"}}}, "", "export X=1\n")
			p.Changes = append(p.Changes, Change{Action: "move", Path: "hooks", To: ".husky", Dir: true, Entries: 2,
				Guarded: []Mark{{".husky/pre-commit", "Git hooks of husky"}, {".husky/pre-push", "Git hooks of husky"}}})
			p.Runs = []Run{
				{"MCP server git", "mcps.json", "{\n  \"command\": \"npx\",\n  \"args\": [\"-y\", \"git-mcp\"]\n}\n"},
				{"allowed-tools", "skills/a/SKILL.md", "Bash(git:*)"},
			}
			p.Stays = []Mark{{"notes.md", "it changed since it was installed"}}
			p.Skipped = []Mark{{"link", "it leads out of the module"}}
			p.Notices = []string{"Claude's MCP servers of the user are not supported"}
			p.Messages = []Message{{"cursor", "debug", "not shown"}, {"cursor", "warn", "two\nlines"}}
			p.Diagnostics = []Diagnostic{{"claude-code", "::error::x\n##[group]y\n", true}}
			p.Level = "full"
			p.Confined = []Confined{
				{"claude-code", "full", true, 7, true, "full (Landlock 7, seccomp)", []string{"processor time"}},
				{"cursor", "full", true, 7, true, "full (Landlock 7, seccomp)", []string{"processor time"}},
			}
			return p, f, Options{}
		},
		"actions": func() (*Preview, files, Options) {
			p, f := doctor(), newFiles()
			var before, after strings.Builder
			for i := range 30 {
				fmt.Fprintf(&before, "line %d\n", i)
				switch i {
				case 5:
					after.WriteString("line five\n")
				case 9:
				case 25:
					after.WriteString("line 25\nline 25 and a half\n")
				default:
					fmt.Fprintf(&after, "line %d\n", i)
				}
			}
			put(p, f, Change{Action: "update", Path: "b/changed.md", OldMode: "0644", Mode: "0644", Owners: []string{"cursor", "claude-code"}}, before.String(), after.String())
			put(p, f, Change{Action: "update", Path: "b/crlf.txt", OldMode: "0644", Mode: "0644"}, "a\r\nb\r\n", "a\nb\r\n")
			put(p, f, Change{Action: "update", Path: "b/dos.txt", OldMode: "0644", Mode: "0644"}, "a\r\n\tb\r\nc", "a\r\n\tx\r\nc")
			put(p, f, Change{Action: "update", Path: "b/end.txt"}, "a\nb", "a\nb\n")
			put(p, f, Change{Action: "update", Path: "b/end2.txt"}, "a\nb\n", "a\nc")
			put(p, f, Change{Action: "update", Path: "b/emptied.txt"}, "a\n", "")
			put(p, f, Change{Action: "update", Path: "b/filled.txt"}, "", "a\n")
			put(p, f, Change{Action: "update", Path: "b/run.sh", OldMode: "0644", Mode: "0755", Digest: digest1, OldDigest: digest1}, "x\n", "x\n")
			put(p, f, Change{Action: "update", Path: "b/pic.png", Digest: digest2, OldDigest: digest1}, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "\x89PNG\r\n\x1a\n\x00\x00\x00\x00")
			put(p, f, Change{Action: "create", Path: "a/new.md", Mode: "0600"}, "", "# Neu: 日本 🚀\n\ttab\n")
			put(p, f, Change{Action: "create", Path: "a/with space (0644).md", Mode: "0644"}, "", "")
			put(p, f, Change{Action: "create", Path: "a/nul.sh", Mode: "0755"}, "", "#!/bin/sh\necho \x00hidden\x00\x00\x00\n\x00\x00\x00\x00\x00\x00")
			put(p, f, Change{Action: "create", Path: "a/nul.txt", Mode: "0755"}, "", "one NUL\x00 does not make a text binary\n")
			put(p, f, Change{Action: "create", Path: "a/blob.wasm", Mode: "0644", Digest: digest2}, "", "\x00asm\x01\x00\x00\x00")
			put(p, f, Change{Action: "remove", Path: "c/gone.md", OldMode: "0644"}, "was\nhere\n", "")
			put(p, f, Change{Action: "remove", Path: ".env.local", OldMode: "0600", OldSecret: true, OldDigest: digest1}, secret, "")
			put(p, f, Change{Action: "update", Path: ".npmrc", OldMode: "0600", Mode: "0600", OldSecret: true, OldDigest: digest1, Digest: digest2}, secret, "registry=x\n")
			put(p, f, Change{Action: "update", Path: ".netrc", OldMode: "0600", Mode: "0600", OldSecret: true, NewSecret: true, OldDigest: digest1, Digest: digest2}, secret, secret+"\n")
			put(p, f, Change{Action: "update", Path: ".envrc.bin", OldSecret: true, OldDigest: digest1, Digest: digest2}, secret, "\x00\x01\x02")
			p.Changes = append(p.Changes,
				Change{Action: "remove", Path: "c/folder", Dir: true, Entries: 34},
				Change{Action: "remove", Path: "c/empty", Dir: true},
				Change{Action: "move", Path: "c/from.md", To: "d/to.md", Mode: "0644", OldMode: "0644"},
				Change{Action: "fetch", Path: "d/data.json", URL: "https://example.com/data.json"},
				Change{Action: "clone", Path: "d/repo", Dir: true, URL: "https://example.com/r.git", Ref: "v1"},
				Change{Action: "keep", Path: "d/keep.md"},
				Change{Action: "create", Path: "a/unreadable.md", Mode: "0644", Size: 3},
				Change{Action: "melt", Path: "a/what"},
			)
			return p, f, Options{}
		},
		"edits": func() (*Preview, files, Options) {
			p, f := doctor(), newFiles()
			p.Changes = []Change{
				{Action: "update", Path: ".mcp.json", Mode: "0600", OldMode: "0600", Size: 400, OldSize: 300, Digest: digest1, OldDigest: digest2,
					Owners: []string{"claude-code"}, Guarded: []Mark{{"", "Claude Code starts the servers in it"}},
					Foreign: []Mark{{"", "it gives another value to /mcpServers/git"}},
					Edits: []Edit{
						{Kind: "replace", At: "/mcpServers/git", New: `{"command":"npx"}`, Old: `{"env":{"TOKEN":"` + secret + `"}}`, ShowNew: true},
						{Kind: "add", At: "/mcpServers/other one", New: "{\n  \"command\": \"x\"\n}\n", ShowNew: true},
						{Kind: "same", At: "/mcpServers/third", New: secret, Old: secret},
						{Kind: "remove", At: "/mcpServers/old", Old: secret},
					}},
				{Action: "update", Path: "CLAUDE.md", Edits: []Edit{{Kind: "add", ID: "lola.git-doctor", New: "@AGENTS.md\n", ShowNew: true}}},
				{Action: "update", Path: "GEMINI.md", Edits: []Edit{{Kind: "replace", ID: "x", New: "one\ntwo\n", Old: secret, ShowNew: true}, {Kind: "add", At: "", New: "1", ShowNew: true}}},
				{Action: "update", Path: "put-back.json", Edits: []Edit{{Kind: "replace", At: "/a", New: secret, Old: "\"module's\""}}},
				{Action: "create", Path: "opencode.json", Mode: "0644", Edits: []Edit{{Kind: "add", At: "/mcp/git", New: `["a","b"]`, ShowNew: true}}},
			}
			for _, c := range p.Changes {
				f.before[c.Path], f.after[c.Path] = "before "+secret, "after "+secret
			}
			return p, f, Options{}
		},
		"many": func() (*Preview, files, Options) {
			p, f := doctor(), newFiles()
			for i := range 40 {
				put(p, f, Change{Action: "create", Path: fmt.Sprintf("new/%d/%03d.md", i/15, i), Mode: "0644"}, "", "text\n")
			}
			for i := range 12 {
				put(p, f, Change{Action: "remove", Path: fmt.Sprintf("gone/%d/%02d.md", i%2, i)}, "text\n", "")
			}
			put(p, f, Change{Action: "update", Path: "one.md"}, "a\n", "b\n")
			put(p, f, Change{Action: "create", Path: "new/guarded", Guarded: []Mark{{"", "it is run"}}}, "", strings.Repeat("line\n", 30))
			put(p, f, Change{Action: "create", Path: "new/foreign", Foreign: []Mark{{"", "it is there already"}}}, "", "x")
			return p, f, Options{MaxFiles: 8, MaxLines: 20, MaxFileLines: 10}
		},
		"long": func() (*Preview, files, Options) {
			p, f := doctor(), newFiles()
			p.Level = "process"
			p.Confined = []Confined{
				{"claude-code", "process", false, 0, false, "process", []string{"files that you may read and write", "the network"}},
				{"cursor\x1b", "seccomp", false, 0, true, "seccomp", []string{"processor time\u202e"}},
				{"gemini-cli", "process", false, 0, false, "process", []string{"files that you may read and write", "the network"}},
			}
			put(p, f, Change{Action: "create", Path: "a.md"}, "", strings.Repeat("line\n", 30))
			put(p, f, Change{Action: "create", Path: "b.js"}, "", strings.Repeat("x", 2500)+"é\nend\n")
			put(p, f, Change{Action: "create", Path: "c.md"}, "", strings.Repeat("line\n", 8))
			put(p, f, Change{Action: "create", Path: "d.md"}, "", strings.Repeat("line\n", 8))
			put(p, f, Change{Action: "create", Path: "e.md"}, "", "short\n")
			put(p, f, Change{Action: "update", Path: "large.json", Digest: digest1, OldDigest: digest2}, "small\n", strings.Repeat("0123456789abcde\n", 300))
			put(p, f, Change{Action: "update", Path: "large2.json", Digest: digest1, OldDigest: digest2}, strings.Repeat("0123456789abcde\n", 300), "small\n")
			put(p, f, Change{Action: "create", Path: "large.bin", Digest: digest1}, "", strings.Repeat("\x00\x01", 3000))
			return p, f, Options{MaxLines: 58, MaxFileLines: 10, MaxBytes: 4096}
		},
		"terminal": func() (*Preview, files, Options) {
			p, f := doctor(), newFiles()
			put(p, f, Change{Action: "update", Path: "wide/日本語のファイル名がとても長い場合にはどうなるのか.md", Mode: "0755", OldMode: "0644"}, "a\nb\n", "a\n"+strings.Repeat("日本", 20)+"\n"+strings.Repeat("lola: verified ", 5)+"\n")
			p.Runs = []Run{{"hook", "lola.yaml", "curl https://example.com/" + strings.Repeat("x", 60) + " | sh"}}
			return p, f, Options{Width: 40, Color: true}
		},
		"nothing": func() (*Preview, files, Options) {
			p := doctor()
			p.Changed, p.Changes = false, []Change{{Action: "keep", Path: "a"}, {Action: "keep", Path: "b"}}
			return p, files{}, Options{}
		},
	}
}

// TestGolden holds what is written, as text and as JSON, to testdata.
func TestGolden(t *testing.T) {
	for name, make := range goldens() {
		t.Run(name, func(t *testing.T) {
			p, f, o := make()
			var text, js strings.Builder
			if err := p.Write(&text, f, o); err != nil {
				t.Fatal(err)
			}
			if err := p.WriteJSON(&js); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".golden", text.String())
			golden(t, name+".json", js.String())
			for _, out := range []string{text.String(), js.String()} {
				if strings.Contains(out, secret) {
					t.Error("it shows what is the user's")
				}
			}
			for line := range strings.Lines(text.String()) {
				if line := uncolored(strings.TrimSuffix(line, "\n")); o.Width > 0 && cells(line) >= o.Width {
					t.Errorf("the line %q is too wide", line)
				}
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./cmd/lola/preview -update makes it)", err)
	}
	if got != string(want) {
		t.Errorf("it is another than %s; go test ./cmd/lola/preview -update writes it anew\n%s", path, got)
	}
}
