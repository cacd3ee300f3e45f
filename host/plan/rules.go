package plan

import "github.com/lola-ext/lola/host/internal/nearest"

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

	RuleOpNotAllowed     = "op-not-allowed"
	RuleOpUnknown        = "op-unknown"
	RuleOpUnsupported    = "op-unsupported"
	RuleResult           = "result"
	RuleDestination      = "destination"
	RuleNotGranted       = "not-granted"
	RuleGuarded          = "guarded-path"
	RuleReplaceLink      = "replace-symlink"
	RuleURL              = "url"
	RuleRef              = "ref"
	RuleRemoteNotGranted = "remote-not-granted"
	RuleModuleFile       = "module-file"
	RuleMode             = "mode"
	RuleEditForm         = "edit-form"

	RuleSamePath    = "same-path"
	RuleNestedPath  = "nested-path"
	RuleEditOverlap = "edit-overlap"

	RuleUnreadable   = "unreadable"
	RuleProtected    = "protected-path"
	RuleLink         = "link"
	RuleInTheWay     = "in-the-way"
	RuleExpect       = "expect"
	RuleRenameSource = "rename-source"
	RuleRenameTarget = "rename-target"
	RuleEditFile     = "edit-file"
	RuleTreePath     = "tree-path"
	RuleTreeSize     = "tree-size"

	RuleBareRepo   = "bare-repository"
	RuleNewEntries = "new-entries"
	RuleForeign    = "foreign-change"
)

// Rule documents one rule. docs/RULES.md and "lola explain" are made of it.
type Rule struct {
	ID      string `json:"id"`
	Summary string `json:"summary"` // what is refused, one sentence without a full stop
	Why     string `json:"why"`
	Example string `json:"example"`
	Author  string `json:"author"`        // what the author of the extension can do
	Fix     string `json:"fix,omitempty"` // what the user can do, as it stands in findings that know no better; empty: nothing but ask the author
	order   int
}

var ruleByID = func() map[string]*Rule {
	m := make(map[string]*Rule, len(Rules))
	for i := range Rules {
		Rules[i].order = i
		m[Rules[i].ID] = &Rules[i]
	}
	return m
}()

// RuleOf returns the documentation of a rule.
func RuleOf(id string) (Rule, bool) {
	r, ok := ruleByID[id]
	if !ok {
		return Rule{}, false
	}
	return *r, true
}

// NearestRule returns the id that a mistyped one may have meant.
func NearestRule(id string) (string, bool) {
	ids := make([]string, len(Rules))
	for i, r := range Rules {
		ids[i] = r.ID
	}
	return nearest.Of(id, ids)
}

// resultRules are the rules about what the steps, taken together, would make of the root. They are sorted by path.
var resultRules = []row[func(*judge) []Finding]{
	{RuleBareRepo, bareRepositories},
	{RuleNewEntries, newEntries},
}
