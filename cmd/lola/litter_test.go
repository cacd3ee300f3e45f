package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// TestLitter: a staging directory that stays although the change is made is named, with what to do.
func TestLitter(t *testing.T) {
	for _, form := range []string{"", "--json"} {
		t.Run(form, func(t *testing.T) {
			t.Setenv("LOLA_HOME", t.TempDir()+"/home")
			dir := example(t)
			var out, errs strings.Builder
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, hook: func(op root.Op) error {
				if op.Kind == root.OpRmdir && strings.HasPrefix(op.Path, plan.StagingPrefix) && !strings.Contains(op.Path, "/") {
					return errors.New("somebody sits in it")
				}
				return nil
			}}
			args := []string{"install", dir, "-a", "cursor", "--project", t.TempDir(), "--trust", trust(t, dir)}
			if form != "" {
				args = append(args, form)
			}
			if code := a.run(t.Context(), args); code != 0 {
				t.Fatalf("exit code %d\n%s", code, errs.String())
			}
			for _, want := range []string{"lola: note: the change is made, but: ", plan.StagingPrefix, "somebody sits in it", "remove that directory yourself"} {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, errs.String())
				}
			}
		})
	}
}
