package root

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// Identity names the root directory as the system knows it, whatever its path: volume serial number and file index.
func (r *Root) Identity() (string, error) {
	f, err := r.dir.dir.Open(".")
	if err != nil {
		return "", fmt.Errorf("the identity of %q cannot be told: %w", r.path, err)
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return "", fmt.Errorf("the identity of %q cannot be told: %w", r.path, err)
	}
	return fmt.Sprintf("%d:%d:%d", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow), nil
}
