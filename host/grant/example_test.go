package grant_test

import (
	"fmt"
	"log"

	"github.com/lola-ext/lola/host/grant"
)

func Example() {
	asked, err := grant.Parse(grant.Rights{Writes: []string{".claude/**", ".mcp.json"}})
	if err != nil {
		log.Fatal(err)
	}
	granted, err := grant.New([]string{".claude/**"})
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range asked.Beyond(granted).Lines() {
		fmt.Println(line)
	}
	fmt.Println(asked.MayWrite(".claude/skills/doctor/SKILL.md"), asked.MayWrite(".mcp.json"), asked.MayWrite(".claude/settings.json"))
	// Output:
	// may create, change and delete .mcp.json, a guarded file: Claude Code and others start the programs it names when a session opens
	// true true false
}
