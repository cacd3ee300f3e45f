package wasmbuild

import (
	"slices"
	"strings"

	"github.com/lola-ext/lola/shim/job"
)

// Guests returns the guests that end by themselves. They expect a request of at most 1,000 bytes, a plan limit of 1 MiB
// and a memory ceiling of 256 pages (16 MiB).
func Guests() []Guest {
	return slices.Concat(good(), pointers(), exports(), ends(), memories(), effects(), commands(), broken())
}

// good guests answer.
func good() []Guest {
	ok := func(name string, p Parts) Guest {
		plan := p.Plan
		if plan == nil {
			plan = EmptyPlan
		}
		return Guest{Name: name, Module: Reactor(p), Outcome: job.OK, Plan: plan}
	}
	large := []byte(strings.Repeat("0123456789abcdef", 1<<16))
	last := ok("plan ends where memory ends", Parts{Ptr: I32Const(page - int32(len(EmptyPlan)))})
	last.Module = Reactor(Parts{
		Ptr:   I32Const(page - int32(len(EmptyPlan))),
		After: func(m *Builder) { m.Data(page-uint32(len(EmptyPlan)), EmptyPlan) },
	})
	return []Guest{
		ok("reactor", Parts{}),
		ok("reactor with _initialize and a start function", Parts{Initialize: poke(0, 1), Start: poke(4, 1)}),
		ok("plan of exactly the limit", Parts{MemoryMin: 17, MemoryMax: 17, Plan: large, Alloc: I32Const(17*page - 1000)}),
		{Name: "echo", Module: Echo(), Outcome: job.OK},
		last,
		ok("odd addresses", Parts{Alloc: I32Const(4097)}),
		ok("needs _initialize before its version", Parts{Initialize: poke(0, 1), Version: seq(I32Const(0), Load())}),
		ok("declares 65,536 pages as its most", Parts{MemoryMin: 1, MemoryMax: 65536}),
		ok("another lola_ export", Parts{After: func(m *Builder) { m.Func("lola_extra", nil, nil) }}),
	}
}

// pointers lie about where things are.
func pointers() []Guest {
	lie := func(name string, ptr, length int32, o job.Outcome) Guest {
		return Guest{Name: name, Case: "W02", Module: Reactor(Parts{Ptr: I32Const(ptr), Len: I32Const(length)}), Outcome: o}
	}
	alloc := func(name string, ptr int32) Guest {
		return Guest{Name: name, Module: Reactor(Parts{Alloc: I32Const(ptr)}), Outcome: job.AllocFailed}
	}
	return []Guest{
		lie("plan wraps 32 bits", -16, 32, job.BadPlanPointer),
		lie("plan wraps 32 bits to the whole of memory", planAt, -planAt, job.BadPlanPointer),
		lie("plan wraps 32 bits to exactly 0", -1, 1, job.BadPlanPointer),
		lie("plan of 4 GiB", 0, -1, job.BadPlanPointer),
		lie("plan of 2 GiB", 0, -1<<31, job.BadPlanPointer),
		lie("plan is one byte over the end", page-10, 11, job.BadPlanPointer),
		lie("plan at the end", page, 1, job.BadPlanPointer),
		lie("plan at the last address", -1, -1, job.BadPlanPointer),
		lie("no plan", planAt, 0, job.EmptyPlan),
		lie("no plan at no place", -1, 0, job.EmptyPlan),
		{
			Name:    "plan one byte over the limit",
			Module:  Reactor(Parts{MemoryMin: 17, MemoryMax: 17, Ptr: I32Const(0), Len: I32Const(1<<20 + 1)}),
			Outcome: job.PlanTooLarge,
		},
		{
			// It writes over the plan after it told the length: the length is asked once.
			Name:    "length grows between questions",
			Module:  Reactor(Parts{Len: seq(poke(0, 0), I32Const(0), Load(), If(Unreachable()), I32Const(int32(len(EmptyPlan))))}),
			Outcome: job.OK, Plan: EmptyPlan,
		},
		alloc("allocator gives nothing", 0),
		alloc("allocator gives the end of memory", page),
		alloc("allocator gives a place too near to the end", page-1),
		alloc("allocator gives the last address", -1),
		alloc("allocator gives an address that wraps", -8),
	}
}

// exports are missing or of another type.
func exports() (list []Guest) {
	for _, name := range []string{"memory", "lola_abi_version", "lola_alloc", "lola_run", "lola_plan_ptr", "lola_plan_len"} {
		list = append(list, Guest{Name: "no " + name, Module: Reactor(Parts{Omit: []string{name}}), Outcome: job.BadExport})
	}
	wrong := func(what, name string, params, results []ValType, body ...[]byte) {
		list = append(list, Guest{Name: what, Outcome: job.BadExport, Module: Reactor(Parts{
			Omit:  []string{name},
			After: func(m *Builder) { m.Func(name, params, results, body...) },
		})})
	}
	i64 := []ValType{I64}
	wrong("lola_abi_version takes a parameter", "lola_abi_version", I32s(1), I32s(1), I32Const(1))
	wrong("lola_alloc returns nothing", "lola_alloc", I32s(1), nil)
	wrong("lola_alloc takes a long", "lola_alloc", i64, I32s(1), I32Const(requestAt))
	wrong("lola_run takes one parameter", "lola_run", I32s(1), I32s(1), I32Const(0))
	wrong("lola_run returns two results", "lola_run", I32s(2), I32s(2), I32Const(0), I32Const(0))
	wrong("lola_plan_ptr returns a long", "lola_plan_ptr", nil, i64, []byte{0x42, 0})
	wrong("lola_plan_len takes a parameter", "lola_plan_len", I32s(1), I32s(1), I32Const(1))
	wrong("_initialize returns a result", "_initialize", nil, I32s(1), I32Const(0))
	return append(list,
		Guest{Name: "lola_run is a memory", Outcome: job.BadExport, Module: Reactor(Parts{
			Omit: []string{"lola_run"}, After: func(m *Builder) { m.Export("lola_run", KindMemory, 0) },
		})},
		Guest{Name: "memory is a function", Outcome: job.BadExport, Module: Reactor(Parts{
			Omit: []string{"memory"}, After: func(m *Builder) { m.Func("memory", nil, nil) },
		})},
		Guest{Name: "lola_run is an import", Outcome: job.BadExport, Module: Reactor(Parts{
			Omit: []string{"lola_run"},
			Before: func(m *Builder) {
				m.Export("lola_run", KindFunc, m.Import(WASI, "random_get", I32s(2), I32s(1)))
			},
		})},
		Guest{Name: "both forms", Outcome: job.BadExport, Module: Reactor(Parts{
			After: func(m *Builder) { m.Func("_start", nil, nil) },
		})},
		Guest{Name: "only one lola_ export", Outcome: job.BadExport, Module: func() []byte {
			m := New().Memory(1, 1)
			m.Func("lola_run", I32s(2), I32s(1), I32Const(0))
			return m.Bytes()
		}()},
		Guest{Name: "no form", Outcome: job.BadExport, Module: New().Memory(1, 1).Bytes()},
		Guest{Name: "nothing in it", Outcome: job.BadExport, Module: New().Bytes()},
		Guest{Name: "_start takes a parameter", Outcome: job.BadExport, Module: func() []byte {
			m := New().Memory(1, 1)
			m.Func("_start", I32s(1), nil)
			return m.Bytes()
		}()},
		Guest{Name: "version 0", Outcome: job.ABIVersion, Module: Reactor(Parts{Version: I32Const(0)})},
		Guest{Name: "version 2", Outcome: job.ABIVersion, Module: Reactor(Parts{Version: I32Const(2)})},
		Guest{Name: "version -1", Outcome: job.ABIVersion, Module: Reactor(Parts{Version: I32Const(-1)})},
	)
}

// ends come at each point where the guest's code runs.
func ends() (list []Guest) {
	point := func(where string, set func(*Parts, []byte), result bool) {
		for status, word := range map[int32]string{0: "0", 1: "1", 255: "255", -1: "-1"} {
			body := exit(status)
			if result {
				body = exitI32(status)
			}
			var p Parts
			set(&p, body)
			list = append(list, Guest{Name: "exit " + word + " in " + where, Module: Reactor(p), Outcome: job.Exit})
		}
		for word, body := range map[string][]byte{
			"unreachable":           Unreachable(),
			"division by zero":      seq(I32Const(1), I32Const(0), Div(), Drop(), Unreachable()),
			"load out of bounds":    seq(I32Const(-4), Load(), Drop(), Unreachable()),
			"load past 4 GiB":       seq(I32Const(-1), LoadAt(1<<32-1), Drop(), Unreachable()),
			"store out of bounds":   seq(poke(page-3, 1), Unreachable()),
			"write from elsewhere":  seq(write(1, -4, 4), If(Unreachable()), Unreachable()),
			"iovec out of bounds":   seq(I32Const(1), I32Const(-4), I32Const(1), I32Const(0), Call(fdWrite), Drop(), Unreachable()),
			"iovecs without number": seq(I32Const(1), I32Const(0), I32Const(-1), I32Const(0), Call(fdWrite), Drop(), Unreachable()),
		} {
			var p Parts
			set(&p, body)
			list = append(list, Guest{Name: word + " in " + where, Module: Reactor(p), Outcome: job.Trap})
		}
	}
	point("a start function", func(p *Parts, b []byte) { p.Start = b }, false)
	point("_initialize", func(p *Parts, b []byte) { p.Initialize = b }, false)
	point("lola_abi_version", func(p *Parts, b []byte) { p.Version = b }, true)
	point("lola_alloc", func(p *Parts, b []byte) { p.Alloc = b }, true)
	point("lola_run", func(p *Parts, b []byte) { p.Run = b }, true)
	point("lola_plan_ptr", func(p *Parts, b []byte) { p.Ptr = b }, true)
	point("lola_plan_len", func(p *Parts, b []byte) { p.Len = b }, true)
	slices.SortFunc(list, func(a, b Guest) int { return strings.Compare(a.Name, b.Name) })

	said := func(name string, p Parts) {
		p.Run = I32Const(7)
		list = append(list, Guest{Name: name, Module: Reactor(p), Outcome: job.Status})
	}
	said("status without text", Parts{Len: I32Const(0)})
	said("status with text", Parts{Plan: []byte("no such assistant: \x1b[31mred\x1b[0m\n\u202esecond line")})
	said("status with text that is not UTF-8", Parts{Plan: []byte("\xff\xfe\xfd")})
	said("status with much text", Parts{MemoryMin: 17, MemoryMax: 17, Plan: []byte(strings.Repeat("é", 1<<18))})
	said("status with text of 4 GiB", Parts{Len: I32Const(-1)})
	said("status with text that wraps", Parts{Ptr: I32Const(-16), Len: I32Const(32)})
	said("status, then a trap in lola_plan_ptr", Parts{Ptr: Unreachable()})
	said("status, then an exit in lola_plan_len", Parts{Len: exitI32(0)})

	return append(list,
		Guest{Name: "recursion without end", Outcome: job.Trap, Module: Reactor(Parts{
			Before: func(m *Builder) { m.Func("", nil, nil, Call(5)) },
			Run:    seq(Call(5), I32Const(0)),
		})},
		Guest{Name: "indirect call of nothing", Outcome: job.BadModule, Module: Reactor(Parts{
			Run: seq(I32Const(0), []byte{0x11, 0, 0}, I32Const(0)), // there is no table
		})},
	)
}

// memories want much.
func memories() []Guest {
	grow := func(pages int32) []byte { return seq(I32Const(pages), Grow()) }
	return []Guest{
		{Name: "begins with one page over the ceiling", Outcome: job.Memory, Module: Reactor(Parts{MemoryMin: 257, MemoryMax: 257})},
		{Name: "begins with 4 GiB", Case: "W03", Outcome: job.Memory, Module: Reactor(Parts{MemoryMin: 65536, MemoryMax: 65536})},
		{Name: "begins with more than there can be", Outcome: job.Memory, Module: Reactor(Parts{MemoryMin: 1<<32 - 1, MemoryMax: 1<<32 - 1})},
		{Name: "most is less than least", Outcome: job.BadModule, Module: Reactor(Parts{MemoryMin: 4, MemoryMax: 2})},
		{Name: "two memories", Outcome: job.BadModule, Module: Reactor(Parts{After: func(m *Builder) { m.MemoryAs("", 1, 1) }})},
		{Name: "data out of bounds", Outcome: job.Trap, Module: Reactor(Parts{After: func(m *Builder) { m.Data(page-1, []byte("ab")) }})},
		{
			Name: "begins at the ceiling", Outcome: job.OK, Plan: EmptyPlan,
			Module: Reactor(Parts{MemoryMin: 256, MemoryMax: 256}),
		},
		{
			Name: "grows to the ceiling and no further", Outcome: job.OK, Plan: EmptyPlan,
			// 255 pages are given, one more is not, 4 GiB are not.
			Module: Reactor(Parts{MemoryMin: 1, MemoryMax: 65536, Run: seq(
				grow(255), I32Const(-1), []byte{0x46}, If(Unreachable()),
				grow(1), I32Const(1), Add(), If(Unreachable()),
				grow(65535), I32Const(1), Add(), If(Unreachable()),
				grow(-1), I32Const(1), Add(), If(Unreachable()),
				poke(256*page-4, 1),
				I32Const(0),
			)}),
		},
		{
			Name: "takes pages until there are none, then gives up", Case: "W05", Outcome: job.Trap,
			Module: Reactor(Parts{MemoryMin: 1, MemoryMax: 65536, Run: seq(
				Forever(grow(1), I32Const(1), Add(), []byte{0x45}, If(Unreachable())), I32Const(0),
			)}),
		},
		{
			Name: "reads the last word of what it declares", Case: "W03", Outcome: job.Trap,
			Module: Reactor(Parts{MemoryMin: 1, MemoryMax: 65536, Run: seq(grow(255), Drop(), I32Const(-4), Load(), Drop(), I32Const(0))}),
		},
		{Name: "a table of 4 thousand million entries", Outcome: job.Memory, Module: New().Table(1<<32-1, 0).Bytes()},
		{Name: "a table of one entry over the bound", Outcome: job.Memory, Module: New().Table(1<<20+1, 0).Bytes()},
		{Name: "two tables of one entry over the bound", Outcome: job.Memory, Module: New().Table(1<<19, 0).Table(1<<19+1, 0).Bytes()},
		{Name: "too many tables", Outcome: job.BadModule, Module: func() []byte {
			m := New()
			for range 17 {
				m.Table(0, 0)
			}
			return m.Bytes()
		}()},
		{Name: "a table whose most is less than its least", Outcome: job.BadModule, Module: New().Table(4, 2).Bytes()},
		tables("a table without bound", 0, 1<<20-1),
		tables("a table with a bound that is too high", 1<<32-1, 1<<20-1),
		tables("a table with a bound of its own", 100, 99),
		{Name: "too many globals", Outcome: job.BadModule, Module: many(6, 1<<18+1, byte(I32), 0, 0x41, 0, 0x0b)},
		{Name: "too many types", Outcome: job.BadModule, Module: many(1, 1<<18+1, 0x60, 0, 0)},
		{Name: "more globals than bytes", Outcome: job.BadModule, Module: many(6, 1, byte(I32))[:11]},
	}
}

// tables is a guest that grows its table by so many entries, which is just possible, and then by one and by as many as
// there can be.
func tables(name string, most uint32, room int32) Guest {
	grow := func(n int32) []byte { return seq(NullFunc(), I32Const(n), GrowTable(0)) }
	fails := func(n int32) []byte { return seq(grow(n), I32Const(1), Add(), If(Unreachable())) }
	return Guest{Name: name, Outcome: job.OK, Plan: EmptyPlan, Module: Reactor(Parts{
		Before: func(m *Builder) { m.Table(1, most) },
		Run: seq(
			fails(-2), fails(1<<30), fails(room+1),
			grow(room), I32Const(1), []byte{0x47}, If(Unreachable()), // the old size is 1
			fails(1), I32Const(0),
		),
	})}
}

// many is a module of one section with the same entry many times.
func many(id byte, n uint32, entry ...byte) []byte {
	body := seq(U32(n), slices.Repeat(entry, int(n)))
	return seq([]byte("\x00asm\x01\x00\x00\x00"), []byte{id}, U32(uint32(len(body))), body)
}

// effects try what a guest cannot do, and would trap if they could.
func effects() []Guest {
	const badf = 8 // EBADF
	open := func(fd int32) []byte {
		return seq(I32Const(fd), I32Const(0), I32Const(planAt), I32Const(11), I32Const(0), []byte{0x42, 2}, []byte{0x42, 0}, I32Const(0), I32Const(64),
			Call(pathOpen), []byte{0x45}, If(Unreachable()))
	}
	var opens []byte
	for fd := range int32(8) {
		opens = append(opens, open(fd)...)
	}
	var socks []byte
	for fd := range int32(8) {
		socks = append(socks, seq(I32Const(fd), I32Const(0), I32Const(64), Call(sockAccept), []byte{0x45}, If(Unreachable()))...)
	}
	fails := func(name, id string, body []byte) Guest {
		return Guest{Name: name, Case: id, Outcome: job.OK, Plan: EmptyPlan, Module: Reactor(Parts{Run: seq(body, I32Const(0))})}
	}
	withName := fails("opens a file through every descriptor", "W05", nil)
	withName.Module = Reactor(Parts{Run: seq(opens, I32Const(0)), After: func(m *Builder) { m.Data(planAt, EmptyPlan).Data(planAt+64, []byte("etc/passwd")) }})
	return []Guest{
		withName,
		fails("accepts on every descriptor", "W05", socks),
		fails("reads descriptor 0 to its end at once", "W04", seq(read(0, 64, 16), If(Unreachable()), I32Const(24), Load(), If(Unreachable()))),
		fails("writes to descriptor 3", "", seq(write(3, planAt, 4), I32Const(badf), []byte{0x47}, If(Unreachable()))),
		fails("writes 1 GB to descriptor 2", "W05", flood(2, 16_000)),
		fails("writes 1 GB to descriptor 1", "", flood(1, 16_000)),
		{Name: "imports a function of the host", Outcome: job.ForbiddenImport, Module: Reactor(Parts{Before: func(m *Builder) { m.Import("env", "system", I32s(1), I32s(1)) }})},
		{Name: "imports what WASI does not have", Outcome: job.ForbiddenImport, Module: Reactor(Parts{Before: func(m *Builder) { m.Import(WASI, "proc_exec", I32s(1), I32s(1)) }})},
		{Name: "imports WASI under its old name", Outcome: job.ForbiddenImport, Module: Reactor(Parts{Before: func(m *Builder) { m.Import("wasi_unstable", "fd_write", I32s(4), I32s(1)) }})},
		{Name: "imports WASI with another type", Outcome: job.ForbiddenImport, Module: Reactor(Parts{Before: func(m *Builder) { m.Import(WASI, "fd_close", I32s(2), I32s(1)) }})},
		{Name: "imports a memory", Outcome: job.ForbiddenImport, Module: New().ImportOther("env", "memory", KindMemory, 0, 1).Bytes()},
		{Name: "imports a table", Outcome: job.ForbiddenImport, Module: New().ImportOther("env", "table", KindTable, 0x70, 0, 1).Bytes()},
		{Name: "imports a global", Outcome: job.ForbiddenImport, Module: New().ImportOther(WASI, "fd_write", KindGlobal, byte(I32), 0).Bytes()},
		{Name: "imports a function without names", Outcome: job.BadModule, Module: func() []byte {
			m := New()
			m.Import("", "", nil, nil)
			return m.Bytes()
		}()},
	}
}

// flood writes 64,000 bytes n times to a descriptor.
func flood(fd, n int32) []byte {
	return seq(poke(0, n),
		[]byte{0x03, 0x40}, // loop
		write(fd, 64, 64_000), Drop(),
		I32Const(0), I32Const(0), Load(), I32Const(-1), Add(), Store(),
		I32Const(0), Load(), []byte{0x0d, 0, 0x0b}, // br_if 0, end
	)
}

// commands are in command form.
func commands() []Guest {
	plan := write(1, planAt, int32(len(EmptyPlan)))
	ok := func(name string, body ...[]byte) Guest {
		return Guest{Name: name, Outcome: job.OK, Plan: EmptyPlan, Module: Command(EmptyPlan, body...)}
	}
	bad := func(name string, o job.Outcome, body ...[]byte) Guest {
		return Guest{Name: name, Outcome: o, Module: Command(EmptyPlan, body...)}
	}
	return []Guest{
		ok("command", plan, Drop()),
		ok("command that exits 0", plan, Drop(), exit(0)),
		ok("command that also writes diagnostics", plan, Drop(), write(2, planAt, 4), Drop()),
		{
			Name: "command that echoes", Outcome: job.OK,
			Module: Command(nil, read(0, planAt, 60_000), Drop(), poke(16, planAt), I32Const(20), I32Const(24), Load(), Store(),
				I32Const(1), I32Const(16), I32Const(1), I32Const(24), Call(fdWrite), Drop()),
		},
		bad("command that exits 3", job.Exit, plan, Drop(), exit(3)),
		bad("command that writes nothing", job.EmptyPlan),
		bad("command that exits 0 and writes nothing", job.EmptyPlan, exit(0)),
		bad("command that traps", job.Trap, plan, Drop(), Unreachable()),
		bad("command that writes more than a plan", job.PlanTooLarge, Forever(write(1, 0, 65_000), Drop())),
		bad("command that writes one byte more than a plan", job.PlanTooLarge, flood(1, 17), exit(0)),
		{Name: "command without memory that writes", Outcome: job.BadExport, Module: func() []byte {
			m := New()
			importWASI(m)
			m.Func("_start", nil, nil, I32Const(1), I32Const(0), I32Const(1), I32Const(0), Call(fdWrite), Drop(), Unreachable())
			return m.Bytes()
		}()},
	}
}

// broken are no modules.
func broken() (list []Guest) {
	bad := func(name string, b []byte) Guest { return Guest{Name: name, Outcome: job.BadModule, Module: b} }
	whole := Reactor(Parts{})
	section := func(id byte, body ...byte) []byte {
		return seq([]byte("\x00asm\x01\x00\x00\x00"), []byte{id}, U32(uint32(len(body))), body)
	}
	list = []Guest{
		bad("one byte", []byte{0}),
		bad("text", []byte("#!/bin/sh\nexit 0\n")),
		bad("an ELF file", []byte("\x7fELF\x02\x01\x01\x00")),
		bad("version 2", []byte("\x00asm\x02\x00\x00\x00")),
		bad("a component", []byte("\x00asm\x0d\x00\x01\x00")),
		bad("cut off in the last section", whole[:len(whole)-1]),
		bad("cut off in the middle", whole[:len(whole)/2]),
		bad("bytes after the last section", append(slices.Clone(whole), 0xff)),
		bad("section longer than the file", section(1)[:9]),
		bad("imports without number", section(2, 0xff, 0xff, 0xff, 0xff, 0x0f)),
		bad("a number of 6 bytes", section(2, 0x80, 0x80, 0x80, 0x80, 0x80, 0)),
		bad("a number of 33 bits", section(2, 0x80, 0x80, 0x80, 0x80, 0x10)),
		bad("a name that is not UTF-8", section(2, 1, 1, 0xff, 0, 0, 0)),
		bad("an import of an unknown kind", section(2, 1, 0, 0, 9)),
		bad("memories without number", section(5, 0xff, 0xff, 0xff, 0xff, 0x0f)),
		bad("shared memory", section(5, 1, 3, 1, 1)),
		bad("64-bit memory", section(5, 1, 4, 1)),
		bad("bytes after the last memory", section(5, 1, 0, 1, 0)),
		bad("a section twice", append(section(5, 1, 0, 1), 5, 3, 1, 0, 1)),
		bad("code without functions", section(10, 1, 2, 0, 0x0b)),
		bad("a body of the wrong type", Reactor(Parts{Run: []byte{0x42, 0}})),
		bad("an unknown instruction", Reactor(Parts{Run: []byte{0xff}})),
		bad("a start function that takes a parameter", Reactor(Parts{After: func(m *Builder) { m.Start(m.Func("", I32s(1), nil)) }})),
		bad("one export twice", Reactor(Parts{After: func(m *Builder) { m.Func("lola_run", I32s(2), I32s(1), I32Const(0)) }})),
		bad("an export of nothing", New().Export("lola_run", KindFunc, 9).Bytes()),
		bad("more types in one than there may be", section(1, seq([]byte{1, 0x4e}, U32(1<<18+1), slices.Repeat([]byte{0x60, 0, 0}, 1<<18+1))...)),
		bad("a type with too many parameters", section(1, seq([]byte{1, 0x60}, U32(1001), slices.Repeat([]byte{0x7f}, 1001), []byte{0})...)),
		bad("too many parameters in all types", many(1, 1100, seq([]byte{0x60}, U32(1000), slices.Repeat([]byte{0x7f}, 1000), []byte{0})...)),
		bad("too many elements", many(9, 1, seq([]byte{1, 0}, U32(1<<20+1), make([]byte, 1<<20+1))...)),
		bad("too many locals", many(10, 22, 6, 1, 0xd0, 0x86, 3, 0x7f, 0x0b)),
		bad("too many names", section(0, seq([]byte("\x04name\x01"), U32(3+2*(1<<20+1)), U32(1<<20+1), make([]byte, 2*(1<<20+1)))...)),
		bad("a table of references to a type", section(4, 1, 0x63, 0, 0, 1)),
		bad("a section of an unknown kind", section(14, 0)),
	}
	for name, body := range lies() {
		list = append(list, bad(Lie+name, section(body[0], body[1:]...)))
	}
	slices.SortFunc(list, func(a, b Guest) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Lie begins the names of the guests that declare a length for which there are no bytes.
const Lie = "a length lies: "

// lies returns sections, each with its id, that declare a length of 4 GiB or another for which there are no bytes.
func lies() map[string][]byte {
	const code = 10
	much := []byte{0xff, 0xff, 0xff, 0xff, 0x0f}
	lie := func(before ...byte) []byte { return seq(before, much) }
	then := func(list []byte, more ...byte) []byte { return append(list, more...) }
	return map[string][]byte{
		"name of a custom section":      lie(0),
		"a part of names":               lie(0, 4, 'n', 'a', 'm', 'e', 9),
		"name of the module":            lie(0, 4, 'n', 'a', 'm', 'e', 0, 5),
		"names of functions":            lie(0, 4, 'n', 'a', 'm', 'e', 1, 5),
		"name of a function":            lie(0, 4, 'n', 'a', 'm', 'e', 1, 7, 1, 0),
		"names of locals":               lie(0, 4, 'n', 'a', 'm', 'e', 2, 5),
		"names of the locals of one":    lie(0, 4, 'n', 'a', 'm', 'e', 2, 7, 1, 0),
		"name of a local":               lie(0, 4, 'n', 'a', 'm', 'e', 2, 9, 1, 0, 1, 0),
		"names beyond their part":       {0, 4, 'n', 'a', 'm', 'e', 1, 2, 1, 0, 1, 'a'},
		"types":                         lie(1),
		"types in one":                  lie(1, 1, 0x4e),
		"parameters":                    lie(1, 1, 0x60),
		"results":                       lie(1, 1, 0x60, 0),
		"results after a reference":     lie(1, 1, 0x60, 2, 0x64, 0x80, 0x80, 0, 0x63, 0x70),
		"imports":                       lie(2),
		"module of an import":           lie(2, 1),
		"name of an import":             lie(2, 1, 0),
		"functions":                     lie(3),
		"tables":                        lie(4),
		"globals":                       lie(6),
		"exports":                       lie(7),
		"name of an export":             lie(7, 1),
		"segments of elements":          lie(9),
		"elements, kind 0":              lie(9, 1, 0, 0x41, 0, 0x0b),
		"elements, kind 1":              lie(9, 1, 1, 0),
		"elements, kind 2":              lie(9, 1, 2, 0, 0x41, 0, 0x0b, 0),
		"elements, kind 3":              lie(9, 1, 3, 0),
		"elements, kind 4":              lie(9, 1, 4, 0x23, 0, 0x0b),
		"elements, kind 5":              lie(9, 1, 5, 0x70),
		"elements, kind 6":              lie(9, 1, 6, 0, 0x41, 0, 0x0b, 0x6f),
		"elements, kind 7":              lie(9, 1, 7, 0x63, 0x70),
		"elements after such of kind 5": lie(9, 2, 5, 0x70, 2, 0xd2, 0, 0x0b, 0xd0, 0x70, 0x0b, 1, 0),
		"bodies":                        lie(code),
		"a body":                        lie(code, 1),
		"a body beyond its section":     {code, 1, 3, 0, 0x0b},
		"declarations of locals":        lie(code, 1, 5),
		"locals":                        then(lie(code, 1, 8, 1), 0x7f, 0x0b),
		"locals of several kinds":       {code, 1, 12, 2, 0xff, 0xff, 0xff, 0xff, 7, 0x7f, 0xd0, 0x86, 3, 0x7e, 0x0b},
		"one local over what there may": {code, 1, 6, 1, 0xd1, 0x86, 3, 0x7f, 0x0b},
		"segments of data":              lie(11),
		"data, kind 0":                  lie(11, 1, 0, 0x41, 0, 0x0b),
		"data, kind 1":                  lie(11, 1, 1),
		"data, kind 2":                  lie(11, 1, 2, 0, 0x41, 0, 0x0b),
		"data after a number":           lie(11, 1, 0, 0x42, 0x80, 0x80, 0, 0x0b),
		"data after a fraction":         lie(11, 1, 0, 0x44, 0, 0, 0, 0, 0x0b, 0, 0, 0, 0x43, 0x0b, 0, 0, 0, 0x0b),
		"data after a vector":           lie(seq([]byte{11, 1, 0, 0xfd, 0x0c}, make([]byte, 16), []byte{0x0b})...),
		"the second data":               lie(11, 2, 1, 1, 0, 1),
	}
}

// Endless returns the guests that do not end by themselves, each in its own way.
func Endless() []Guest {
	spin := seq(Forever(), I32Const(0))
	return []Guest{
		{Name: "spins in lola_run", Case: "W05", Module: Spin()},
		{Name: "spins in a start function", Module: Reactor(Parts{Start: Forever()})},
		{Name: "spins in _initialize", Module: Reactor(Parts{Initialize: Forever()})},
		{Name: "spins in lola_abi_version", Module: Reactor(Parts{Version: spin})},
		{Name: "spins in lola_alloc", Module: Reactor(Parts{Alloc: spin})},
		{Name: "spins in lola_plan_len", Module: Reactor(Parts{Len: spin})},
		{Name: "spins in _start", Module: Command(nil, Forever())},
		{Name: "calls a tree without loops", Case: "W01", Module: Reactor(tree(62))},
		{Name: "reads descriptor 0 for ever", Case: "W04", Module: Command(nil, Forever(read(0, 64, 64), Drop()))},
		{Name: "reads descriptor 0 for ever in lola_run", Case: "W04", Module: Reactor(Parts{Run: seq(Forever(read(0, 64, 64), Drop()), I32Const(0))})},
		{Name: "writes descriptor 2 for ever", Case: "W05", Module: Reactor(Parts{Run: seq(Forever(write(2, 0, 65_000), Drop()), I32Const(0))})},
		{Name: "grows for ever", Case: "W05", Module: Reactor(Parts{MemoryMin: 1, MemoryMax: 65535, Run: seq(Forever(I32Const(1), Grow(), Drop()), I32Const(0))})},
	}
}
