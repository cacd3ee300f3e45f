package host

import (
	"context"
	"fmt"

	"github.com/lola-ext/lola/host/internal/code"
)

// Cache is what the state folder keeps so that the next command is quicker. All of it can go at any time.
type Cache struct {
	// Code is compiled code, what was used last first.
	Code []CachedCode `json:"code"`
	Memo CachedMemo   `json:"memo"`
	// Kept says whether children store code on this machine; Why not says the reason.
	Kept   bool   `json:"kept"`
	WhyNot string `json:"why_not,omitempty"`
}

// CachedCode is the compiled code of one module.
type CachedCode struct {
	code.Entry
	// Extensions are those of this host that are the module.
	Extensions []string `json:"extensions,omitempty"`
}

// CachedMemo is what extensions answered before.
type CachedMemo struct {
	Answers int   `json:"answers"`
	Bytes   int64 `json:"bytes"`
}

// Cache lists what is kept. Nothing of it is read whole: what was altered is found when it is used.
func (h *Host) Cache(ctx context.Context) (Cache, error) {
	c := Cache{Code: []CachedCode{}, Kept: keepsCode(h.machine())}
	if !c.Kept {
		c.WhyNot = "children store code only where Landlock keeps them to one folder, so each compiles what it runs"
	}
	entries, err := h.codes.List(ctx)
	if err != nil {
		return Cache{}, fmt.Errorf("listing compiled code: %w", err)
	}
	for _, e := range entries {
		c.Code = append(c.Code, h.cached(e))
	}
	if c.Memo.Answers, c.Memo.Bytes, err = h.memo.Size(); err != nil {
		return Cache{}, fmt.Errorf("listing what extensions answered: %w", err)
	}
	return c, nil
}

// cached adds the names that are known of a module.
func (h *Host) cached(e code.Entry) CachedCode {
	c := CachedCode{Entry: e}
	for _, b := range h.builtin {
		if b.digest.String() == e.Key.Module {
			c.Extensions = append(c.Extensions, b.Name)
		}
	}
	return c
}

// Warmed says what was done for one module.
type Warmed struct {
	Extensions []string `json:"extensions"`
	Compiled   bool     `json:"compiled"` // just now; else it was there
	Kept       bool     `json:"kept"`     // there is code now
	Notes      []string `json:"notes,omitempty"`
}

// WarmCache compiles all extensions whose code is not there, so that their first run does not. Modules that several are, are
// compiled once. Errors: those of a module, which name it.
func (h *Host) WarmCache(ctx context.Context) ([]Warmed, error) {
	list := []Warmed{}
	at := map[string]int{} // by digest
	for _, b := range h.builtin {
		if i, ok := at[b.digest.String()]; ok {
			list[i].Extensions = append(list[i].Extensions, b.Name)
			continue
		}
		at[b.digest.String()] = len(list)
		w := Warmed{Extensions: []string{b.Name}}
		kept, err := h.codeOf(ctx, b)
		if err != nil {
			return list, confinementError(err)
		}
		if kept != nil {
			w.Compiled, w.Kept, w.Notes = kept.Fresh, kept.Folder != "", kept.Notes
			kept.Close()
		}
		list = append(list, w)
	}
	return list, nil
}

// PruneCache drops code that can serve nobody any more, such as that of a program that is gone, and what is over the bounds:
// 1 GiB or 256 modules. all drops everything, what extensions answered too, which has its bounds kept as it grows. It returns
// what was dropped.
func (h *Host) PruneCache(ctx context.Context, all bool) (Cache, error) {
	dropped := Cache{Code: []CachedCode{}, Kept: keepsCode(h.machine())}
	entries, err := h.codes.Prune(ctx, all)
	for _, e := range entries {
		dropped.Code = append(dropped.Code, h.cached(e))
	}
	if err == nil && all {
		if _, dropped.Memo.Bytes, err = h.memo.Size(); err == nil {
			dropped.Memo.Answers, err = h.memo.Clear()
		}
	}
	if err != nil {
		return dropped, fmt.Errorf("pruning what is kept: %w", err)
	}
	return dropped, nil
}
