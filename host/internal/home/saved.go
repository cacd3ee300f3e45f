package home

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/lola-ext/lola/abi"
)

// Which plan files were saved here is one file, plans.json: such a plan says the truth about whose it is, and one of whoever
// says what it likes.
const (
	plansName   = "plans.json"
	plansFormat = 1
	// MaxPlans bounds the plans that are known, the newest: a plan is for the state that it was made for, and that passes.
	MaxPlans = 1000
	maxSaved = 1 << 20 // bytes: ten times what MaxPlans digests take
)

type plans struct {
	Format int      `json:"format"`
	Saved  []string `json:"saved"` // SHA-256 of whole files, oldest first
}

// SavedHere reports whether a plan file of this SHA-256 is among those of [Home.KeepSaved].
func (h *Home) SavedHere(file abi.Digest) (bool, error) {
	p, err := h.plans()
	return slices.Contains(p.Saved, file.String()), err
}

// KeepSaved writes down that a plan file of this SHA-256 was saved here. The oldest ones are forgotten.
//
// Precondition: the caller holds the lock.
func (h *Home) KeepSaved(file abi.Digest) error {
	p, err := h.plans()
	if err != nil {
		return err
	}
	name := file.String()
	p.Saved = append(slices.DeleteFunc(p.Saved, func(s string) bool { return s == name }), name)
	p.Saved = p.Saved[max(0, len(p.Saved)-MaxPlans):]
	if err := h.WriteJSON(".", plansName, p); err != nil {
		return fmt.Errorf("writing down which plans were saved here: %w", err)
	}
	return nil
}

func (h *Home) plans() (plans, error) {
	p := plans{Format: plansFormat}
	err := h.ReadJSON(".", plansName, maxSaved, &p)
	if errors.Is(err, fs.ErrNotExist) {
		return plans{Format: plansFormat}, nil
	}
	if err == nil && p.Format != plansFormat {
		err = fmt.Errorf("format %d is not known, want %d", p.Format, plansFormat)
	}
	for _, s := range p.Saved {
		if _, perr := abi.ParseDigest(s); err == nil && perr != nil {
			err = perr
		}
	}
	if err != nil {
		return plans{}, fmt.Errorf("reading which plans were saved here, %q: %w", plansName, err)
	}
	return p, nil
}
