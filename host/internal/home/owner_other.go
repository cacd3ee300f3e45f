//go:build !unix

package home

import "io/fs"

// checkOwner takes what the access list that the folder inherits lets through: see the package comment.
func checkOwner(fs.FileInfo) error { return nil }
