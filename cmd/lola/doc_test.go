package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCLIDoc holds docs/CLI.md to what the command says of itself.
func TestCLIDoc(t *testing.T) {
	page := filepath.FromSlash("../../docs/CLI.md")
	want := cliDoc()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("%s is stale; go test ./cmd/lola -update writes it anew", page)
	}
}

func cliDoc() string {
	var b strings.Builder
	b.WriteString(`# The command

Made from the command itself by "go test ./cmd/lola -update".

Results go to standard output. On standard error "lola: error: …" says what failed, to which thing and why, "lola: hint: …"
the next step, and "lola: note: …" what you may want to know. What modules and extensions say stands behind a gutter, with
control characters, invisible characters and CI commands escaped. In the list of files "+" is created, "~" changed, "-"
removed, ">" moved, and "!" needs attention.

A change is shown before it is made: with --dry-run, and at a terminal before a question, as a whole preview, dangers first; else
a line for each file. --json prints it in the form of report.schema.json.

LOLA_HOME names the folder for state; without it the platform's folder for user data is used. LOLA_REQUIRE_CONFINEMENT is
--require-confinement for every command that has this flag and is not given it: each that runs extensions.

## Exit codes

| code | meaning |
|---|---|
`)
	for _, row := range []struct {
		code int
		text string
	}{
		{exitOK, "done, or nothing to do"},
		{exitFailed, "something failed; nothing was changed unless the error says so"},
		{exitUsage, "the command line is wrong"},
		{exitRefused, "a rule refused what an extension proposed, or another module owns the files"},
		{exitConsent, "consent is needed and was not given"},
		{exitExtension, "an extension failed, misbehaved or was stopped"},
		{exitChanged, "with --detailed-exitcode: all went well, and something changed or would"},
		{exitDamaged, "something that was recorded does not hold: the log, what is installed, or what was kept to undo"},
		{exitLevel, "extensions are confined less than is required, or otherwise than this machine seems to be able to"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.text)
	}
	describe(&b, (&app{}).command(nil))
	return b.String()
}

func describe(b *strings.Builder, cmd *cobra.Command) {
	if cmd.HasParent() {
		fmt.Fprintf(b, "\n## %s\n\n    %s\n\n", cmd.CommandPath(), cmd.UseLine())
		long := cmd.Long
		if long == "" {
			long = cmd.Short
		}
		b.WriteString(long + "\n")
		if len(cmd.Aliases) > 0 {
			fmt.Fprintf(b, "\nAlso: %s.\n", strings.Join(cmd.Aliases, ", "))
		}
		if flags := cmd.LocalFlags().FlagUsages(); flags != "" {
			fmt.Fprintf(b, "\n```\n%s```\n", flags)
		}
	}
	for _, sub := range cmd.Commands() {
		describe(b, sub)
	}
}
