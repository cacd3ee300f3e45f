package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/fold"
)

// Fold maps paths that are one path on some file system to the same text. It is for comparing, never for opening.
func Fold(path string) string { return fold.Path(path) }

// CheckPath judges the form of a path, on every OS alike and without looking at any file system: what would be refused
// anywhere is refused everywhere. lim must be resolved. Nil means acceptable.
func CheckPath(path string, lim abi.Limits) []Finding {
	if isPlain(path, lim) {
		return nil
	}
	return checkSpelling(path, lim)
}

// checkSpelling is CheckPath by all of the rules.
func checkSpelling(path string, lim abi.Limits) []Finding {
	s := spelling{whole: path, path: path, lim: lim}
	if len(path) > lim.Path {
		s.path = path[:lim.Path] // what is shown and what most rules look at: a bounded text
	}
	s.components = strings.Split(s.path, "/")
	var found []Finding
	for _, r := range pathRules {
		if why := r.broken(&s); why != "" {
			found = append(found, r.finding(Finding{Path: s.path, Message: why}))
			if r.id == RulePathEmpty {
				break
			}
		}
	}
	return found
}

// isPlain reports whether a path breaks no rule for sure, which nearly every path shows in one pass: letters, digits, "-", "_"
// and "." only, in components that are neither empty nor dots, too long or too many, end with no dot and are none of the names
// that some program or system gives a meaning. False says nothing. A test holds it to the rules.
func isPlain(path string, lim abi.Limits) bool {
	if path == "" || len(path) > lim.Path {
		return false
	}
	components, start, dot := 0, 0, -1 // dot: the first one of the component
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			if !plainByte[path[i]] {
				return false
			}
			if path[i] == '.' && dot < 0 {
				dot = i
			}
			continue
		}
		comp, base := path[start:i], i-start
		if dot >= 0 {
			base = dot - start
		}
		if comp == "" || len(comp) > lim.Component || comp[len(comp)-1] == '.' ||
			(base == len("CON") || base == len("COM1")) && isDevice(comp) || // longer ones are not plain
			comp[0] == '.' && (isVCSFolder(comp) || isStaging(comp)) {
			return false
		}
		components, start, dot = components+1, i+1, -1
	}
	return components <= lim.Components
}

// plainByte are the bytes that no rule about characters is about.
var plainByte = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	return plain
}()

// spelling is a path as the rules about its form see it.
type spelling struct {
	whole, path string // path is whole, cut to the limit
	components  []string
	lim         abi.Limits
}

func isDots(comp string) bool { return comp == "" || comp == "." || comp == ".." }

// inPath says why if the path holds a character of some kind.
func inPath(bad func(rune) bool, why string) func(*spelling) string {
	return func(s *spelling) string {
		if strings.IndexFunc(s.path, bad) < 0 {
			return ""
		}
		return fmt.Sprintf("the path %q holds %s", s.path, why)
	}
}

// inComponent says why if some component is bad. Those that other rules refuse, for their length or as dots, are not asked.
func inComponent(bad func(string) bool, why string) func(*spelling) string {
	return func(s *spelling) string {
		for _, comp := range s.components {
			if !isDots(comp) && len(comp) <= s.lim.Component && bad(comp) {
				return fmt.Sprintf("the component %q %s", comp, why)
			}
		}
		return ""
	}
}

// pathRules are the rules about the form of a path, each with what it says of a path that breaks it.
var pathRules = []row[func(*spelling) string]{
	{RulePathEmpty, func(s *spelling) string {
		if s.whole == "" {
			return "the path is empty"
		}
		return ""
	}},
	{RulePathLength, func(s *spelling) string {
		if len(s.whole) > s.lim.Path {
			return fmt.Sprintf("the path has %d bytes, want at most %d", len(s.whole), s.lim.Path)
		}
		return ""
	}},
	{RulePathUTF8, func(s *spelling) string {
		if !utf8.ValidString(s.whole) && len(s.whole) <= s.lim.Path {
			return fmt.Sprintf("the path %q is not valid UTF-8", s.path)
		}
		return ""
	}},
	{RulePathControl, inPath(isControl, "a control character")},
	{RulePathInvisible, func(s *spelling) string {
		if i := strings.IndexFunc(s.path, isInvisible); i >= 0 {
			r, _ := utf8.DecodeRuneInString(s.path[i:])
			return fmt.Sprintf("the path %q holds %U, which cannot be seen", s.path, r)
		}
		return ""
	}},
	{RulePathBackslash, inPath(func(r rune) bool { return r == '\\' }, `a backslash; components are separated by "/"`)},
	{RulePathColon, inPath(func(r rune) bool { return r == ':' }, "a colon")},
	{RulePathAbsolute, func(s *spelling) string {
		if s.path[0] == '/' {
			return fmt.Sprintf("the path %q is absolute", s.path)
		}
		return ""
	}},
	{RulePathDepth, func(s *spelling) string {
		if n := len(s.components); n > s.lim.Components {
			return fmt.Sprintf("the path has %d components, want at most %d", n, s.lim.Components)
		}
		return ""
	}},
	{RulePathDot, func(s *spelling) string {
		if i := slices.IndexFunc(s.components, isDots); i >= 0 {
			return fmt.Sprintf("the path %q has a component %q", s.path, s.components[i])
		}
		return ""
	}},
	{RulePathComponent, func(s *spelling) string {
		for _, comp := range s.components {
			if len(comp) > s.lim.Component {
				return fmt.Sprintf("a component of the path has %d bytes, want at most %d", len(comp), s.lim.Component)
			}
		}
		return ""
	}},
	{RulePathTrailing, inComponent(hasTrailing, "ends with a dot or a space")},
	{RulePathDevice, inComponent(isDevice, "names a device on Windows")},
	{RulePathShortName, inComponent(isShortName, "has the shape of an 8.3 alias")},
	{RulePathVCS, inComponent(isVCSFolder, "is the folder of a version control system, or is taken for one somewhere")},
	{RulePathStaging, inComponent(isStaging, "has the form of a staging folder")},
}

func hasTrailing(comp string) bool {
	last, _ := utf8.DecodeLastRuneInString(comp)
	return last == '.' || unicode.Is(unicode.Zs, last)
}

func isVCSFolder(comp string) bool { return vcsFolder(comp) != "" }

func isStaging(comp string) bool { return strings.HasPrefix(Fold(comp), StagingPrefix) }

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
		base = undot(norm.NFD.String(Fold(base))) // the Kelvin sign is a K, the dotted I an I
	} else if len(base) < 3 || len(base) > 7 {
		return false // no name below is as short or as long
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
	folded, upper := Fold(s), strings.ToUpper(s)
	for _, dir := range vcsFolders {
		if folded == dir || upper == strings.ToUpper(dir) {
			return dir
		}
	}
	return ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
