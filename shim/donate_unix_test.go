//go:build unix

package shim

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lola-ext/lola/shim/job"
)

func donateModule(_ *testing.T, cmd *exec.Cmd, f *os.File) {
	cmd.ExtraFiles = []*os.File{f}
	cmd.Args = append(cmd.Args, job.Module+"=3")
}
