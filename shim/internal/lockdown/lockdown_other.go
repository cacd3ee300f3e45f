//go:build !linux && !darwin && !windows

package lockdown

import (
	"runtime"

	"github.com/lola-ext/lola/shim/policy"
)

// enter has no walls to put up here, and says so.
func enter(Spec) (Report, error) {
	r := Report{Level: policy.None}
	r.add(policy.WallLimits, false, "nothing is known of %s", runtime.GOOS)
	return r, nil
}

func guest(Spec, Report) error { return nil }
