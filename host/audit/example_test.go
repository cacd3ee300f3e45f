package audit_test

import (
	"context"
	"fmt"
	"os"

	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/root"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	home, err := root.Open(dir)
	if err != nil {
		panic(err)
	}
	defer home.Close()
	ctx := context.Background()
	log, err := audit.Open(home, "audit", audit.Options{})
	if err != nil {
		panic(err)
	}
	head, err := log.Append(ctx, audit.Record{
		Event: audit.EventPlan, Transaction: "4f1c", Action: "install",
		Intents: []audit.Intent{{Extension: "claude-code", Op: "write", Path: ".claude/commands/hello.md", Mode: "0644"}},
	})
	if err != nil {
		panic(err) // and nothing is applied
	}
	for rec, err := range log.Read(ctx, audit.Filter{Extension: "claude-code"}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(rec.Seq, rec.Event, rec.Action, rec.Intents[0].Path)
	}
	report, err := log.Verify(ctx, audit.VerifyOptions{Anchor: head})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.OK(), report.Records, report.Anchored)
	// Output:
	// 1 plan install .claude/commands/hello.md
	// true 1 true
}
