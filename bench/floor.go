package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// The roles of the floor. They are written as a plain program would be, with nothing tuned: the floor is what anybody gets
// without thinking, and lola is measured by it.
const (
	roleFloor      = "__floor"
	roleFloorChild = "__floor-child"
)

// planBytes is how much JSON the child of the floor sends back, at least: a plan of a middling module.
const planBytes = 20 << 10

type floorRequest struct {
	ABI    int               `json:"abi"`
	Action string            `json:"action"`
	Params map[string]string `json:"params"`
}

type floorIntent struct {
	Op      string `json:"op"`
	Path    string `json:"path"`
	Mode    string `json:"mode"`
	Content string `json:"content"`
}

type floorPlan struct {
	ABI     int           `json:"abi"`
	Intents []floorIntent `json:"intents"`
}

// floorRole is the command: it starts the child, sends the request, reads the plan and is done.
func floorRole() int {
	plan, err := askFloorChild()
	if err == nil && len(plan.Intents) == 0 {
		err = fmt.Errorf("read plan of the floor's child: no intents")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: %v\n", err)
		return 1
	}
	return 0
}

func askFloorChild() (plan floorPlan, err error) {
	self, err := os.Executable()
	if err != nil {
		return plan, fmt.Errorf("find own binary: %w", err)
	}
	child := exec.Command(self, roleFloorChild)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return plan, fmt.Errorf("make pipe to the floor's child: %w", err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return plan, fmt.Errorf("make pipe from the floor's child: %w", err)
	}
	if err := child.Start(); err != nil {
		return plan, fmt.Errorf("start the floor's child %q: %w", self, err)
	}
	request := floorRequest{ABI: 1, Action: "install", Params: map[string]string{"name": "git-doctor"}}
	if err := json.NewEncoder(stdin).Encode(request); err != nil {
		return plan, fmt.Errorf("write request to the floor's child: %w", err)
	}
	if err := stdin.Close(); err != nil {
		return plan, fmt.Errorf("close pipe to the floor's child: %w", err)
	}
	reply, err := io.ReadAll(stdout)
	if err != nil {
		return plan, fmt.Errorf("read plan of the floor's child: %w", err)
	}
	if err := child.Wait(); err != nil {
		return plan, fmt.Errorf("wait for the floor's child: %w", err)
	}
	if len(reply) < planBytes {
		return plan, fmt.Errorf("read plan of the floor's child: %d bytes, want at least %d", len(reply), planBytes)
	}
	if err := json.Unmarshal(reply, &plan); err != nil {
		return plan, fmt.Errorf("decode plan of the floor's child: %w", err)
	}
	return plan, nil
}

// floorChildRole is the extension: it reads the request and answers with a plan.
func floorChildRole() int {
	if err := answerFloor(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: %v\n", err)
		return 1
	}
	return 0
}

func answerFloor(stdin io.Reader, stdout io.Writer) error {
	var request floorRequest
	if err := json.NewDecoder(stdin).Decode(&request); err != nil {
		return fmt.Errorf("decode request: %w", err)
	}
	const files = 10
	plan := floorPlan{ABI: request.ABI}
	for i := range files {
		plan.Intents = append(plan.Intents, floorIntent{
			Op: "write", Path: fmt.Sprintf(".claude/skills/%s/file-%d.md", request.Params["name"], i), Mode: "0644",
			Content: strings.Repeat("All work and no play makes a plan.\n", planBytes/files/35+1),
		})
	}
	if err := json.NewEncoder(stdout).Encode(plan); err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	return nil
}
