package plantest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// Tree is a directory tree of regular files and directories, by slash path relative to its top, which is not in it. Every
// parent of what is in it is in it too. Paths are bytes: a tree tells FOO from foo.
type Tree map[string]Node

// Node is a file or a directory.
type Node struct {
	Dir  bool
	Mode abi.Mode
	Data []byte // nil for a directory
}

// Files makes a tree of the files, of mode 0644, and of the directories above them, of mode 0755. A path that ends with a
// slash is a directory.
func Files(files map[string]string) Tree {
	t := Tree{}
	for p, text := range files {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			t.makeParents(dir + "/x")
			continue
		}
		t.makeParents(p)
		t[p] = Node{Mode: 0o644, Data: []byte(text)}
	}
	return t
}

// Effects is what applying a plan needs besides the plan.
type Effects struct {
	// Edit returns what an edit, abi.EditJSON or abi.EditBlock, makes of a file; nil for one that is absent and stays so, as
	// there is nothing to remove. Nil instead of a function: a plan with edits is an error.
	Edit func(in abi.Intent, old []byte, exists bool) ([]byte, error)
	// Module is the files of the module that writes name.
	Module map[string]string
}

// ErrRemote is the answer to a fetch or a clone: a tree in memory has no network.
var ErrRemote = errors.New("fetches and clones are not modelled")

// Apply returns what the proposals make of the tree, which stays as it is. They must not conflict.
//
// The order is that of SPEC section 6: deletes, renames, then writes and edits. Within each the order of the plan
// cannot matter, as no two touch one path, except that values join an array in it. All renames take what they move before
// any puts it down. Parents that are missing are made with mode 0755; directories that have become empty stay. A new file
// that is edited has mode 0644, one that is there keeps its mode; a written file has the mode that the plan says.
//
// Errors: a rename whose source is absent; a file where a directory is needed; anything in the way of a rename or a
// directory in that of a file, except that a renamed file replaces a file. Preconditions (expect) are not looked at.
func (t Tree) Apply(proposals [][]abi.Intent, e Effects) (Tree, error) {
	out := maps.Clone(t)
	if out == nil {
		out = Tree{}
	}
	intents := distinct(proposals)
	for _, in := range intents {
		if d, ok := in.(abi.Delete); ok {
			out.take(d.Path)
		}
	}
	moved := map[abi.Rename]Tree{}
	for _, in := range intents {
		if r, ok := in.(abi.Rename); ok {
			if _, ok := out[r.From]; !ok {
				return nil, fmt.Errorf("rename %q to %q: %w", r.From, r.To, fs.ErrNotExist)
			}
			moved[r] = out.take(r.From)
		}
	}
	for _, in := range intents {
		if r, ok := in.(abi.Rename); ok {
			if err := out.put(r.To, moved[r]); err != nil {
				return nil, fmt.Errorf("rename %q to %q: %w", r.From, r.To, err)
			}
		}
	}
	for _, in := range intents {
		var err error
		switch in := in.(type) {
		case abi.Write:
			err = out.write(in, e)
		case abi.EditJSON:
			err = out.edit(in.Path, in, e)
		case abi.EditBlock:
			err = out.edit(in.Path, in, e)
		case abi.Fetch, abi.Clone:
			err = ErrRemote
		}
		if err != nil {
			return nil, fmt.Errorf("apply %s %+v: %w", in.Op(), in, err)
		}
	}
	return out, nil
}

// distinct returns the intents of all proposals, those that several ask for once.
func distinct(proposals [][]abi.Intent) []abi.Intent {
	var all []abi.Intent
	for _, intents := range proposals {
		for _, in := range intents {
			if !slices.ContainsFunc(all, func(have abi.Intent) bool { return Equal(have, in) }) {
				all = append(all, in)
			}
		}
	}
	return all
}

// take removes what lies at path, all beneath it too, and returns it by paths relative to path, itself as "".
func (t Tree) take(path string) Tree {
	taken := Tree{}
	for p, n := range t {
		if p == path || strings.HasPrefix(p, path+"/") {
			taken[strings.TrimPrefix(p[len(path):], "/")] = n
		}
	}
	for p := range taken {
		delete(t, strings.TrimSuffix(path+"/"+p, "/"))
	}
	return taken
}

// put lays at path what take returned.
func (t Tree) put(path string, taken Tree) error {
	if t.blocked(path) {
		return errors.New("a parent is a file")
	}
	if there, ok := t[path]; ok && (there.Dir || taken[""].Dir) {
		return fs.ErrExist
	}
	t.makeParents(path)
	for p, n := range taken {
		t[strings.TrimSuffix(path+"/"+p, "/")] = n
	}
	return nil
}

func (t Tree) write(in abi.Write, e Effects) error {
	var data []byte
	if in.Content != nil {
		r, err := in.Content.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		if data, err = io.ReadAll(r); err != nil {
			return err
		}
	} else {
		text, ok := e.Module[in.Module]
		if !ok {
			return fmt.Errorf("find module file %q: %w", in.Module, fs.ErrNotExist)
		}
		data = []byte(text)
	}
	return t.file(in.Path, Node{Mode: in.Mode, Data: data})
}

func (t Tree) edit(path string, in abi.Intent, e Effects) error {
	if e.Edit == nil {
		return errors.New("no function for edits was given")
	}
	old, exists := t[path]
	if old.Dir {
		return errors.New("a directory is in the way")
	}
	data, err := e.Edit(in, bytes.Clone(old.Data), exists)
	if err != nil {
		return err
	}
	if !exists && data == nil {
		return nil
	}
	mode := abi.Mode(0o644)
	if exists {
		mode = old.Mode
	}
	return t.file(path, Node{Mode: mode, Data: data})
}

func (t Tree) file(path string, n Node) error {
	switch {
	case t.blocked(path):
		return errors.New("a parent is a file")
	case t[path].Dir:
		return errors.New("a directory is in the way")
	}
	t.makeParents(path)
	t[path] = n
	return nil
}

// blocked reports whether a parent of path is a file.
func (t Tree) blocked(p string) bool {
	for p = path.Dir(p); p != "."; p = path.Dir(p) {
		if n, ok := t[p]; ok && !n.Dir {
			return true
		}
	}
	return false
}

// makeParents makes the directories above path that are missing.
func (t Tree) makeParents(p string) {
	for p = path.Dir(p); p != "."; p = path.Dir(p) {
		if _, ok := t[p]; !ok {
			t[p] = Node{Dir: true, Mode: 0o755}
		}
	}
}

// hasModes is false where a file has no permission bits to compare.
const hasModes = runtime.GOOS != "windows"

// Read returns what lies beneath dir. Anything but a regular file or a directory is an error that names it. Windows has no
// permission bits; there every file has the mode 0644 and every directory 0755.
func Read(dir string) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n := Node{Dir: info.IsDir(), Mode: abi.Mode(info.Mode().Perm())}
		if !hasModes {
			n.Mode = 0o644
			if n.Dir {
				n.Mode = 0o755
			}
		}
		switch {
		case info.Mode().IsRegular():
			if n.Data, err = os.ReadFile(at); err != nil {
				return err
			}
		case !n.Dir:
			return fmt.Errorf("read %q: it is no regular file and no directory but %s", at, info.Mode().Type())
		}
		t[filepath.ToSlash(rel)] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Write makes the tree beneath dir, which is there, modes exactly whatever the umask. What else lies in dir stays.
func (t Tree) Write(dir string) error {
	paths := slices.Sorted(maps.Keys(t)) // parents first
	for _, p := range paths {
		at, n := filepath.Join(dir, filepath.FromSlash(p)), t[p]
		if n.Dir {
			if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if err := os.WriteFile(at, n.Data, 0o600); err != nil {
			return err
		}
	}
	if !hasModes {
		return nil
	}
	for _, p := range slices.Backward(paths) { // what is inside first: a directory may be closed to writing
		if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(p)), fs.FileMode(t[p].Mode)); err != nil {
			return err
		}
	}
	return nil
}

// Diff says in what two trees differ, a line for each path; "" if in nothing. Modes count except on Windows.
func Diff(got, want Tree) string {
	all := maps.Clone(got)
	if all == nil {
		all = Tree{}
	}
	maps.Copy(all, want)
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(all)) {
		g, isThere := got[p]
		w, isWanted := want[p]
		switch {
		case isThere && !isWanted:
			fmt.Fprintf(&b, "%+q is there: %s\n", p, g)
		case !isThere:
			fmt.Fprintf(&b, "%+q is missing: %s\n", p, w)
		case g.Dir != w.Dir || !bytes.Equal(g.Data, w.Data) || hasModes && g.Mode != w.Mode:
			fmt.Fprintf(&b, "%+q is %s, want %s\n", p, g, w)
		}
	}
	return b.String()
}

// String describes the node: what it is, its mode, and the beginning of its bytes.
func (n Node) String() string {
	switch {
	case n.Dir:
		return fmt.Sprintf("a directory of mode %04o", n.Mode)
	case len(n.Data) > 64:
		return fmt.Sprintf("a file of mode %04o, %d bytes, sha256 %x, %q...", n.Mode, len(n.Data), abi.DigestOf(n.Data), n.Data[:64])
	}
	return fmt.Sprintf("a file of mode %04o, %q", n.Mode, n.Data)
}
