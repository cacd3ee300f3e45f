//go:build !wasip1

package ext

import (
	"io"
	"os"
)

// Main answers one request: it reads the request from standard input and writes the plan to standard output. If there is no
// plan it writes the error's text to standard error and exits with status 1. It does not return.
//
// This is the contract of tier 2, so a program that runs here is an extension already; as a WASM module it needs no grant
// for running natively.
func Main() { os.Exit(run(registered, os.Stdin, os.Stdout, os.Stderr)) }

func run(h Handler, stdin io.Reader, stdout, stderr io.Writer) int {
	request, err := io.ReadAll(stdin)
	if err == nil {
		var plan []byte
		if plan, err = answer(h, request); err == nil {
			_, err = stdout.Write(plan)
		}
	}
	if err != nil {
		io.WriteString(stderr, err.Error())
		return 1
	}
	return 0
}
