package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
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
func Store(ctx context.Context, module []byte, cfg Config) (job.Code, error) {
	if there, err := os.ReadDir(cfg.Code); err != nil || len(there) > 0 {
		return job.Code{}, fail(job.Internal, "the folder for its code is not empty (%d entries): %v", len(there), err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(cfg.Code)
	if err != nil {
		return job.Code{}, fail(job.Internal, "preparing the folder for its code: %v", err)
	}
	m, err := compile(ctx, module, cfg, cache, false)
	if err != nil {
		return job.Code{}, err
	}
	defer m.Close()
	if m.refused != nil {
		return job.Code{}, m.refused
	}
	code, err := findCode(cfg.Code)
	if err == nil {
		err = checkCode(cfg.Code, code, m.layout.functions)
	}
	if err != nil {
		return job.Code{}, fail(job.Internal, "looking for its code after compiling: %v", err)
	}
	return code, nil
}

// load is Compile with code that is there. wazero would make up for what it does not find, or does not like, by deleting,
// compiling and writing; it would also believe what an entry says about its lengths. So the entry is walked over before, and
// compiling is kept from happening.
func load(ctx context.Context, module []byte, cfg Config) (*Module, error) {
	stale := func(format string, args ...any) (*Module, error) { return nil, fail(job.StaleCode, format, args...) }
	code, err := findCode(cfg.Code)
	if err != nil {
		return stale("%v", err)
	}
	layout, err := readLayout(module)
	if err != nil {
		return nil, fail(job.BadModule, "%v", err)
	}
	if err := checkCode(cfg.Code, code, layout.functions); err != nil {
		return stale("%v", err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(cfg.Code)
	if err != nil {
		return stale("%v", err)
	}
	return compile(noCompiling{ctx}, module, cfg, cache, true)
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

// checkCode walks over an entry (wazero 1.12.0, internal/engine/wazevo, serializeCompiledModule): a header with the version,
// the offset of each function, the code with a sum over it, whether lines of source follow, and clauses for exceptions. All
// lengths must be of bytes that are there, as many functions as the module has, and each within the code.
func checkCode(folder string, code job.Code, functions uint32) error {
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(code.Entry)))
	if err != nil {
		return err
	}
	defer f.Close()
	c := codeReader{file: f, r: bufio.NewReaderSize(io.NewSectionReader(f, 0, code.Size), 64<<10), left: code.Size}
	if string(c.bytes(6)) != "WAZEVO" {
		return errors.New("it is no code of this engine")
	}
	version := c.bytes(int64(c.byte()))
	if want := "wazero-" + string(version) + "-" + runtime.GOARCH + "-" + runtime.GOOS; !strings.HasPrefix(code.Entry, want+"/") {
		return fmt.Errorf("it is code of the engine's version %q", version)
	}
	n := c.u32()
	if n != functions {
		return fmt.Errorf("it has %d functions, the module has %d", n, functions)
	}
	var last uint64 // the highest offset
	for range n {
		last = max(last, c.u64())
		if c.err != nil {
			return c.err
		}
	}
	size := c.u64()
	if size > uint64(max(c.left, 0)) || n > 0 && last >= size {
		return errors.New("its code does not hold its functions")
	}
	c.skip(int64(size))
	c.u32() // the sum, which wazero checks
	if c.byte() != 0 {
		return errors.New("it has lines of source, which are never kept")
	}
	for range c.count(4) {
		c.bytes(5 * int64(c.count(5)))
		if c.err != nil {
			return c.err
		}
	}
	if c.err == nil && c.left != 0 {
		return fmt.Errorf("%d bytes follow its end", c.left)
	}
	return c.err
}

// codeReader reads an entry. The first failure stays, and everything after it is zero.
type codeReader struct {
	file *os.File
	r    *bufio.Reader
	left int64
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
	if c.err == nil {
		c.left -= n
		end, err := c.file.Stat()
		if err != nil {
			c.err = err
			return
		}
		c.r.Reset(io.NewSectionReader(c.file, end.Size()-c.left, c.left))
	}
}

func (c *codeReader) number(n int64) uint64 {
	var b [8]byte
	copy(b[:], c.bytes(n))
	return binary.LittleEndian.Uint64(b[:])
}

func (c *codeReader) byte() byte  { return byte(c.number(1)) }
func (c *codeReader) u32() uint32 { return uint32(c.number(4)) }
func (c *codeReader) u64() uint64 { return c.number(8) }

// count reads how many things follow, which take each bytes at least.
func (c *codeReader) count(each int64) uint32 {
	n := c.u32()
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
