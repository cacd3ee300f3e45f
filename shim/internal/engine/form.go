package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/shim/job"
)

// prepareReactor instantiates a module in reactor form and asks for its ABI version, which it returns also beside the
// failure that it is another. A module that has _initialize gets it called before: what Go builds cannot answer earlier.
func (g *guest) prepareReactor(ctx context.Context) (version int64, err error) {
	if err := g.instantiate(ctx, nil, g.cfg.Diagnostics); err != nil {
		return 0, err
	}
	if g.mod.ExportedFunction(initializeExport.name) != nil {
		if _, err := g.call(ctx, initializeExport.name); err != nil {
			return 0, err
		}
	}
	v, err := g.call(ctx, "lola_abi_version")
	if err == nil && v != abi.Version {
		err = fail(job.ABIVersion, "it speaks version %d of the ABI, want %d", v, abi.Version)
	}
	return int64(v), err
}

// runReactor gives the request to a module in reactor form, which is prepared, and returns its plan, which lies in its memory.
func (g *guest) runReactor(ctx context.Context, request []byte) ([]byte, error) {
	size := uint64(len(request))
	if size > uint64(g.cfg.Memory) {
		return nil, fail(job.AllocFailed, "the request has %d bytes, its memory at most %d", size, g.cfg.Memory)
	}
	ptr, err := g.call(ctx, "lola_alloc", size)
	if err != nil {
		return nil, err
	}
	if ptr == 0 {
		return nil, fail(job.AllocFailed, "lola_alloc gave nothing for a request of %d bytes", size)
	}
	room, ok := g.view(ptr, uint32(size))
	if !ok {
		return nil, fail(job.AllocFailed, "lola_alloc gave the address %d for %d bytes, its memory has %d", ptr, size, g.memorySize())
	}
	copy(room, request)

	status, err := g.call(ctx, "lola_run", uint64(ptr), size)
	if err != nil {
		return nil, err
	}
	if status != 0 {
		return nil, fail(job.Status, "%s", g.lastWords(ctx, status))
	}
	ptr, err = g.call(ctx, "lola_plan_ptr")
	if err != nil {
		return nil, err
	}
	length, err := g.call(ctx, "lola_plan_len")
	if err != nil {
		return nil, err
	}
	if length == 0 {
		return nil, fail(job.EmptyPlan, "it answered no bytes at all")
	}
	plan, ok := g.view(ptr, length)
	if !ok {
		return nil, fail(job.BadPlanPointer, "it put a plan of %d bytes at address %d, its memory has %d", length, ptr, g.memorySize())
	}
	if int64(length) > g.cfg.Plan {
		return nil, fail(job.PlanTooLarge, "its plan has %d bytes, the limit is %d", length, g.cfg.Plan)
	}
	return plan, nil
}

// view returns n bytes of the guest's memory from ptr on, without a copy, if all of them are there. The sum is taken in 64
// bits, so it cannot wrap.
func (g *guest) view(ptr, n uint32) ([]byte, bool) {
	memory := g.mod.Memory()
	if uint64(ptr)+uint64(n) > uint64(memory.Size()) {
		return nil, false
	}
	return memory.Read(ptr, n)
}

// lastWords returns what a guest says about a status other than 0: the text where its plan would be, if there is any.
func (g *guest) lastWords(ctx context.Context, status uint32) string {
	ptr, err := g.call(ctx, "lola_plan_ptr")
	if err == nil {
		var n uint32
		if n, err = g.call(ctx, "lola_plan_len"); err == nil && n > 0 {
			if text, ok := g.view(ptr, n); ok {
				// One byte over the bound, so that the cut shows.
				return strings.ToValidUTF8(string(text[:min(n, job.MaxText+1)]), "\uFFFD")
			}
		}
	}
	return fmt.Sprintf("it returned status %d and no text", status)
}

// runCommand runs a module in command form: request on descriptor 0, plan on descriptor 1.
func (g *guest) runCommand(ctx context.Context, request []byte) ([]byte, error) {
	plan := &planWriter{limit: g.cfg.Plan}
	err := g.instantiate(ctx, bytes.NewReader(request), plan)
	if err == nil {
		_, cerr := g.mod.ExportedFunction(startExport.name).Call(ctx)
		var exit *sys.ExitError
		if cerr != nil && !(errors.As(cerr, &exit) && exit.ExitCode() == 0) {
			err = g.ended(startExport.name, cerr)
		}
	}
	switch {
	case plan.over:
		return nil, fail(job.PlanTooLarge, "it wrote more than %d bytes of plan, which is the limit", g.cfg.Plan)
	case err != nil:
		return nil, err
	case plan.buf.Len() == 0:
		return nil, fail(job.EmptyPlan, "it wrote no bytes to its standard output")
	}
	return plan.buf.Bytes(), nil
}

// planWriter keeps a plan up to its limit, and ends the guest that writes more.
type planWriter struct {
	buf   bytes.Buffer
	limit int64
	over  bool
}

// errPlanOver goes through the guest as a panic, which wazero turns into the end of the call: an error returned here would
// only be a number to a guest, which could go on writing.
var errPlanOver = errors.New("the plan is over its limit")

// Write implements io.Writer.
func (p *planWriter) Write(b []byte) (int, error) {
	if int64(len(b)) > p.limit-int64(p.buf.Len()) {
		p.over = true
		panic(errPlanOver)
	}
	return p.buf.Write(b)
}
