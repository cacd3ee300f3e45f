package wasmbuild

import (
	"fmt"
	"slices"

	"github.com/lola-ext/lola/shim/job"
)

// growths take what there is and touch it.
func growths() []Attack {
	const much = 256 << 20
	grow := func(pages []byte) []byte { return seq(pages, Grow(), []byte{0x22, 0}) } // local.tee 0
	// until repeats the body, which leaves a number, until that is -1.
	until := func(body ...[]byte) []byte {
		return seq([]byte{0x02, 0x40}, Forever(seq(body...), I32Const(-1), Equal(), []byte{0x0d, 1}), []byte{0x0b}) // block, br_if 1, end
	}
	touch := seq(I32Const(-page), LocalSet(0), []byte{0x03, 0x40}, // loop over all pages, from the first on
		LocalGet(0), I32Const(page), Add(), []byte{0x22, 0}, I32Const(1), Store8(),
		LocalGet(0), I32Const(16), []byte{0x76}, I32Const(1), Add(), []byte{0x3f, 0, 0x49, 0x0d, 0, 0x0b}) // shr_u, memory.size, lt_u, br_if
	ok := func(name string, p Parts) Attack {
		p.Run = seq(p.Run, restorePlan(), I32Const(0))
		return Attack{Guest: Guest{Name: name, Case: "W05", Outcome: job.OK, Plan: EmptyPlan, Module: Reactor(p)}, Memory: much}
	}
	growTables := func(name string, tables int, by int32) Attack {
		a := ok(name, Parts{
			Before: func(m *Builder) {
				for range tables {
					m.Table(1, 0)
				}
			},
			Run: func() (body []byte) {
				for t := range tables {
					body = append(body, until(NullFunc(), I32Const(by), GrowTable(uint32(t)))...)
				}
				return body
			}(),
		})
		a.Memory = 0
		return a
	}
	full := Attack{Guest: Guest{Name: "a table of a million entries, all of them filled", Outcome: job.OK, Plan: EmptyPlan}, Make: func() []byte {
		return Reactor(Parts{Before: func(m *Builder) {
			m.Table(1<<20, 1<<20).Elements(0, slices.Repeat([]uint32{1}, 1<<20)...)
		}})
	}}
	return []Attack{
		ok("256 MiB page by page, each touched", Parts{MemoryMin: 1, MemoryMax: 65536, Run: seq(until(grow(I32Const(1))), touch)}),
		ok("256 MiB in steps that double, each touched", Parts{
			MemoryMin: 1, MemoryMax: 65536, Run: seq(until(grow([]byte{0x3f, 0})), until(grow(I32Const(1))), touch),
		}),
		ok("256 MiB at once, each page touched", Parts{MemoryMin: 1, MemoryMax: 65536, Run: seq(grow(I32Const(4095)), Drop(), touch)}),
		ok("begins with 256 MiB and touches each page", Parts{MemoryMin: 4096, MemoryMax: 4096, Run: touch}),
		growTables("a table that grows one by one until it cannot", 1, 1),
		growTables("16 tables that grow until they cannot", 16, 1000),
		full,
	}
}

// waits wait for what does not come, or comes at once.
func waits() []Attack {
	const year = 365 * 24 * 3600 * 1_000_000_000 // nanoseconds
	guest := func(name string, o job.Outcome, body []byte, names ...string) Attack {
		a := Attack{Guest: Guest{Name: name, Outcome: o, Module: Reactor(Parts{
			Before: func(m *Builder) {
				for _, n := range names {
					importCall(m, n)
				}
			},
			Run: seq(body, I32Const(0)),
		})}}
		if o == "" {
			a.Endless = true
		} else {
			a.Plan = EmptyPlan
		}
		return a
	}
	// A subscription of 48 bytes at 64: to the monotonic clock for a year, or to reading descriptor 0.
	sleep := seq(poke(72, 0), poke(80, 1), I32Const(88), I64Const(year), []byte{0x37, 3, 0}, poke(104, 0), // i64.store
		I32Const(64), I32Const(128), I32Const(1), I32Const(32), Call(5))
	poll := seq(poke(72, 1), poke(80, 0), I32Const(64), I32Const(128), I32Const(1), I32Const(32), Call(5))
	// waitFor asks the clock at 64 until so many nanoseconds have gone by.
	clock := func(at int32) []byte { return seq(I32Const(1), I64Const(1), I32Const(at), Call(5), If(Unreachable())) }
	i64 := func(at int32) []byte { return seq(I32Const(at), []byte{0x29, 3, 0}) }
	waitFor := func(d int64) []byte {
		return seq(clock(64), []byte{0x03, 0x40}, clock(72), i64(72), i64(64), []byte{0x7d}, I64Const(d), []byte{0x54, 0x0d, 0, 0x0b}) // sub, lt_u, br_if
	}
	draw := seq(I32Const(0), I32Const(page), Call(5), If(Unreachable()))
	spins := func(name string, p Parts) Attack {
		return Attack{Guest: Guest{Name: name, Module: Reactor(p)}, Endless: true}
	}
	return []Attack{
		guest("sleeps for a year, which takes no time", job.OK, seq(sleep, If(Unreachable())), "poll_oneoff"),
		guest("waits for an hour of the clock, which steps when it is asked", job.OK, waitFor(year/365/24), "clock_time_get"),
		guest("asks for 1 GiB of random numbers at once", job.OK, seq(I32Const(0), I32Const(1<<30), Call(5), Zero(), If(Unreachable())), "random_get"),
		guest("draws 128 MiB of random numbers in pieces", job.OK, seq(
			I32Const(1<<11), LocalSet(0), []byte{0x03, 0x40}, draw, LocalGet(0), I32Const(-1), Add(), []byte{0x22, 0, 0x0d, 0, 0x0b}, restorePlan(),
		), "random_get"),
		guest("sleeps for a year again and again", "", Forever(sleep, Drop()), "poll_oneoff"),
		guest("polls descriptor 0 for ever", "", Forever(poll, Drop()), "poll_oneoff"),
		guest("waits for a century of the clock", "", waitFor(100*year), "clock_time_get"),
		guest("yields for ever", "", Forever(Call(5), Drop()), "sched_yield"),
		guest("draws random numbers for ever", "", Forever(draw), "random_get"),
		guest("writes 512 MiB in 8,191 pieces by one call, for ever", "", seq(
			// All memory but its end is pieces, each of which is all of memory.
			I32Const(4), LocalSet(0), []byte{0x03, 0x40}, LocalGet(0), I32Const(page), Store(),
			LocalGet(0), I32Const(8), Add(), []byte{0x22, 0}, I32Const(page-8), []byte{0x49, 0x0d, 0, 0x0b}, // lt_u, br_if
			Forever(I32Const(2), I32Const(0), I32Const(page/8-1), I32Const(page-4), Call(5), Drop()),
		), "fd_write"),
		spins("spins in lola_plan_ptr", Parts{Ptr: seq(Forever(), I32Const(0))}),
		spins("spins after a status, where its text is asked for", Parts{Run: I32Const(1), Len: seq(Forever(), I32Const(0))}),
		spins("recursion that returns, without end", Parts{
			Before: func(m *Builder) {
				// Down 10,000 calls and up again.
				m.Func("", I32s(1), nil, LocalGet(0), If(LocalGet(0), I32Const(-1), Add(), Call(5)))
			},
			Run: seq(Forever(I32Const(10_000), Call(5)), I32Const(0)),
		}),
	}
}

// moreCommands are in command form.
func moreCommands() []Attack {
	plan := seq(write(1, planAt, int32(len(EmptyPlan))), Drop())
	guest := func(name string, o job.Outcome, want []byte, body ...[]byte) Attack {
		return Attack{Guest: Guest{Name: name, Outcome: o, Plan: want, Module: Command(EmptyPlan, body...)}}
	}
	endless := func(name string, body ...[]byte) Attack {
		return Attack{Guest: Guest{Name: name, Module: Command(EmptyPlan, body...)}, Endless: true}
	}
	var pieces []byte
	for i := range int32(len(EmptyPlan)) {
		pieces = append(pieces, seq(write(1, planAt+i, 1), Drop())...)
	}
	return []Attack{
		guest("command that writes 1 GB to descriptor 2 and then a plan", job.OK, EmptyPlan, flood(2, 16_000), plan),
		guest("command that writes its plan byte by byte", job.OK, EmptyPlan, pieces),
		guest("command that writes two plans", job.OK, nil, plan, plan),
		guest("command that writes half a plan", job.OK, nil, write(1, planAt, 6), Drop()),
		guest("command that exits 255", job.Exit, nil, plan, exit(255)),
		guest("command that writes from elsewhere", job.EmptyPlan, nil, write(1, -4, 4), Drop()),
		guest("command that recurses without end", job.Trap, nil, Call(5)),
		endless("command that writes a plan and spins", plan, Forever()),
		endless("command that writes a plan and diagnostics without end", plan, Forever(write(2, 0, 65_000), Drop())),
		endless("command that reads a request that is over", Forever(read(0, 0, 65_000), Drop())),
	}
}

// compilations are modules that are much work before any of their code runs.
func compilations() []Attack {
	module := func(name string, o job.Outcome, before func(*Builder)) Attack {
		a := Attack{Guest: Guest{Name: name, Outcome: o}, Make: func() []byte { return Reactor(Parts{Before: before}) }}
		switch o {
		case job.OK:
			a.Plan = EmptyPlan
		case "":
			a.Endless = true // it would take tens of seconds, or gigabytes
		}
		return a
	}
	one := func(n int, piece ...[]byte) func(*Builder) {
		return func(m *Builder) { m.Repeat(1, []uint32{4}, slices.Repeat(seq(piece...), n)) }
	}
	sum := seq(LocalGet(0), LocalGet(1), Add(), []byte{0x22, 0}, LocalGet(2), []byte{0x6c, 0x21, 1})
	memory := seq(LocalGet(0), LocalGet(0), Load(), LocalGet(1), Add(), Store())
	deep := func(n int, open []byte) func(*Builder) {
		return func(m *Builder) { m.Repeat(1, nil, slices.Repeat(open, n), slices.Repeat([]byte{0x0b}, n)) }
	}
	return []Attack{
		module("as many empty functions as there may be", job.OK, func(m *Builder) { m.Repeat(1<<18-5, nil) }),
		module("one function more than there may be", job.BadModule, func(m *Builder) { m.Repeat(1<<18-4, nil) }),
		module("a million locals, 50,000 in each function", job.OK, func(m *Builder) { m.Repeat(20, []uint32{50_000}) }),
		module("a function of 100,000 sums", job.OK, one(100_000, sum)),
		module("a function of 4 MB of sums", job.OK, one(400_000, sum)),
		module("a function of 100,000 stores", job.OK, one(100_000, memory)),
		module("a function of 20 MB of stores", "", one(2_000_000, memory)),
		module("a function of 200,000 calls", job.OK, one(200_000, Call(6), Drop())),
		module("blocks within blocks, 100,000 deep", "", deep(100_000, []byte{0x02, 0x40})),
		module("loops within loops, 20,000 deep", "", deep(20_000, []byte{0x03, 0x40})),
		module("conditions within conditions, 20,000 deep", "", deep(20_000, seq(I32Const(1), []byte{0x04, 0x40}))),
		module("a jump to a million places", "", func(m *Builder) {
			m.Repeat(1, nil, I32Const(1), []byte{0x0e}, U32(1<<20), make([]byte, 1<<20+1))
		}),
		module("20 functions of 1,000 jumps to 1,000 places", "", func(m *Builder) {
			m.Repeat(20, nil, slices.Repeat(seq([]byte{0x02, 0x40}, I32Const(1), []byte{0x0e}, U32(1000), make([]byte, 1001), []byte{0x0b}), 1000))
		}),
		module("1,000 parameters passed on 100 times", job.OK, func(m *Builder) {
			m.Func("", I32s(1000), I32s(1000), func() (body []byte) {
				for i := range uint32(1000) {
					body = append(body, LocalGet(i)...)
				}
				return body
			}())
			m.Repeat(1, nil, slices.Repeat(I32Const(1), 1000), slices.Repeat(Call(5), 100), slices.Repeat(Drop(), 1000))
		}),
		module("a quarter of a million pieces of data", job.OK, func(m *Builder) {
			for range 1<<18 - 1 {
				m.Data(0, nil)
			}
		}),
		module("a quarter of a million exports", job.OK, func(m *Builder) {
			for i := range 1<<18 - 10 {
				m.Export(fmt.Sprint("x", i), KindFunc, 0)
			}
		}),
	}
}
