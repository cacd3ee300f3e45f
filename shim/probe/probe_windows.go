package probe

import (
	"fmt"

	"golang.org/x/sys/windows"

	"github.com/lola-ext/lola/shim/policy"
)

func look(r *Report) {
	v := windows.RtlGetVersion()
	r.Release = fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
	if windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil {
		r.Emulator = "wine"
	}
	limits := Wall{Name: policy.WallLimits, Enforced: Yes} // a job within a job, from Windows 8 on
	if v.MajorVersion < 6 || v.MajorVersion == 6 && v.MinorVersion < 2 {
		limits.Enforced, limits.Why, limits.Help = Unknown, "a process that is in a job object already may not be able to enter another", "Windows 8 or later"
	}
	if r.Emulator != "" {
		limits.Enforced, limits.Why, limits.Help = No, r.Emulator+" has job objects and does not keep their limits", "run the program on Windows"
	}
	r.Walls = []Wall{
		limits,
		{Name: policy.WallToken, Enforced: Unknown, Why: "whether a token can be lowered is known by lowering it; the child says"},
		{Name: policy.WallMitigations, Enforced: Unknown, Why: "which of them this Windows takes is known by asking for them, for good; the child says"},
	}
}
