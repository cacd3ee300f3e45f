//go:build !linux

package apply

// canSyncAll says that root.Root.SyncAll works here.
const canSyncAll = false
