package abi

import (
	"fmt"
	"strings"
)

// MaxName bounds the names and versions of extensions and modules, in bytes. They become parts of file names.
const MaxName = 64

// CheckName reports whether name can name a module. Names become file names on every OS, so: ASCII letters, digits, ".",
// "_" and "-", beginning with a letter or digit, not ending with ".", no "..", no name of a Windows device, at most
// [MaxName] bytes. Extensions are named more narrowly still (package host/extension).
func CheckName(name string) error {
	if err := checkIdentifier("name", name, "._-"); err != nil {
		return err
	}
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	if deviceNames[base] {
		return fmt.Errorf("name %q: %q is a device on Windows", name, base)
	}
	return nil
}

// CheckVersion reports whether version can be the version of a module or extension: it begins with a digit and goes on
// with ASCII letters, digits, ".", "+" and "-", without "..", at most [MaxName] bytes. Semantic versions fit.
func CheckVersion(version string) error {
	if err := checkIdentifier("version", version, ".+-"); err != nil {
		return err
	}
	if c := version[0]; c < '0' || c > '9' {
		return fmt.Errorf("version %q: want a digit first", version)
	}
	return nil
}

func checkIdentifier(what, s, punctuation string) error {
	switch {
	case s == "":
		return fmt.Errorf("%s is empty", what)
	case len(s) > MaxName:
		return fmt.Errorf("%s %q…: %d bytes, want at most %d", what, s[:MaxName], len(s), MaxName)
	case strings.Contains(s, ".."):
		return fmt.Errorf("%s %q: holds %q", what, s, "..")
	case strings.HasSuffix(s, "."):
		return fmt.Errorf("%s %q: ends with a dot", what, s)
	}
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if alnum || i > 0 && strings.IndexByte(punctuation, c) >= 0 {
			continue
		}
		if i == 0 {
			return fmt.Errorf("%s %q: want a letter or digit first", what, s)
		}
		return fmt.Errorf("%s %q: %q is not allowed, only ASCII letters, digits and %q", what, s, rune(c), punctuation)
	}
	return nil
}

// deviceNames are the names that Windows takes for devices in every directory, with any extension. The superscript digits
// that Windows also takes cannot occur in a name.
var deviceNames = map[string]bool{
	"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true, "CLOCK$": true,
	"COM0": true, "COM1": true, "COM2": true, "COM3": true, "COM4": true, "COM5": true, "COM6": true, "COM7": true, "COM8": true, "COM9": true,
	"LPT0": true, "LPT1": true, "LPT2": true, "LPT3": true, "LPT4": true, "LPT5": true, "LPT6": true, "LPT7": true, "LPT8": true, "LPT9": true,
}
