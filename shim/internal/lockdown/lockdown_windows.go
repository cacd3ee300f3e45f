package lockdown

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/lola-ext/lola/shim/policy"
)

// enter puts this process into a job of its own, then gives up what its token has, then asks for mitigations. Only the job
// makes a level: the others depend on the version of Windows, and the report says what of them is there.
//
// No filter of system calls and no wall around files is to be had by a process for itself. An AppContainer would be one; it
// takes the parent to start the process in it.
func enter(spec Spec) (Report, error) {
	var r Report
	up := false
	if spec.has(policy.WallLimits) {
		missing, err := enterJob(policy.Limits(spec.Stage, spec.Memory, spec.CPU))
		up = err == nil
		switch {
		case err != nil:
			r.add(policy.WallLimits, false, "%v", err)
		case missing != nil:
			r.add(policy.WallLimits, true, "without restrictions on windows and clipboard: %v", missing)
		default:
			r.add(policy.WallLimits, true, "")
		}
	} else {
		r.add(policy.WallLimits, false, leftOut)
	}
	if spec.has(policy.WallToken) {
		err := dropPrivileges()
		if err == nil && spec.Stage != policy.Store { // the folder to write to has the integrity of who made it
			err = dropIntegrity()
		}
		if err != nil {
			r.add(policy.WallToken, false, "%v", err)
		} else {
			r.add(policy.WallToken, true, "")
		}
	} else {
		r.add(policy.WallToken, false, leftOut)
	}
	if spec.has(policy.WallMitigations) {
		missing := mitigate(mitigations)
		switch {
		case len(missing) == len(mitigations):
			r.add(policy.WallMitigations, false, "this Windows takes none of them: %s", strings.Join(missing, "; "))
		case len(missing) > 0:
			r.add(policy.WallMitigations, true, "without %s", strings.Join(missing, "; "))
		default:
			r.add(policy.WallMitigations, true, "")
		}
	} else {
		r.add(policy.WallMitigations, false, leftOut)
	}
	r.Level = policy.Reached(up, false, false)
	return r, nil
}

// guest takes what compiling and storing needed. A mitigation that the system refuses is no error: none of them makes a
// level.
func guest(spec Spec, r Report) error {
	token := slices.ContainsFunc(r.Details, func(d Detail) bool { return d.Wall == policy.WallToken && d.Up })
	if token && spec.Stage == policy.Store {
		if err := dropIntegrity(); err != nil {
			return fmt.Errorf("lowering the process for a guest: %w", err)
		}
	}
	if spec.has(policy.WallMitigations) {
		_ = mitigate(guestMitigations)
	}
	return nil
}

// enterJob makes a job with one process in it: no other can come. missing says why the restrictions on what has to do with
// windows and clipboards are not there. Authority: the pages of AssignProcessToJobObject and SetInformationJobObject.
func enterJob(limits []policy.Limit) (missing, err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job object: %w", err)
	}
	// The handle stays open, unnamed: nobody else has it.
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	basic := &info.BasicLimitInformation
	basic.LimitFlags = windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	basic.ActiveProcessLimit = 1
	for _, l := range limits {
		switch l.Name {
		case "DATA":
			basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
			info.ProcessMemoryLimit = uintptr(l.Hard)
		case "CPU":
			basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_TIME
			basic.PerProcessUserTimeLimit = int64(min(l.Hard, 1<<62/ticks)) * ticks
		}
	}
	if err := setJob(job, windows.JobObjectExtendedLimitInformation, &info); err != nil {
		return nil, fmt.Errorf("limiting the job object: %w", err)
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		return nil, fmt.Errorf("entering the job object: %w", err)
	}
	got, err := activeProcessLimit(job)
	if err != nil {
		return nil, fmt.Errorf("reading the job object: %w", err)
	}
	if got != 1 {
		return nil, fmt.Errorf("the job object takes %d processes, want 1", got)
	}
	// After entering: a job with these cannot be entered from within another job.
	ui := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: windows.JOB_OBJECT_UILIMIT_DESKTOP | windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS |
		windows.JOB_OBJECT_UILIMIT_EXITWINDOWS | windows.JOB_OBJECT_UILIMIT_GLOBALATOMS | windows.JOB_OBJECT_UILIMIT_HANDLES |
		windows.JOB_OBJECT_UILIMIT_READCLIPBOARD | windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS | windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD}
	return setJob(job, windows.JobObjectBasicUIRestrictions, &ui), nil
}

// ticks are how many of 100 ns a second has.
const ticks = 10_000_000

// A mitigation is a policy that a process can set for itself and not take back. Authority: SetProcessMitigationPolicy and
// the structures named in its page; each is one word of flags.
type mitigation struct {
	policy, flags uint32
	what          string
}

var mitigations = []mitigation{
	{3, 0x3, "death on the use of a wrong handle"},        // StrictHandleCheck: raise, for good
	{4, 0x1, "no calls of win32k"},                        // SystemCallDisable: DisallowWin32kSystemCalls
	{6, 0x1, "no extension points"},                       // ExtensionPointDisable: nobody hooks himself in
	{8, 0x1, "only code that Microsoft signed"},           // Signature: MicrosoftSignedOnly; the program itself is there already
	{9, 0x1, "no fonts but the system's"},                 // FontDisable
	{10, 0x7, "no code from the network or of strangers"}, // ImageLoad: no remote, none of low integrity, system32 first
	{13, 0x1, "no child processes"},                       // ChildProcess
}

// guestMitigations come when the engine has made its code.
var guestMitigations = []mitigation{
	{2, 0x1, "no new code"}, // DynamicCode: ProhibitDynamicCode
}

// mitigate sets the policies and returns those that this Windows does not take.
func mitigate(list []mitigation) (missing []string) {
	for _, m := range list {
		if err := setMitigation(m.policy, m.flags); err != nil {
			missing = append(missing, fmt.Sprintf("%s (%v)", m.what, err))
		}
	}
	return missing
}

// dropPrivileges takes every privilege out of the token for good, but that of passing through folders, which everybody has
// and which opening a file by its path wants.
func dropPrivileges() error {
	token, err := ownToken(windows.TOKEN_QUERY | windows.TOKEN_ADJUST_PRIVILEGES)
	if err != nil {
		return err
	}
	defer token.Close()
	name, err := windows.UTF16PtrFromString("SeChangeNotifyPrivilege")
	if err != nil {
		return err
	}
	var keep windows.LUID
	if err := windows.LookupPrivilegeValue(nil, name, &keep); err != nil {
		return fmt.Errorf("looking up a privilege: %w", err)
	}
	held, err := privileges(token)
	if err != nil {
		return fmt.Errorf("reading the privileges: %w", err)
	}
	for i := range held.AllPrivileges() {
		if p := &held.AllPrivileges()[i]; p.Luid != keep {
			p.Attributes = windows.SE_PRIVILEGE_REMOVED
		}
	}
	if err := windows.AdjustTokenPrivileges(token, false, held, 0, nil, nil); err != nil {
		return fmt.Errorf("removing privileges: %w", err)
	}
	return nil
}

// dropIntegrity makes the process untrusted: it may write to nothing that does not say it may.
func dropIntegrity() error {
	token, err := ownToken(windows.TOKEN_QUERY | windows.TOKEN_ADJUST_DEFAULT)
	if err != nil {
		return err
	}
	defer token.Close()
	sid, err := windows.StringToSid("S-1-16-0") // untrusted, below low
	if err != nil {
		return fmt.Errorf("naming the lowest integrity: %w", err)
	}
	if err := setIntegrity(token, sid); err != nil {
		return fmt.Errorf("lowering the integrity: %w", err)
	}
	return nil
}

func ownToken(access uint32) (windows.Token, error) {
	var token windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &token); err != nil {
		return 0, fmt.Errorf("opening the process's token: %w", err)
	}
	return token, nil
}
