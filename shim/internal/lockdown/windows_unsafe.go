//go:build windows

package lockdown

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

func setJob[T any](job windows.Handle, class uint32, info *T) error {
	_, err := windows.SetInformationJobObject(job, class, uintptr(unsafe.Pointer(info)), uint32(unsafe.Sizeof(*info)))
	return err
}

// activeProcessLimit reads it back, as the system has it.
func activeProcessLimit(job windows.Handle) (uint32, error) {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if err := windows.QueryInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil); err != nil {
		return 0, err
	}
	if info.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS == 0 {
		return 0, errors.New("it has no limit on processes")
	}
	return info.BasicLimitInformation.ActiveProcessLimit, nil
}

// privileges returns those that the token has. It lies in memory of its own.
func privileges(token windows.Token) (*windows.Tokenprivileges, error) {
	var n uint32
	err := windows.GetTokenInformation(token, windows.TokenPrivileges, nil, 0, &n)
	if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) {
		return nil, fmt.Errorf("asking for their number: %w", err)
	}
	words := make([]uint64, (n+7)/8+1) // for the alignment
	if err := windows.GetTokenInformation(token, windows.TokenPrivileges, (*byte)(unsafe.Pointer(&words[0])), n, &n); err != nil {
		return nil, err
	}
	p := (*windows.Tokenprivileges)(unsafe.Pointer(&words[0]))
	if uintptr(p.PrivilegeCount) > (uintptr(n)-4)/unsafe.Sizeof(windows.LUIDAndAttributes{}) {
		return nil, fmt.Errorf("there are said to be %d in %d bytes", p.PrivilegeCount, n)
	}
	return p, nil
}

func setIntegrity(token windows.Token, sid *windows.SID) error {
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: sid, Attributes: windows.SE_GROUP_INTEGRITY}}
	return windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())
}

// setMitigation calls SetProcessMitigationPolicy, which x/sys does not have. A Windows without it says so.
func setMitigation(policy, flags uint32) error {
	proc := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetProcessMitigationPolicy")
	if err := proc.Find(); err != nil {
		return err
	}
	if ok, _, err := proc.Call(uintptr(policy), uintptr(unsafe.Pointer(&flags)), unsafe.Sizeof(flags)); ok == 0 {
		return err
	}
	return nil
}
