//go:build !(linux && amd64)

package runner

// measured says that TestHostileGuests runs and measures all hostile guests.
const measured = false
