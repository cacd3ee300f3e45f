package wasmbuild

import (
	"slices"

	"github.com/lola-ext/lola/shim/job"
)

// WASI is the module that guests may import.
const WASI = "wasi_snapshot_preview1"

// EmptyPlan is a plan without intents: {"abi": 1, "count": 0} in CBOR.
var EmptyPlan = []byte("\xa2\x63abi\x01\x65count\x00")

const (
	planAt    = 1024  // where the plan lies in the modules here
	requestAt = 4096  // where their lola_alloc puts the request, unless it is said otherwise
	page      = 65536 // bytes
)

// Guest is a module with one behaviour or one defect, and what is to come of it.
type Guest struct {
	Name    string // says what it does
	Case    string // the id of the case that it stands for; empty: none
	Module  []byte
	Outcome job.Outcome
	Plan    []byte // what it answers if Outcome is job.OK; nil: the request
}

// Parts are the bodies of a module in reactor form. The zero value of a field is the proper one.
type Parts struct {
	MemoryMin, MemoryMax          uint32   // pages; 0: 1 and 16
	Plan                          []byte   // what lies in memory at the place that Ptr and Len tell; nil: EmptyPlan
	Version, Alloc, Run, Ptr, Len []byte   // bodies
	Initialize                    []byte   // nil: no such export
	Start                         []byte   // nil: no start function
	Omit                          []string // exports to leave out
	Before                        func(*Builder)
	After                         func(*Builder)
}

// The indices of the functions of WASI that every reactor here imports, in this order.
const (
	procExit   = iota // proc_exit(status)
	fdRead            // fd_read(fd, iovs, n, nread) -> errno
	fdWrite           // fd_write(fd, iovs, n, nwritten) -> errno
	pathOpen          // path_open(...) -> errno
	sockAccept        // sock_accept(fd, flags, result) -> errno
)

func importWASI(m *Builder) {
	m.Import(WASI, "proc_exit", I32s(1), nil)
	m.Import(WASI, "fd_read", I32s(4), I32s(1))
	m.Import(WASI, "fd_write", I32s(4), I32s(1))
	m.Import(WASI, "path_open", []ValType{I32, I32, I32, I32, I32, I64, I64, I32, I32}, I32s(1))
	m.Import(WASI, "sock_accept", I32s(3), I32s(1))
}

// Reactor builds a module in reactor form.
func Reactor(p Parts) []byte {
	m := New()
	importWASI(m)
	if p.Before != nil {
		p.Before(m)
	}
	if p.MemoryMin == 0 {
		p.MemoryMin, p.MemoryMax = 1, 16
	}
	if p.Plan == nil {
		p.Plan = EmptyPlan
	}
	if !slices.Contains(p.Omit, "memory") {
		m.Memory(p.MemoryMin, p.MemoryMax)
	} else {
		m.MemoryAs("", p.MemoryMin, p.MemoryMax)
	}
	m.Data(planAt, p.Plan)
	f := func(name string, params int, body, otherwise []byte) {
		if body == nil {
			body = otherwise
		}
		if slices.Contains(p.Omit, name) {
			name = ""
		}
		m.Func(name, I32s(params), I32s(1), body)
	}
	f("lola_abi_version", 0, p.Version, I32Const(1))
	f("lola_alloc", 1, p.Alloc, I32Const(requestAt))
	f("lola_run", 2, p.Run, I32Const(0))
	f("lola_plan_ptr", 0, p.Ptr, I32Const(planAt))
	f("lola_plan_len", 0, p.Len, I32Const(int32(len(p.Plan))))
	if p.Initialize != nil {
		m.Func("_initialize", nil, nil, p.Initialize)
	}
	if p.Start != nil {
		m.Start(m.Func("", nil, nil, p.Start))
	}
	if p.After != nil {
		p.After(m)
	}
	return m.Bytes()
}

// Command builds a module in command form with one page of memory, in which data lies at address 1024.
func Command(data []byte, body ...[]byte) []byte {
	m := New()
	importWASI(m)
	m.Memory(1, 16).Data(planAt, data)
	m.Func("_start", nil, nil, body...)
	return m.Bytes()
}

func seq(parts ...[]byte) []byte { return slices.Concat(parts...) }

func exit(status int32) []byte { return seq(I32Const(status), Call(procExit)) }

// exitI32 is exit where the type wants a result.
func exitI32(status int32) []byte { return seq(exit(status), I32Const(0)) }

// poke stores a constant.
func poke(address, value int32) []byte { return seq(I32Const(address), I32Const(value), Store()) }

// write writes n bytes from address to a descriptor; errno stays on the stack.
func write(fd, address, n int32) []byte {
	return seq(poke(16, address), poke(20, n), I32Const(fd), I32Const(16), I32Const(1), I32Const(24), Call(fdWrite))
}

// read reads n bytes from a descriptor to address; errno stays on the stack, the number of bytes is at address 24.
func read(fd, address, n int32) []byte {
	return seq(poke(16, address), poke(20, n), I32Const(fd), I32Const(16), I32Const(1), I32Const(24), Call(fdRead))
}

// tree is a guest's run that calls 2^depth functions without one loop, so that no check of a loop is ever met.
func tree(depth int) Parts {
	return Parts{Before: func(m *Builder) {
		last := m.Func("", nil, nil)
		for range depth {
			last = m.Func("", nil, nil, Call(last), Call(last))
		}
		m.Export("top", KindFunc, last)
	}, Run: seq(Call(uint32(5+depth)), I32Const(0))}
}

// GrowingAlloc is a lola_alloc that grows memory for each request: by size/64 KiB + 1 pages, at whose beginning the request
// lies. Where there are no more pages the address is out of reach.
func GrowingAlloc() []byte {
	return seq(LocalGet(0), I32Const(page), []byte{0x6e}, I32Const(1), Add(), Grow(), I32Const(16), []byte{0x74})
}

// Echo answers with the request itself, whatever its size.
func Echo() []byte {
	return Reactor(Parts{
		MemoryMin: 1, MemoryMax: 65535,
		Alloc: GrowingAlloc(),
		Run:   seq(I32Const(0), LocalGet(0), Store(), I32Const(4), LocalGet(1), Store(), I32Const(0)),
		Ptr:   seq(I32Const(0), Load()),
		Len:   seq(I32Const(4), Load()),
	})
}

// Spin never returns from lola_run.
func Spin() []byte { return Reactor(Parts{Run: seq(Forever(), I32Const(0))}) }
