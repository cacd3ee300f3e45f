// Package regress keeps every input that once broke something, numbered, each with a sentence that says what broke.
//
// Numbers are never used again. An input stays when the code it broke is gone, as long as the sentence still means
// something.
package regress

import (
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/fuzz/oracle"
	"github.com/lola-ext/lola/host/plan"
)

// paths are inputs on which plan.CheckPath and oracle.PathRefused once disagreed, or on which one of them was wrong.
var paths = []struct {
	id     string
	path   string
	refuse bool
	broke  string
}{
	{"01_kelvin_sign", "cloc\u212A$", true, "CheckPath compared device names without folding, so that a path counted as the same as CLOCK$ passed"},
	{"02_capital_i_with_dot", ".g\u0130t", true, "CheckPath used the full case folding alone, while the simple lower case of this letter is a plain i"},
	{"03_dot_over_an_i", ".gi\u0307t", true, "CheckPath passed what 02 folds to; the dot adds nothing to see over an i"},
	{"04_dot_over_a_j", ".j\u0307j", true, "CheckPath passed a dot that adds nothing to see over a j"},
	{"05_trailing_no_break_space", "sub\u00A0", true, "CheckPath took U+0020 for the only space at the end of a component"},
	{"06_trailing_wide_space", "a/sub\u3000/b", true, "CheckPath took U+0020 for the only space at the end of a component"},
	{"07_braille_blank", "\u2800", true, "CheckPath went by properties, and this symbol has none that says it is drawn as nothing"},
	{"08_null_notehead", "a\U0001D159b", true, "CheckPath went by properties, and this symbol has none that says it is drawn as nothing"},
	{"09_number_sign", "\u0600", true, "PathRefused let pass the format characters that enclose what follows them"},
	{"10_wide_space_inside", "a\u3000b", false, "PathRefused took every space but U+0020 for invisible, and names have them"},
	{"11_acute_accent", ".git\u0301", false, "PathRefused dropped all marks before it compared, though nothing takes a marked t for a t"},
	{"12_diaeresis", ".git\u00A8", false, "PathRefused dropped the mark of this symbol and then the space it decomposes into"},
	{"13_enclosing_keycap", ".hg\u20E3", false, "PathRefused dropped all marks before it compared"},
	{"19_two_dots_on_a_j", ".\u2c7cj\u0307\u0307", true, "only one combining dot was dropped, and none from a letter that becomes a j by its compatibility form"},
}

// folds are pairs that count as one path, or do not, on which plan.Fold was once wrong.
var folds = []struct {
	id    string
	a, b  string
	same  bool
	broke string
}{
	{"14_cherokee", "\u13A0", "\uAB70", true, "Fold trusted a library that swaps the case of Cherokee letters where it should fold it, so that the two spellings never met"},
	{"15_cherokee_beyond_the_block", "a/\u13F0", "a/\u13F8", true, "as 14, for the six small letters that stand beside the capitals"},
}

func TestFolds(t *testing.T) {
	t.Parallel()
	if len(folds) == 0 {
		t.Fatal("no cases")
	}
	for _, tt := range folds {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			if a, b := plan.Fold(tt.a), plan.Fold(tt.b); (a == b) != tt.same {
				t.Errorf("Fold(%+q) = %+q, Fold(%+q) = %+q, the same: %v, want %v; what broke: %s", tt.a, a, tt.b, b, a == b, tt.same, tt.broke)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	lim, err := abi.Limits{}.Resolve()
	if err != nil {
		t.Fatalf("resolve default limits: %v", err)
	}
	for _, tt := range paths {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			if got := len(plan.CheckPath(tt.path, lim)) != 0; got != tt.refuse {
				t.Errorf("CheckPath(%+q) refuses: %v, want %v; what broke: %s", tt.path, got, tt.refuse, tt.broke)
			}
			if got := oracle.PathRefused(tt.path, lim) != ""; got != tt.refuse {
				t.Errorf("PathRefused(%+q) refuses: %v, want %v; what broke: %s", tt.path, got, tt.refuse, tt.broke)
			}
		})
	}
}
