package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/lola-ext/lola/shim/job"
)

// Store compiles a module and leaves the code in the folder Config.Code, which is there and empty. None of the module's code
// runs. A module that no run is possible of is a failure, beside which something may lie in the folder. Its error is always
// a [*Failure].
func Store(ctx context.Context, module []byte, cfg Config) (_ job.Code, err error) {
	if there, err := os.ReadDir(cfg.Code); err != nil || len(there) > 0 {
		return job.Code{}, fail(job.Internal, "the folder for its code is not empty (%d entries): %v", len(there), err)
	}
	m, err := read(module, job.MaxModule, cfg)
	if err != nil {
		return job.Code{}, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = m.panicked(r)
		}
	}()
	if err := m.store(ctx, m.layout.boundTables(module)); err != nil {
		return job.Code{}, err
	}
	if m.refused != nil {
		return job.Code{}, m.refused
	}
	internal := func(err error) (job.Code, error) {
		return job.Code{}, fail(job.Internal, "looking for its code after compiling: %v", err)
	}
	code, err := findCode(cfg.Code)
	if err != nil {
		return internal(err)
	}
	// It is looked for by the skeleton's key later, which wazero alone knows: what it makes of the skeleton gives its name away.
	skeleton := m.layout.skeleton(module, cfg.Digest)
	if err := m.store(ctx, skeleton); err != nil {
		return job.Code{}, err
	}
	if code, err = rename(cfg.Code, code); err == nil {
		err = appendTo(filepath.Join(cfg.Code, filepath.FromSlash(code.Entry)), skeleton)
	}
	if err == nil {
		code.Size += int64(len(skeleton))
		_, err = openCode(cfg.Code, code, cfg.Digest)
	}
	if err != nil {
		return internal(err)
	}
	return code, nil
}

// appendTo writes b behind what a file holds. It is not synced: what a power cut takes away is missed when the file is next read
// whole, and made again.
func appendTo(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// store has the code compiled into the folder.
func (m *Module) store(ctx context.Context, binary []byte) error {
	cache, err := wazero.NewCompilationCacheWithDir(m.cfg.Code)
	if err != nil {
		return fail(job.Internal, "preparing the folder for its code: %v", err)
	}
	defer m.Close()
	return m.compile(ctx, binary, cache, false)
}

// rename gives an entry the name of the one other that lies beside it, which it replaces.
func rename(folder string, code job.Code) (job.Code, error) {
	set, name := path.Split(code.Entry)
	dir := filepath.Join(folder, set)
	list, err := os.ReadDir(dir)
	if err != nil {
		return code, err
	}
	for _, other := range list {
		if other.Name() != name && len(list) == 2 {
			return job.Code{Entry: set + other.Name(), Size: code.Size}, os.Rename(filepath.Join(dir, name), filepath.Join(dir, other.Name()))
		}
	}
	return code, fmt.Errorf("%d entries in %q, want two", len(list), set)
}

// load is Compile with code that is there. wazero would make up for what it does not find, or does not like, by deleting,
// compiling and writing; it would also believe what an entry says about its lengths. So the entry is walked over before, and
// compiling is kept from happening. Of the module it gets to see the skeleton, which is in the entry.
func load(ctx context.Context, cfg Config) (*Module, error) {
	stale := func(err error) (*Module, error) { return nil, fail(job.StaleCode, "%v", err) }
	code, err := findCode(cfg.Code)
	if err != nil {
		return stale(err)
	}
	skeleton, err := openCode(cfg.Code, code, cfg.Digest)
	if err != nil {
		return stale(err)
	}
	m, err := read(skeleton, maxSkeleton, cfg)
	if f := (*Failure)(nil); errors.As(err, &f) && f.Outcome == job.BadModule {
		return stale(err)
	}
	if err != nil {
		return nil, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(cfg.Code)
	if err != nil {
		return stale(err)
	}
	if err := m.compile(noCompiling{ctx}, skeleton, cache, true); err != nil {
		return nil, err
	}
	return m, nil
}

// findCode finds the one entry that a folder has: "wazero-VERSION-ARCH-OS/KEY".
func findCode(folder string) (job.Code, error) {
	only := func(dir string) (os.DirEntry, error) {
		list, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, fmt.Errorf("%d entries in %q, want one", len(list), filepath.Base(dir))
		}
		return list[0], nil
	}
	set, err := only(folder)
	if err != nil {
		return job.Code{}, err
	}
	if !set.IsDir() || !strings.HasSuffix(set.Name(), "-"+runtime.GOARCH+"-"+runtime.GOOS) {
		return job.Code{}, fmt.Errorf("%q is not for this machine", set.Name())
	}
	entry, err := only(filepath.Join(folder, set.Name()))
	if err != nil {
		return job.Code{}, err
	}
	info, err := entry.Info()
	if err != nil {
		return job.Code{}, err
	}
	if b, err := hex.DecodeString(entry.Name()); err != nil || len(b) != 32 || !info.Mode().IsRegular() {
		return job.Code{}, fmt.Errorf("%q is no entry", entry.Name())
	}
	if info.Size() < 1 || info.Size() > job.MaxCode {
		return job.Code{}, fmt.Errorf("an entry has %d bytes, want 1 to %d", info.Size(), job.MaxCode)
	}
	return job.Code{Entry: set.Name() + "/" + entry.Name(), Size: info.Size()}, nil
}

// openCode walks over an entry (wazero 1.12.0, internal/engine/wazevo, serializeCompiledModule): a header with the version,
// the offset of each function, the code with a sum over it, whether lines of source follow, and clauses for exceptions. All
// lengths must be of bytes that are there, and each function within the code. What follows, which wazero does not look at, is
// the skeleton; it is returned, and must be that of the module and have as many functions.
func openCode(folder string, code job.Code, digest [sha256.Size]byte) (skeleton []byte, err error) {
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(code.Entry)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := codeReader{file: f, size: code.Size, r: bufio.NewReaderSize(io.NewSectionReader(f, 0, code.Size), 16<<10), left: code.Size}
	if string(c.bytes(6)) != "WAZEVO" {
		return nil, errors.New("it is no code of this engine")
	}
	version := c.bytes(int64(c.byte()))
	if want := "wazero-" + string(version) + "-" + runtime.GOARCH + "-" + runtime.GOOS; !strings.HasPrefix(code.Entry, want+"/") {
		return nil, fmt.Errorf("it is code of the engine's version %q", version)
	}
	n := c.u32()
	var last uint64 // the highest offset
	for range c.fits(n, 8) {
		last = max(last, c.u64())
	}
	size := c.u64()
	if size > uint64(max(c.left, 0)) || n > 0 && last >= size {
		return nil, errors.New("its code does not hold its functions")
	}
	c.skip(int64(size))
	c.u32() // the sum, which wazero checks
	if c.byte() != 0 {
		return nil, errors.New("it has lines of source, which are never kept")
	}
	for range c.fits(c.u32(), 4) {
		c.skip(5 * int64(c.fits(c.u32(), 5)))
		if c.err != nil {
			return nil, c.err
		}
	}
	if c.left > maxSkeleton {
		return nil, fmt.Errorf("%d bytes follow its code, there may be %d", c.left, maxSkeleton)
	}
	skeleton = c.bytes(c.left)
	if c.err != nil {
		return nil, c.err
	}
	if !bytes.HasSuffix(skeleton, skeletonEnd(digest)) {
		return nil, errors.New("it is another module's")
	}
	l, err := readLayout(skeleton)
	if err == nil && l.functions != n {
		err = fmt.Errorf("it has %d functions, the module has %d", n, l.functions)
	}
	return skeleton, err
}

// codeReader reads an entry. The first failure stays, and everything after it is zero.
type codeReader struct {
	file *os.File
	size int64 // of the file
	r    *bufio.Reader
	left int64 // bytes that were not read
	err  error
}

func (c *codeReader) bytes(n int64) []byte {
	if c.err == nil && n > c.left {
		c.err = errCutOff
	}
	if c.err != nil {
		return nil
	}
	b := make([]byte, n)
	_, c.err = io.ReadFull(c.r, b)
	c.left -= n
	return b
}

func (c *codeReader) skip(n int64) {
	if c.err == nil && n > c.left {
		c.err = errCutOff
	}
	if c.err != nil {
		return
	}
	c.left -= n
	if n <= int64(c.r.Buffered()) {
		_, c.err = c.r.Discard(int(n))
		return
	}
	c.r.Reset(io.NewSectionReader(c.file, c.size-c.left, c.left))
}

func (c *codeReader) number(n int64) uint64 {
	var b [8]byte
	copy(b[:], c.bytes(n))
	return binary.LittleEndian.Uint64(b[:])
}

func (c *codeReader) byte() byte  { return byte(c.number(1)) }
func (c *codeReader) u32() uint32 { return uint32(c.number(4)) }
func (c *codeReader) u64() uint64 { return c.number(8) }

// fits returns how many things follow, if there are bytes for all of them, which take each bytes at least.
func (c *codeReader) fits(n uint32, each int64) uint32 {
	if int64(n)*each > c.left {
		c.err = errCutOff
		return 0
	}
	return n
}

// errNoCode ends compiling that was not to happen.
var errNoCode = errors.New("there is no code for this module, or code that the engine does not take")

// noCompiling is a context in which wazero does not compile: it asks its context how many workers compile, when it is about
// to, and never else.
type noCompiling struct{ context.Context }

// Value implements context.Context.
func (c noCompiling) Value(key any) any {
	if key == workersKey {
		panic(errNoCode)
	}
	return c.Context.Value(key)
}

// workersKey is the key by which wazero asks, learned from its own function: the type has no exported name.
var workersKey = func() any {
	var asked keySpy
	experimental.GetCompilationWorkers(&asked)
	return asked.key
}()

type keySpy struct {
	context.Context
	key any
}

// Value implements context.Context.
func (s *keySpy) Value(key any) any {
	s.key = key
	return nil
}
