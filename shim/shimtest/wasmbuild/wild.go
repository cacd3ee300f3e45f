package wasmbuild

import (
	"slices"

	"github.com/lola-ext/lola/shim/job"
)

// calls are all functions of WASI preview 1 with their parameters, "i" for I32 and "l" for I64. All but proc_exit return an
// errno.
var calls = []call{
	{"args_get", "ii"}, {"args_sizes_get", "ii"}, {"environ_get", "ii"}, {"environ_sizes_get", "ii"},
	{"clock_res_get", "ii"}, {"clock_time_get", "ili"},
	{"fd_advise", "illi"}, {"fd_allocate", "ill"}, {"fd_close", "i"}, {"fd_datasync", "i"}, {"fd_fdstat_get", "ii"},
	{"fd_fdstat_set_flags", "ii"}, {"fd_fdstat_set_rights", "ill"}, {"fd_filestat_get", "ii"}, {"fd_filestat_set_size", "il"},
	{"fd_filestat_set_times", "illi"}, {"fd_pread", "iiili"}, {"fd_prestat_get", "ii"}, {"fd_prestat_dir_name", "iii"},
	{"fd_pwrite", "iiili"}, {"fd_read", "iiii"}, {"fd_readdir", "iiili"}, {"fd_renumber", "ii"}, {"fd_seek", "ilii"},
	{"fd_sync", "i"}, {"fd_tell", "ii"}, {"fd_write", "iiii"},
	{"path_create_directory", "iii"}, {"path_filestat_get", "iiiii"}, {"path_filestat_set_times", "iiiilli"},
	{"path_link", "iiiiiii"}, {"path_open", "iiiiillii"}, {"path_readlink", "iiiiii"}, {"path_remove_directory", "iii"},
	{"path_rename", "iiiiii"}, {"path_symlink", "iiiii"}, {"path_unlink_file", "iii"},
	{"poll_oneoff", "iiii"}, {"proc_exit", "i"}, {"proc_raise", "i"}, {"sched_yield", ""}, {"random_get", "ii"},
	{"sock_accept", "iii"}, {"sock_recv", "iiiiii"}, {"sock_send", "iiiii"}, {"sock_shutdown", "ii"},
}

type call struct{ name, params string }

// importCall imports a function of WASI by its name.
func importCall(m *Builder, name string) {
	var params []ValType
	for _, p := range callOf(name).params {
		if p == 'l' {
			params = append(params, I64)
		} else {
			params = append(params, I32)
		}
	}
	results := I32s(1)
	if name == "proc_exit" {
		results = nil
	}
	m.Import(WASI, name, params, results)
}

func callOf(name string) call {
	i := slices.IndexFunc(calls, func(c call) bool { return c.name == name })
	return calls[i]
}

// wild are the arguments that a call gets: descriptors, pointers at and around the end of memory, counts whose product
// with the size of an entry (8, 16, 24, 32, 48 bytes) wraps 32 bits.
var wild = []int32{
	0, 1, 2, 3, 4, 7, 8, 64, 1000, 4096, 8192, 60_000,
	page - 48, page - 8, page - 4, page - 1, page, page + 1,
	1<<31 - 1, -1 << 31, -1, -4, -8, -16, -65536,
	1 << 29, 1<<29 - 1, 1<<29 + 1, 1 << 28, 1<<28 + 1, 1 << 27, 0x0555_5555, 0x0555_5556, 0x0aaa_aaab,
}

// rounds is how many times a guest makes a call with wild arguments.
const rounds = 10_000

// wildly is a guest that makes the calls in turn, so many rounds, each argument by chance from wild, and answers a plan if
// it is still there after that.
func wildly(names []string, rounds int32) []byte {
	const first = 5 // imports that every reactor here has
	pick := first + uint32(len(names))
	// The parameters of lola_run are the random number and what is left of the rounds: a call may write over all of memory.
	next := seq(LocalGet(0), I32Const(1664525), []byte{0x6c}, I32Const(1013904223), Add(), []byte{0x22, 0}, Call(pick)) // mul, local.tee
	var turn []byte
	for i, name := range names {
		for _, p := range callOf(name).params {
			turn = append(turn, next...)
			if p == 'l' { // as the high half, and another one as the low half
				turn = append(turn, seq([]byte{0xac}, I64Const(32), []byte{0x86}, next, []byte{0xad, 0x84})...) // extend, shl, extend, or
			}
		}
		turn = append(turn, Call(first+uint32(i))...)
		if name != "proc_exit" {
			turn = append(turn, Drop()...)
		}
	}
	return Reactor(Parts{
		Before: func(m *Builder) {
			for _, n := range names {
				importCall(m, n)
			}
			// pick(random) returns the entry of wild that the number chooses. It is code for the same reason.
			body := seq(LocalGet(0), I32Const(16), []byte{0x76}, I32Const(int32(len(wild))), []byte{0x70}, LocalSet(0)) // shr_u, rem_u
			for i, v := range wild {
				body = append(body, seq(LocalGet(0), I32Const(int32(i)), Equal(), If(I32Const(v), Return()))...)
			}
			m.Func("", I32s(1), I32s(1), body, I32Const(0))
		},
		Run: seq(
			I32Const(rounds), LocalSet(1),
			[]byte{0x03, 0x40}, turn, // loop
			LocalGet(1), I32Const(-1), Add(), []byte{0x22, 1}, []byte{0x0d, 0, 0x0b}, // local.tee, br_if 0, end
			restorePlan(), I32Const(0),
		),
	})
}

// restorePlan writes EmptyPlan where it was.
func restorePlan() (body []byte) {
	plan := append(slices.Clone(EmptyPlan), 0, 0, 0)
	for i := 0; i+4 <= len(plan); i += 4 {
		v := int32(plan[i]) | int32(plan[i+1])<<8 | int32(plan[i+2])<<16 | int32(plan[i+3])<<24
		body = append(body, poke(planAt+int32(i), v)...)
	}
	return body
}

// wildCalls are guests of which each makes one call, and one that makes all, with wild arguments.
func wildCalls() (list []Attack) {
	var all []string
	for _, c := range calls {
		g := Guest{Name: c.name + " with wild arguments", Module: wildly([]string{c.name}, rounds), Outcome: job.OK, Plan: EmptyPlan}
		switch c.name {
		case "proc_exit":
			g.Outcome = job.Exit
		case "poll_oneoff", "fd_filestat_set_times":
			// wazero 1.12.0 panics, and recovers: where the size of all subscriptions wraps, and at a standard descriptor.
			g.Outcome = job.Internal
		default:
			all = append(all, c.name)
		}
		list = append(list, Attack{Guest: g})
	}
	return append(list, Attack{Guest: Guest{Name: "all of them in turn with wild arguments", Module: wildly(all, rounds/10), Outcome: job.OK, Plan: EmptyPlan}})
}

// forms are paths in every form in which they could lead somewhere.
var forms = []string{
	"etc/passwd", "/etc/passwd", "//etc/passwd", "../../../../../../etc/passwd", ".", "..", "/", "", "a", "a/../../..", "./.",
	"/proc/self/fd/0", "/proc/self/fd/3", "/proc/self/exe", "/dev/null", "/dev/stdin", "etc\x00/passwd", "etc/passwd\x00", "\x00", "\xff",
	`\\?\C:\windows\win.ini`, `C:\windows\win.ini`, "C:", "a:stream", "CON", "etc/passwd/", string(slices.Repeat([]byte("a"), 4096)),
	string(slices.Repeat([]byte("../"), 1366)),
}

// fds are descriptors that could be there: none, the standard ones, those opened beforehand, and the highest.
var fds = []int32{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 63, 64, 1<<31 - 1, -1 << 31}

// pathCalls are guests of which each makes one call with every form of a path at every descriptor. They trap if it
// succeeds once.
func pathCalls() (list []Attack) {
	const at = 8192
	var places [][2]int32
	var data []byte
	for _, f := range forms {
		places = append(places, [2]int32{at + int32(len(data)), int32(len(f))})
		data = append(data, f...)
	}
	zero := seq(I32Const(0))
	long := seq(I64Const(0))
	arguments := map[string]func(fd int32, path []byte) []byte{
		"path_create_directory": func(fd int32, path []byte) []byte { return seq(I32Const(fd), path) },
		"path_filestat_get":     func(fd int32, path []byte) []byte { return seq(I32Const(fd), I32Const(1), path, I32Const(64)) },
		"path_filestat_set_times": func(fd int32, path []byte) []byte {
			return seq(I32Const(fd), I32Const(1), path, long, long, I32Const(10))
		},
		"path_link": func(fd int32, path []byte) []byte { return seq(I32Const(fd), zero, path, I32Const(fd), path) },
		"path_open": func(fd int32, path []byte) []byte {
			return seq(I32Const(fd), I32Const(1), path, I32Const(9), I64Const(-1), I64Const(-1), zero, I32Const(64)) // create, truncate
		},
		"path_readlink": func(fd int32, path []byte) []byte {
			return seq(I32Const(fd), path, I32Const(64), I32Const(64), I32Const(32))
		},
		"path_remove_directory": func(fd int32, path []byte) []byte { return seq(I32Const(fd), path) },
		"path_rename":           func(fd int32, path []byte) []byte { return seq(I32Const(fd), path, I32Const(fd), path) },
		"path_symlink":          func(fd int32, path []byte) []byte { return seq(path, I32Const(fd), path) },
		"path_unlink_file":      func(fd int32, path []byte) []byte { return seq(I32Const(fd), path) },
	}
	for _, c := range calls {
		args, ok := arguments[c.name]
		if !ok {
			continue
		}
		var body []byte
		for _, fd := range fds {
			for _, p := range places {
				body = append(body, seq(args(fd, seq(I32Const(p[0]), I32Const(p[1]))), Call(5), Zero(), If(Unreachable()))...)
			}
		}
		list = append(list, Attack{Guest: Guest{
			Name: c.name + " in every form", Case: "W05", Outcome: job.OK, Plan: EmptyPlan,
			Module: Reactor(Parts{
				Before: func(m *Builder) { importCall(m, c.name) },
				Run:    seq(body, I32Const(0)),
				After:  func(m *Builder) { m.Data(at, data) },
			}),
		}})
	}
	// Of the standard descriptors wazero says that they were opened beforehand, which gives them no path.
	beyond := slices.DeleteFunc(slices.Clone(fds), func(fd int32) bool { return fd >= 0 && fd <= 2 })
	return append(list,
		everywhere("nothing was opened beforehand", "fd_prestat_get", beyond, func(fd int32) []byte { return seq(I32Const(fd), I32Const(64)) }),
		everywhere("no name of what was opened beforehand", "fd_prestat_dir_name", fds, func(fd int32) []byte { return seq(I32Const(fd), I32Const(64), I32Const(1)) }),
		everywhere("no folder is listed", "fd_readdir", fds, func(fd int32) []byte {
			return seq(I32Const(fd), I32Const(64), I32Const(512), I64Const(0), I32Const(32))
		}),
		everywhere("no descriptor is moved", "fd_renumber", fds, func(fd int32) []byte { return seq(I32Const(fd), I32Const(1<<31-1)) }),
	)
}

// socketCalls are guests that use every descriptor as a socket.
func socketCalls() []Attack {
	return []Attack{
		everywhere("sock_accept everywhere", "sock_accept", fds, func(fd int32) []byte { return seq(I32Const(fd), I32Const(0), I32Const(64)) }),
		everywhere("sock_recv everywhere", "sock_recv", fds, func(fd int32) []byte {
			return seq(I32Const(fd), I32Const(64), I32Const(1), I32Const(0), I32Const(32), I32Const(36))
		}),
		everywhere("sock_send everywhere", "sock_send", fds, func(fd int32) []byte {
			return seq(I32Const(fd), I32Const(64), I32Const(1), I32Const(0), I32Const(32))
		}),
		everywhere("sock_shutdown everywhere", "sock_shutdown", fds, func(fd int32) []byte { return seq(I32Const(fd), I32Const(3)) }),
	}
}

// everywhere is a guest that makes one call at each of the descriptors, and traps if it succeeds once.
func everywhere(name, call string, fds []int32, args func(fd int32) []byte) Attack {
	var body []byte
	for _, fd := range fds {
		body = append(body, seq(args(fd), Call(5), Zero(), If(Unreachable()))...)
	}
	return Attack{Guest: Guest{
		Name: name, Case: "W05", Outcome: job.OK, Plan: EmptyPlan,
		Module: Reactor(Parts{Before: func(m *Builder) { importCall(m, call) }, Run: seq(body, I32Const(0))}),
	}}
}
