package apply

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lola-ext/lola/abi"
)

// change is one transaction as data: what the journal holds, and later the undo data. Whatever the state of the tree after a
// crash, this and the staging directory are enough to tell which of its moves have happened.
type change struct {
	Format   int       `json:"format"`
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Root     string    `json:"root"`
	Identity string    `json:"identity"`
	Staging  string    `json:"staging"`
	// Made are the directories that come into being, outermost first.
	Made []string `json:"made,omitempty"`
	// Prune are the directories that go afterwards if they are empty, with the modes that they have.
	Prune []entry `json:"prune,omitempty"`
	// Gone are directories that were to go and are gone already, or go with a move.
	Gone []string `json:"gone,omitempty"`
	// Undoes is the id of the change that this one takes back.
	Undoes string `json:"undoes,omitempty"`
	// Undo says that what the moves replace lies behind this, whole.
	Undo bool            `json:"undo,omitempty"`
	Meta json.RawMessage `json:"meta,omitempty"`
	// Moves come last, as do the nodes in a move and the tree in a node: change.write counts on it.
	Moves []move `json:"moves,omitempty"`
}

const changeFormat = 1

// kind says what a move does. Each is one call that a reader sees done or not done.
type kind string

const (
	kindRemove kind = "remove" // what lies at Path goes into staging
	kindSwap   kind = "swap"   // what is staged and what lies at Path change places
	kindMkdir  kind = "mkdir"  // a directory is made at Path, for a rename to go into
	kindRmdir  kind = "rmdir"  // a directory that is empty by then goes into staging, to make place for what was there before it
	kindRename kind = "rename" // what lies at Path goes to To
	kindPut    kind = "put"    // what is staged goes to Path, where nothing is
)

// move is one step of a commit.
type move struct {
	Kind   kind   `json:"kind"`
	Path   string `json:"path"`
	To     string `json:"to,omitempty"`
	Before *node  `json:"before,omitempty"` // of remove, rmdir, swap and rename: what lies at Path
	After  *node  `json:"after,omitempty"`  // of swap, put and mkdir: what comes
}

// node is what lies at a path: a file, a directory with everything beneath it, or a link that is replaced as such.
type node struct {
	Dir    bool     `json:"dir,omitempty"`
	Link   string   `json:"link,omitempty"` // what a symlink says
	Mode   abi.Mode `json:"mode"`
	Umask  bool     `json:"umask,omitempty"` // a directory whose mode is what the umask leaves of 0755
	Size   int64    `json:"size,omitempty"`
	Digest digest   `json:"sha256,omitzero"`
	// At is where the bytes of a file lie behind the journal, from 1; 0: they do not.
	At   int64   `json:"at,omitempty"`
	Tree []entry `json:"tree,omitempty"` // sorted bytewise by path

	content abi.Content // of a file that comes
}

// entry is a node at a path: beneath a directory, or beneath the root.
type entry struct {
	Path string `json:"path"`
	node
}

// files calls f for the node and everything beneath it, path being relative to it.
func (n *node) files(f func(path string, n *node) error) error {
	if n == nil {
		return nil
	}
	if !n.Dir {
		return f("", n)
	}
	for i := range n.Tree {
		if e := &n.Tree[i]; !e.Dir {
			if err := f(e.Path, &e.node); err != nil {
				return err
			}
		}
	}
	return nil
}

// kind names the node for messages.
func (n *node) kind() string {
	switch {
	case n == nil:
		return "nothing"
	case n.Dir:
		return "directory"
	case n.Link != "":
		return "symlink"
	}
	return "regular file"
}

// digest is an [abi.Digest] that JSON shows as hexadecimal digits.
type digest abi.Digest

// MarshalText implements [encoding.TextMarshaler].
func (d digest) MarshalText() ([]byte, error) { return []byte(abi.Digest(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *digest) UnmarshalText(text []byte) error {
	parsed, err := abi.ParseDigest(string(text))
	*d = digest(parsed)
	return err
}

// StaleError says that something changed since it was checked. Nothing was changed.
type StaleError struct {
	Path string
	Why  string
}

// Error implements error.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%q changed since it was looked at (%s); nothing was changed, run the command again", e.Path, e.Why)
}
