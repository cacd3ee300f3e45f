package apply

// canSyncAll says that root.Root.SyncAll works here.
const canSyncAll = true
