package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/internal/code"
	"github.com/lola-ext/lola/host/internal/memo"
	"github.com/lola-ext/lola/host/internal/runner"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/probe"
)

// keepsCode reports whether children may store code on this machine. On Linux it takes Landlock: a child that stores may make
// files, and nothing else keeps them to one folder. Elsewhere a child that compiles is no better confined than one that
// stores.
func keepsCode(r probe.Report) bool { return runtime.GOOS != "linux" || r.Has(policy.WallLandlock) }

// codeOf returns a module's code, which a child compiles if it is not there. nil: a child that runs it compiles it. The error
// is that of the module.
func (h *Host) codeOf(ctx context.Context, b *builtin) (*code.Code, error) {
	if !keepsCode(h.machine()) {
		return nil, nil
	}
	return h.codes.Use(ctx, code.Module{Name: b.Name, Digest: b.digest}, func(ctx context.Context, folder string) (string, int64, error) {
		entry, size, err := h.runner.Compile(ctx, h.moduleOf(b), folder)
		if err != nil && !isVerdict(err) {
			err = fmt.Errorf("%w: %w", code.ErrNone, err) // whoever runs it says what is wrong
		}
		return entry, size, err
	})
}

// isVerdict reports whether a run of a module that could not be compiled would end as its compiling did.
func isVerdict(err error) bool {
	var e *runner.Error
	return errors.As(err, &e) && e.Verdict()
}

// isStale reports whether a child could not use its code.
func isStale(err error) bool {
	var e *runner.Error
	return errors.As(err, &e) && e.Stale()
}

// question is a request as the memo knows it.
type question struct {
	ext *builtin
	key memo.Key
}

// question returns what a request is remembered by; nil if nothing is: it is switched off, this machine confines less than is
// required, or it cannot be told which program this is.
func (h *Host) question(ctx context.Context, b *builtin, req *abi.Request) *question {
	level := h.machine().Level
	if h.noMemo || h.required != "" && !level.AtLeast(h.required) {
		return nil
	}
	build, err := h.codes.Build(ctx)
	if err != nil {
		return nil
	}
	var encoded bytes.Buffer
	if err := (wire.Options{Limits: b.Tighten(h.limits)}).EncodeRequest(&encoded, req); err != nil {
		return nil // whoever asks is told
	}
	return &question{ext: b, key: memo.Key{
		Module: b.digest, Request: abi.DigestOf(encoded.Bytes()), ABI: abi.Version, Build: build, Level: string(level),
	}}
}

// recall returns what was answered to a question before. It was made at the level that this machine has, and is decoded under
// the limits of a run.
func (h *Host) recall(q *question, spool *wire.Spool) *runner.Reply {
	if q == nil {
		return nil
	}
	a, ok := h.memo.Get(q.key)
	if !ok {
		return nil
	}
	limits := q.ext.Tighten(h.limits)
	if int64(len(a.Plan)) > limits.Plan || int64(len(a.Diagnostics)) > limits.Diagnostics {
		return nil
	}
	p, err := wire.DecodePlan(bytes.NewReader(a.Plan), spool, wire.Options{Limits: limits, Size: int64(len(a.Plan))})
	if err != nil {
		return nil
	}
	return &runner.Reply{
		Plan: p, Diagnostics: a.Diagnostics, DiagnosticsTruncated: a.Truncated, Level: policy.Level(q.key.Level),
		Landlock: a.Landlock, Seccomp: a.Seccomp, Open: a.Open, GuestMemory: a.GuestMemory,
	}
}

// remember keeps an answer, at the level that the child had. A plan has one encoding, so it is the child's. That it is not
// kept is nobody's trouble.
func (h *Host) remember(q *question, reply *runner.Reply) {
	if q == nil {
		return
	}
	encoded := &upTo{left: memo.MaxAnswer}
	if err := (wire.Options{Limits: q.ext.Tighten(h.limits)}).EncodePlan(encoded, reply.Plan); err != nil {
		return
	}
	key := q.key
	key.Level = string(reply.Level)
	_ = h.memo.Put(key, memo.Answer{
		Plan: encoded.Bytes(), Diagnostics: reply.Diagnostics, Truncated: reply.DiagnosticsTruncated, Open: reply.Open,
		Landlock: reply.Landlock, Seccomp: reply.Seccomp, GuestMemory: reply.GuestMemory,
	})
}

// upTo takes so many bytes and no more.
type upTo struct {
	bytes.Buffer
	left int
}

var errMuch = errors.New("it is too much")

// Write implements io.Writer.
func (u *upTo) Write(b []byte) (int, error) {
	if u.left -= len(b); u.left < 0 {
		return 0, errMuch
	}
	return u.Buffer.Write(b)
}
