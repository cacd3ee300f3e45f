package oracle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/lola-ext/lola/abi"
)

// PlanDiffers returns "" if payload, a plan in the CBOR form that was accepted, says what plan says and is deterministic,
// else what differs. It asks the CBOR library alone: each item is decoded into maps, strictly and without any type of ours,
// and encoded again.
func PlanDiffers(payload []byte, plan *abi.Plan) string {
	items, why := Items(payload)
	if why != "" {
		return why
	}
	want := planMaps(plan)
	if len(items) != len(want) {
		return fmt.Sprintf("%d items, the plan makes %d", len(items), len(want))
	}
	for i := range items {
		if !reflect.DeepEqual(items[i], want[i]) {
			return fmt.Sprintf("item %d is\n%#v\nthe plan says\n%#v", i, items[i], want[i])
		}
	}
	return ""
}

// Items decodes a CBOR sequence of deterministic items. The second result is "" if it is one, else what is wrong.
func Items(payload []byte) ([]any, string) {
	dec, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		IntDec:            cbor.IntDecConvertSigned,
		MaxNestedLevels:   abi.MaxDepth,
		MaxArrayElements:  1 << 30,
		MaxMapPairs:       1 << 30,
		UTF8:              cbor.UTF8RejectInvalid,
		DefaultMapType:    reflect.TypeFor[map[string]any](),
		NaN:               cbor.NaNDecodeForbidden,
		Inf:               cbor.InfDecodeForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	}.DecMode()
	if err != nil {
		return nil, err.Error()
	}
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, err.Error()
	}
	var items []any
	for rest := payload; len(rest) > 0; {
		var item any
		before := rest
		if rest, err = dec.UnmarshalFirst(rest, &item); err != nil {
			return nil, fmt.Sprintf("item %d: the library refuses it: %v", len(items), err)
		}
		again, err := enc.Marshal(item)
		if err != nil {
			return nil, fmt.Sprintf("item %d: the library cannot encode it: %v", len(items), err)
		}
		if used := before[:len(before)-len(rest)]; !bytes.Equal(used, again) {
			return nil, fmt.Sprintf("item %d is %x, deterministically encoded %x", len(items), used, again)
		}
		items = append(items, item)
	}
	return items, ""
}

// planMaps writes a plan as the maps that the text of the wire format asks for.
func planMaps(p *abi.Plan) []any {
	header := map[string]any{"abi": int64(1), "count": int64(len(p.Intents))}
	if p.Messages != nil {
		list := []any{}
		for _, m := range p.Messages {
			list = append(list, map[string]any{"level": string(m.Level), "text": m.Text})
		}
		header["messages"] = list
	}
	if p.Result != nil {
		header["result"] = resultMap(p.Result)
	}
	items := []any{header}
	for _, in := range p.Intents {
		m := intentMap(in)
		m["op"] = string(in.Op())
		items = append(items, m)
	}
	return items
}

func resultMap(r abi.Result) map[string]any {
	m := map[string]any{}
	switch r := r.(type) {
	case abi.Entries:
		list := []any{}
		for _, e := range r {
			entry := map[string]any{"name": e.Name, "source": e.Source}
			optional(entry, "version", e.Version)
			optional(entry, "description", e.Description)
			list = append(list, entry)
		}
		m["entries"] = list
	case abi.Resolved:
		m["source"] = r.Source
		optional(m, "version", r.Version)
		digest(m, "digest", r.Digest)
	case abi.Scan:
		list := []any{}
		for _, f := range r.Findings {
			finding := map[string]any{"rule": f.Rule, "severity": f.Severity, "text": f.Text}
			optional(finding, "path", f.Path)
			list = append(list, finding)
		}
		m["verdict"], m["findings"] = string(r.Verdict), list
	}
	return m
}

func intentMap(in abi.Intent) map[string]any {
	m := map[string]any{}
	switch in := in.(type) {
	case abi.Write:
		m["path"], m["mode"] = in.Path, int64(in.Mode)
		optional(m, "module", in.Module)
		digest(m, "expect", in.Expect.Digest)
		if in.Expect.Absent {
			m["expect"] = "absent"
		}
		if in.ReplaceSymlink {
			m["replace_symlink"] = true
		}
		if in.Content != nil {
			m["content"] = contentBytes(in.Content)
		}
	case abi.EditJSON:
		list := []any{}
		for _, e := range in.Edits {
			edit := map[string]any{"at": e.At}
			if e.Set {
				edit["value"] = e.Value
			}
			list = append(list, edit)
		}
		m["path"], m["format"], m["edits"] = in.Path, "json", list
	case abi.EditBlock:
		m["path"], m["format"], m["id"] = in.Path, "block", in.ID
		if in.Text != nil {
			m["text"] = *in.Text
		}
	case abi.Delete:
		m["path"] = in.Path
	case abi.Rename:
		m["from"], m["to"] = in.From, in.To
	case abi.Fetch:
		m["url"], m["method"], m["dest"] = in.URL, in.Method, in.Dest
		digest(m, "digest", in.Digest)
		if in.Headers != nil {
			list := []any{}
			for _, h := range in.Headers {
				list = append(list, []any{h.Name, h.Value})
			}
			m["headers"] = list
		}
	case abi.Clone:
		m["repo"], m["ref"], m["dest"] = in.Repo, in.Ref, in.Dest
		optional(m, "commit", in.Commit)
		if in.Depth != 0 {
			m["depth"] = int64(in.Depth)
		}
	}
	return m
}

func optional(m map[string]any, key, text string) {
	if text != "" {
		m[key] = text
	}
}

func digest(m map[string]any, key string, d *abi.Digest) {
	if d != nil {
		m[key] = d[:]
	}
}

// contentBytes reads a content whole; what is wrong with it stands in the place of the bytes.
func contentBytes(c abi.Content) any {
	r, err := c.Open()
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	switch {
	case err != nil:
		return err.Error()
	case int64(len(b)) != c.Size():
		return fmt.Sprintf("%d bytes, said %d", len(b), c.Size())
	case abi.DigestOf(b) != c.Digest():
		return "another digest than its bytes have"
	}
	return b
}

// LinesDiffer returns "" if a and b, texts of the JSON form, say the same line by line by the reading of encoding/json, else
// what differs. A content in base64 counts as its bytes.
func LinesDiffer(a, b []byte) string {
	linesA, linesB := lines(a), lines(b)
	if len(linesA) != len(linesB) {
		return fmt.Sprintf("%d lines and %d", len(linesA), len(linesB))
	}
	for i := range linesA {
		valueA, err := lineValue(linesA[i])
		if err != nil {
			return fmt.Sprintf("line %d of the first: %v", i, err)
		}
		valueB, err := lineValue(linesB[i])
		if err != nil {
			return fmt.Sprintf("line %d of the second: %v", i, err)
		}
		if !reflect.DeepEqual(valueA, valueB) {
			return fmt.Sprintf("line %d is\n%#v\nand\n%#v", i, valueA, valueB)
		}
	}
	return ""
}

func lines(b []byte) [][]byte { return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) }

func lineValue(line []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return v, nil
	}
	if text, ok := m["content_base64"].(string); ok {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		delete(m, "content_base64")
		m["content"] = string(b)
	}
	return m, nil
}
