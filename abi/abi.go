// Package abi is the contract between a host and an extension: requests, plans and the intents in them.
//
// An extension gets one [Request] and answers with one [Plan]. A plan performs nothing: it says what the extension wants
// done, and the host judges it before anything happens. The smallest plan that writes a file:
//
//	plan := abi.Plan{Intents: []abi.Intent{
//		abi.Write{Path: ".claude/commands/hello.md", Mode: 0o644, Content: abi.Bytes("Say hello.\n")},
//	}}
//
// The types here say what can be expressed, not what is allowed: paths in them are unchecked text. Package host/plan
// judges; package abi/wire turns these types into bytes and back. SPEC.md beside this file is the normative text.
//
// The package imports nothing but the standard library and builds for wasip1. What may change: new optional keys and new
// ops come with a new [Version], as a row in [Versions].
package abi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Digest is a SHA-256 digest.
type Digest [sha256.Size]byte

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

// ParseDigest reads 64 lower-case hexadecimal digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*len(d) {
		return d, fmt.Errorf("digest %q: want %d hexadecimal digits, got %d bytes", s, 2*len(d), len(s))
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return d, fmt.Errorf("digest %q: byte %d is not a lower-case hexadecimal digit", s, i)
		}
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return d, fmt.Errorf("digest %q: %w", s, err)
	}
	return d, nil
}

// String returns the digest as 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Mode is the permission bits of a file, 0 to 0o777. Set-id and sticky bits cannot be expressed on the wire.
type Mode uint16

// ModeMask holds every bit that a [Mode] may have.
const ModeMask Mode = 0o777

// String returns the mode as four octal digits, as in "0644".
func (m Mode) String() string { return fmt.Sprintf("%04o", uint16(m)) }

// Content is what a [Write] puts into a file. It lies in memory ([Bytes]) or in a spool (package abi/wire), so that a plan
// of any size costs little memory. Implementations may be opened any number of times and used concurrently.
type Content interface {
	// Size is the length in bytes.
	Size() int64
	// Digest is the SHA-256 digest of all bytes.
	Digest() Digest
	// Open returns a reader of all bytes. The caller closes it.
	Open() (io.ReadCloser, error)
}

// Bytes is content that lies in memory.
type Bytes []byte

// Size implements [Content].
func (b Bytes) Size() int64 { return int64(len(b)) }

// Digest implements [Content]. It hashes at each call.
func (b Bytes) Digest() Digest { return DigestOf(b) }

// Open implements [Content]. It never fails.
func (b Bytes) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
