package host

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/internal/code"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/shim/policy"
)

// children are those of one command: one for each extension, whatever it is asked and how often. Extensions do not share one,
// even if they are the same module under two manifests. One that was asked the same before is not started.
type children struct {
	host  *Host
	open  map[*builtin]*runner.Session
	bare  map[*builtin]bool // they compile: their code could not be used, twice
	codes map[codeFor]*code.Code
	notes []string // what the host has to say about them
}

// codeFor is who shares code within a command: extensions that are one module, where children can only read it; else nobody.
type codeFor struct {
	digest abi.Digest
	ext    *builtin
}

func (h *Host) children() *children {
	return &children{host: h, open: map[*builtin]*runner.Session{}, bare: map[*builtin]bool{}, codes: map[codeFor]*code.Code{}}
}

// ask has an extension answer a request.
func (c *children) ask(ctx context.Context, b *builtin, req *abi.Request, spool *wire.Spool) (*runner.Reply, error) {
	q := c.host.question(ctx, b, req)
	if reply := c.host.recall(q, spool); reply != nil {
		return reply, nil
	}
	for tries := 0; ; tries++ {
		reply, err := c.askChild(ctx, b, req, spool)
		switch {
		case err == nil:
			c.host.remember(q, reply)
			return reply, nil
		case !isStale(err) || c.bare[b]:
			return nil, err
		}
		c.notes = append(c.notes, fmt.Sprintf("the compiled code of %q could not be used and was dropped: %v", b.Name, err))
		if derr := c.drop(ctx, b); derr != nil || tries > 0 {
			c.bare[b] = true
		}
	}
}

// askChild asks a child, which is started if there is none.
func (c *children) askChild(ctx context.Context, b *builtin, req *abi.Request, spool *wire.Spool) (*runner.Reply, error) {
	s := c.open[b]
	if s == nil {
		m := c.host.moduleOf(b)
		if !c.bare[b] {
			kept, err := c.code(ctx, b)
			if err != nil {
				return nil, confinementError(err)
			}
			if kept != nil {
				m.Code = kept.Folder
			}
		}
		var err error
		if s, err = c.host.runner.Open(m); err != nil {
			return nil, err
		}
		c.open[b] = s
	}
	reply, err := s.Ask(ctx, req, spool)
	return reply, confinementError(err)
}

func (c *children) codeFor(b *builtin) codeFor {
	if c.host.machine().Has(policy.WallLandlock) {
		return codeFor{digest: b.digest}
	}
	return codeFor{ext: b}
}

// code returns what a child loads; nil: nothing.
func (c *children) code(ctx context.Context, b *builtin) (*code.Code, error) {
	who := c.codeFor(b)
	if kept := c.codes[who]; kept != nil {
		return kept, nil
	}
	kept, err := c.host.codeOf(ctx, b)
	if err != nil || kept == nil {
		return nil, err
	}
	c.codes[who] = kept
	c.notes = append(c.notes, kept.Notes...)
	return kept, nil
}

// drop forgets the code of an extension, whose child is gone.
func (c *children) drop(ctx context.Context, b *builtin) error {
	delete(c.open, b)
	kept := c.codes[c.codeFor(b)]
	if kept == nil {
		return nil
	}
	delete(c.codes, c.codeFor(b))
	kept.Close()
	return kept.Drop(ctx)
}

// close ends them. The error is that of the first that did not end as it should.
func (c *children) close() (err error) {
	for _, s := range c.open {
		if serr := s.Close(); err == nil {
			err = serr
		}
	}
	for _, kept := range c.codes {
		kept.Close()
	}
	return err
}

// moduleOf is what a child runs for an extension.
func (h *Host) moduleOf(b *builtin) runner.Module {
	return runner.Module{Name: b.Name, Bytes: b.artifact, Digest: b.digest, Limits: b.Tighten(h.limits)}
}

// Warm is an extension that is kept ready: children that are started, confined and have an instance of it, each of which
// answers one request and is replaced. It is for programs that live long and ask often. Nothing is remembered. Each child that
// waits may hold as much memory as a guest may have ([Options].Limits). It may be used concurrently.
type Warm struct {
	host *Host
	ext  *builtin
	n    int

	mu   sync.Mutex
	pool *runner.Pool // guarded by mu
	code *code.Code   // guarded by mu; of pool; nil: its children compile
}

// Warm keeps n children, 1 to 64, of an extension waiting. As many requests are answered at once. The caller closes it, before
// the host.
func (h *Host) Warm(name string, n int) (*Warm, error) {
	b, err := h.find(name)
	if err != nil {
		return nil, err
	}
	w := &Warm{host: h, ext: b, n: n}
	if err := w.start(context.Background()); err != nil {
		return nil, err
	}
	return w, nil
}

// start starts the children. Many share the code, so it is for where they can only read it.
//
// Precondition: the caller holds mu, or nobody else knows w.
func (w *Warm) start(ctx context.Context) error {
	m := w.host.moduleOf(w.ext)
	w.code = nil
	if w.host.machine().Has(policy.WallLandlock) {
		kept, err := w.host.codeOf(ctx, w.ext)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err == nil && kept != nil { // else Ask tells
			w.code, m.Code = kept, kept.Folder
		}
	}
	pool, err := w.host.runner.Pool(m, w.n)
	if err != nil && w.code != nil {
		w.code.Close()
	}
	w.pool = pool
	return err
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
	w.mu.Lock()
	pool := w.pool
	w.mu.Unlock()
	reply, err := pool.Ask(ctx, &req, nil)
	if isStale(err) { // the code went while children were waiting, or is damaged
		if pool, err = w.renew(ctx, pool); err == nil {
			reply, err = pool.Ask(ctx, &req, nil)
		}
	}
	if err != nil {
		return nil, confinementError(err)
	}
	return reply.Plan, nil
}

// renew replaces a pool whose code cannot be used, unless somebody did.
func (w *Warm) renew(ctx context.Context, was *runner.Pool) (*runner.Pool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pool != was {
		return w.pool, nil
	}
	if w.code != nil {
		if err := w.code.Drop(ctx); err != nil {
			return nil, err
		}
		w.code.Close()
	}
	if err := w.start(ctx); err != nil {
		w.pool = was
		return nil, err
	}
	go was.Close() // who asks it still is answered
	return w.pool, nil
}

// Close ends the children, after what they are asked.
func (w *Warm) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.pool.Close()
	if w.code != nil {
		w.code.Close()
	}
	return err
}
