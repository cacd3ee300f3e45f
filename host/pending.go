package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// lockWait bounds how long a commit waits for another one's: longer than a usual one takes, short enough to notice one that
// is stuck. A commit of ten thousand files can take as long; the error then says who is waited for.
const lockWait = 30 * time.Second

// Consent is what the user agreed to. The zero value agrees to nothing beyond what the report shows as the module's own.
type Consent struct {
	// Foreign agrees to overwrite and remove the files that the report marks as foreign.
	Foreign bool
}

// Pending is a change that was proposed and judged and has not happened. Closing it after [Pending.Apply] is right; closing
// it before forgets it. It is for one goroutine.
type Pending struct {
	host    *Host
	root    *root.Root
	checked plan.Checked
	before  *home.Installed // the record that the change was judged under
	after   *home.Installed // the record once it is made; its Dirs are filled in by what happens
	meta    meta
	report  Report
	closers []func() error
	applied bool
}

// Report says what the change would do.
func (p *Pending) Report() Report { return p.report }

// Close releases what the change holds.
func (p *Pending) Close() error {
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		errs = append(errs, c())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// Apply makes the change, all of it or nothing. A change that changes nothing touches nothing.
// Errors: *[ForeignError] without the consent that the report asks for; else as of host/internal/apply, with the project as
// it was before unless the error says otherwise.
func (p *Pending) Apply(ctx context.Context, c Consent) error {
	if p.applied {
		return errors.New("applying a change: it was applied already")
	}
	if !p.report.Changed {
		p.applied = true
		return nil
	}
	unlock, err := p.host.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := p.host.home.Installed(p.root)
	if err != nil {
		return err
	}
	if !now.Equal(p.before) {
		return fmt.Errorf("applying the change: another command changed what is installed in %q meanwhile; run this one again", p.root.Path())
	}
	// Only now: what another command installed meanwhile looks foreign to the record that this change was judged under.
	if foreign := p.report.foreign(); len(foreign) > 0 && !c.Foreign {
		return &ForeignError{Paths: foreign}
	}
	m := p.meta
	m.Before, m.After = p.before.Modules[m.Module], p.after.Modules[m.Module]
	raw, err := m.encode()
	if err != nil {
		return err
	}
	_, err = apply.Run(ctx, p.checked, apply.Options{
		State: p.host.home.Root(), Limits: p.host.limits, Prune: p.prune(), Meta: raw, Finish: p.host.finish,
	})
	if err != nil {
		return err
	}
	p.applied = true
	return nil
}

// prune returns the directories that may go when they are empty: those of a change after which some path is owned no more,
// be it that the change removes the file or that it was gone already.
func (p *Pending) prune() []string {
	after := p.after.Paths()
	for path := range p.before.Paths() {
		if _, ok := after[path]; !ok {
			return p.before.Dirs
		}
	}
	if len(p.after.Modules) < len(p.before.Modules) {
		return p.before.Dirs // it had no files
	}
	return nil
}
