package module

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/strictyaml"
	"github.com/lola-ext/lola/host/root"
)

// maxManifest bounds lola.yaml, and what is read of a SKILL.md to find its name.
const maxManifest = 64 << 10

// Hooks are the scripts that a module wants run before and after it is installed; paths within the module.
type Hooks struct {
	PreInstall  string `yaml:"pre-install"`
	PostInstall string `yaml:"post-install"`
}

// manifest is lola.yaml. Every field is optional.
type manifest struct {
	Name        string `yaml:"name"`
	Version     string `yaml:"version"`
	Description string `yaml:"description"`
	Hooks       Hooks  `yaml:"hooks"`

	found bool
}

func readManifest(r *root.Root) (manifest, error) {
	var m manifest
	text, err := readStart(r, ManifestName)
	if err == nil && len(text) > maxManifest {
		err = &abi.LimitError{Limit: "manifest", Bound: maxManifest, Got: int64(len(text))}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("reading %q: %w", ManifestName, err)
	}
	if strings.TrimSpace(string(text)) != "" {
		err = strictyaml.Parse(text, &m)
	}
	m.found = true // after the parser, which empties m for a document without content
	if err != nil {
		return m, fmt.Errorf("reading %q: %w (fields: name, version, description, hooks.pre-install, hooks.post-install)", ManifestName, err)
	}
	return m, nil
}

// readStart reads a file up to one byte over maxManifest.
func readStart(r *root.Root, path string) ([]byte, error) {
	f, err := r.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxManifest+1))
}

// skillName returns the name that the lone skill at path gives itself in its frontmatter, which the Agent Skills
// specification wants to be the name of its folder; "" if it gives none that can be one.
func skillName(r *root.Root, path string) string {
	text, err := readStart(r, path)
	if err != nil {
		return ""
	}
	body, ok := strings.CutPrefix(strings.ReplaceAll(string(text), "\r\n", "\n")+"\n", "---\n")
	if !ok {
		return ""
	}
	head, _, ok := strings.Cut(body, "\n---\n")
	if !ok {
		return ""
	}
	var front struct {
		Name string `yaml:"name"`
	}
	if strictyaml.ParseSome([]byte(head), &front) != nil || abi.CheckName(front.Name) != nil {
		return ""
	}
	return front.Name
}
