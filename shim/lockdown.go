package shim

import (
	"errors"
	"runtime"
	"time"

	"github.com/lola-ext/lola/shim/internal/lockdown"
	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/policy"
)

// confine puts walls around this process, all threads of it, and returns what is in force from then on. It is called once:
// when all that the job needs has been read and before a byte of the module is looked at. An error ends the child.
func confine(j job.Job) (job.Hello, error) {
	spec := lockdown.Spec{
		Stage: policy.Compile,
		// A plan in command form lies beside the guest's memory, and so does a request.
		Memory: j.Memory + 2*j.Plan + j.Request,
		CPU:    time.Duration(j.CPU) * time.Second,
	}
	switch {
	case j.Do == job.Compile:
		spec.Stage, spec.Folder = policy.Store, j.Code
	case j.Code != "":
		spec.Stage, spec.Folder = policy.Load, j.Code
	}
	report, err := lockdown.Enter(spec)
	if err != nil {
		return job.Hello{}, err
	}
	if spec.Stage == policy.Store && runtime.GOOS == "linux" && report.Landlock == 0 {
		// The list of calls lets it make files, and nothing keeps them to the folder.
		return job.Hello{}, errors.New("code is compiled for others only where there is Landlock")
	}
	return job.Hello{Level: string(report.Level), Landlock: int64(report.Landlock), Seccomp: report.Seccomp}, nil
}

// reaches reports whether a level is as high as one that is required; "": none is.
func reaches(level, required string) bool {
	if required == "" {
		return true
	}
	want, err := policy.ParseLevel(required)
	return err == nil && policy.Level(level).AtLeast(want)
}

// confineGuest takes away what compiling and loading needed. Only then may code of the guest run.
func confineGuest() error { return lockdown.Guest() }
