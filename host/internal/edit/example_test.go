package edit_test

import (
	"fmt"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/edit"
)

func Example() {
	file := []byte(`{
  // what I use every day
  "mcpServers": {
    "mine": {"command": "mine"}, // do not touch
  },
}
`)
	result, err := edit.JSON(file, true, []abi.JSONEdit{
		{At: "/mcpServers/theirs", Set: true, Value: map[string]any{"command": "npx", "args": []any{"-y", "theirs"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.New))

	before, _, left, err := edit.Revert(".mcp.json", result.New, result.Records)
	fmt.Println(string(before) == string(file), left, err)
	// Output:
	// {
	//   // what I use every day
	//   "mcpServers": {
	//     "mine": {"command": "mine"}, // do not touch
	//     "theirs": {
	//       "args": [
	//         "-y",
	//         "theirs"
	//       ],
	//       "command": "npx"
	//     },
	//   },
	// }
	// true [] <nil>
}

func ExampleBlock() {
	text := "@.lola/AGENTS.md"
	result, err := edit.Block("CLAUDE.md", []byte("# My project\n"), true, abi.EditBlock{ID: "lola", Text: &text})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.New))
	// Output:
	// # My project
	//
	// <!-- lola:lola:start -->
	// @.lola/AGENTS.md
	// <!-- lola:lola:end -->
}
