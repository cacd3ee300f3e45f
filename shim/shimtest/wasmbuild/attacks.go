package wasmbuild

import (
	"slices"

	"github.com/lola-ext/lola/shim/job"
)

// Attack is a guest for which it matters what it costs and when it is gone, beside what comes of it.
type Attack struct {
	Guest
	Group   string        // what kind of attack it is
	Endless bool          // it does not end by itself: Outcome and Plan mean nothing
	Make    func() []byte // makes the module if Guest.Module is nil, as it is for modules of megabytes
	Memory  int64         // bytes of its memory ceiling; 0: the 16 MiB that [Guests] expect
}

// Bytes returns the module.
func (a Attack) Bytes() []byte {
	if a.Module == nil {
		return a.Make()
	}
	return a.Module
}

// Attacks returns every guest of this package, with a name of its own within its group. They expect what [Guests] expect.
func Attacks() (list []Attack) {
	add := func(group string, attacks []Attack) {
		for _, a := range attacks {
			a.Group = group
			list = append(list, a)
		}
	}
	guests := func(guests []Guest) (attacks []Attack) {
		for _, g := range guests {
			attacks = append(attacks, Attack{Guest: g})
		}
		return attacks
	}
	endless := guests(Endless())
	for i := range endless {
		endless[i].Endless = true
	}
	add("well-behaved", guests(good()))
	add("effects", slices.Concat(guests(effects()), pathCalls(), socketCalls(), nothings()))
	add("calls of WASI", wildCalls())
	add("pointers", slices.Concat(guests(pointers()), places()))
	add("exports", guests(exports()))
	add("ends at each point", slices.Concat(guests(ends()), recursions()))
	add("memory and tables", slices.Concat(guests(memories()), growths()))
	add("time", slices.Concat(endless, waits()))
	add("command form", slices.Concat(guests(commands()), moreCommands()))
	add("compiling", compilations())
	add("no modules", guests(broken()))
	return list
}

// nothings ask for what they must not find.
func nothings() []Attack {
	none := func(name, call string) Attack {
		return Attack{Guest: Guest{
			Name: name, Outcome: job.OK, Plan: EmptyPlan,
			Module: Reactor(Parts{
				Before: func(m *Builder) { importCall(m, call) },
				Run: seq(poke(64, -1), poke(68, -1), I32Const(64), I32Const(68), Call(5), If(Unreachable()),
					I32Const(64), Load(), If(Unreachable()), I32Const(68), Load(), If(Unreachable()), I32Const(0)),
			}),
		}}
	}
	return []Attack{none("no arguments", "args_sizes_get"), none("no environment", "environ_sizes_get")}
}

// places lie about where things are, and about who they are.
func places() []Attack {
	plan := func(name string, o job.Outcome, want []byte, p Parts) Attack {
		return Attack{Guest: Guest{Name: name, Outcome: o, Plan: want, Module: Reactor(p)}}
	}
	ok := func(name string, p Parts) Attack { return plan(name, job.OK, EmptyPlan, p) }
	spoilt := func(name string, p Parts) Attack { return plan(name, job.OK, nil, p) } // what comes is no plan
	count := func(first int32) []byte {                                               // counts at address 0 and gives the number
		return seq(I32Const(0), I32Const(0), Load(), I32Const(1), Add(), Store(), I32Const(0), Load(), I32Const(first), Add())
	}
	return []Attack{
		spoilt("the request lies over the plan", Parts{Alloc: I32Const(planAt)}),
		spoilt("the request lies over the end of the plan", Parts{Alloc: I32Const(planAt + 8)}),
		spoilt("the plan is the request", Parts{Ptr: I32Const(requestAt), Len: I32Const(40)}),
		ok("the request lies at address 1", Parts{Alloc: I32Const(1)}),
		ok("another place for the request each time", Parts{Alloc: count(requestAt)}),
		ok("another place for the plan each time", Parts{Ptr: count(planAt - 1)}),
		ok("another length each time", Parts{Len: seq(count(int32(len(EmptyPlan) - 1)))}),
		ok("another version each time", Parts{Version: count(0)}),
		plan("version -2147483648", job.ABIVersion, nil, Parts{Version: I32Const(-1 << 31)}),
		ok("memory moves while the plan is asked for", Parts{
			MemoryMin: 1, MemoryMax: 256, Len: seq(I32Const(255), Grow(), Drop(), I32Const(int32(len(EmptyPlan)))),
		}),
		plan("the allocator takes all and gives nothing", job.AllocFailed, nil, Parts{
			MemoryMin: 1, MemoryMax: 256, Alloc: seq(I32Const(255), Grow(), Drop(), I32Const(0)),
		}),
		plan("the allocator gives what it could not get", job.AllocFailed, nil, Parts{
			MemoryMin: 1, MemoryMax: 65535, Alloc: seq(I32Const(65534), Grow()),
		}),
		plan("the plan is all of memory", job.PlanTooLarge, nil, Parts{MemoryMin: 256, MemoryMax: 256, Ptr: I32Const(0), Len: I32Const(256 * page)}),
		spoilt("the plan is a megabyte of zeros", Parts{MemoryMin: 64, MemoryMax: 64, Ptr: I32Const(2 * page), Len: I32Const(1 << 20)}),
	}
}

// recursions use up the stack, which the engine grows as they go.
func recursions() []Attack {
	trap := func(name string, p Parts) Attack {
		return Attack{Guest: Guest{Name: name, Outcome: job.Trap, Module: Reactor(p)}}
	}
	call := seq(Call(5), I32Const(0))
	// Each local is written before the call and read after it, so that all of them have a place on the stack.
	self := func(locals uint32) func(m *Builder) {
		var before, after []byte
		for i := range locals {
			before = append(before, seq(I32Const(0), Load(), I32Const(int32(i)), Add(), LocalSet(i))...)
			after = append(after, seq(I32Const(0), LocalGet(i), Store())...)
		}
		return func(m *Builder) { m.FuncLocals("", nil, nil, locals, before, Call(5), after) }
	}
	var list []Attack
	for _, set := range []struct {
		where string
		p     Parts
	}{
		{"a start function", Parts{Start: Call(5)}},
		{"_initialize", Parts{Initialize: Call(5)}},
		{"lola_alloc", Parts{Alloc: call}},
		{"lola_plan_len", Parts{Len: call}},
	} {
		set.p.Before = self(0)
		list = append(list, trap("recursion without end in "+set.where, set.p))
	}
	return append(list,
		trap("recursion with 1,000 locals", Parts{Before: self(1000), Run: call}),
		trap("two functions that call each other through a table", Parts{
			Before: func(m *Builder) {
				m.Table(2, 2).Elements(0, 5, 6)
				m.Func("", nil, nil, I32Const(1), CallIndirect(5))
				m.Func("", nil, nil, I32Const(0), CallIndirect(5))
			},
			Run: call,
		}),
		trap("a call through a table of what is not there", Parts{
			Before: func(m *Builder) { m.Table(2, 2); m.Func("", nil, nil, I32Const(1), CallIndirect(5)) },
			Run:    call,
		}),
		trap("a call through a table beyond its end", Parts{
			Before: func(m *Builder) { m.Table(2, 2); m.Func("", nil, nil, I32Const(-1), CallIndirect(5)) },
			Run:    call,
		}),
		trap("a call through a table of another type", Parts{
			Before: func(m *Builder) { m.Table(1, 1).Elements(0, 0); m.Func("", nil, nil, I32Const(0), CallIndirect(5)) },
			Run:    call,
		}),
	)
}
