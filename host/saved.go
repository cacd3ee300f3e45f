package host

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/wire"
	"github.com/lola-ext/lola/host/extension"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/internal/edit"
	"github.com/lola-ext/lola/host/internal/home"
	"github.com/lola-ext/lola/host/plan"
)

// A saved plan is three things one after the other: the line savedMagic, a line of JSON (savedHeader), and for each target
// its plan as package abi/wire encodes it, contents included. It is what a pipeline shows to a person and applies later, and
// it may come from a stranger, so nothing in it is believed: not whose it is, not what it may do.
const (
	savedMagic  = "lola-plan 1\n"
	savedFormat = 1
	maxHeader   = 32 << 20 // bytes: 65,536 paths of 400 bytes
	maxTargets  = 64       // plans in one file
)

type savedHeader struct {
	Format  int           `json:"format"`
	Module  savedModule   `json:"module"`
	Scope   abi.Scope     `json:"scope"`
	Targets []savedTarget `json:"targets"`
	// Before is what lay at each path that the change is about when it was judged.
	Before map[string]string `json:"before"`
}

type savedModule struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"sha256"`
}

type savedTarget struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Size    int64  `json:"size"` // bytes of its plan
}

// Save writes the change so that [Host.OpenPlan] can take it up later, and remembers that the file was made here. Only an
// install can be saved.
func (p *Pending) Save(ctx context.Context, w io.Writer) error {
	if len(p.proposals) == 0 {
		return errors.New("saving the plan: only the plan of an install can be saved")
	}
	head := savedHeader{Format: savedFormat, Scope: p.report.Scope, Module: savedModule{p.report.Module, p.report.Version, p.report.Digest}, Before: state(p.checked)}
	var plans bytes.Buffer
	for i, q := range p.proposals {
		whole, err := resolved(q)
		if err != nil {
			return fmt.Errorf("saving the plan: %w", err)
		}
		size := plans.Len()
		if err := (wire.Options{Limits: p.host.limits}).EncodePlan(&plans, whole); err != nil {
			return fmt.Errorf("saving the plan of %q: %w", q.Owner, err)
		}
		head.Targets = append(head.Targets, savedTarget{q.Owner, p.targets[i].Version, int64(plans.Len() - size)})
	}
	line, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	if len(line) > maxHeader {
		return fmt.Errorf("saving the plan: %w", &abi.LimitError{Limit: "saved plan header", Bound: maxHeader, Got: int64(len(line))})
	}
	sum := sha256.New()
	for _, b := range [][]byte{[]byte(savedMagic), line, {'\n'}, plans.Bytes()} {
		if _, err := io.MultiWriter(w, sum).Write(b); err != nil {
			return fmt.Errorf("saving the plan: %w", err)
		}
	}
	if p.report.Stranger {
		return nil // it does not become ours by being written again
	}
	unlock, err := p.host.lock(ctx)
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	defer unlock()
	return p.host.home.KeepSaved(abi.Digest(sum.Sum(nil)))
}

// resolved is a plan whose writes carry their contents instead of naming module files.
func resolved(q plan.Proposal) (*abi.Plan, error) {
	out := *q.Plan
	out.Intents = slices.Clone(q.Plan.Intents)
	for i, in := range out.Intents {
		w, ok := in.(abi.Write)
		if !ok || w.Module == "" {
			continue
		}
		content, ok := q.Module.File(w.Module)
		if !ok {
			return nil, fmt.Errorf("the module has no file %q", w.Module)
		}
		w.Content, w.Module = content, ""
		out.Intents[i] = w
	}
	return &out, nil
}

// state says what lay at each path of a judged change, a line each.
func state(c plan.Checked) map[string]string {
	all := map[string]string{}
	for _, s := range c.Steps() {
		if !s.Before.Exists {
			if _, ok := all[s.Path]; !ok {
				all[s.Path] = "nothing"
			}
			continue
		}
		mode := s.Before.Mode
		if runtime.GOOS == "windows" {
			mode = 0o644 // it keeps none
		}
		what := fmt.Sprintf("%s %s", s.Before.Kind(), mode)
		switch {
		case s.Before.Regular():
			what += " " + s.Before.Digest.String()
		case s.Before.Link != "":
			what = "symlink " + s.Before.Link
		case s.Dir:
			h := sha256.New()
			for _, n := range s.Tree {
				fmt.Fprintf(h, "%q %s %s %s\n", n.Path, n.Kind(), n.Mode, n.Digest)
			}
			what += fmt.Sprintf(" %x", h.Sum(nil))
		}
		all[s.Path] = what
	}
	return all
}

// OpenPlan asks to take up a saved plan.
type OpenPlan struct {
	File    string
	Project string // default: the working directory; not in user scope, which the plan says
	// Follow, AllowRoot and DryRun are as in [Install].
	Follow            []string
	AllowRoot, DryRun bool
}

// OpenPlan reads a saved plan, whoever wrote it, and judges it like any other: under the grants that are held here and now,
// and only onto the state that it was made for. What it would make run by itself needs consent for this very file,
// [Pending.Trust]. What a plan that was not saved here ([Report.Stranger]) would remove or replace of an installed module is
// foreign. The caller closes the change.
// Errors: *[OutdatedError]; *[UserPlanError]; those of [Host.Install].
func (h *Host) OpenPlan(ctx context.Context, o OpenPlan) (_ *Pending, err error) {
	p := &Pending{host: h}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	head, plans, digest, err := h.readSaved(o.File, p)
	if err != nil {
		return nil, fmt.Errorf("reading the plan %q: %w", o.File, err)
	}
	targets := make([]string, len(head.Targets))
	for i, t := range head.Targets {
		targets[i] = t.Name
	}
	if p.targets, err = h.targets(targets); err != nil {
		return nil, err
	}
	user := head.Scope == abi.ScopeUser
	switch {
	case user && o.Project != "":
		return nil, &UserPlanError{File: o.File, Target: targets[0], Project: o.Project}
	case !user && o.Project == "":
		o.Project = "."
	}
	place, err := h.place(o.Project, user, p.targets)
	if err != nil {
		return nil, err
	}
	p.folder = place.folder
	if err := p.open(ctx, place.path, openOptions{DryRun: o.DryRun, AllowRoot: o.AllowRoot, Follow: o.Follow}); err != nil {
		return nil, err
	}
	p.meta = meta{Action: "plan-apply", Module: head.Module.Name, Version: head.Module.Version, Targets: targets}
	p.report.Action, p.report.Scope, p.report.Project, p.report.Targets = "install", place.scope, p.root.Path(), targets
	p.report.Module, p.report.Version, p.report.Digest = head.Module.Name, head.Module.Version, head.Module.Digest
	p.trust = grant.Trust{Name: head.Module.Name, Digest: digest}
	here, err := h.home.SavedHere(digest)
	if err != nil {
		return nil, err
	}
	p.report.Stranger = !here
	proposals := make([]plan.Proposal, len(plans))
	for i, t := range p.targets {
		if t.Version != head.Targets[i].Version {
			p.report.Notices = append(p.report.Notices, fmt.Sprintf("the plan is one of %s %s; %s is here", t.Name, head.Targets[i].Version, t.Version))
		}
		proposals[i] = plan.Proposal{Owner: t.Name, Kind: t.Kind, Action: "install", Grant: t.grant(place.scope), Plan: plans[i]}
	}
	if err := p.judge(ctx, abi.Identity{Name: head.Module.Name, Version: head.Module.Version}, head.Module.Digest, p.targets, proposals); err != nil {
		return nil, err
	}
	if err := sameState(head.Before, state(p.checked)); err != nil {
		return nil, p.refused(ctx, err)
	}
	if p.report.Stranger {
		p.markOwned()
	}
	p.report.Runs, err = p.runsOf(nil, nil)
	return p, err
}

// sameState refuses a plan that was made for another state of the root.
func sameState(saved, now map[string]string) error {
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if was, ok := saved[path]; !ok || was != now[path] {
			return &OutdatedError{Path: path, Why: "it is not as it was when the plan was made"}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(saved)) {
		if _, ok := now[path]; !ok {
			return &OutdatedError{Path: path, Why: "the plan would not touch it any more"}
		}
	}
	return nil
}

// readSaved reads a saved plan once, from its first byte to its last.
func (h *Host) readSaved(file string, p *Pending) (head savedHeader, plans []*abi.Plan, digest abi.Digest, err error) {
	f, err := openRegular(file)
	if err != nil {
		return head, nil, digest, err
	}
	defer f.Close()
	sum := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(f, sum), 64<<10)
	if head, err = readHeader(in); err != nil {
		return head, nil, digest, err
	}
	names := make([]string, len(head.Targets))
	for i, t := range head.Targets {
		names[i] = t.Name
	}
	if _, err := h.targets(names); err != nil { // before anything is kept of their plans
		return head, nil, digest, err
	}
	for _, t := range head.Targets {
		spool := wire.NewSpool(h.spools)
		p.closers = append(p.closers, spool.Close)
		one := io.LimitReader(in, t.Size)
		decoded, err := wire.DecodePlan(one, spool, wire.Options{Limits: h.limits, Size: t.Size})
		if err != nil {
			return head, nil, digest, fmt.Errorf("the plan of %q: %w", t.Name, err)
		}
		plans = append(plans, decoded)
	}
	return head, plans, digest, end(in, sum, &digest)
}

// end wants the end of the file and takes down the digest of all of it.
func end(in *bufio.Reader, sum hash.Hash, digest *abi.Digest) error {
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("something follows the plans"), err)
	}
	*digest = abi.Digest(sum.Sum(nil))
	return nil
}

func readHeader(in *bufio.Reader) (savedHeader, error) {
	var head savedHeader
	magic := make([]byte, len(savedMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != savedMagic {
		return head, errors.New("it is no saved plan: want one that \"lola install --out\" wrote")
	}
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxHeader {
			return head, &abi.LimitError{Limit: "saved plan header", Bound: maxHeader, Got: int64(len(line))}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return head, errors.New("it breaks off")
		}
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&head); err != nil {
		return head, fmt.Errorf("its header: %w", err)
	}
	return head, head.check()
}

func (s savedHeader) check() error {
	if s.Format != savedFormat {
		return fmt.Errorf("format %d is not known, want %d; a newer lola wrote it", s.Format, savedFormat)
	}
	if s.Scope != abi.ScopeProject && s.Scope != abi.ScopeUser {
		return fmt.Errorf("its scope is %q", s.Scope)
	}
	if len(s.Targets) == 0 || len(s.Targets) > maxTargets {
		return fmt.Errorf("it has %d targets, want 1 to %d", len(s.Targets), maxTargets)
	}
	for _, t := range s.Targets {
		if err := extension.CheckName(t.Name); err != nil {
			return err
		}
		if err := extension.CheckVersion(t.Version); err != nil {
			return err
		}
		if t.Size < 1 {
			return fmt.Errorf("the plan of %q has no byte", t.Name)
		}
	}
	if err := abi.CheckName(s.Module.Name); err != nil {
		return fmt.Errorf("module %w", err)
	}
	if err := abi.CheckVersion(s.Module.Version); err != nil {
		return fmt.Errorf("module %w", err)
	}
	_, err := abi.ParseDigest(s.Module.Digest)
	return err
}

// openRegular opens a file that the user named, if it is one: a pipe would be waited for.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if again, err := f.Stat(); err != nil || !os.SameFile(info, again) {
		f.Close()
		return nil, errors.Join(fs.ErrInvalid, err)
	}
	return f, nil
}

// markOwned marks as foreign what a change would remove or replace of what installed modules put there: the plan says that it is
// of that module, and nothing shows that it is.
func (p *Pending) markOwned() {
	steps := p.checked.Steps()
	owned := map[string][]home.Owner{} // by folded path
	for path, owners := range p.before.Paths() {
		owned[plan.Fold(path)] = owners
	}
	for i := range p.report.Files { // one for each step
		f, s := &p.report.Files[i], steps[i]
		mark := func(path, what, module string) {
			if !slices.ContainsFunc(f.Foreign, func(m Mark) bool { return m.Path == path }) {
				f.Foreign = append(f.Foreign, Mark{path, fmt.Sprintf("%s of the installed module %s, and only the plan says that it is of that", what, module)})
			}
		}
		if s.Action == plan.Keep {
			continue
		}
		gone := []string{s.Path}
		for _, n := range s.Tree {
			gone = append(gone, s.Path+"/"+n.Path)
		}
		for _, path := range gone {
			if !s.Before.Exists {
				continue
			}
			if owners := owned[plan.Fold(path)]; len(owners) > 0 {
				mark(path, "it is a file", owners[0].Module)
			}
			for _, m := range slices.Sorted(maps.Keys(p.before.Modules)) {
				for _, t := range p.before.Modules[m].Targets {
					if records := t.Edits[path]; len(records) > 0 && (path != s.Path || len(p.reverted[path]) > 0 || replaces(s, records)) {
						mark(path, "it holds edits", m)
					}
				}
			}
		}
	}
}

// replaces reports whether a step removes or changes what edits of a file put there.
func replaces(s plan.Step, theirs []edit.Record) bool {
	if s.Edits == nil {
		return true // all of the file
	}
	for _, e := range s.Edits {
		for _, r := range e.Records {
			if slices.ContainsFunc(theirs, func(t edit.Record) bool { return changes(r, t) }) {
				return true
			}
		}
	}
	return false
}
