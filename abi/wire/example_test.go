package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
)

// A plan goes through its bytes intent by intent, contents through a spool.
func Example() {
	plan := &abi.Plan{Intents: []abi.Intent{
		abi.Write{Path: ".claude/commands/hello.md", Mode: 0o644, Content: abi.Bytes("Say hello.\n")},
		abi.Delete{Path: ".claude/commands/old.md"},
	}}
	var pipe bytes.Buffer
	if err := wire.EncodePlan(&pipe, plan); err != nil {
		fmt.Println(err)
		return
	}
	spool := wire.NewSpool("")
	defer spool.Close()
	d := wire.NewDecoder(&pipe, spool, wire.Options{})
	for {
		in, err := d.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		switch in := in.(type) {
		case abi.Write:
			fmt.Println("write", in.Path, in.Mode, in.Content.Size())
		case abi.Delete:
			fmt.Println("delete", in.Path)
		}
	}
	// Output:
	// write .claude/commands/hello.md 0644 11
	// delete .claude/commands/old.md
}

// The JSON form is one line for the header and one for each intent.
func ExampleEncodePlanJSON() {
	plan := &abi.Plan{Intents: []abi.Intent{abi.Write{Path: "hello.md", Mode: 0o644, Content: abi.Bytes("Say hello.\n")}}}
	if err := wire.EncodePlanJSON(os.Stdout, plan); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"abi":1,"count":1}
	// {"op":"write","mode":"0644","path":"hello.md","content":"Say hello.\n"}
}

// A refusal has a class, and says where.
func ExampleDecodePlanJSON_refused() {
	_, err := wire.DecodePlanJSON(strings.NewReader(`{"abi":1,"count":0,"Messages":[]}`), nil, wire.Options{})
	fmt.Println(err)
	fmt.Println(errors.Is(err, &abi.FormError{Class: abi.ClassUnknownKey}))
	// Output:
	// unknown-key (item 0, byte 33, key "Messages"): there is no such key here
	// true
}
