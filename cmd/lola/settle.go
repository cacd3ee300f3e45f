package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lola-ext/lola/cmd/lola/preview"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim/policy"
)

// settleOptions say what becomes of a change that was judged.
type settleOptions struct {
	dryRun, json, full, detailed bool
	out                          string // save the plan here
	consent                      host.Consent
}

// settle shows a change, asks what must be asked and makes it.
func (a *app) settle(ctx context.Context, p *host.Pending, o settleOptions) error {
	view := view(p.Report(), o.dryRun)
	if o.out != "" {
		return a.save(ctx, p, view, o)
	}
	if o.dryRun {
		if err := a.show(ctx, p, view, o); err != nil {
			return err
		}
		return a.end(view, o)
	}
	if !o.json {
		a.list(view)
	}
	err := a.apply(ctx, p, view, o)
	if err != nil {
		return err
	}
	for _, n := range p.Applied().Notes {
		fmt.Fprintf(a.stderr, "lola: note: %s\n", escape(n))
	}
	if o.json {
		if err := view.WriteJSON(a.stdout); err != nil {
			return fmt.Errorf("printing the report of a change that is made: %w", err)
		}
	} else {
		fmt.Fprintln(a.stdout, view.Summary(true))
		if id := p.Applied().ID; id != "" && !p.Applied().Undo && view.Action != "undo" { // an undo is never kept: what is before it can be undone next
			fmt.Fprintln(a.stderr, "lola: note: what it replaced is too large to be kept, so it cannot be undone")
		}
	}
	return a.end(view, o)
}

// end is the exit code of a change that went well.
func (a *app) end(view *preview.Preview, o settleOptions) error {
	if o.detailed && view.Changed {
		return errChanged
	}
	return nil
}

// apply makes the change. Where consent is missing and a person can be asked, the whole preview is shown, then the question
// put.
func (a *app) apply(ctx context.Context, p *host.Pending, view *preview.Preview, o settleOptions) error {
	shown := false
	for {
		err := p.Apply(ctx, o.consent)
		var (
			trust    *host.TrustError
			foreign  *host.ForeignError
			question string
		)
		switch {
		case errors.As(err, &trust):
			question = fmt.Sprintf("Let module %s of this digest make that run by itself, now and whenever it is installed again?", trust.Trust.Name)
		case errors.As(err, &foreign):
			question = fmt.Sprintf("Overwrite, move or remove %d path(s) that lola did not install?", len(foreign.Paths))
			if foreign.Stranger {
				question = fmt.Sprintf("Overwrite, move or remove %d path(s) for a plan that was not made here?", len(foreign.Paths))
			}
		}
		if question == "" || !a.terminal() {
			return err
		}
		if !shown {
			shown = true
			if serr := a.show(ctx, p, view, settleOptions{full: o.full}); serr != nil {
				return serr
			}
		}
		yes, asked := a.ask(ctx, question)
		if asked != nil {
			return asked
		}
		if !yes {
			return hinted{err, "nothing was changed"}
		}
		if trust != nil {
			o.consent.Trust, o.consent.Remember = append(o.consent.Trust, trust.Trust), true
		} else {
			o.consent.Foreign = true
		}
	}
}

// show prints the whole preview, a page at a time at a terminal.
func (a *app) show(ctx context.Context, p *host.Pending, view *preview.Preview, o settleOptions) error {
	if o.json {
		return view.WriteJSON(a.stdout)
	}
	options := preview.Options{Full: o.full}
	in, isFile := a.stdin.(*os.File)
	out, isOut := a.stdout.(*os.File)
	if !isFile || !isOut || !a.terminal() {
		return view.Write(a.stdout, p, options)
	}
	options.Color = os.Getenv("NO_COLOR") == ""
	options.Width = width(out)
	return preview.Page(ctx, in, out, func(w io.Writer) error { return view.Write(w, p, options) })
}

// ask puts a yes-or-no question at the terminal; anything but yes is no. The error says that the user interrupted it: reading
// goes on in the background then, for it cannot be ended, and the process ends soon.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		lines <- line
	}()
	select {
	case line := <-lines:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return false, fmt.Errorf("asking for consent: %w", context.Cause(ctx))
	}
}

// view is a report as the preview shows it.
func view(r host.Report, dryRun bool) *preview.Preview {
	v := &preview.Preview{
		Action: r.Action, Module: r.Module, Version: r.Version, Digest: r.Digest, Project: r.Project, Scope: string(r.Scope),
		Targets: r.Targets, Level: string(r.Level), Stranger: r.Stranger, Notices: r.Notices, DryRun: dryRun, Changed: r.Changed,
	}
	for _, c := range r.Confined {
		v.Confined = append(v.Confined, preview.Confined{
			Extension: c.Extension, Level: string(c.Level), Full: c.Level == policy.Full, Landlock: c.Landlock, Seccomp: c.Seccomp, Words: c.Words(), Open: c.Open,
		})
	}
	for _, x := range r.Runs {
		v.Runs = append(v.Runs, preview.Run(x))
	}
	for _, s := range r.Stays {
		v.Stays = append(v.Stays, preview.Mark(s))
	}
	for _, s := range r.Skipped {
		v.Skipped = append(v.Skipped, preview.Mark(s))
	}
	for _, m := range r.Messages {
		v.Messages = append(v.Messages, preview.Message{Extension: m.Extension, Level: string(m.Level), Text: m.Text})
	}
	for _, d := range r.Diagnostics {
		v.Diagnostics = append(v.Diagnostics, preview.Diagnostic(d))
	}
	for _, f := range r.Files {
		c := preview.Change{
			Action: string(f.Action), Path: f.Path, To: f.To, Dir: f.Dir, Entries: f.Entries, Mode: f.Mode, OldMode: f.OldMode,
			Size: f.Size, OldSize: f.OldSize, Digest: f.Digest, OldDigest: f.OldDigest, Owners: f.Targets,
			Guarded: marks(f.Guarded), Foreign: marks(f.Foreign), OldSecret: f.OldSecret, NewSecret: f.NewSecret, URL: f.URL, Ref: f.Ref,
		}
		for _, e := range f.Edits {
			c.Edits = append(c.Edits, preview.Edit{Kind: e.Kind, At: e.At, ID: e.ID, New: text(e.New), Old: text(e.Old), ShowNew: !f.NewSecret})
		}
		v.Changes = append(v.Changes, c)
	}
	return v
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func marks(all []host.Mark) []preview.Mark {
	var list []preview.Mark
	for _, m := range all {
		list = append(list, preview.Mark(m))
	}
	return list
}
