package gen

import (
	"strings"

	"github.com/lola-ext/lola/abi"
)

// Texts that a decoder might stumble over, the most ordinary first.
var texts = []string{
	"a", "", "skills/x/SKILL.md", "hello\n", "\x00", "\u007f", "\u2028", "\U0001F600", "\ufeff", "\"\\/\b\f\n\r\t", "absent", "content",
	"content_base64", "AA==", "0644", strings.Repeat("x", 23), strings.Repeat("x", 24), strings.Repeat("é", 128), strings.Repeat("y", 256),
	"\xff", "\xed\xa0\x80", "null", "<!-- lola:a:end -->",
}

// Plan makes a plan of up to eight intents. Much of it is acceptable; some values are at or past the edge of what is.
func Plan(data []byte) *abi.Plan {
	c := &choices{data}
	p := &abi.Plan{Result: c.result()}
	for range c.below(3) {
		p.Messages = append(p.Messages, abi.Message{Level: pick(c, []abi.Level{"info", "debug", "warn", "error", "fatal"}), Text: pick(c, texts)})
	}
	for range c.below(9) {
		p.Intents = append(p.Intents, c.intent())
	}
	return p
}

func (c *choices) result() abi.Result {
	switch c.below(6) {
	case 1:
		return abi.Entries{}
	case 2:
		return abi.Entries{{Name: pick(c, texts), Source: pick(c, texts), Version: pick(c, texts), Description: pick(c, texts)}}
	case 3:
		return abi.Resolved{Source: pick(c, texts), Version: pick(c, texts), Digest: c.digest()}
	case 4:
		return abi.Scan{Verdict: pick(c, []abi.Verdict{"pass", "warn", "fail", "maybe"}), Findings: []abi.ScanFinding{
			{Rule: pick(c, texts), Severity: pick(c, texts), Text: pick(c, texts), Path: pick(c, texts)}}}
	}
	return nil
}

func (c *choices) digest() *abi.Digest {
	if c.below(2) == 0 {
		return nil
	}
	d := abi.Digest{byte(c.below(256))}
	return &d
}

func (c *choices) intent() abi.Intent {
	switch c.below(8) {
	case 1:
		in := abi.EditJSON{Path: pick(c, texts)}
		for range c.below(4) {
			in.Edits = append(in.Edits, abi.JSONEdit{At: pick(c, []string{"/a", "", "/-", "/~0~1", "a", "/~2"}), Set: c.below(4) > 0})
			if e := &in.Edits[len(in.Edits)-1]; e.Set {
				e.Value = c.value(0)
			}
		}
		return in
	case 2:
		in := abi.EditBlock{Path: pick(c, texts), ID: pick(c, []string{"a", "a.b-0", "", "A", strings.Repeat("z", 64), strings.Repeat("z", 65)})}
		if c.below(2) == 1 {
			text := pick(c, texts)
			in.Text = &text
		}
		return in
	case 3:
		return abi.Delete{Path: pick(c, texts)}
	case 4:
		return abi.Rename{From: pick(c, texts), To: pick(c, texts)}
	case 5:
		in := abi.Fetch{URL: pick(c, texts), Method: pick(c, []string{"GET", "HEAD", "POST"}), Dest: pick(c, texts), Digest: c.digest()}
		for range c.below(3) {
			in.Headers = append(in.Headers, abi.HTTPHeader{Name: pick(c, texts), Value: pick(c, texts)})
		}
		return in
	case 6:
		return abi.Clone{Repo: pick(c, texts), Ref: pick(c, texts), Depth: pick(c, []int{0, 1, 23, 24, 1<<31 - 1, -1}), Dest: pick(c, texts),
			Commit: pick(c, []string{"", strings.Repeat("0a", 20), strings.Repeat("f", 64), "abc", strings.Repeat("A", 40)})}
	}
	in := abi.Write{Path: pick(c, texts), Mode: pick(c, []abi.Mode{0o644, 0o755, 0, 0o777, 0o1000, 0o4755}), ReplaceSymlink: c.below(4) == 1}
	if c.below(8) != 7 {
		in.Content = abi.Bytes(strings.Repeat(pick(c, texts), pick(c, []int{1, 0, 2, 30, 3000})))
	} else {
		in.Module = pick(c, texts)
	}
	switch c.below(4) {
	case 1:
		in.Expect.Absent = true
	case 2:
		in.Expect.Digest = &abi.Digest{}
	}
	return in
}

// value makes a JSON value, at times one that nests too deep.
func (c *choices) value(depth int) any {
	if depth > 7 {
		return nil
	}
	switch c.below(9) {
	case 1:
		return c.below(2) == 1
	case 2:
		return pick(c, []int64{0, -1, 23, 24, -24, -25, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32, 1<<63 - 1, -1 << 63})
	case 3, 4:
		return pick(c, texts)
	case 5, 6:
		list := []any{}
		for range c.below(5) {
			list = append(list, c.value(depth+1))
		}
		return list
	case 7, 8:
		m := map[string]any{}
		for range c.below(5) {
			m[pick(c, texts)] = c.value(depth + 1)
		}
		return m
	}
	return nil
}

// Mutate changes up to three bytes of b, which may put in, take out or repeat some, as data says. It returns a copy.
func Mutate(b, data []byte) []byte {
	c := &choices{data}
	out := append([]byte{}, b...)
	for range c.below(4) {
		if len(out) == 0 {
			return out
		}
		at := (c.below(256) | c.below(256)<<8) % len(out)
		switch c.below(6) {
		case 0:
			out[at] = byte(c.below(256))
		case 1:
			out[at] ^= 1 << c.below(8)
		case 2:
			out = append(out[:at], out[at+1:]...)
		case 3:
			out = append(out[:at+1], out[at:]...)
		case 4:
			out = out[:at]
		case 5: // 24 to 31 in the low bits say how long an argument is
			out[at] = out[at]&0xe0 | byte(24+c.below(8))
		}
	}
	return out
}
