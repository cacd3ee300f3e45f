package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/root"
)

// The digests of programs are kept in one file, builds.json, each with the identity of the file that it was read from.
const (
	buildsName   = "builds.json"
	buildsFormat = 1
	maxBuilds    = 16       // programs that are known, the newest
	maxBuildsLen = 64 << 10 // bytes
)

// settled is how old a program file must be for its digest to be remembered: a file that is changed again within one tick of
// the file system's clock has the same times.
const settled = 2 * time.Second

type buildList struct {
	Format   int       `json:"format"`
	Programs []program `json:"programs"` // oldest first
}

// program is a file that children are started from.
type program struct {
	Path     string `json:"path"`
	Identity string `json:"identity"` // which file, how large, when changed
	SHA256   string `json:"sha256"`
}

// builds knows what programs are.
type builds struct {
	home    *home.Home
	program string
	settled time.Duration

	mu       sync.Mutex
	identity string     // guarded by mu; of the program when digest was read
	digest   abi.Digest // guarded by mu
}

// current is the digest of the program file.
func (b *builds) current(ctx context.Context) (abi.Digest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Stat(b.program)
	if err != nil {
		return abi.Digest{}, fmt.Errorf("telling which program this is: %w", err)
	}
	id := identityOf(info)
	if id == b.identity {
		return b.digest, nil
	}
	list := b.read()
	for _, p := range list.Programs {
		if d, err := abi.ParseDigest(p.SHA256); err == nil && p.Path == b.program && p.Identity == id {
			b.identity, b.digest = id, d
			return d, nil
		}
	}
	digest, err := digestOf(b.program, id)
	if err != nil {
		return abi.Digest{}, fmt.Errorf("telling which program this is: %w", err)
	}
	if time.Since(changed(info)) > b.settled {
		b.identity, b.digest = id, digest
		b.remember(ctx, program{Path: b.program, Identity: id, SHA256: digest.String()})
	}
	return digest, nil
}

// digestOf reads a program whole, if it is the file of that identity before and after.
func digestOf(path, id string) (abi.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return abi.Digest{}, err
	}
	defer f.Close()
	digest, _, err := root.DigestFile(f, math.MaxInt64-1)
	if err != nil {
		return digest, err
	}
	if info, err := f.Stat(); err != nil || identityOf(info) != id {
		return digest, errors.Join(fmt.Errorf("%q changed while it was read", path), err)
	}
	return digest, nil
}

// read reads the list. One that cannot be read, or that is not ours alone, says nothing and is written anew: programs are
// read again then.
func (b *builds) read() buildList {
	var list buildList
	f, err := b.home.Root().Open(buildsName)
	if err != nil {
		return buildList{}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || root.CheckPrivate(info) != nil {
		return buildList{}
	}
	if err := home.DecodeJSON(f, maxBuildsLen, &list); err != nil || list.Format != buildsFormat {
		return buildList{}
	}
	return list
}

// remember adds a program to the list. That it cannot costs time, the next time.
func (b *builds) remember(ctx context.Context, p program) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err := b.home.Lock(ctx)
	if err != nil {
		return
	}
	defer unlock()
	list := b.read()
	list.Format = buildsFormat
	list.Programs = append(slices.DeleteFunc(list.Programs, func(q program) bool { return q.Path == p.Path }), p)
	list.Programs = list.Programs[max(0, len(list.Programs)-maxBuilds):]
	_ = b.home.WriteJSON(".", buildsName, list)
}

// gone reports whether nothing can be started any more that is of this digest, as far as is known: the file that it was read
// from is gone or another.
func (list buildList) gone(sha256 string) bool {
	for _, p := range list.Programs {
		if p.SHA256 != sha256 {
			continue
		}
		info, err := os.Stat(p.Path)
		if err == nil && identityOf(info) == p.Identity || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}
