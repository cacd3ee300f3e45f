package preview_test

import (
	"io"
	"os"
	"strings"

	"github.com/lola-ext/lola/cmd/lola/preview"
)

// contents answers every path with the same texts.
type contents struct{ before, after string }

func (c contents) Before(string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(c.before)), nil
}
func (c contents) After(string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(c.after)), nil
}

func ExamplePreview_Write() {
	p := &preview.Preview{
		Action: "install", Module: "git-doctor", Version: "1.2.0", Targets: []string{"cursor"}, DryRun: true, Changed: true,
		Runs: []preview.Run{{Path: "mcps.json", What: "MCP server git", Text: `{"command": "npx"}`}},
		Changes: []preview.Change{
			{Action: "update", Path: ".cursor/mcp.json", Guarded: []preview.Mark{{Why: "Cursor starts the servers in it"}}, Edits: []preview.Edit{
				{Kind: "replace", At: "/mcpServers/git", Old: "what is the user's", New: `{"command": "npx"}`, ShowNew: true},
			}},
			{Action: "update", Path: "AGENTS.md", OldSize: 10, Size: 11},
		},
	}
	p.Write(os.Stdout, contents{"be careful", "be careful\n"}, preview.Options{})
	// Output:
	// ! runs by itself: mcps.json: MCP server git
	//   │  {"command": "npx"}
	// ! guarded, edited: .cursor/mcp.json: Cursor starts the servers in it
	//
	// ~ .cursor/mcp.json (1 edit, guarded)
	//   │ - /mcpServers/git: (a value that is there, 18 bytes)
	//   │ + /mcpServers/git: {"command": "npx"}
	// ~ AGENTS.md (10 → 11 bytes)
	//   │ @@ -1 +1 @@
	//   │ -be careful
	//   │ \ No newline at end of file
	//   │ +be careful
	//
	// git-doctor 1.2.0: would install for cursor: 2 changed; 1 runs by itself, 1 guarded
}
