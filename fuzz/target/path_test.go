// Package target glues generators to oracles: one file per fuzz target. Every target runs over its seeds in each test
// run; with coverage guidance it runs for as long as it is told.
package target

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/fuzz/gen"
	"github.com/lola-ext/lola/fuzz/oracle"
	"github.com/lola-ext/lola/host/plan"
)

// FuzzPath holds two validators against each other, both written from the same requirement by different hands:
// plan.CheckPath refuses a path exactly if oracle.PathRefused does. An accepted path is also clean, relative, local on the
// system at hand and valid for package fs; so is each of its parents; and so is the spelling that it folds to, which is the same for both. A refusal names a rule and shows the path escaped.
//
// The path is taken as it comes and made from the bytes as well. lower takes the limits down, so that their edges are
// within reach of short inputs.
func FuzzPath(f *testing.F) {
	for _, s := range pathSeeds {
		f.Add(s, []byte(s), byte(0))
	}
	for i := range byte(32) { // every kind of component, with and without a disguise
		f.Add("", []byte{0, 0, i, i, 1, i, i, i, i + 1, i, 2, i, i}, i)
	}
	f.Fuzz(func(t *testing.T, raw string, data []byte, lower byte) {
		lim, err := abi.Limits{}.Resolve()
		if err != nil {
			t.Fatalf("resolve default limits: %v", err)
		}
		if lower != 0 {
			lim, err = abi.Limits{Path: int(lower) * 3, Component: int(lower), Components: 1 + int(lower)%8}.Resolve()
			if err != nil {
				t.Fatalf("resolve limits lowered by %d: %v", lower, err)
			}
		}
		checkPath(t, raw, lim)
		checkPath(t, gen.Path(data), lim)
	})
}

func checkPath(t *testing.T, p string, lim abi.Limits) {
	t.Helper()
	if got, want := plan.Fold(p), oracle.Fold(p); got != want && utf8.ValidString(p) {
		t.Fatalf("fold path %+q: %+q, but the oracle folds it to %+q", p, got, want)
	}
	findings, why := plan.CheckPath(p, lim), oracle.PathRefused(p, lim)
	switch {
	case len(findings) == 0 && why != "":
		t.Fatalf("check path %+q: accepted, but the oracle refuses it because %s", p, why)
	case len(findings) != 0 && why == "":
		t.Fatalf("check path %+q: refused by %s, but the oracle accepts it", p, rules(findings))
	case len(findings) != 0:
		for _, f := range findings {
			if f.Rule == "" || f.Message == "" {
				t.Fatalf("check path %+q: finding (%q, %q) lacks its rule or message", p, f.Rule, f.Message)
			}
			if strings.IndexFunc(f.Message, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
				t.Fatalf("check path %+q: message %+q holds the path unescaped", p, f.Message)
			}
		}
		return
	}
	if path.Clean(p) != p || filepath.ToSlash(filepath.Clean(filepath.FromSlash(p))) != p {
		t.Fatalf("check path %+q: accepted, but it is not clean", p)
	}
	if path.IsAbs(p) || filepath.IsAbs(filepath.FromSlash(p)) || filepath.VolumeName(filepath.FromSlash(p)) != "" {
		t.Fatalf("check path %+q: accepted, but it is absolute", p)
	}
	if !filepath.IsLocal(filepath.FromSlash(p)) || !fs.ValidPath(p) {
		t.Fatalf("check path %+q: accepted, but it is not local (%v) or not valid (%v)", p, filepath.IsLocal(p), fs.ValidPath(p))
	}
	for _, f := range plan.CheckPath(oracle.Fold(p), lim) {
		switch f.Rule {
		case "path-length", "path-component": // ß and its like fold into more bytes
		case "path-shortname": // marks fold into their letters, so that fewer characters are left
		default:
			t.Fatalf("check path %+q: accepted, but %+q, which counts as the same path, is refused by %s", p, oracle.Fold(p), f.Rule)
		}
	}
	if parent := path.Dir(p); parent != "." {
		if findings := plan.CheckPath(parent, lim); len(findings) != 0 {
			t.Fatalf("check path %+q: accepted, but its parent %+q is refused by %s", p, parent, rules(findings))
		}
	}
}

func rules(findings []plan.Finding) string {
	var ids []string
	for _, f := range findings {
		ids = append(ids, f.Rule)
	}
	return strings.Join(ids, ", ")
}

// pathSeeds are the inputs of the rows P02 and P08 to P13 of our list of hostile inputs, and what stands next to each on
// the other side of the line.
var pathSeeds = []string{
	"", "a", "../x", "a/../../x", "a/./b", "a//b", "a/", "...", "..a", "/", "/etc/passwd", // P02
	".git::$INDEX_ALLOCATION", "file:stream", "a/b:", ":", // P08
	"GIT~1", "GI7EBA~1", "CLAUDE~1", "x~1", "~1", "SETTIN~1.JSO", "a~b", "file~", "~x", "longername~1", "x~1.json", "x~1.a.b", // P09
	"sub.", "sub ", "a. /b", "sub..", " sub", ". .", // P10
	"COM1 ", "COM\u00B9", "nul.txt", "CONIN$", "conout$.x", "clock$", "nul .x", "lpt0", "com10", "console", "com\u2074", "cloc\u212A$", // P11
	`\\?\C:\x`, `\??\c:\x`, "//server/share/x", "C:x", "//?/C:/x", `a\b`, // P12
	".g\u200Cit/config", ".GIT", ".git", ".hg", ".Svn", ".jj/x", "\uFF0Egit", ".g\u0131t", ".\u017Fvn", ".git\u0301", ".gitignore", ".github", // P13
	".git\u00A8", "\u2024git", ".git\u2026", ".g\u0130t", ".hg\u20E3",
	"\xff", "\xed\xa0\x80", "a\x00b", "a\u0085b", "a\u202Eb", "a\uFEFF", "\u2764\uFE0F", "a\u3000b", "a\u00A0b", "sub\u00A0", "sub\u3000", "\u13A0/\uAB70", ".gi\u0307t", ".j\u0307j", "a\u2028", "\u2800", "\uFFF9", "\u0600",
	"\U000E0001", "\U0001D159", "\U00013430", "\uFFFE", "\uE000", "e\u0301", "\u00E9", "\u1100\u1160", "\u17B4", "a\nb", "a?b*", `a"b<c>|`,
}
