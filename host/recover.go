package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/root"
)

// Unfinished is a change that was interrupted, as by a crash.
type Unfinished struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Project string    `json:"project"`
	// Committed says that it will be finished; else it will be taken back.
	Committed bool `json:"committed"`
	// Aside says that it was tried and was not possible wholly.
	Aside bool `json:"aside,omitempty"`

	over bool // and it is not tried again
}

// Recovered says what became of an interrupted change.
type Recovered struct {
	ID      string `json:"id"`
	Project string `json:"project"`
	// Finished says that it is made now; else it was taken back.
	Finished bool `json:"finished"`
	// Litter says what could not be cleaned up although the change is made, and what to do; empty: nothing.
	Litter string `json:"litter,omitempty"`
	// Problem says why neither was possible wholly; empty: it was.
	Problem string `json:"problem,omitempty"`

	Err error `json:"-"` // behind Problem
}

// Unfinished lists changes of all roots that were interrupted, oldest first. It changes nothing. A change that another
// process is making at this moment is listed too.
func (h *Host) Unfinished() ([]Unfinished, error) {
	pending, err := apply.Pending(h.home.Root())
	if err != nil {
		return nil, err
	}
	list := make([]Unfinished, len(pending))
	for i, p := range pending {
		list[i] = Unfinished{ID: p.ID, Time: p.Time, Project: p.Root, Committed: p.Committed, Aside: p.Aside, over: p.Over}
	}
	return list, nil
}

// Recover finishes or takes back every interrupted change, those that were set aside too. What somebody changed meanwhile
// stays and is named in [Recovered.Problem]. The error is for what kept it from trying.
func (h *Host) Recover(ctx context.Context) ([]Recovered, error) {
	unlock, err := h.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return h.recover(ctx, func(Unfinished) bool { return true })
}

// recoverRoot finishes or takes back what was interrupted in a root, in one above it or in one within it, and what was set
// aside in the root itself: as when the root was gone and is back.
func (h *Host) recoverRoot(ctx context.Context, r *root.Root) ([]Recovered, error) {
	touches := func(u Unfinished) bool {
		if u.Aside {
			return !u.over && u.Project == r.Path()
		}
		return within(u.Project, r.Path()) || within(r.Path(), u.Project)
	}
	pending, err := h.Unfinished()
	if err != nil {
		return nil, err
	}
	for _, u := range pending {
		if touches(u) {
			unlock, err := h.lock(ctx)
			if err != nil {
				return nil, err
			}
			defer unlock()
			return h.recover(ctx, touches)
		}
	}
	return nil, nil
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// recover does the work under the lock.
func (h *Host) recover(ctx context.Context, which func(Unfinished) bool) ([]Recovered, error) {
	pending, err := h.Unfinished()
	if err != nil {
		return nil, err
	}
	list := []Recovered{}
	for _, u := range pending {
		if !which(u) {
			continue
		}
		rec := Recovered{ID: u.ID, Project: u.Project}
		done, err := h.recoverOne(u.ID)
		rec.Finished, rec.Litter = done.Finished, done.Done.Litter
		var (
			left    *apply.RollbackError
			missing *apply.MissingRootError
		)
		switch {
		case errors.As(err, &left), errors.As(err, &missing):
			rec.Problem, rec.Err = err.Error(), err
		case err != nil:
			return list, fmt.Errorf("recovering the change %q of %q: %w", u.ID, u.Project, err)
		}
		if err := h.logRecovered(ctx, rec); err != nil {
			return list, err
		}
		list = append(list, rec)
	}
	return list, nil
}

func (h *Host) recoverOne(id string) (apply.Recovered, error) {
	o := apply.Options{State: h.home.Root(), Limits: h.limits, Finish: h.finish}
	return apply.Recover(id, o, func(path string) (*root.Root, error) { return root.OpenHooked(path, h.hook) })
}

// lock takes the lock of the state folder. Whoever has it also clears away what killed processes left there.
func (h *Host) lock(ctx context.Context) (unlock func(), err error) {
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if unlock, err = h.home.Lock(wait); err == nil {
		h.home.SweepSpools(time.Now())
	}
	return unlock, err
}

// recover finishes or takes back what a crash left in the root of a change, or only says it if the change will not be
// applied.
func (p *Pending) recover(ctx context.Context, dryRun bool) error {
	if dryRun {
		pending, err := p.host.Unfinished()
		if err != nil {
			return err
		}
		for _, u := range pending {
			if u.Project == p.root.Path() {
				p.report.Notices = append(p.report.Notices, fmt.Sprintf("the change %s of this project was interrupted; \"lola recover\" or the next change finishes it or takes it back", u.ID))
			}
		}
		return nil
	}
	recovered, err := p.host.recoverRoot(ctx, p.root)
	for _, r := range recovered {
		p.report.Notices = append(p.report.Notices, r.notice())
	}
	return err
}

func (r Recovered) notice() string {
	switch {
	case r.Problem != "":
		return fmt.Sprintf("the interrupted change %s of %q: %s", r.ID, r.Project, r.Problem)
	case r.Litter != "":
		return fmt.Sprintf("the interrupted change %s of %q was finished, but: %s", r.ID, r.Project, r.Litter)
	case r.Finished:
		return fmt.Sprintf("the interrupted change %s of %q was finished", r.ID, r.Project)
	}
	return fmt.Sprintf("the interrupted change %s of %q was taken back", r.ID, r.Project)
}
