package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// lockWait bounds how long a commit waits for another one's: longer than a usual one takes, short enough to notice one that
// is stuck.
const lockWait = 30 * time.Second

// Consent is what the user agreed to. The zero value agrees to nothing beyond what the report shows as the module's own.
type Consent struct {
	// Foreign agrees to overwrite, move and remove what the report marks as foreign.
	Foreign bool
	// Trust agrees that modules of these digests make something run by themselves (Report.Runs).
	Trust []grant.Trust
	// Remember keeps that agreement for good, so that the same digest is not asked about again.
	Remember bool
}

// Pending is a change that was proposed and judged and has not happened. Closing it after [Pending.Apply] is right; closing
// it before forgets it. It is for one goroutine.
type Pending struct {
	host      *Host
	root      *root.Root
	folder    string // see place
	checked   plan.Checked
	contents  map[string]abi.Content   // of checked, by path; made when it is asked for
	undoing   *apply.Undoing           // an undo has this instead of checked
	before    *home.Installed          // the record that the change was judged under
	after     *home.Installed          // the record once it is made; its Dirs are filled in by what happens
	reverted  map[string][]edit.Record // edits of the module's older version that go, by path
	meta      meta
	targets   []*builtin      // whose plans these are
	proposals []plan.Proposal // the plans, as they came; only of an install
	inputs    []inputs        // what extensions were given to read
	trust     grant.Trust     // what the user has to agree to if the report has Runs
	agreed    home.Agreed     // about the root
	agrees    bool            // agreed is to be written down
	report    Report
	applied   Applied
	closers   []func() error
}

// Applied says what came of a change that was made.
type Applied struct {
	ID   string `json:"id,omitempty"`   // for lola undo; empty: no file was changed
	Undo bool   `json:"undo,omitempty"` // it can be undone
	// Notes are what the user should know all the same, as rubbish that could not be removed.
	Notes []string `json:"notes,omitempty"`

	done bool
}

// Report says what the change would do.
func (p *Pending) Report() Report { return p.report }

// Applied says what came of it, once Apply has returned nil.
func (p *Pending) Applied() Applied { return p.applied }

// Trust is what [Consent.Trust] must hold if the report has Runs.
func (p *Pending) Trust() grant.Trust { return p.trust }

// Close releases what the change holds.
func (p *Pending) Close() error {
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		errs = append(errs, c())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// Before opens what lies at a path of the root now.
func (p *Pending) Before(path string) (io.ReadCloser, error) { return p.root.Open(path) }

// After opens what will lie at a path of the root.
func (p *Pending) After(path string) (io.ReadCloser, error) {
	if p.undoing != nil {
		return p.undoing.Open(path)
	}
	if p.contents == nil {
		p.contents = map[string]abi.Content{}
		for _, s := range p.checked.Steps() {
			if s.Content != nil {
				p.contents[s.Path] = s.Content
			}
		}
	}
	if c, ok := p.contents[path]; ok {
		return c.Open()
	}
	return nil, fmt.Errorf("opening %q: nothing will be there", path)
}

// Apply makes the change, all of it or nothing. A change that changes nothing touches nothing.
// Errors: *[TrustError] and *[ForeignError] without the consent that the report asks for; else as of host/internal/apply,
// with the project as it was before unless the error says otherwise.
func (p *Pending) Apply(ctx context.Context, c Consent) error {
	if p.applied.done {
		return errors.New("applying a change: it was applied already")
	}
	if !p.report.Changed && !p.agrees {
		p.applied.done = true
		return nil
	}
	unlock, err := p.host.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := p.unchanged(); err != nil {
		return err
	}
	if err := p.checked.Unsupported(); err != nil {
		return p.refused(ctx, err)
	}
	given, err := p.consented(c)
	if err != nil {
		return p.refused(ctx, err)
	}
	if p.agrees {
		if err := p.host.home.Agree(p.agreed); err != nil {
			return err
		}
	}
	if p.report.Changed {
		if err := p.make(ctx, given); err != nil {
			return err
		}
	}
	if c.Remember && len(p.report.Runs) > 0 {
		if err := p.host.home.Trust(p.trust); err != nil {
			p.note(err)
		}
	}
	p.applied.done = true
	return nil
}

// unchanged makes sure, under the lock, that no other command came between the judgement and now.
func (p *Pending) unchanged() error {
	pending, err := p.host.Unfinished()
	if err != nil {
		return err
	}
	for _, u := range pending {
		if !u.Aside && (within(u.Project, p.root.Path()) || within(p.root.Path(), u.Project)) {
			return fmt.Errorf("applying the change: another command was interrupted in %q meanwhile; run this one again", u.Project)
		}
	}
	if at, err := os.Stat(p.root.Path()); err != nil || !os.SameFile(at, p.root.Info()) {
		return fmt.Errorf("applying the change: the directory %q was moved or replaced meanwhile; run this one again where it is now", p.root.Path())
	}
	now, err := p.host.home.Installed(p.root)
	if err != nil {
		return err
	}
	if !now.Equal(p.before) {
		return fmt.Errorf("applying the change: another command changed what is installed in %q meanwhile; run this one again", p.root.Path())
	}
	return p.unchangedInputs()
}

// make logs the change, makes it and logs that it is made.
func (p *Pending) make(ctx context.Context, given []consent) error {
	if err := p.after.Fits(); err != nil {
		return fmt.Errorf("applying the change: %w", err)
	}
	id := apply.NewID()
	if err := p.logPlan(ctx, id, given); err != nil {
		return err
	}
	p.meta.Records = recordChanges(p.before, p.after)
	raw, err := p.meta.encode()
	if err != nil {
		return err
	}
	o := apply.Options{
		ID: id, State: p.host.home.Root(), Limits: p.host.limits, Prune: p.prune(), Meta: raw, Finish: p.host.finish,
	}
	var done apply.Done
	if p.undoing != nil {
		done, err = p.undoing.Run(ctx, o)
	} else {
		done, err = apply.Run(ctx, p.checked, o)
	}
	if lerr := p.logOutcome(ctx, id, err); lerr != nil {
		if err == nil {
			p.note(lerr)
		} else {
			err = errors.Join(err, lerr)
		}
	}
	if err != nil {
		return err
	}
	p.applied.ID, p.applied.Undo = done.ID, done.Undo
	if done.Litter != "" {
		p.note(errors.New(done.Litter))
	}
	return nil
}

func (p *Pending) note(err error) {
	p.applied.Notes = append(p.applied.Notes, fmt.Sprintf("the change is made, but: %v", err))
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

// describe fills in the report's files.
func (p *Pending) describe() {
	for _, s := range p.checked.Steps() {
		f := FileChange{
			Path: s.Path, To: s.To, Action: s.Action, Dir: s.Dir, Entries: len(s.Tree), Targets: s.Owners,
			Guarded: marks(s.Guarded), Foreign: marks(s.Foreign), Edits: editsOf(s),
		}
		if s.Content != nil {
			f.Size, f.Mode, f.Digest = s.Content.Size(), s.Mode.String(), s.Content.Digest().String()
		}
		if s.Before.Exists {
			f.OldMode = s.Before.Mode.String()
			if s.Before.Regular() {
				f.OldSize, f.OldDigest = s.Before.Size, s.Before.Digest.String()
			}
		}
		if s.Action == plan.Remove {
			f.Targets = nil
		}
		if slices.Equal(s.Owners, []string{self}) { // held to the record already: only what lola put there goes
			f.Targets, f.Foreign = nil, nil
		}
		if s.Remote != nil {
			f.URL, f.Ref = s.Remote.URL, s.Remote.Ref
		}
		_, f.OldSecret = grant.Secret(s.Path)
		f.OldSecret = f.OldSecret || len(s.Guarded) > 0 && len(s.Foreign) > 0
		f.NewSecret = slices.Contains(s.Owners, self) && s.Content != nil // what is put back is the user's
		p.report.Files = append(p.report.Files, f)
		for _, l := range s.Left {
			p.stays(s.Path, fmt.Sprintf("%s: %s", l.What, l.Why))
		}
	}
	slices.SortFunc(p.report.Stays, compareStays)
	p.report.Changed = p.checked.Changes() > 0 || !p.after.Equal(p.before)
}

// marks copies the reasons of a step.
func marks[M ~struct{ Path, Why string }](all []M) []Mark {
	var list []Mark
	for _, m := range all {
		list = append(list, Mark(m))
	}
	return list
}

func editsOf(s plan.Step) []Edit {
	var list []Edit
	seen := map[string]bool{}
	for _, e := range s.Edits {
		for _, r := range e.Records {
			if at := r.At + "\x00" + r.ID; !seen[at] {
				seen[at] = true
				list = append(list, Edit{Kind: string(r.Kind), At: r.At, ID: r.ID, Old: r.Old, New: r.New})
			}
		}
	}
	return list
}

// consent is something that the user agreed to, for the log.
type consent struct{ kind, what, how string }

// consented holds the consent to what the change needs.
func (p *Pending) consented(c Consent) ([]consent, error) {
	var given []consent
	if len(p.report.Runs) > 0 {
		stored, err := p.host.home.Trusts(p.trust)
		switch {
		case err != nil:
			return nil, err
		case stored:
			given = append(given, consent{"trust", p.trust.String(), "stored"})
		case slices.Contains(c.Trust, p.trust):
			how := "flag"
			if c.Remember {
				how = "asked"
			}
			given = append(given, consent{"trust", p.trust.String(), how})
		default:
			return nil, &TrustError{Trust: p.trust, Runs: p.report.Runs}
		}
	}
	if foreign := p.report.foreign(); len(foreign) > 0 {
		if !c.Foreign {
			return nil, &ForeignError{Paths: foreign, Stranger: p.report.Stranger}
		}
		given = append(given, consent{kind: "foreign"})
	}
	if p.agrees && p.agreed.Allowed {
		given = append(given, consent{"root", p.root.Path(), "flag"})
	}
	return given, nil
}

// refused logs a refusal and returns it.
func (p *Pending) refused(ctx context.Context, err error) error {
	if lerr := p.logRefused(ctx, err); lerr != nil {
		return errors.Join(err, lerr)
	}
	return err
}
