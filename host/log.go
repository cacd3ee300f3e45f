package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/plan"
)

// Log is the record of what this host did and refused.
func (h *Host) Log() *audit.Log { return h.log }

// entry begins a record about the change.
func (p *Pending) entry(event audit.Event, id string) audit.Record {
	rec := audit.Record{Event: event, Transaction: id, Action: p.meta.Action, Scope: string(p.report.Scope)}
	if p.root != nil {
		identity, _ := p.root.Identity()
		rec.Root = &audit.Root{Path: p.root.Path(), Identity: identity}
	}
	if p.meta.Module != "" {
		rec.Module = &audit.Module{Name: p.meta.Module, Version: p.meta.Version}
		if d, err := abi.ParseDigest(p.report.Digest); err == nil {
			rec.Module.Digest = audit.Digest(d)
		}
	}
	for _, t := range p.targets {
		level := "" // it did not run: the plan was saved
		for _, c := range p.report.Confined {
			if c.Extension == t.Name {
				level = string(c.Level)
			}
		}
		rec.Extensions = append(rec.Extensions, audit.Extension{
			Name: t.Name, Version: t.Version, Digest: audit.Digest(t.digest), Tier: 1, Level: level, Grants: t.grant(p.report.Scope).Strings(),
		})
	}
	return rec
}

// logPlan writes down what is about to be done. Nothing is done if it cannot.
func (p *Pending) logPlan(ctx context.Context, id string, given []consent) error {
	rec := p.entry(audit.EventPlan, id)
	for _, c := range given {
		rec.Consents = append(rec.Consents, audit.Consent{Kind: c.kind, What: c.what, How: c.how})
	}
	for _, f := range p.report.Files {
		if f.Action == plan.Keep {
			continue
		}
		in := audit.Intent{Op: string(f.Action), Path: f.Path, To: f.To, Mode: f.Mode, Extension: strings.Join(f.Targets, ",")}
		if d, err := abi.ParseDigest(f.Digest); err == nil {
			in.Digest = audit.Digest(d)
		}
		rec.Intents = append(rec.Intents, in)
	}
	return p.write(ctx, rec)
}

// logOutcome writes down what became of it.
func (p *Pending) logOutcome(ctx context.Context, id string, err error) error {
	event := audit.EventApplied
	if p.undoing != nil {
		event = audit.EventUndone
	}
	rec := p.entry(event, id)
	if err != nil {
		rec.Event, rec.Outcome = audit.EventRolledBack, outcome(err)
	}
	return p.write(context.WithoutCancel(ctx), rec)
}

// outcome is the class of an error.
func outcome(err error) string {
	switch {
	case errors.As(err, new(*apply.StaleError)):
		return "stale"
	case errors.As(err, new(*apply.RollbackError)):
		return "incomplete"
	case errors.As(err, new(*apply.UnfinishedError)):
		return "unfinished"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "failed"
}

// logRefused writes down why a change is refused.
func (p *Pending) logRefused(ctx context.Context, err error) error {
	rec := p.entry(audit.EventRefused, "")
	var (
		refused *plan.RefusedError
		owned   *OwnedError
		foreign *ForeignError
		trust   *TrustError
		stale   *OutdatedError
		level   *ConfinementError
	)
	switch {
	case errors.As(err, &level):
		rec.Outcome = "confinement"
		for i := range rec.Extensions {
			if rec.Extensions[i].Name == level.Extension {
				rec.Extensions[i].Level = string(level.Level)
			}
		}
	case errors.As(err, &refused):
		rec.Outcome = "rules"
		for _, f := range refused.Findings {
			rec.Findings = append(rec.Findings, audit.Finding{Rule: f.Rule, Extension: f.Owner, Path: f.Path})
		}
	case errors.As(err, &owned):
		rec.Outcome = "owned"
	case errors.As(err, &foreign):
		rec.Outcome = "foreign"
	case errors.As(err, &trust):
		rec.Outcome = "trust"
	case errors.As(err, &stale):
		rec.Outcome = "stale"
	default:
		return nil // no judgement
	}
	return p.write(context.WithoutCancel(ctx), rec)
}

func (h *Host) logRecovered(ctx context.Context, r Recovered) error {
	rec := audit.Record{Event: audit.EventRecovered, Transaction: r.ID, Action: "recover", Root: &audit.Root{Path: r.Project}, Outcome: "taken-back"}
	switch {
	case r.Problem != "":
		rec.Outcome = "incomplete"
	case r.Finished:
		rec.Outcome = "finished"
	}
	if _, err := h.log.Append(context.WithoutCancel(ctx), rec); err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	return nil
}

func (p *Pending) write(ctx context.Context, rec audit.Record) error {
	if _, err := p.host.log.Append(ctx, rec); err != nil {
		return fmt.Errorf("writing to the log %q, without which nothing is done: %w", p.host.log.Path(), err)
	}
	return nil
}
