package ext

import (
	"github.com/lola-ext/lola/abi"
)

// readPlan reads a valid plan back. A guest never does, so the reader is here, and lenient: what it reads is known to be
// well-formed. It is not the host's, so that an error there cannot hide one here.
func readPlan(b []byte) *abi.Plan {
	r := reader{b}
	h := r.value().(map[string]any)
	p := &abi.Plan{Result: result(h["result"])}
	if list, ok := h["messages"].([]any); ok {
		p.Messages = []abi.Message{}
		for _, v := range list {
			m := v.(map[string]any)
			p.Messages = append(p.Messages, abi.Message{Level: abi.Level(text(m, "level")), Text: text(m, "text")})
		}
	}
	for range h["count"].(int64) {
		p.Intents = append(p.Intents, intent(r.value().(map[string]any)))
	}
	return p
}

type reader struct{ b []byte }

func (r *reader) take(n uint64) []byte {
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) value() any {
	first := r.take(1)[0]
	n := uint64(first & 31)
	if n >= 24 {
		width := uint64(1) << (n - 24)
		n = 0
		for _, c := range r.take(width) {
			n = n<<8 | uint64(c)
		}
	}
	switch first >> 5 {
	case 0:
		return int64(n)
	case 1:
		return -1 - int64(n)
	case 2:
		return r.take(n)
	case 3:
		return string(r.take(n))
	case 4:
		list := []any{}
		for range n {
			list = append(list, r.value())
		}
		return list
	case 5:
		m := map[string]any{}
		for range n {
			key := r.value().(string)
			m[key] = r.value()
		}
		return m
	}
	if n == 22 {
		return nil
	}
	return n == 21
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func digest(m map[string]any, key string) *abi.Digest {
	b, ok := m[key].([]byte)
	if !ok {
		return nil
	}
	d := abi.Digest(b)
	return &d
}

func result(v any) abi.Result {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if list, ok := m["entries"].([]any); ok {
		var entries abi.Entries
		for _, v := range list {
			e := v.(map[string]any)
			entries = append(entries, abi.Entry{
				Name: text(e, "name"), Source: text(e, "source"), Version: text(e, "version"), Description: text(e, "description"),
			})
		}
		return entries
	}
	if verdict, ok := m["verdict"].(string); ok {
		scan := abi.Scan{Verdict: abi.Verdict(verdict)}
		for _, v := range m["findings"].([]any) {
			f := v.(map[string]any)
			scan.Findings = append(scan.Findings, abi.ScanFinding{
				Rule: text(f, "rule"), Severity: text(f, "severity"), Text: text(f, "text"), Path: text(f, "path"),
			})
		}
		return scan
	}
	return abi.Resolved{Source: text(m, "source"), Version: text(m, "version"), Digest: digest(m, "digest")}
}

func intent(m map[string]any) abi.Intent {
	switch abi.Op(text(m, "op")) {
	case abi.OpWrite:
		w := abi.Write{Path: text(m, "path"), Mode: abi.Mode(m["mode"].(int64)), Module: text(m, "module")}
		if b, ok := m["content"].([]byte); ok {
			w.Content = abi.Bytes(b)
		}
		w.Expect = abi.Expect{Absent: text(m, "expect") == "absent", Digest: digest(m, "expect")}
		w.ReplaceSymlink, _ = m["replace_symlink"].(bool)
		return w
	case abi.OpEdit:
		if text(m, "format") == "block" {
			b := abi.EditBlock{Path: text(m, "path"), ID: text(m, "id")}
			if s, ok := m["text"].(string); ok {
				b.Text = &s
			}
			return b
		}
		j := abi.EditJSON{Path: text(m, "path")}
		for _, v := range m["edits"].([]any) {
			e := v.(map[string]any)
			value, set := e["value"]
			j.Edits = append(j.Edits, abi.JSONEdit{At: text(e, "at"), Set: set, Value: value})
		}
		return j
	case abi.OpDelete:
		return abi.Delete{Path: text(m, "path")}
	case abi.OpRename:
		return abi.Rename{From: text(m, "from"), To: text(m, "to")}
	case abi.OpFetch:
		f := abi.Fetch{URL: text(m, "url"), Method: text(m, "method"), Dest: text(m, "dest"), Digest: digest(m, "digest")}
		if list, ok := m["headers"].([]any); ok {
			f.Headers = []abi.HTTPHeader{}
			for _, v := range list {
				pair := v.([]any)
				f.Headers = append(f.Headers, abi.HTTPHeader{Name: pair[0].(string), Value: pair[1].(string)})
			}
		}
		return f
	}
	c := abi.Clone{Repo: text(m, "repo"), Ref: text(m, "ref"), Dest: text(m, "dest"), Commit: text(m, "commit")}
	if n, ok := m["depth"].(int64); ok {
		c.Depth = int(n)
	}
	return c
}
