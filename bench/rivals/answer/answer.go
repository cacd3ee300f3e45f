// Package answer is what every extension of this module answers, whatever carries it: a plan of 20 KB as JSON, that of the floor
// of bench.
package answer

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

const (
	bytes = 20 << 10
	files = 10
)

type intent struct {
	Op      string `json:"op"`
	Path    string `json:"path"`
	Mode    string `json:"mode"`
	Content string `json:"content"`
}

type plan struct {
	ABI     int      `json:"abi"`
	Intents []intent `json:"intents"`
}

// Request is what is asked, as JSON.
const Request = `{"abi":1,"action":"install","params":{"name":"git-doctor"}}`

// Make answers a request.
func Make(request []byte) ([]byte, error) {
	var asked struct {
		ABI    int               `json:"abi"`
		Params map[string]string `json:"params"`
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	p := plan{ABI: asked.ABI}
	for i := range files {
		p.Intents = append(p.Intents, intent{
			Op: "write", Path: fmt.Sprintf(".claude/skills/%s/file-%d.md", asked.Params["name"], i), Mode: "0644",
			Content: strings.Repeat("All work and no play makes a plan.\n", bytes/files/35+1),
		})
	}
	return json.Marshal(p)
}

// Check reads an answer as a host would. One that is no plan must not look fast.
func Check(reply []byte) error {
	var p plan
	if err := json.Unmarshal(reply, &p); err != nil {
		return fmt.Errorf("decode plan: %w", err)
	}
	if len(reply) < bytes || len(p.Intents) != files {
		return fmt.Errorf("read plan: %d bytes, %d intents; want at least %d and %d", len(reply), len(p.Intents), bytes, files)
	}
	return nil
}

// Exit ends a rival.
func Exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "rival: error:", err)
		os.Exit(1)
	}
}
