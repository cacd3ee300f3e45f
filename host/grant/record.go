package grant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Digest is SHA-256 of a package.
type Digest = [32]byte

// Record is what a user granted to one package, as it is stored: another digest of the same extension has nothing of it until
// the user says so. Where it lies is the host's business. The zero value grants nothing and cannot be encoded.
type Record struct {
	Name   string // the extension's
	Digest Digest // of the package that the grant was given to
	// Project and User are the grants in a project and in user scope, the latter with its folder.
	Project Set
	User    Set
}

// recordFormat is the version of the stored form. Another is an error: a grant is not guessed.
const recordFormat = 1

// maxRecord bounds a stored grant, in bytes; a manifest has less.
const maxRecord = 256 << 10

// stored is a record as it is written.
type stored struct {
	Format  int    `json:"format"`
	Package string `json:"package"` // NAME@sha256:HEX
	Project Rights `json:"project"`
	User    Rights `json:"user"`
}

// Encode returns the stored form, JSON with a newline at the end. A record has one form. The error says what is wrong with the
// record: its name, or a set that [ForPaths] made.
func (r Record) Encode() ([]byte, error) {
	if err := checkName(r.Name); err != nil {
		return nil, fmt.Errorf("encoding a grant: %w", err)
	}
	if len(r.Project.paths)+len(r.User.paths) > 0 {
		return nil, fmt.Errorf("encoding the grant of %q: it names paths that the host granted to itself", r.Name)
	}
	if r.Project.folder != "" || r.User.folder == "" && !r.User.Empty() {
		return nil, fmt.Errorf("encoding the grant of %q: a grant in a project has no folder, one in user scope has", r.Name)
	}
	return encode(stored{
		Format: recordFormat, Package: Trust{Name: r.Name, Digest: r.Digest}.String(), Project: r.Project.Rights(), User: r.User.Rights(),
	})
}

func encode(s stored) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("encoding a grant: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeRecord reads a stored grant. It takes only what [Record.Encode] writes, byte for byte: a grant that was edited by hand
// or by another version is no grant.
func DecodeRecord(data []byte) (Record, error) {
	r, err := decodeRecord(data)
	if err != nil {
		return Record{}, fmt.Errorf("decoding a stored grant: %w", err)
	}
	return r, nil
}

func decodeRecord(data []byte) (Record, error) {
	if len(data) > maxRecord {
		return Record{}, fmt.Errorf("%d bytes, want at most %d", len(data), maxRecord)
	}
	var s stored
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Record{}, err
	}
	if s.Format != recordFormat {
		return Record{}, fmt.Errorf("format %d, want %d", s.Format, recordFormat)
	}
	p, err := ParseTrust(s.Package)
	if err != nil {
		return Record{}, err
	}
	r := Record{Name: p.Name, Digest: p.Digest}
	if r.Project, err = Parse(s.Project); err != nil {
		return Record{}, fmt.Errorf("project: %w", err)
	}
	if r.User, err = Parse(s.User); err != nil {
		return Record{}, fmt.Errorf("user: %w", err)
	}
	again, err := r.Encode()
	if err != nil {
		return Record{}, err
	}
	if !bytes.Equal(again, data) {
		return Record{}, errors.New("it is not in the form that grants are stored in")
	}
	return r, nil
}
