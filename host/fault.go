package host

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/module"
	"github.com/lola-ext/lola/host/plan"
)

// maxBadNames bounds the badly named files of a module that findings are held to.
const maxBadNames = 100

// moduleFaults returns the error of a judgement in which findings that come from how the module names its files say so: the
// extension put the files where they belong, and another extension would do the same.
func (h *Host) moduleFaults(err error, mod *module.Package, proposals []plan.Proposal) error {
	var refused *plan.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	intents := map[string][]abi.Intent{}
	for _, q := range proposals {
		intents[q.Owner] = q.Plan.Intents
	}
	bad := h.badNames(mod)
	for i := range refused.Findings {
		f := &refused.Findings[i]
		var copied []string // files of the module that the intents copy
		for _, n := range f.Intents {
			if w, ok := intents[f.Owner][n].(abi.Write); ok && w.Module != "" {
				copied = append(copied, w.Module)
			}
		}
		switch {
		case f.Rule == plan.RuleSamePath && len(copied) == 2 && copied[0] != copied[1] && plan.Fold(copied[0]) == plan.Fold(copied[1]):
			f.Fix = fmt.Sprintf("the module is at fault, not the extension: its files %q and %q are one file on some systems, and its author can rename one", copied[0], copied[1])
		case len(copied) == 1 && slices.Contains(h.rulesBroken(copied[0]), f.Rule):
			f.Fix = renameInModule(copied[0])
		case len(copied) == 0: // what is made of a file is named for it
			at := slices.IndexFunc(bad[f.Rule], func(n badName) bool { return strings.Contains(f.Path, n.stem) })
			if at >= 0 {
				f.Fix = renameInModule(bad[f.Rule][at].file)
			}
		}
	}
	return err
}

func renameInModule(file string) string {
	return fmt.Sprintf("the module is at fault, not the extension: its file %q is named so, and its author can rename it", file)
}

// badName is a file of a module, and the component of its path that breaks a rule, without an ending.
type badName struct{ file, stem string }

// badNames finds the files whose paths no plan could name, by rule.
func (h *Host) badNames(mod *module.Package) map[string][]badName {
	bad, n := map[string][]badName{}, 0
	for file := range mod.Paths() {
		if len(h.rulesBroken(file)) == 0 {
			continue
		}
		for comp := range strings.SplitSeq(file, "/") {
			for _, rule := range h.rulesBroken(comp) {
				if stem := strings.TrimSuffix(comp, path.Ext(comp)); stem != "" {
					bad[rule] = append(bad[rule], badName{file, stem})
				}
			}
		}
		if n++; n == maxBadNames {
			break
		}
	}
	return bad
}

// rulesBroken are the rules about the form of a path that one breaks.
func (h *Host) rulesBroken(path string) []string {
	var ids []string
	for _, f := range plan.CheckPath(path, h.limits) {
		ids = append(ids, f.Rule)
	}
	return ids
}
