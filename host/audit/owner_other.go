//go:build !unix

package audit

import "io/fs"

// checkOwner takes what the access list that the folder inherits lets through, as package home does.
func checkOwner(fs.FileInfo, bool) error { return nil }
