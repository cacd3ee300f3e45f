package root

import "fmt"

// OwnerError says that a root is not the user's alone.
type OwnerError struct{ Path, Why string }

// Error implements error.
func (e *OwnerError) Error() string {
	return fmt.Sprintf("the directory %q is not yours alone: %s", e.Path, e.Why)
}
