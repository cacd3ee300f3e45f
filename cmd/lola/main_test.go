package main

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim"
	"github.com/lola-ext/lola/shim/policy"
)

// update writes golden files anew instead of comparing: go test ./cmd/lola -update.
var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) {
	shim.RunIfChild() // the command under test is this binary, and so is its child
	testscript.Main(m, map[string]func(){"lola": lolaMain})
}

// lolaMain is main, and a [victim] if it is told to be one.
func lolaMain() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	end := victim(a)
	code := a.run(interruptible(), os.Args[1:])
	end()
	os.Exit(code)
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: false,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LOLA_HOME", e.WorkDir+string(os.PathSeparator)+"home")
			dir := example(t)
			e.Setenv("EXAMPLE", dir)
			e.Setenv("TRUST", trust(t, dir))
			return nil
		},
		// full: extensions are wholly confined on this machine.
		Condition: func(cond string) (bool, error) {
			if cond != "full" {
				return false, fmt.Errorf("there is no condition %q", cond)
			}
			return host.ThisMachine().Level == policy.Full, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     cmdCode,
			"snapshot": cmdSnapshot,
			"unmoved":  cmdUnmoved,
			"trustof":  cmdTrustOf,
			"capture":  cmdCapture,
			"replace":  cmdReplace,
		},
	})
}
