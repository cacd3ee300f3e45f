package ext_test

import (
	"fmt"

	"github.com/lola-ext/lola/sdk/ext"
)

// A handler is an ordinary function, so it can be called. In a program it is handed to [ext.Register] instead.
func ExampleHandler() {
	var install ext.Handler = func(req *ext.Request, plan *ext.Plan) error {
		plan.Write(".example/hello.md", []byte("Hello from "+req.Extension.Name+".\n"))
		plan.Info("one file")
		return nil
	}

	var plan ext.Plan
	err := install(&ext.Request{Action: "install", Extension: ext.Identity{Name: "hello", Version: "1.0.0"}}, &plan)
	fmt.Println(err, plan.Intents[0].(ext.Write).Path, plan.Messages[0].Text)
	// Output: <nil> .example/hello.md one file
}
