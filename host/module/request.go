package module

import (
	"fmt"
	"io"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
)

// MaxShown bounds one content that crosses to an extension, in bytes: text up to this size, nothing else.
const MaxShown = 64 << 10

// Request returns what an extension gets to see of the module: the names, modes and digests of all files, and the content
// of text files up to [MaxShown] that one of the globs matches. No globs: of all text files. Contents that alone are over
// the limit of a request are an *[abi.LimitError].
func (p *Package) Request(contents []grant.Glob) (*abi.Module, error) {
	m := &abi.Module{Identity: p.Identity, Digest: p.Digest, Files: make([]abi.File, len(p.files))}
	var sum int64
	for i, f := range p.files {
		m.Files[i] = abi.File{Path: f.path, Mode: f.mode, Size: f.size, Digest: f.digest}
		if f.size > MaxShown || !shown(contents, f.path) {
			continue
		}
		text, err := p.read(f)
		if err != nil {
			return nil, fmt.Errorf("reading %q of module %q: %w", f.path, p.Name, err)
		}
		if isText(text) {
			m.Files[i].Content = text
			if sum += f.size; sum > p.lim.Request {
				return nil, &abi.LimitError{Limit: "request", Bound: p.lim.Request, Got: sum}
			}
		}
	}
	return m, nil
}

func shown(contents []grant.Glob, path string) bool {
	for _, g := range contents {
		if g.Match(path) {
			return true
		}
	}
	return len(contents) == 0
}

// read returns the bytes that had the file's digest when the module was loaded, or says that they changed.
func (p *Package) read(f file) ([]byte, error) {
	r, err := p.root.Open(f.disk)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, f.size+1))
	if err != nil {
		return nil, err
	}
	if abi.DigestOf(text) != f.digest {
		return nil, fmt.Errorf("it changed while it was read; run the command again")
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}
