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

	"github.com/lola-ext/lola/shim"
)

func main() {
	shim.RunIfChild()
	// A change that has begun is finished or taken back, so an interrupt only counts until then.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
