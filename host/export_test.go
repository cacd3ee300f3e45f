package host

import "github.com/lola-ext/lola/shim/policy"

// Canary is what the doctor has a child run.
const Canary = canary

// Lacks returns the walls that a level is made of and the machine does not have.
func (m Machine) Lacks(level policy.Level) []Wall { return m.lacks(level) }
