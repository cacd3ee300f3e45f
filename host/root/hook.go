package root

import "github.com/lola-ext/lola/abi"

// Hook is told of each call that changes a disk, before it is made. An error it returns is the call's, which then does
// nothing. Tests of crashes, faults and power cuts stand here: what does not pass a hook cannot be in this package.
type Hook func(Op) error

// Op is one call that changes a disk.
type Op struct {
	Root string // path of the root
	Kind OpKind
	Path string // beneath the root; "" is the root itself
	To   string // of a rename or exchange: the other path, beneath the same root
	Mode abi.Mode
	Data []byte // of a write: the bytes, valid during the call
}

// OpKind names a call.
type OpKind string

// The calls.
const (
	OpCreate   OpKind = "create"   // a file comes into being, or is opened for appending
	OpWrite    OpKind = "write"    // bytes at the end of what was written before
	OpSync     OpKind = "sync"     // bytes of a file become durable
	OpSyncDir  OpKind = "sync-dir" // entries of a directory become durable
	OpSyncAll  OpKind = "sync-all" // everything on the file system becomes durable
	OpMkdir    OpKind = "mkdir"    // a directory comes into being
	OpSymlink  OpKind = "symlink"  // a symlink comes into being; Data is what it says
	OpChmod    OpKind = "chmod"    // a directory's mode changes
	OpRename   OpKind = "rename"   // an entry moves, replacing what is there
	OpMove     OpKind = "move"     // an entry moves to where nothing is
	OpExchange OpKind = "exchange" // two entries change places
	OpRemove   OpKind = "remove"   // a file or link goes
	OpRmdir    OpKind = "rmdir"    // an empty directory goes
)

// tree is what all directories and files of one root share.
type tree struct {
	path string
	hook Hook
}

func (t *tree) before(op Op) error {
	if t == nil || t.hook == nil {
		return nil
	}
	op.Root = t.path
	return t.hook(op)
}
