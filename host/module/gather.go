package module

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// neverPart are folders that are never part of a package, wherever they lie.
var neverPart = map[string]bool{".git": true, ".hg": true, ".svn": true, ".jj": true}

// gather walks the named parts of a module and takes down its files.
type gather struct {
	root    *root.Root
	lim     abi.Limits
	parts   []part
	files   []file
	skipped []Skipped
	entries int // how many were looked at

	maxFiles, maxEntries int
}

func (g *gather) want(disk, path string) { g.parts = append(g.parts, part{disk, path}) }

func (g *gather) skip(disk, why string) {
	g.skipped = append(g.skipped, Skipped{Path: disk, Why: why})
}

func (g *gather) run() error {
	for _, p := range g.parts {
		if err := g.entry(p, 0); err != nil {
			return err
		}
	}
	return nil
}

// entry takes the file, or everything in the directory, at p.
func (g *gather) entry(p part, depth int) error {
	if g.entries++; g.entries > g.maxEntries {
		return &abi.LimitError{Limit: "module entries", Bound: int64(g.maxEntries), Got: int64(g.entries)}
	}
	info := root.Info{Exists: true, Type: fs.ModeDir}
	if p.disk != "" {
		var err error
		if info, err = g.root.Stat(p.disk); err != nil {
			return fmt.Errorf("looking at %q: %w", p.disk, err)
		}
	}
	switch {
	case !info.Exists:
		return nil // gone since it was listed
	case info.Regular():
		return g.file(p, p.disk)
	case info.Type.IsDir():
		return g.directory(p, depth)
	case info.Type&fs.ModeSymlink != 0:
		return g.link(p)
	}
	g.skip(p.disk, "it is a "+info.Kind())
	return nil
}

func (g *gather) directory(p part, depth int) error {
	if depth > g.lim.Components {
		return &abi.LimitError{Limit: "components", Bound: int64(g.lim.Components), Got: int64(depth)}
	}
	d, _, err := g.root.Walk(p.disk, false)
	if err != nil {
		return err
	}
	names, err := d.Names(g.maxEntries)
	d.Close()
	if err != nil {
		return fmt.Errorf("listing %q: %w", p.disk, err)
	}
	for _, name := range names {
		disk := path.Join(p.disk, name)
		if neverPart[strings.ToLower(name)] {
			g.skip(disk, "it belongs to a version control system")
			continue
		}
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			// A line feed in a path would make two lists of files have one digest.
			g.skip(disk, "its name is not UTF-8 or holds a control character")
			continue
		}
		if p.disk == "" && name == ManifestName {
			continue // taken already, under its own name
		}
		if err := g.entry(part{disk, p.path + "/" + name}, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// link reads a link as the file it leads to, if that is a regular file within the parts of this package.
func (g *gather) link(p part) error {
	target, err := g.readLink(p.disk)
	if err != nil {
		return fmt.Errorf("reading the link %q: %w", p.disk, err)
	}
	within := false
	for _, q := range g.parts {
		if target == q.disk || q.disk == "" && target != "" || strings.HasPrefix(target, q.disk+"/") {
			within = true
		}
	}
	if !within {
		g.skip(p.disk, "it is a link that leads out of the module's parts")
		return nil
	}
	for c := range strings.SplitSeq(target, "/") {
		if neverPart[strings.ToLower(c)] {
			g.skip(p.disk, "it is a link into a version control system's folder")
			return nil
		}
	}
	info, err := g.root.Stat(target)
	if err != nil || !info.Regular() {
		g.skip(p.disk, "it is a link, and what it leads to is no regular file of the module")
		return nil
	}
	return g.file(p, target)
}

// readLink returns the path beneath the root that a link names, "" if it names none. The path is not opened by this: what
// it leads to is walked again without following anything.
func (g *gather) readLink(disk string) (string, error) {
	text, err := os.Readlink(filepath.Join(g.root.Path(), filepath.FromSlash(disk)))
	if err != nil {
		return "", err
	}
	text = filepath.ToSlash(text)
	if path.IsAbs(text) || filepath.IsAbs(text) || filepath.VolumeName(text) != "" {
		return "", nil
	}
	target := path.Join(path.Dir(disk), text)
	if !fs.ValidPath(target) || target == "." {
		return "", nil
	}
	return target, nil
}

func (g *gather) file(p part, disk string) error {
	if len(g.files) == g.maxFiles {
		return &abi.LimitError{Limit: "module files", Bound: int64(g.maxFiles), Got: int64(g.maxFiles) + 1}
	}
	f, err := g.root.Open(disk)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %q: %w", disk, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	digest, size, err := root.DigestFile(f, g.lim.Content)
	if err != nil {
		return fmt.Errorf("reading %q: %w", disk, err)
	}
	mode := abi.Mode(info.Mode().Perm())
	if runtime.GOOS == "windows" {
		mode = 0o644 // Windows keeps no such bits (SPEC.md, mode)
	}
	g.files = append(g.files, file{path: p.path, disk: disk, mode: mode, size: size, digest: digest})
	return nil
}

// isText reports whether b is text in the sense of "contents": valid UTF-8 without NUL.
func isText(b []byte) bool {
	return bytes.IndexByte(b, 0) < 0 && utf8.Valid(b)
}
