package extension

import (
	"fmt"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// CheckName reports whether name can name an extension: lower-case ASCII letters, digits, "." and "-", beginning with a
// letter or digit, and else as [abi.CheckName] says. No path is built from a name before this.
func CheckName(name string) error {
	if err := abi.CheckName(name); err != nil {
		return fmt.Errorf("extension %w", err)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r == '_' || r >= 'A' && r <= 'Z' }); i >= 0 {
		return fmt.Errorf("extension name %q: %q is not allowed, only lower-case letters, digits, \".\" and \"-\"", name, name[i])
	}
	return nil
}

// CheckVersion reports whether version can be the version of an extension, as [abi.CheckVersion] says.
func CheckVersion(version string) error {
	if err := abi.CheckVersion(version); err != nil {
		return fmt.Errorf("extension %w", err)
	}
	return nil
}
