package probe

import (
	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

func look(r *Report) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		r.Release = unix.ByteSliceToString(name.Release[:])
	}
	r.Walls = []Wall{
		{Name: policy.WallLimits, Enforced: Yes, Why: "macOS keeps none on memory"},
		{Name: policy.WallSeccomp, Enforced: No, Why: "what macOS has of the kind takes an entitlement, or an interface that Apple calls deprecated"},
	}
}
