package plan_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
)

// TestPlainPaths holds the short way that ordinary paths are judged by to the rules. A component "+" breaks none of them and is
// not ordinary, so a path behind it is judged the long way.
func TestPlainPaths(t *testing.T) {
	lim := limits(t, abi.Limits{})
	longer := lim
	longer.Path, longer.Components = lim.Path+2, lim.Components+1
	check := func(path string) (refused bool) {
		got, want := plan.CheckPath(path, lim), plan.CheckPath("+/"+path, longer)
		if (got == nil) != (want == nil) {
			t.Errorf("%.300q: found %v, by the rules %v", path, rulesOf(got), rulesOf(want))
		}
		return want != nil
	}
	words := []string{
		"", ".", "..", "...", "a", "b.md", ".claude", "A-b_c", "x.", ".x.", "con", "CON.txt", "cOm1", "lpt9.a.b", "com", "com10", "conin$", "clock$",
		"aux", "nul", "prn", "nul.", "auxiliary", ".git", ".GIT", ".git.", "git", ".hg", ".svn", ".jj", ".gitx", ".lola-stage-x", ".LOLA-STAGE-1",
		"lola-stage-", "git~1", "a~b", "a b", "a ", "a:b", `a\b`, "caf\u00e9", "\u212a", ".g\u0131t", "a\x00", "a\u200b", "\xff", "com\u00b9",
		strings.Repeat("x", lim.Component), strings.Repeat("y", lim.Component+1),
	}
	refused, random := 0, rand.New(rand.NewPCG(1, 2))
	for _, w := range words {
		check(w)
	}
	for range 50_000 {
		parts := make([]string, 1+random.IntN(4))
		if random.IntN(50) == 0 {
			parts = make([]string, lim.Components-1+random.IntN(3))
		}
		for i := range parts {
			if parts[i] = "d"; len(parts) < 5 {
				parts[i] = words[random.IntN(len(words))]
			}
		}
		if check(strings.Join(parts, "/")) {
			refused++
		}
	}
	for _, n := range []int{lim.Path - 1, lim.Path, lim.Path + 1} {
		check(strings.Repeat("a/", n)[:n-1] + "b")
		check(strings.Repeat(strings.Repeat("a", 99)+"/", n/100+1)[:n-1] + "b")
	}
	if refused < 1000 || refused > 49_000 {
		t.Errorf("%d of 50000 paths are refused: the test sees one side only", refused)
	}
}
