// Trap reads beyond linear memory, which the engine stops. A Go panic would not do: it ends in proc_exit.
package main

import (
	"unsafe"

	"github.com/lola-ext/lola/sdk/ext"
)

func init() { ext.Register(trap) }

func main() { ext.Main() }

func trap(_ *ext.Request, plan *ext.Plan) error {
	var here byte
	// Not far beyond on a machine with 64 bits, where this program is only compiled.
	there := (*byte)(unsafe.Add(unsafe.Pointer(&here), 0xf000_0000))
	plan.Info(string(rune(*there)))
	return nil
}
