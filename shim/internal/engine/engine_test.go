package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/lola-ext/lola/shim/job"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// The bounds that wasmbuild's guests expect.
var config = Config{Memory: 256 * pageSize, Plan: 1 << 20}

var request = []byte("\xa1\x63abi\x01 a request, as far as these guests care")

// run compiles and runs a module once. Closing the answer closes the module.
func run(t *testing.T, module, request []byte, cfg Config) (Answer, error) {
	cfg.Digest = sha256.Sum256(module)
	m, err := Compile(t.Context(), module, cfg)
	if err != nil {
		return Answer{}, err
	}
	answer, err := m.Run(t.Context(), request)
	end := answer.Close
	answer.close = func() { end(); m.Close() }
	return answer, err
}

// inspect compiles and describes a module.
func inspect(t *testing.T, module []byte) (job.Info, error) {
	m, err := Compile(t.Context(), module, config)
	if err != nil {
		return job.Info{}, err
	}
	defer m.Close()
	return m.Inspect(t.Context()), nil
}

func TestGuests(t *testing.T) {
	for _, g := range wasmbuild.Guests() {
		name := g.Name
		if g.Case != "" {
			name = g.Case + ": " + name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := run(t, g.Module, request, config)
			defer answer.Close()
			if g.Outcome == job.OK {
				want := g.Plan
				if want == nil {
					want = request
				}
				if err != nil || !bytes.Equal(answer.Plan, want) {
					t.Fatalf("got %.100q, %v\nwant %.100q", answer.Plan, err, want)
				}
				if answer.Memory < pageSize || answer.Memory > config.Memory {
					t.Errorf("it had %d bytes of memory", answer.Memory)
				}
				return
			}
			var f *Failure
			if !errors.As(err, &f) || f.Outcome != g.Outcome || f.Text == "" {
				t.Fatalf("got %v, want %s", err, g.Outcome)
			}
			if answer.Plan != nil {
				t.Errorf("it has a plan beside %v", err)
			}
		})
	}
}

// failure runs a module and wants a failure.
func failure(t *testing.T, module []byte, cfg Config, o job.Outcome) *Failure {
	t.Helper()
	answer, err := run(t, module, request, cfg)
	answer.Close()
	var f *Failure
	if !errors.As(err, &f) || f.Outcome != o {
		t.Fatalf("got %v, want %s", err, o)
	}
	return f
}

func TestFailuresSayWhat(t *testing.T) {
	text := func(name string) string {
		for _, g := range wasmbuild.Guests() {
			if g.Name == name {
				return failure(t, g.Module, config, g.Outcome).Text
			}
		}
		t.Fatalf("no guest %q", name)
		return ""
	}
	for name, want := range map[string]string{
		"status with text":                   "no such assistant: \x1b[31mred\x1b[0m\n\u202esecond line",
		"status with text that is not UTF-8": "\uFFFD",
		"status without text":                "it returned status 7 and no text",
		"status with text of 4 GiB":          "it returned status 7 and no text",
		"status with text that wraps":        "it returned status 7 and no text",
		"exit 0 in lola_run":                 "it exited with status 0 in lola_run",
		"exit -1 in a start function":        "it exited with status 4294967295 in its start",
		"unreachable in lola_run":            "lola_run: wasm error: unreachable, with 65536 bytes of memory of 16777216",
		"plan wraps 32 bits":                 "it put a plan of 32 bytes at address 4294967280, its memory has 65536",
		"allocator gives nothing":            "lola_alloc gave nothing for a request of 45 bytes",
		"imports a global":                   `it imports the global "fd_write" from "wasi_snapshot_preview1"`,
		"imports WASI with another type":     `it imports "fd_close" as (i32, i32) -> (i32), which is (i32) -> (i32)`,
		"lola_run takes one parameter":       "its lola_run is (i32) -> (i32), want (i32, i32) -> (i32)",
		"lola_run is an import":              "its lola_run is an import that it exports again",
		"version 2":                          "it speaks version 2 of the ABI, want 1",
		"begins with 4 GiB":                  "it begins with 4294967296 bytes of memory and may have 16777216",
	} {
		if got := text(name); got != want {
			t.Errorf("%s: got  %q\nwant %q", name, got, want)
		}
	}
	// A long text comes one byte over the bound, so that whoever cuts it sees that it was longer.
	if got := text("status with much text"); len(got) < job.MaxText+1 || len(got) > job.MaxText+64 {
		t.Errorf("got %d bytes of text", len(got))
	}
}

func TestDiagnosticsGetWhatTheGuestWritesAndTheStackOfATrap(t *testing.T) {
	var out bytes.Buffer
	cfg := config
	cfg.Diagnostics = &out
	failure(t, wasmbuild.Reactor(wasmbuild.Parts{Run: wasmbuild.Unreachable()}), cfg, job.Trap)
	if !strings.Contains(out.String(), "wasm stack trace") {
		t.Errorf("got %q", out.String())
	}
}

func TestMemoryCeilingThatIsNotOffered(t *testing.T) {
	module := wasmbuild.Reactor(wasmbuild.Parts{})
	for _, memory := range []int64{-1, 0, pageSize - 1, 65536 * pageSize, 1 << 40} {
		cfg := config
		cfg.Memory = memory
		failure(t, module, cfg, job.Internal)
	}
}

// TestW03LastWordOfMemory: at the highest ceiling that is offered, the last word of memory and the one after it are read
// without a panic of the engine.
func TestW03LastWordOfMemory(t *testing.T) {
	cfg := config
	cfg.Memory = maxPages * pageSize
	load := func(address int32) []byte { return append(wasmbuild.I32Const(address), wasmbuild.Load()...) }
	module := wasmbuild.Reactor(wasmbuild.Parts{
		MemoryMin: maxPages, MemoryMax: 65536,
		Alloc: bytes.Join([][]byte{load(-pageSize - 4), wasmbuild.Drop(), wasmbuild.I32Const(4096)}, nil),
		Run:   load(-pageSize - 3),
	})
	f := failure(t, module, cfg, job.Trap)
	if want := "lola_run: wasm error: out of bounds memory access, with 4294901760 bytes of memory of 4294901760"; f.Text != want {
		t.Errorf("got  %q\nwant %q", f.Text, want)
	}
}

func TestModuleOverItsBound(t *testing.T) {
	failure(t, make([]byte, job.MaxModule+1), config, job.BadModule)
}

func TestRequestOverTheCeiling(t *testing.T) {
	cfg := config
	cfg.Memory = pageSize
	answer, err := run(t, wasmbuild.Echo(), make([]byte, 2*pageSize), cfg)
	answer.Close()
	var f *Failure
	if !errors.As(err, &f) || f.Outcome != job.AllocFailed {
		t.Errorf("got %v", err)
	}
}

func TestLargeRequestAndPlan(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), 1<<20)
	answer, err := run(t, wasmbuild.Echo(), big, Config{Memory: 64 << 20, Plan: int64(len(big))})
	defer answer.Close()
	if err != nil || !bytes.Equal(answer.Plan, big) {
		t.Errorf("got %d bytes, %v", len(answer.Plan), err)
	}
}

// TestCompilingRunsNothing: none of the guest's code runs before Run, and none at all of a module that is refused.
func TestCompilingRunsNothing(t *testing.T) {
	for _, p := range []wasmbuild.Parts{{Start: wasmbuild.Forever()}, {Initialize: wasmbuild.Forever()}} {
		m, err := Compile(t.Context(), wasmbuild.Reactor(p), config)
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		p.Omit = []string{"lola_run"}
		failure(t, wasmbuild.Reactor(p), config, job.BadExport)
	}
}

// TestSameEachTime: clock and random numbers are part of no plan.
func TestSameEachTime(t *testing.T) {
	m := wasmbuild.New()
	random := m.Import(wasmbuild.WASI, "random_get", wasmbuild.I32s(2), wasmbuild.I32s(1))
	clock := m.Import(wasmbuild.WASI, "clock_time_get", []wasmbuild.ValType{wasmbuild.I32, wasmbuild.I64, wasmbuild.I32}, wasmbuild.I32s(1))
	write := m.Import(wasmbuild.WASI, "fd_write", wasmbuild.I32s(4), wasmbuild.I32s(1))
	c := wasmbuild.I32Const
	m.Memory(1, 1)
	var body [][]byte
	for id := range int32(2) {
		body = append(body, c(id), []byte{0x42, 1}, c(96+8*id), wasmbuild.Call(clock), wasmbuild.Drop())
	}
	body = append(body,
		c(64), c(32), wasmbuild.Call(random), wasmbuild.Drop(),
		c(16), c(64), wasmbuild.Store(), c(20), c(48), wasmbuild.Store(),
		c(1), c(16), c(1), c(24), wasmbuild.Call(write), wasmbuild.Drop())
	m.Func("_start", nil, nil, body...)
	var first []byte
	for range 3 {
		answer, err := run(t, m.Bytes(), nil, config)
		if err != nil || len(answer.Plan) != 48 {
			t.Fatalf("got %d bytes, %v", len(answer.Plan), err)
		}
		if first == nil {
			first = bytes.Clone(answer.Plan)
		}
		if !bytes.Equal(answer.Plan, first) {
			t.Errorf("got %x\nthen %x", first, answer.Plan)
		}
		answer.Close()
	}
}

func TestInspect(t *testing.T) {
	for _, g := range wasmbuild.Guests() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			info, err := inspect(t, g.Module)
			var f *Failure
			switch {
			case g.Outcome == job.BadModule || g.Outcome == job.Memory:
				if !errors.As(err, &f) || f.Outcome != g.Outcome {
					t.Errorf("got %+v, %v", info, err)
				}
			case err != nil:
				t.Error(err)
			case info.Problem != job.OK && info.Problem != g.Outcome:
				t.Errorf("got %+v, want %s", info, g.Outcome)
			case info.Problem == job.OK && (g.Outcome == job.ForbiddenImport || g.Outcome == job.BadExport || g.Outcome == job.ABIVersion):
				t.Errorf("got %+v, want %s", info, g.Outcome)
			}
		})
	}
	info, err := inspect(t, wasmbuild.Reactor(wasmbuild.Parts{}))
	if err != nil || info.Form != job.FormReactor || info.ABI != 1 || info.MemoryMin != pageSize || info.MemoryMax != 16*pageSize ||
		info.Problem != job.OK || len(info.Imports) != 5 || len(info.Exports) != 6 {
		t.Errorf("got %+v, %v", info, err)
	}
	if got := info.Exports[3]; got != (job.Name{Kind: "func", Name: "lola_plan_ptr", Type: "() -> (i32)"}) {
		t.Errorf("got %+v", got)
	}
	if got := info.Imports[2]; got != (job.Name{Kind: "func", Module: wasmbuild.WASI, Name: "fd_write", Type: "(i32, i32, i32, i32) -> (i32)"}) {
		t.Errorf("got %+v", got)
	}
	info, err = inspect(t, wasmbuild.Reactor(wasmbuild.Parts{Version: wasmbuild.I32Const(9)}))
	if err != nil || info.ABI != 9 || info.Problem != job.ABIVersion {
		t.Errorf("got %+v, %v", info, err)
	}
	info, err = inspect(t, wasmbuild.Command(nil))
	if err != nil || info.Form != job.FormCommand || info.ABI != 0 || info.Problem != job.OK {
		t.Errorf("got %+v, %v", info, err)
	}
}

// No length that lies gets as far as wazero, which would allocate before it looks, and no number that is too high.
func TestLengthsThatLie(t *testing.T) {
	n := 0
	for _, g := range wasmbuild.Guests() {
		if strings.HasPrefix(g.Name, wasmbuild.Lie) || strings.HasPrefix(g.Name, "too many ") {
			n++
			if _, err := readLayout(g.Module); err == nil {
				t.Errorf("%s: it was taken", g.Name)
			}
		}
	}
	if n < 40 {
		t.Errorf("got %d lies", n)
	}
}

// What the walk over the sections has to read, wazero takes.
func TestSections(t *testing.T) {
	if info, err := inspect(t, everything()); err != nil || info.Problem != job.OK {
		t.Errorf("got %+v, %v", info, err)
	}
}

// everything is a module with all kinds of segments, constants, types and names.
func everything() (module []byte) {
	module = append(module, "\x00asm\x01\x00\x00\x00"...)
	section := func(id byte, body string) {
		module = append(append(module, id, byte(len(body))), body...)
	}
	const zero = "\x41\x80\x80\x80\x80\x00\x0b" // i32.const 0 in five bytes
	section(0, "\x05hello, whatever")
	section(1, "\x03\x60\x00\x00\x4e\x01\x60\x00\x00\x60\x05\x64\x70\x7f\x7b\x70\x6f\x02\x7e\x7c")
	section(3, "\x01\x00")
	section(4, "\x02\x70\x00\x09\x6f\x00\x09")
	section(5, "\x01\x00\x01")
	section(6, "\x06\x7e\x01\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x0b\x7d\x00\x43\x0b\x0b\x0b\x0b\x0b\x7c\x00\x44\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"+
		"\x7b\x00\xfd\x0c\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x70\x00\xd0\x70\x0b\x6f\x00\xd0\x6f\x0b")
	section(7, "\x02\x06_start\x00\x00\x06memory\x02\x00")
	section(9, "\x08\x00"+zero+"\x01\x00\x01\x00\x01\x00\x02\x00"+zero+"\x00\x01\x00\x03\x00\x01\x00"+
		"\x04"+zero+"\x01\xd2\x00\x0b\x05\x70\x02\xd0\x70\x0b\xd2\x00\x0b\x06\x01"+zero+"\x6f\x01\xd0\x6f\x0b\x07\x6f\x00")
	section(12, "\x03")
	section(10, "\x01\x0a\x03\x02\x7f\x00\x7b\x03\x63\x70\x01\x0b")
	section(11, "\x03\x00"+zero+"\x01a\x01\x01b\x02\x00"+zero+"\x01c")
	section(0, "\x04name\x00\x02\x01m\x01\x04\x01\x00\x01f\x02\x06\x01\x00\x01\x00\x01l\x09\x01?")
	return module
}

// regressions are what FuzzModules found, numbered as in fuzz/regress, from which this package cannot be seen.
var regressions = []struct{ id, module, broke string }{
	{
		"20_custom_name_of_4_GiB", "\x00asm\x01\x00\x00\x00\x00\x05\xff\xff\xff\xff\x0f",
		"wazero allocated the name that a custom section declares before it looked for its bytes, and the process died of it",
	},
	{
		"21_call_of_a_function_without_type", "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x03\x02\x00\x05\x0a\x09\x02\x04\x00\x10\x01\x0b\x02\x00\x0b",
		"wazero panicked: it looked for the type of the function that is called before it checked that there is such a type",
	},
}

func TestRegressions(t *testing.T) {
	for _, r := range regressions {
		t.Run(r.id, func(t *testing.T) {
			if _, err := readLayout([]byte(r.module)); err == nil {
				t.Errorf("it was taken; what broke: %s", r.broke)
			}
			failure(t, []byte(r.module), config, job.BadModule)
		})
	}
}

// FuzzModules: whatever the bytes are, compiling them gives an answer and no panic. (Their code is not run: it need not end.) What
// is compiled has a skeleton that says the same of it.
func FuzzModules(f *testing.F) {
	for _, g := range wasmbuild.Guests() {
		if len(g.Module) < 1<<12 {
			f.Add(g.Module)
		}
	}
	f.Add(everything())
	for _, r := range regressions {
		f.Add([]byte(r.module))
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		m, err := Compile(t.Context(), module, config)
		if err == nil {
			defer m.Close()
			bones, err := Compile(t.Context(), m.layout.skeleton(module, sha256.Sum256(module)), config)
			if err != nil {
				t.Fatalf("its skeleton: %v", err)
			}
			defer bones.Close()
			if got, want := bones.describe(), m.describe(); !reflect.DeepEqual(got, want) || !sameFailure(bones.refused, m.refused) {
				t.Errorf("its skeleton: got %+v, %v, want %+v, %v", got, bones.refused, want, m.refused)
			}
			return
		}
		var fail *Failure
		if !errors.As(err, &fail) || fail.Outcome == job.Internal {
			t.Errorf("got %v", err)
		}
	})
}
