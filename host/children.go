package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/internal/runner"
)

// children are those of one command: one for each extension, whatever it is asked and how often. Extensions do not share one,
// even if they are the same module under two manifests.
type children struct {
	host *Host
	open map[*builtin]*runner.Session
}

func (h *Host) children() *children { return &children{host: h, open: map[*builtin]*runner.Session{}} }

// ask has an extension answer a request.
func (c *children) ask(ctx context.Context, b *builtin, req *abi.Request, spool *wire.Spool) (*runner.Reply, error) {
	s := c.open[b]
	if s == nil {
		var err error
		if s, err = c.host.runner.Open(c.host.moduleOf(b)); err != nil {
			return nil, err
		}
		c.open[b] = s
	}
	reply, err := s.Ask(ctx, req, spool)
	return reply, confinementError(err)
}

// close ends them. The error is that of the first that did not end as it should.
func (c *children) close() (err error) {
	for _, s := range c.open {
		if serr := s.Close(); err == nil {
			err = serr
		}
	}
	return err
}

// moduleOf is what a child runs for an extension.
func (h *Host) moduleOf(b *builtin) runner.Module {
	return runner.Module{Name: b.Name, Bytes: b.artifact, Limits: b.Tighten(h.limits)}
}

// Warm is an extension that is kept ready: children that are started, confined and have its code compiled, each of which
// answers one request and is replaced. It is for programs that live long and ask often. It may be used concurrently.
type Warm struct {
	ext  *builtin
	pool *runner.Pool
}

// Warm keeps n children, 1 to 64, of an extension waiting. As many requests are answered at once. The caller closes it, before
// the host.
func (h *Host) Warm(name string, n int) (*Warm, error) {
	b, err := h.find(name)
	if err != nil {
		return nil, err
	}
	pool, err := h.runner.Pool(h.moduleOf(b), n)
	if err != nil {
		return nil, err
	}
	return &Warm{ext: b, pool: pool}, nil
}

// Ask has the extension answer a request, whose Extension is filled in. What it proposes was not judged and is not applied:
// [Host.Install] and the like do that. Contents are held in memory. The deadline is that of a run.
//
// Errors: *[ExtensionError].
func (w *Warm) Ask(ctx context.Context, req abi.Request) (*abi.Plan, error) {
	if !slices.Contains(w.ext.Actions, req.Action) {
		return nil, fmt.Errorf("extension %q has no action %q (it has: %s)", w.ext.Name, req.Action, names(w.ext.Actions))
	}
	req.Extension = abi.Identity{Name: w.ext.Name, Version: w.ext.Version}
	reply, err := w.pool.Ask(ctx, &req, nil)
	if err != nil {
		return nil, confinementError(err)
	}
	return reply.Plan, nil
}

// Close ends the children, after what they are asked.
func (w *Warm) Close() error { return w.pool.Close() }
