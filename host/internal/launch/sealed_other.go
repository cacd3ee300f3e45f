//go:build !linux

package launch

import "os"

// Sealed returns a file that holds b, for donation: a new one in dir (empty: [os.TempDir]), open for reading only, that
// nobody else can read and that has no name any more where the system allows that. A process of the same user that finds
// it in time can still change it, so a child compares a digest. The caller calls release in the end, which closes and
// removes it.
func Sealed(dir string, b []byte) (f *os.File, release func(), err error) { return tempFile(dir, b) }
