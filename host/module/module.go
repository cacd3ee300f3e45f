// Package module reads what is installed: a folder of skills, commands, agents, servers and instructions.
//
//	m, err := module.Load("examples/git-doctor", limits)
//	defer m.Close()
//	req.Module = m.Request(contents) // what an extension gets to see of it
//
// Everything is read beneath the folder by descriptor, regular files only, bounded. A link inside the package to a regular
// file of it is read as that file; other links, and what is no file, are skipped and said in [Package.Skipped]. The files
// are not copied: content is read when it is needed, and the digest taken at loading is compared then by whoever writes it.
// The layouts may grow; the package digest may not change.
package module

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// MaxFiles bounds the files of one package.
const MaxFiles = 65536

// maxEntries bounds what is looked at to find them: directories, links and the like.
const maxEntries = 4 * MaxFiles

// ManifestName is the optional manifest at the top of a module.
const ManifestName = "lola.yaml"

// Package is one loaded module. It may be used concurrently until it is closed.
type Package struct {
	abi.Identity
	Description string
	Hooks       Hooks
	// Digest is the package digest: SHA-256 over the lines "HEX  PATH" LF of all files, bytewise by path, the manifest
	// included. Paths are those of the layout, so that a module has one digest in whichever form it lies on disk.
	Digest abi.Digest
	// Skipped names what is not part of the package although it lies in it, with the reason; foreign text.
	Skipped []Skipped

	root  *root.Root
	lim   abi.Limits
	files []file // sorted by path
}

// Skipped is one entry of a module's folder that was left out.
type Skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

type file struct {
	path   string // in the layout
	disk   string // beneath the root
	mode   abi.Mode
	size   int64
	digest abi.Digest
}

// Load reads the module at dir. lim must be resolved. The caller closes the package after the last use of its content.
func Load(dir string, lim abi.Limits) (*Package, error) {
	r, err := root.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the module %q: %w", dir, err)
	}
	p := &Package{root: r}
	if err := p.load(lim); err != nil {
		r.Close()
		return nil, fmt.Errorf("reading the module %q: %w", dir, err)
	}
	return p, nil
}

func (p *Package) load(lim abi.Limits) error {
	manifest, err := readManifest(p.root)
	if err != nil {
		return err
	}
	shape, err := findLayout(p.root)
	if err != nil {
		return err
	}
	p.Name, p.Version = manifest.Name, manifest.Version
	p.Description, p.Hooks = manifest.Description, manifest.Hooks
	if p.Version == "" {
		p.Version = "0.0.0"
	}
	if p.Name == "" && shape.lone {
		p.Name = skillName(p.root, shape.prefix+skillFile)
	}
	if p.Name == "" {
		p.Name = filepath.Base(p.root.Path())
	}
	if err := abi.CheckName(p.Name); err != nil {
		return fmt.Errorf("module %w; give it a %q with a name", err, ManifestName)
	}
	if err := abi.CheckVersion(p.Version); err != nil {
		return fmt.Errorf("module %w", err)
	}
	p.lim = lim
	g := gather{root: p.root, lim: lim, maxFiles: MaxFiles, maxEntries: maxEntries}
	for _, link := range shape.links {
		g.skip(link, "it is a link, and the folders of a module are followed only where they lie")
	}
	if manifest.found {
		g.want(ManifestName, ManifestName)
	}
	for _, part := range shape.parts(p.Name) {
		g.want(part.disk, part.path)
	}
	if err := g.run(); err != nil {
		return err
	}
	if len(g.files) == 0 {
		return errors.New("it holds no file")
	}
	p.files, p.Skipped = g.files, g.skipped
	slices.SortFunc(p.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	p.Digest = digestOf(p.files)
	return nil
}

func digestOf(files []file) abi.Digest {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s  %s\n", f.digest, f.path)
	}
	return abi.Digest(h.Sum(nil))
}

// Close releases the module's folder.
func (p *Package) Close() error { return p.root.Close() }

// Path is the canonical path of the module's folder.
func (p *Package) Path() string { return p.root.Path() }

// Info describes the module's folder, for comparison by identity.
func (p *Package) Info() fs.FileInfo { return p.root.Info() }

// Files counts the files of the package.
func (p *Package) Files() int { return len(p.files) }

// Paths are the paths of all files, sorted, by which a request names them.
func (p *Package) Paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range p.files {
			if !yield(f.path) {
				return
			}
		}
	}
}

// File returns the content of the file that a request names path. Reading it opens the file again beneath the module's
// folder; whoever copies it compares the digest.
func (p *Package) File(path string) (abi.Content, bool) {
	i, ok := slices.BinarySearchFunc(p.files, path, func(f file, path string) int { return strings.Compare(f.path, path) })
	if !ok {
		return nil, false
	}
	return content{p.root, p.files[i]}, true
}

type content struct {
	root *root.Root
	f    file
}

func (c content) Size() int64                  { return c.f.size }
func (c content) Digest() abi.Digest           { return c.f.digest }
func (c content) Open() (io.ReadCloser, error) { return c.root.Open(c.f.disk) }
