package extension

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/lola-ext/lola/host/internal/nearest"
)

// mapping reads a YAML mapping by field. YAML lets "1.10" be a number and the parser lets a number be a text, so values are
// taken as they come and held to their type here. The first error is kept, for the reader as a whole; after it all values are
// zero.
type mapping struct {
	at     string // what goes before a field's name in an error
	values map[string]any
	err    *error
}

// read starts with the fields of the whole document.
func read(values map[string]any, known []string) mapping {
	var err error
	m := mapping{values: values, err: &err}
	m.expect(known)
	return m
}

func (m mapping) fail(field, format string, args ...any) {
	if *m.err == nil {
		*m.err = fmt.Errorf("field %s: %w", m.at+field, fmt.Errorf(format, args...))
	}
}

// expect fails for the first field, by name, that is not known.
func (m mapping) expect(known []string) {
	var strange []string
	for f := range m.values {
		if !slices.Contains(known, f) {
			strange = append(strange, f)
		}
	}
	if len(strange) == 0 || *m.err != nil {
		return
	}
	name := slices.Min(strange)
	if why, ok := refusedFields[name]; ok && m.at == "" {
		m.fail(name, "%s", why)
		return
	}
	where := ""
	if m.at != "" {
		where = " of " + strings.TrimSuffix(m.at, ".")
	}
	if hint, ok := nearest.Of(name, known); ok {
		*m.err = fmt.Errorf("unknown field %.100q%s; did you mean %q", name, where, hint)
		return
	}
	*m.err = fmt.Errorf("unknown field %.100q%s; known are %s", name, where, strings.Join(known, ", "))
}

// value returns a field that is there and not null.
func (m mapping) value(field string) (any, bool) {
	v, ok := m.values[field]
	if !ok || *m.err != nil {
		return nil, false
	}
	if v == nil {
		m.fail(field, "it has no value; leave the field out instead")
		return nil, false
	}
	return v, true
}

func (m mapping) has(field string) bool { _, ok := m.values[field]; return ok }

// text returns a text; "" if the field is missing.
func (m mapping) text(field string) string {
	v, ok := m.value(field)
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		m.fail(field, "%s; put it in quotes if it is meant as text", kindOf(v))
	}
	return s
}

// line is text that is shown to people: one line of at most so many bytes, without characters that do not show.
func (m mapping) line(field string, bound int) string {
	s := m.text(field)
	switch {
	case len(s) > bound:
		m.fail(field, "%d bytes, want at most %d", len(s), bound)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		m.fail(field, "it holds a line break or a character that cannot be seen")
	}
	return s
}

// oneOf is text out of a list; "" if the field is missing.
func (m mapping) oneOf(field string, known ...string) string {
	s := m.text(field)
	if m.has(field) && *m.err == nil && !slices.Contains(known, s) {
		if hint, ok := nearest.Of(s, known); ok {
			m.fail(field, "%.100q is not known; did you mean %q", s, hint)
		} else {
			m.fail(field, "%.100q is not known; known are %s", s, strings.Join(known, ", "))
		}
	}
	return s
}

// texts returns a list of texts; nil if the field is missing.
func (m mapping) texts(field string) []string {
	v, ok := m.value(field)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		m.fail(field, "%s, want a list", kindOf(v))
		return nil
	}
	all := make([]string, len(list))
	for i, e := range list {
		if all[i], ok = e.(string); !ok {
			m.fail(field, "entry %d: %s; put it in quotes if it is meant as text", i+1, kindOf(e))
			return nil
		}
	}
	return all
}

// integer returns a whole number; 0 if the field is missing.
func (m mapping) integer(field string) int64 {
	v, ok := m.value(field)
	if !ok {
		return 0
	}
	n, ok := whole(v)
	if !ok {
		m.fail(field, "%s, want a whole number", kindOf(v))
	}
	return n
}

// boolean returns true or false; false if the field is missing.
func (m mapping) boolean(field string) bool {
	v, ok := m.value(field)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		m.fail(field, "%s, want true or false", kindOf(v))
	}
	return b
}

// mapping returns a mapping with its fields; an empty one if the field is missing. No list of known fields takes any.
func (m mapping) mapping(field string, known []string) mapping {
	sub := mapping{at: m.at + field + ".", err: m.err}
	v, ok := m.value(field)
	if !ok {
		return sub
	}
	if sub.values, ok = v.(map[string]any); !ok {
		m.fail(field, "%s, want a mapping", kindOf(v))
		return sub
	}
	if known != nil {
		sub.expect(known)
	}
	return sub
}

// whole returns a whole number of any type that the parser gives.
func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case uint64:
		return int64(n), n <= math.MaxInt64
	}
	return 0, false
}

// kindOf says what a value is, for an error.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "it has no value"
	case string:
		return fmt.Sprintf("%.100q is text", v)
	case bool:
		return fmt.Sprintf("%v is a truth value", v)
	case float32, float64:
		return fmt.Sprintf("%v is a number with a fraction", v)
	case []any:
		return "it is a list"
	case map[string]any:
		return "it is a mapping"
	}
	if n, ok := whole(v); ok {
		return fmt.Sprintf("%d is a number", n)
	}
	return "it is a value of another type"
}
