package extension

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lola-ext/lola/abi"
)

// limitField is a limit that a manifest may lower.
type limitField struct {
	name string
	unit unit
	get  func(*abi.Limits) any // a pointer to the field: *int64, *int or *time.Duration
}

type unit int

const (
	count unit = iota
	bytes
	duration
)

var limitFields = []limitField{
	{"plan", bytes, func(l *abi.Limits) any { return &l.Plan }},
	{"request", bytes, func(l *abi.Limits) any { return &l.Request }},
	{"intents", count, func(l *abi.Limits) any { return &l.Intents }},
	{"content", bytes, func(l *abi.Limits) any { return &l.Content }},
	{"new_entries", count, func(l *abi.Limits) any { return &l.NewEntries }},
	{"messages", count, func(l *abi.Limits) any { return &l.Messages }},
	{"diagnostics", bytes, func(l *abi.Limits) any { return &l.Diagnostics }},
	{"memory", bytes, func(l *abi.Limits) any { return &l.GuestMemory }},
	{"deadline", duration, func(l *abi.Limits) any { return &l.Deadline }},
}

func limitNames() []string {
	names := make([]string, len(limitFields))
	for i, f := range limitFields {
		names[i] = f.name
	}
	return names
}

// readLimits reads the limits that a manifest lowers. What it does not name is zero.
func readLimits(m mapping) abi.Limits {
	var l abi.Limits
	def := abi.DefaultLimits()
	for _, f := range limitFields {
		if !m.has(f.name) {
			continue
		}
		v, ok := m.value(f.name)
		if !ok {
			return l
		}
		n, err := f.unit.parse(v)
		bound := number(f.get(&def))
		switch {
		case err != nil:
			m.fail(f.name, "%w", err)
		case n < 1:
			m.fail(f.name, "%v is no bound; want at least 1", v)
		case n > bound:
			m.fail(f.name, "%v is above the default, %s; a manifest can only lower it", v, f.unit.format(bound))
		default:
			set(f.get(&l), n)
		}
	}
	return l
}

// Tighten returns l with what the manifest lowers: of each limit the lesser. l must be resolved.
func (m Manifest) Tighten(l abi.Limits) abi.Limits {
	for _, f := range limitFields {
		if n := number(f.get(&m.Limits)); n > 0 {
			set(f.get(&l), min(n, number(f.get(&l))))
		}
	}
	return l
}

func number(p any) int64 {
	switch p := p.(type) {
	case *int64:
		return *p
	case *int:
		return int64(*p)
	case *time.Duration:
		return int64(*p)
	}
	panic("a limit of another type")
}

func set(p any, n int64) {
	switch p := p.(type) {
	case *int64:
		*p = n
	case *int:
		*p = int(n)
	case *time.Duration:
		*p = time.Duration(n)
	}
}

var (
	byteUnits = []suffix{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}
	timeUnits = []suffix{{"ms", int64(time.Millisecond)}, {"s", int64(time.Second)}, {"m", int64(time.Minute)}}
)

type suffix struct {
	text   string
	factor int64
}

// parse reads a count, a size (bytes, or KiB, MiB or GiB after the number) or a time (ms, s or m after the number).
func (u unit) parse(v any) (int64, error) {
	units, want := []suffix(nil), "want a whole number"
	switch u {
	case bytes:
		units, want = byteUnits, "want a number of bytes, or one with KiB, MiB or GiB"
	case duration:
		units, want = timeUnits, "want a number with ms, s or m, as in 10s"
	}
	if n, ok := whole(v); ok && u != duration {
		return n, nil
	}
	s, ok := v.(string)
	if !ok {
		return 0, fmt.Errorf("%s; %s", kindOf(v), want)
	}
	i := slices.IndexFunc(units, func(x suffix) bool { // "ms" before "s"
		return strings.HasSuffix(s, x.text)
	})
	if i < 0 {
		return 0, fmt.Errorf("%.100q: %s", s, want)
	}
	digits := strings.TrimSuffix(s, units[i].text)
	if u == bytes {
		digits = strings.TrimSuffix(digits, " ")
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != digits || int64(n) > math.MaxInt64/units[i].factor {
		return 0, fmt.Errorf("%.100q: %s", s, want)
	}
	return int64(n) * units[i].factor, nil
}

func (u unit) format(n int64) string {
	switch u {
	case bytes:
		for _, x := range slices.Backward(byteUnits) {
			if n%x.factor == 0 {
				return fmt.Sprintf("%d %s", n/x.factor, x.text)
			}
		}
	case duration:
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}
