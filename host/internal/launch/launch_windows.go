package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// checkProgram refuses batch files: CreateProcess gives them to cmd.exe, which parses the arguments once more under rules
// that no quoting covers (CreateProcessW; CERT/CC VU#123335). Windows drops dots and spaces at the end of a name.
func checkProgram(path string) error {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".bat", ".cmd":
		return errors.New("batch files are not started")
	}
	return nil
}

// baseEnv adds SYSTEMROOT, as package os/exec does.
func baseEnv(env []string) []string {
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); strings.EqualFold(name, "SYSTEMROOT") {
			return environ(env)
		}
	}
	return append(environ(env), "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
}

// donate makes an inheritable duplicate of each handle. The child inherits these and its three standard handles, because
// they alone stand in its handle list (PROC_THREAD_ATTRIBUTE_HANDLE_LIST). A process that is started at the same time by
// other means than Go's, without such a list, can inherit them too.
func donate(attr *os.ProcAttr, donations []Donation) (numbers []uintptr, release func(), err error) {
	var handles []syscall.Handle
	release = func() {
		for _, h := range handles {
			_ = syscall.CloseHandle(h)
		}
	}
	self := windows.CurrentProcess()
	for _, d := range donations {
		var h windows.Handle
		err := windows.DuplicateHandle(self, windows.Handle(d.File.Fd()), self, &h, 0, true, windows.DUPLICATE_SAME_ACCESS)
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("donating %q: %w", d.Name, err)
		}
		handles = append(handles, syscall.Handle(h))
		numbers = append(numbers, uintptr(h))
	}
	attr.Sys = &syscall.SysProcAttr{AdditionalInheritedHandles: handles}
	return numbers, release, nil
}

// sealDescriptors has nothing to do: what is inherited stands in a list.
func sealDescriptors() error { return nil }

// interrupt makes a Read or Write of the pipe that waits return now (CancelIoEx, which reaches other threads too).
func interrupt(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(h uintptr) { _ = windows.CancelIoEx(windows.Handle(h), nil) })
}

// readerGone reports whether a write failed because nobody reads the pipe.
func readerGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// peakRSS is not known here.
func peakRSS(*os.ProcessState) int64 { return 0 }
