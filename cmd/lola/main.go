// Command lola installs AI-assistant modules into a project with the help of extensions that cannot do anything themselves.
//
// One voice: results go to standard output; on standard error "lola: error: …" says what failed, to which thing and why, and
// "lola: hint: …" the next step. Text that comes from modules and extensions stands behind a gutter, escaped. Exit codes are
// the table in exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lola-ext/lola/shim"
)

func main() {
	shim.RunIfChild()
	os.Exit(run(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruptible returns a context that ends when the process is asked to end. A change that has begun is finished or taken
// back, so asking only counts until then.
func interruptible() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup(1)
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, _ := signal.NotifyContext(context.Background(), signals...)
	return ctx
}
