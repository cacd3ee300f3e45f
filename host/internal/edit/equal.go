package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Two values are equal if their canonical forms are. The order of names, comments, layout and the spelling of strings and
// numbers do not count: 1, 1.0 and 10e-1 are one number, as in JavaScript, which is what reads these files. An object that
// has a name twice equals nothing that an edit can ask for.

// canonicalValue is the canonical form of an edit's value.
func canonicalValue(v any) (string, error) {
	var b strings.Builder
	if err := appendValue(&b, v, 0); err != nil {
		return "", err
	}
	return b.String(), nil
}

func appendValue(b *strings.Builder, v any, depth int) error {
	if depth > maxTokens {
		return fmt.Errorf("its value is nested more than %d deep", maxTokens)
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(canonicalNumber(strconv.FormatInt(v, 10)))
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("its value holds text that is not valid UTF-8")
		}
		b.WriteString(strconv.Quote(v))
	case []any:
		b.WriteByte('[')
		for _, e := range v {
			if err := appendValue(b, e, depth+1); err != nil {
				return err
			}
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, k := range sortedNames(v) {
			if err := appendValue(b, k, depth+1); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := appendValue(b, v[k], depth+1); err != nil {
				return err
			}
			b.WriteByte(',')
		}
		b.WriteByte('}')
	default:
		return fmt.Errorf("its value holds a %T, which JSON does not have", v)
	}
	return nil
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// canonicalTree is the canonical form of a value of a file.
func canonicalTree(v hujson.ValueTrimmed) string {
	var b strings.Builder
	appendTree(&b, v)
	return b.String()
}

func appendTree(b *strings.Builder, v hujson.ValueTrimmed) {
	switch v := v.(type) {
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			b.WriteString(strconv.Quote(text(v)))
		case '0':
			b.WriteString(canonicalNumber(string(v)))
		default:
			b.Write(v)
		}
	case *hujson.Array:
		b.WriteByte('[')
		for _, e := range v.Elements {
			appendTree(b, e.Value)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case *hujson.Object:
		type member struct {
			name  string
			value hujson.ValueTrimmed
		}
		members := make([]member, len(v.Members))
		for i, m := range v.Members {
			members[i] = member{text(m.Name.Value.(hujson.Literal)), m.Value.Value}
		}
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		b.WriteByte('{')
		for _, m := range members {
			b.WriteString(strconv.Quote(m.name))
			b.WriteByte(':')
			appendTree(b, m.value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}

// text is what a string literal says. A lone surrogate, which UTF-8 cannot hold, stays apart from everything that can be
// written: it is kept as the literal behind a byte that is in no UTF-8 text.
func text(lit hujson.Literal) string {
	var s string
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	if json.Unmarshal(lit, &s) != nil || loneSurrogate(lit) {
		return "\xff" + string(lit)
	}
	return s
}

// loneSurrogate looks for half of a surrogate pair among the escapes of a valid string literal.
func loneSurrogate(lit []byte) bool {
	escape := func(i int) (uint64, bool) {
		if i+6 > len(lit) || lit[i] != '\\' || lit[i+1] != 'u' {
			return 0, false
		}
		u, err := strconv.ParseUint(string(lit[i+2:i+6]), 16, 16)
		return u, err == nil
	}
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' {
			continue
		}
		switch u, ok := escape(i); {
		case !ok:
			i++ // a short escape
		case u >= 0xd800 && u < 0xdc00:
			if low, ok := escape(i + 6); !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case u >= 0xdc00 && u <= 0xdfff:
			return true
		default:
			i += 5
		}
	}
	return false
}

// canonicalNumber spells a valid number literal as digits without zeros at either end, and an exponent.
func canonicalNumber(lit string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(lit), "e")
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0" // minus zero too
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil || power > 1<<30 || power < -1<<30 {
			return lit // no number that an edit can ask for
		}
	}
	trimmed := strings.TrimRight(digits, "0")
	power += len(digits) - len(trimmed) - len(fraction)
	return sign + trimmed + "e" + strconv.Itoa(power)
}
