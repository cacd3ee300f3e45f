package abi

import (
	"fmt"
	"time"
)

// Limits bounds what one run of an extension may cost. The zero value of a field means its default; [Limits.Resolve]
// fills it in. An embedder may lower every field, and raise it as far as [HardLimits].
type Limits struct {
	Plan           int64         // bytes of a plan on the wire: what a pipe and a spool must take
	Request        int64         // bytes of a request on the wire: it is held in memory on both sides
	Intents        int           // intents of a plan, the header not counted: each is judged against all others
	Content        int64         // bytes of one content: the largest file that an assistant's module holds in practice, with room
	Item           int64         // bytes kept in memory of one item, contents not counted: decoding copies them
	Values         int           // list elements and map entries of a plan below its intents' own keys: each takes many times its bytes in memory
	Path           int           // bytes of a path: what the file systems we know take beneath a root
	Component      int           // bytes of one component of a path: NAME_MAX
	Components     int           // components of a path: a tree deeper than this is no layout, it is an attack on walkers
	NewEntries     int           // directory entries that a plan may make, parents counted: inodes are a shared resource
	Messages       int           // messages of a plan: a person reads them
	Diagnostics    int64         // bytes of a guest's standard error that are kept
	GuestMemory    int64         // bytes of a guest's linear memory
	Deadline       time.Duration // from the start of the child to its last byte, writing to it included
	FreeSpaceShare int           // per cent of the file system that must stay free ...
	FreeSpace      int64         // ... or this many bytes, whichever is less
}

// DefaultLimits returns the defaults.
func DefaultLimits() Limits {
	return Limits{
		Plan: 64 << 20, Request: 64 << 20, Intents: 65536, Content: 16 << 20, Item: 4 << 20, Values: 1 << 18,
		Path: 1024, Component: 255, Components: 32, NewEntries: 100_000,
		Messages: 1000, Diagnostics: 256 << 10, GuestMemory: 256 << 20, Deadline: 30 * time.Second,
		FreeSpaceShare: 5, FreeSpace: 1 << 30,
	}
}

// HardLimits returns the values beyond which no embedder can raise a limit. Path, component and depth cannot be raised at
// all: file systems set them. Guest memory stays below 65,536 pages of 64 KiB, the last word of which the engine cannot
// read safely.
func HardLimits() Limits {
	return Limits{
		Plan: 1 << 30, Request: 1 << 30, Intents: 1 << 20, Content: 256 << 20, Item: 64 << 20, Values: 1 << 22,
		Path: 1024, Component: 255, Components: 32, NewEntries: 1_000_000,
		Messages: 10_000, Diagnostics: 16 << 20, GuestMemory: 2 << 30, Deadline: 10 * time.Minute,
		FreeSpaceShare: 100, FreeSpace: 1 << 50,
	}
}

// MaxDepth is how deep arrays and maps may nest within one item, the item itself counted. It is part of the wire format
// and no limit that an embedder sets.
const MaxDepth = 8

// Resolve returns l with defaults for zero fields. A negative field, or one above its hard cap, is an error that names it.
func (l Limits) Resolve() (Limits, error) {
	def, hard := DefaultLimits(), HardLimits()
	var err error
	pick := func(name string, v, d, h int64) int64 {
		switch {
		case v == 0:
			return d
		case v < 0 || v > h:
			if err == nil {
				err = fmt.Errorf("limit %q is %d: want 1 to %d, or 0 for the default %d", name, v, h, d)
			}
		}
		return v
	}
	return Limits{
		Plan:           pick("plan", l.Plan, def.Plan, hard.Plan),
		Request:        pick("request", l.Request, def.Request, hard.Request),
		Intents:        int(pick("intents", int64(l.Intents), int64(def.Intents), int64(hard.Intents))),
		Content:        pick("content", l.Content, def.Content, hard.Content),
		Item:           pick("item", l.Item, def.Item, hard.Item),
		Values:         int(pick("values", int64(l.Values), int64(def.Values), int64(hard.Values))),
		Path:           int(pick("path", int64(l.Path), int64(def.Path), int64(hard.Path))),
		Component:      int(pick("component", int64(l.Component), int64(def.Component), int64(hard.Component))),
		Components:     int(pick("components", int64(l.Components), int64(def.Components), int64(hard.Components))),
		NewEntries:     int(pick("new entries", int64(l.NewEntries), int64(def.NewEntries), int64(hard.NewEntries))),
		Messages:       int(pick("messages", int64(l.Messages), int64(def.Messages), int64(hard.Messages))),
		Diagnostics:    pick("diagnostics", l.Diagnostics, def.Diagnostics, hard.Diagnostics),
		GuestMemory:    pick("guest memory", l.GuestMemory, def.GuestMemory, hard.GuestMemory),
		Deadline:       time.Duration(pick("deadline", int64(l.Deadline), int64(def.Deadline), int64(hard.Deadline))),
		FreeSpaceShare: int(pick("free space share", int64(l.FreeSpaceShare), int64(def.FreeSpaceShare), int64(hard.FreeSpaceShare))),
		FreeSpace:      pick("free space", l.FreeSpace, def.FreeSpace, hard.FreeSpace),
	}, err
}
