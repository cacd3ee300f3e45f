package code

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/shim/job"
)

// keyOf is the key under which this program keeps a module's code on this machine.
func keyOf(module, build abi.Digest) Key {
	return Key{
		Module: module.String(), Engine: job.Engine, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: features(), Build: build.String(),
	}
}

// id is the key as a name: SHA-256 over its parts, each on a line of its own.
func (k Key) id() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"lola code 1", k.Module, k.Engine, k.Go, k.OS, k.Arch, k.CPU, k.Build}, "\n")))
	return hex.EncodeToString(sum[:])
}

// features is what wazero 1.12.0 asks of the processor before it decides what to emit (internal/platform, CpuFeatures).
// Its own name of an entry depends on the same; here it keeps machines that share a folder apart.
func features() string {
	var has []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41},
		{"bmi1", cpu.X86.HasBMI1},
		{"abm", cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT},
		{"atomics", cpu.ARM64.HasATOMICS},
	} {
		if f.has {
			has = append(has, f.name)
		}
	}
	return strings.Join(has, ",")
}
