package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lola-ext/lola/abi"
)

// CheckPath judges the form of a path, on every OS alike and without looking at any file system: what would be refused
// anywhere is refused everywhere. lim must be resolved. Nil means acceptable.
func CheckPath(path string, lim abi.Limits) []Finding {
	if path == "" {
		return []Finding{{Rule: RulePathEmpty, Message: "the path is empty"}}
	}
	c := pathCheck{path: path}
	if len(path) > lim.Path {
		c.add(RulePathLength, "the path has %d bytes, want at most %d", len(path), lim.Path)
		c.path = path[:lim.Path] // what is shown; the rules below still see a bounded text
		path = c.path
	}
	if !utf8.ValidString(path) && len(c.found) == 0 {
		c.add(RulePathUTF8, "the path %q is not valid UTF-8", path)
	}
	if i := strings.IndexFunc(path, isControl); i >= 0 {
		c.add(RulePathControl, "the path %q holds a control character", path)
	}
	if i := strings.IndexFunc(path, isInvisible); i >= 0 {
		r, _ := utf8.DecodeRuneInString(path[i:])
		c.add(RulePathInvisible, "the path %q holds %U, which cannot be seen", path, r)
	}
	if strings.ContainsRune(path, '\\') {
		c.add(RulePathBackslash, `the path %q holds a backslash; components are separated by "/"`, path)
	}
	if strings.ContainsRune(path, ':') {
		c.add(RulePathColon, "the path %q holds a colon", path)
	}
	if path[0] == '/' {
		c.add(RulePathAbsolute, "the path %q is absolute", path)
	}
	if n := strings.Count(path, "/") + 1; n > lim.Components {
		c.add(RulePathDepth, "the path has %d components, want at most %d", n, lim.Components)
	}
	for comp := range strings.SplitSeq(path, "/") {
		c.component(comp, lim)
	}
	return c.found
}

type pathCheck struct {
	path  string
	found []Finding
}

// add notes a finding, one per rule and path.
func (c *pathCheck) add(rule, format string, args ...any) {
	for _, f := range c.found {
		if f.Rule == rule {
			return
		}
	}
	c.found = append(c.found, Finding{Rule: rule, Path: c.path, Message: fmt.Sprintf(format, args...)})
}

func (c *pathCheck) component(comp string, lim abi.Limits) {
	if comp == "" || comp == "." || comp == ".." {
		c.add(RulePathDot, "the path %q has a component %q", c.path, comp)
		return
	}
	if len(comp) > lim.Component {
		c.add(RulePathComponent, "a component of the path has %d bytes, want at most %d", len(comp), lim.Component)
		return
	}
	if last, _ := utf8.DecodeLastRuneInString(comp); last == '.' || unicode.Is(unicode.Zs, last) {
		c.add(RulePathTrailing, "the component %q ends with a dot or a space", comp)
	}
	if isDevice(comp) {
		c.add(RulePathDevice, "the component %q names a device on Windows", comp)
	}
	if isShortName(comp) {
		c.add(RulePathShortName, "the component %q has the shape of an 8.3 alias", comp)
	}
	if dir := vcsFolder(comp); dir != "" {
		c.add(RulePathVCS, "the component %q is %s, or is taken for it somewhere", comp, dir)
	}
	if strings.HasPrefix(fold(comp), StagingPrefix) {
		c.add(RulePathStaging, "the component %q has the form of a staging folder", comp)
	}
}

// StagingPrefix begins the names of this program's own folders within a root. No plan may name one.
const StagingPrefix = ".lola-stage-"

func isControl(r rune) bool { return unicode.Is(unicode.Cc, r) }

// isInvisible holds for format characters (bidirectional controls among them), line and paragraph separators, and what
// Unicode calls Default_Ignorable_Code_Point (DerivedCoreProperties.txt): Other_Default_Ignorable_Code_Point, Cf and the
// variation selectors. The property leaves out some Cf; here all are refused. Two more are drawn as nothing: the blank
// Braille pattern and the musical null notehead.
func isInvisible(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == 0x2800 || r == 0x1d159:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isDevice holds for names that Windows takes for a device in every directory: the part before the first dot or colon
// counts, trailing spaces do not, the superscript digits count as digits ("Naming Files, Paths, and Namespaces").
func isDevice(comp string) bool {
	base := comp
	if i := strings.IndexAny(base, ".:"); i >= 0 {
		base = base[:i]
	}
	base = strings.TrimRight(base, " ")
	if !isASCII(base) {
		base = undot(norm.NFD.String(fold(base))) // the Kelvin sign is a K, the dotted I an I
	}
	base = strings.ToUpper(base)
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, port := range [...]string{"COM", "LPT"} {
		if digit, ok := strings.CutPrefix(base, port); ok {
			switch digit {
			case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
				return true
			}
		}
	}
	return false
}

// isShortName holds for the shape of the aliases that Windows makes: up to eight characters that end with "~" and digits,
// then at most one extension of up to three (GIT~1, GI7EBA~1, CLAUDE~1.MD).
func isShortName(comp string) bool {
	comp = strings.TrimRight(comp, ". ")
	base, ext, _ := strings.Cut(comp, ".")
	if strings.ContainsRune(ext, '.') || utf8.RuneCountInString(ext) > 3 || utf8.RuneCountInString(base) > 8 {
		return false
	}
	i := strings.LastIndexByte(base, '~')
	if i < 0 || i == len(base)-1 {
		return false
	}
	for _, c := range base[i+1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// vcsFolders are the folders whose hooks and configuration other programs execute.
var vcsFolders = []string{".git", ".hg", ".svn", ".jj"}

// vcsFolder returns the folder that comp is taken for on some file system, "" if none. It looks through case, normalisation
// and compatibility forms, ignorable characters (HFS+ drops them), the dot that an i has anyway, trailing dots and spaces,
// and a stream name (Windows).
func vcsFolder(comp string) string {
	if i := strings.IndexByte(comp, ':'); i >= 0 {
		comp = comp[:i]
	}
	if isASCII(comp) {
		return vcsNamed(comp)
	}
	plain := strings.Map(func(r rune) rune {
		if isInvisible(r) || isControl(r) {
			return -1
		}
		return r
	}, norm.NFD.String(comp))
	if dir := vcsNamed(undot(plain)); dir != "" {
		return dir
	}
	return vcsNamed(undot(norm.NFKD.String(plain)))
}

// undot drops combining dots from letters that have one anyway: with them they look and fold like the capital that keeps its
// dot. s is decomposed.
func undot(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r == 0x307 && len(out) > 0 {
			switch last := &out[len(out)-1]; *last {
			case 'i', 'I', 'ı':
				*last = 'i'
				continue
			case 'j', 'J', 'ȷ':
				*last = 'j'
				continue
			}
		}
		out = append(out, r)
	}
	return string(out)
}

func vcsNamed(s string) string {
	s = strings.TrimRight(s, ". ")
	if s == "" || isASCII(s) && s[0] != '.' {
		return ""
	}
	// Upper case catches what folds differently by table, such as the dotless i.
	folded, upper := fold(s), strings.ToUpper(s)
	for _, dir := range vcsFolders {
		if folded == dir || upper == strings.ToUpper(dir) {
			return dir
		}
	}
	return ""
}
