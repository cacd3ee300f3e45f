package exttest_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lola-ext/lola/sdk/ext"
	"github.com/lola-ext/lola/sdk/ext/exttest"
)

// install puts every skill of a module where an assistant called "example" looks for them.
func install(req *ext.Request, plan *ext.Plan) error {
	module, err := ext.ModuleOf(req)
	if err != nil {
		return err
	}
	for _, file := range module.Files {
		if rest, ok := strings.CutPrefix(file.Path, "skills/"); ok {
			plan.Copy(file, ".example/skills/"+rest)
		} else {
			plan.Warn(strconv.Quote(file.Path) + ": no skill, left out")
		}
	}
	return nil
}

func Example() {
	plan, err := exttest.Run(install, exttest.Install("demo", map[string]string{
		"skills/greet/SKILL.md": "Say hello.\n",
		"notes.txt":             "mine",
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(exttest.Writes(plan), "\n"))
	for _, m := range plan.Messages {
		fmt.Println(m.Level, m.Text)
	}
	// Output:
	// .example/skills/greet/SKILL.md <- skills/greet/SKILL.md
	// warn "notes.txt": no skill, left out
}
