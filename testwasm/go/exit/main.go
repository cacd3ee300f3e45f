// Exit ends the program in the middle of its answer, with the status that the integer parameter "code" gives; 0 if there is
// none. It goes through proc_exit of WASI.
package main

import (
	"syscall"

	"github.com/lola-ext/lola/sdk/ext"
)

func init() { ext.Register(exit) }

func main() { ext.Main() }

func exit(req *ext.Request, _ *ext.Plan) error {
	code, _ := req.Params["code"].(int64)
	syscall.Exit(int(code))
	return nil
}
