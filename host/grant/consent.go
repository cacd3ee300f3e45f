package grant

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Trust is a consent to what one module makes run by itself, in exactly the state that the digest is of. Its text is
// NAME@sha256:HEX, as --trust takes it and as it is stored.
type Trust struct {
	Name   string
	Digest Digest
}

// maxName bounds a name, in bytes, as abi.MaxName does.
const maxName = 64

// ParseTrust reads NAME@sha256:HEX strictly: 64 lower-case digits, nothing around. Its errors say what is missing.
func ParseTrust(s string) (Trust, error) {
	bad := func(format string, args ...any) (Trust, error) {
		return Trust{}, fmt.Errorf("reading %.200q as NAME@sha256:HEX: %s", s, fmt.Sprintf(format, args...))
	}
	name, rest, ok := strings.Cut(s, "@")
	if !ok {
		return bad("there is no %q; the digest says which state of the module is meant", "@")
	}
	if err := checkName(name); err != nil {
		return bad("%v", err)
	}
	digits, ok := strings.CutPrefix(rest, "sha256:")
	if !ok {
		return bad("want %q after the %q", "sha256:", "@")
	}
	t := Trust{Name: name}
	switch {
	case len(digits) != 2*len(t.Digest):
		return bad("want %d hexadecimal digits, got %d bytes", 2*len(t.Digest), len(digits))
	case digits != strings.ToLower(digits):
		return bad("want the digits in lower case")
	}
	if _, err := hex.Decode(t.Digest[:], []byte(digits)); err != nil {
		return bad("want hexadecimal digits")
	}
	return t, nil
}

// String returns what [ParseTrust] takes.
func (t Trust) String() string { return t.Name + "@sha256:" + hex.EncodeToString(t.Digest[:]) }

// checkName holds a name to what both modules and extensions may be called (abi.CheckName), so far as it keeps this text
// and this file apart from what is around them; who brings a module checks its name in full.
func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("the name is missing")
	}
	if len(name) > maxName {
		return fmt.Errorf("the name has %d bytes, want at most %d", len(name), maxName)
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', i > 0 && strings.IndexByte("._-", c) >= 0:
		default:
			return fmt.Errorf("the name %q holds %q; want letters, digits, \".\", \"_\" and \"-\", a letter or digit first", name, c)
		}
	}
	return nil
}
