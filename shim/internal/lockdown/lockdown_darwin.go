package lockdown

import (
	"strings"

	"github.com/lola-ext/lola/shim/policy"
)

// keepsData: macOS has the limit and does not keep it.
const keepsData = false

// enter sets limits. What a process could otherwise give away here takes entitlements, or an interface that Apple calls
// deprecated (sandbox_init).
func enter(spec Spec) (Report, error) {
	var r Report
	if !spec.has(policy.WallLimits) {
		r.add(policy.WallLimits, false, leftOut)
		r.Level = policy.None
		return r, nil
	}
	lost, err := setLimits(spec.Stage, spec)
	if err != nil {
		return Report{}, err
	}
	r.add(policy.WallLimits, true, "not kept: %s", strings.Join(append(lost, "DATA"), ", "))
	r.Level = policy.Process
	return r, nil
}

// guest lowers what storing needed.
func guest(spec Spec, r Report) error {
	if r.Level == policy.None {
		return nil
	}
	_, err := setLimits(policy.Guest, spec)
	return err
}
