//go:build !linux

package root

// RenameNew moves the entry name to newName in the directory to, where nothing may be: then it is [fs.ErrExist], and what
// is there stays. On this platform what appears there at that very instant is replaced all the same.
func (d *Dir) RenameNew(name string, to *Dir, newName string) error {
	return d.renameAbsent(name, to, newName)
}
