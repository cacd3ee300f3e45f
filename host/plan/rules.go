package plan

import "cmp"

// The rules. An id is stable: it stands in logs, in scripts and in answers to users.
const (
	RulePathEmpty     = "path-empty"
	RulePathLength    = "path-length"
	RulePathDepth     = "path-depth"
	RulePathUTF8      = "path-utf8"
	RulePathControl   = "path-control"
	RulePathInvisible = "path-invisible"
	RulePathBackslash = "path-backslash"
	RulePathColon     = "path-colon"
	RulePathAbsolute  = "path-absolute"
	RulePathDot       = "path-dot"
	RulePathComponent = "path-component"
	RulePathTrailing  = "path-trailing"
	RulePathDevice    = "path-device"
	RulePathShortName = "path-shortname"
	RulePathVCS       = "path-vcs"
	RulePathStaging   = "path-staging"

	RuleOpNotAllowed  = "op-not-allowed"
	RuleOpUnsupported = "op-unsupported"
	RuleResult        = "result"
	RuleNotGranted    = "not-granted"
	RuleModuleFile    = "module-file"
	RuleMode          = "mode"

	RuleSamePath   = "same-path"
	RuleNestedPath = "nested-path"
	RuleLink       = "link"
	RuleInTheWay   = "in-the-way"
	RuleExpect     = "expect"
	RuleBareRepo   = "bare-repository"
	RuleNewEntries = "new-entries"
	RuleUnreadable = "unreadable"
)

// Rule documents one rule.
type Rule struct {
	ID      string
	Summary string // what is refused and why, one sentence
}

// Rules lists every rule in the order in which findings of one intent are given.
var Rules = []Rule{
	{RulePathEmpty, "a path is empty"},
	{RulePathLength, "a path is longer than the limit"},
	{RulePathDepth, "a path has more components than the limit"},
	{RulePathUTF8, "a path is not valid UTF-8: file systems disagree about such names"},
	{RulePathControl, "a path holds NUL or another control character, which a terminal or a log would obey"},
	{RulePathInvisible, "a path holds a bidirectional, invisible or ignorable character, so it is not what it looks like"},
	{RulePathBackslash, "a path holds a backslash, which separates components on Windows"},
	{RulePathColon, "a path holds a colon: a drive or a stream on Windows"},
	{RulePathAbsolute, "a path is absolute"},
	{RulePathDot, "a component is empty, \".\" or \"..\""},
	{RulePathComponent, "a component is longer than the limit"},
	{RulePathTrailing, "a component ends with a dot or a space, which Windows drops"},
	{RulePathDevice, "a component is the name of a device on Windows, with whatever extension"},
	{RulePathShortName, "a component has the shape of an 8.3 alias and could name another file on Windows"},
	{RulePathVCS, "a component is the folder of a version control system, whose files other programs execute"},
	{RulePathStaging, "a component has the form of this program's own staging folders"},
	{RuleMode, "a mode has other bits than permissions"},
	{RuleOpNotAllowed, "an extension of this kind may not use this op for this action"},
	{RuleOpUnsupported, "this version of the host cannot apply the intent"},
	{RuleResult, "the answer carries a result where none is due, or none where one is"},
	{RuleNotGranted, "no glob of the extension's grant covers the path"},
	{RuleModuleFile, "a write names a file that the module does not have"},
	{RuleSamePath, "two intents touch one path, compared as the least distinguishing file system would"},
	{RuleNestedPath, "one intent touches a path beneath another's"},
	{RuleLink, "a component is a symlink, junction or other thing that a path must not pass"},
	{RuleInTheWay, "something that is no file, or no directory, lies where one is needed"},
	{RuleExpect, "what lies at the path is not what the intent expects"},
	{RuleBareRepo, "the result would be a bare Git repository, whose configuration runs programs"},
	{RuleNewEntries, "the plan would make more directory entries than the limit"},
	{RuleUnreadable, "what lies at the path cannot be looked at"},
}

var ruleOrder = func() map[string]int {
	m := make(map[string]int, len(Rules))
	for i, r := range Rules {
		m[r.ID] = i
	}
	return m
}()

// compareFindings orders findings: by owner as given by position, then first intent, rule, path. owner maps a name to its
// position among the proposals.
func compareFindings(owner map[string]int) func(a, b Finding) int {
	first := func(f Finding) int {
		if len(f.Intents) == 0 {
			return -1
		}
		return f.Intents[0]
	}
	return func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(owner[a.Owner], owner[b.Owner]),
			cmp.Compare(first(a), first(b)),
			cmp.Compare(ruleOrder[a.Rule], ruleOrder[b.Rule]),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Message, b.Message),
		)
	}
}
