package home

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/root"
)

// What the user agreed to lasts in two files: consents.json says which modules may run something by themselves, and
// roots/KEY.json says what was agreed to about one root. Both are edited with care: an entry is a right.
const (
	consentName   = "consents.json"
	consentFormat = 1
	rootsDir      = "roots"
	maxConsents   = 4 << 20 // bytes: some forty thousand consents
)

type consents struct {
	Format  int      `json:"format"`
	Trusted []string `json:"trusted"` // NAME@sha256:HEX, sorted
}

// Trusts reports whether the user agreed for good that a module of this digest makes something run by itself.
func (h *Home) Trusts(t grant.Trust) (bool, error) {
	c, err := h.consents()
	if err != nil {
		return false, err
	}
	return slices.Contains(c.Trusted, t.String()), nil
}

// Trust writes such a consent down.
//
// Precondition: the caller holds the lock.
func (h *Home) Trust(t grant.Trust) error {
	c, err := h.consents()
	if err != nil {
		return err
	}
	if at, found := slices.BinarySearch(c.Trusted, t.String()); !found {
		c.Trusted = slices.Insert(c.Trusted, at, t.String())
		if err := h.WriteJSON(".", consentName, c); err != nil {
			return fmt.Errorf("writing the consents: %w", err)
		}
	}
	return nil
}

func (h *Home) consents() (consents, error) {
	c := consents{Format: consentFormat}
	err := h.ReadJSON(".", consentName, maxConsents, &c)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && c.Format != consentFormat {
		err = fmt.Errorf("format %d is not known, want %d", c.Format, consentFormat)
	}
	for _, s := range c.Trusted {
		if _, perr := grant.ParseTrust(s); err == nil && perr != nil {
			err = perr
		}
	}
	if err != nil {
		return consents{}, fmt.Errorf("reading the consents %q: %w", consentName, err)
	}
	slices.Sort(c.Trusted)
	return c, nil
}

// Agreed is what the user agreed to about one root.
type Agreed struct {
	Format   int    `json:"format"`
	Root     string `json:"root"`
	Identity string `json:"identity"`
	// Allowed admits a root that is not the user's alone.
	Allowed bool `json:"allowed,omitempty"`
	// Follow are links beneath it that are looked through, sorted.
	Follow []string `json:"follow,omitempty"`
}

// Agreed reads what was agreed to about a root; nothing is the zero value for it.
func (h *Home) Agreed(r *root.Root) (Agreed, error) {
	id, err := r.Identity()
	if err != nil {
		return Agreed{}, err
	}
	return h.agreed(r.Path(), id)
}

func (h *Home) agreed(path, id string) (Agreed, error) {
	want := Agreed{Format: consentFormat, Root: path, Identity: id}
	a := Agreed{}
	err := h.ReadJSON(rootsDir, rootName(path, id), maxConsents, &a)
	if errors.Is(err, fs.ErrNotExist) {
		return want, nil
	}
	if err == nil && (a.Format != want.Format || a.Root != want.Root || a.Identity != want.Identity) {
		err = errors.New("it is of another format or for another root")
	}
	if err != nil {
		return Agreed{}, fmt.Errorf("reading what was agreed to about %q: %w", path, err)
	}
	return a, nil
}

// Agree adds to what was agreed to about a root. What another command wrote down since a was read stays.
//
// Precondition: the caller holds the lock.
func (h *Home) Agree(a Agreed) error {
	now, err := h.agreed(a.Root, a.Identity)
	if err != nil {
		return err
	}
	now.Allowed = now.Allowed || a.Allowed
	now.Follow = append(now.Follow, a.Follow...)
	slices.Sort(now.Follow)
	now.Follow = slices.Compact(now.Follow)
	if err := h.WriteJSON(rootsDir, rootName(a.Root, a.Identity), now); err != nil {
		return fmt.Errorf("writing what was agreed to about %q: %w", a.Root, err)
	}
	return nil
}
