package extension

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/nearest"
)

// ParamType says what values a parameter takes.
type ParamType string

// The types of parameters, those of the wire.
const (
	ParamText ParamType = "text"
	ParamInt  ParamType = "int"
	ParamBool ParamType = "bool"
)

// Param is one parameter that an extension takes.
type Param struct {
	Name        string
	Type        ParamType
	Required    bool
	Default     abi.Param // nil: none, and the request leaves it out
	Description string
	Enum        []abi.Param // empty: any value of the type
}

const (
	maxParams      = 64   // a person has to know them
	maxParamText   = 4096 // bytes of a value
	maxParamEnum   = 64
	maxDescription = 1024 // bytes of what is shown of an extension or a parameter
)

var paramFields = []string{"type", "required", "default", "description", "enum"}

// given are parameters that the host itself sets, by kind: an extension cannot ask the user for them.
var given = map[abi.Kind][]string{abi.KindCatalog: {"query", "name"}}

// readParams reads the parameters, sorted by name.
func readParams(m mapping, kind abi.Kind) []Param {
	if len(m.values) > maxParams {
		m.fail(fmt.Sprintf("(%d parameters)", len(m.values)), "want at most %d", maxParams)
		return nil
	}
	var all []Param
	for _, name := range slices.Sorted(maps.Keys(m.values)) {
		if err := checkParamName(name); err != nil {
			m.fail(fmt.Sprintf("%.100q", name), "%w", err)
			return nil
		}
		if slices.Contains(given[kind], name) {
			m.fail(name, "the host sets it for a %s", kind)
			return nil
		}
		all = append(all, readParam(m.mapping(name, paramFields), name))
	}
	return all
}

func readParam(m mapping, name string) Param {
	p := Param{
		Name: name, Type: ParamType(m.oneOf("type", string(ParamText), string(ParamInt), string(ParamBool))),
		Required: m.boolean("required"), Description: m.line("description", maxDescription),
	}
	if p.Type == "" {
		m.fail("type", "is missing; want text, int or bool")
		return p
	}
	if v, ok := m.value("enum"); ok {
		list, ok := v.([]any)
		if !ok || len(list) == 0 || len(list) > maxParamEnum {
			m.fail("enum", "want a list of 1 to %d values", maxParamEnum)
			return p
		}
		for _, e := range list {
			v, err := p.Type.value(e)
			if err != nil {
				m.fail("enum", "%w", err)
				return p
			}
			p.Enum = append(p.Enum, v)
		}
	}
	if v, ok := m.value("default"); ok {
		d, err := p.Type.value(v)
		if err == nil {
			err = p.allows(d)
		}
		switch {
		case err != nil:
			m.fail("default", "%w", err)
		case p.Required:
			m.fail("default", "a required parameter has no default")
		}
		p.Default = d
	}
	return p
}

// checkParamName reports whether a parameter can have the name: it is typed on a command line.
func checkParamName(name string) error {
	if name == "" || len(name) > abi.MaxName {
		return fmt.Errorf("%d bytes, want 1 to %d", len(name), abi.MaxName)
	}
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', i > 0 && (r >= '0' && r <= '9' || r == '-' || r == '_'):
		default:
			return fmt.Errorf("%q is not allowed; want lower-case letters, digits, \"-\" and \"_\", a letter first", r)
		}
	}
	return nil
}

// value holds a value of a manifest to the type.
func (t ParamType) value(v any) (abi.Param, error) {
	switch t {
	case ParamText:
		if s, ok := v.(string); ok {
			return s, checkParamText(s)
		}
	case ParamInt:
		if n, ok := whole(v); ok {
			return n, nil
		}
	case ParamBool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%s, want %s", kindOf(v), t)
}

func checkParamText(s string) error {
	switch {
	case len(s) > maxParamText:
		return fmt.Errorf("%d bytes, want at most %d", len(s), maxParamText)
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("it holds a control character")
	case strings.ToValidUTF8(s, "") != s:
		return errors.New("it is not valid UTF-8")
	}
	return nil
}

func (p Param) allows(v abi.Param) error {
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
		known := make([]string, len(p.Enum))
		for i, e := range p.Enum {
			known[i] = fmt.Sprint(e)
		}
		return fmt.Errorf("%.100q is not among %s", fmt.Sprint(v), strings.Join(known, ", "))
	}
	return nil
}

// ParseParams reads parameters as a user gives them, text by name, into what a request carries: every one known and of its
// type, the required ones there, defaults for the rest. Its errors name the parameter.
func (m Manifest) ParseParams(texts map[string]string) (map[string]abi.Param, error) {
	known := make([]string, len(m.Params))
	for i, p := range m.Params {
		known[i] = p.Name
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := "it takes none"
		if near, ok := nearest.Of(name, known); ok {
			hint = fmt.Sprintf("did you mean %q", near)
		} else if len(known) > 0 {
			hint = "it takes " + strings.Join(known, ", ")
		}
		return nil, fmt.Errorf("extension %q has no parameter %.100q; %s", m.Name, name, hint)
	}
	values := map[string]abi.Param{}
	for _, p := range m.Params {
		text, ok := texts[p.Name]
		switch {
		case ok:
			v, err := p.parse(text)
			if err != nil {
				return nil, fmt.Errorf("parameter %q of extension %q: %w", p.Name, m.Name, err)
			}
			values[p.Name] = v
		case p.Required:
			return nil, fmt.Errorf("parameter %q of extension %q is missing; it is required", p.Name, m.Name)
		case p.Default != nil:
			values[p.Name] = p.Default
		}
	}
	return values, nil
}

func (p Param) parse(text string) (abi.Param, error) {
	var v abi.Param
	switch p.Type {
	case ParamInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%.100q, want a whole number", text)
		}
		v = n
	case ParamBool:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("%.100q, want true or false", text)
		}
		v = text == "true"
	default:
		if err := checkParamText(text); err != nil {
			return nil, err
		}
		v = text
	}
	return v, p.allows(v)
}
