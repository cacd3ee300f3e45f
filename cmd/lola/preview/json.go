package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Format is the number of the JSON form. It changes if a field goes or changes its meaning.
const Format = 1

// The JSON form, which docs/report.schema.json describes. Old values and what is secret have no field to be in.
type (
	report struct {
		Format      int              `json:"format"`
		Action      string           `json:"action"`
		Module      string           `json:"module"`
		Version     string           `json:"version,omitempty"`
		Digest      string           `json:"sha256,omitempty"`
		Project     string           `json:"project"`
		Scope       string           `json:"scope,omitempty"`
		Targets     []string         `json:"targets"`
		Level       string           `json:"level,omitempty"`
		Confined    []jsonConfined   `json:"confined"`
		DryRun      bool             `json:"dry_run"`
		Changed     bool             `json:"changed"`
		Stranger    bool             `json:"stranger,omitempty"`
		Counts      counts           `json:"counts"`
		Runs        []jsonRun        `json:"runs"`
		Changes     []jsonChange     `json:"changes"`
		Stays       []jsonMark       `json:"stays"`
		Skipped     []jsonMark       `json:"skipped"`
		Notices     []string         `json:"notices"`
		Messages    []jsonMessage    `json:"messages"`
		Diagnostics []jsonDiagnostic `json:"diagnostics"`
	}
	jsonConfined struct {
		Extension string   `json:"extension"`
		Level     string   `json:"level"`
		Landlock  int      `json:"landlock,omitempty"`
		Seccomp   bool     `json:"seccomp,omitempty"`
		Open      []string `json:"open"`
	}
	jsonRun struct {
		What string `json:"what"`
		Path string `json:"path,omitempty"`
		Text string `json:"text"`
	}
	jsonMark struct {
		Path string `json:"path"`
		Why  string `json:"why"`
	}
	jsonMessage struct {
		Extension string `json:"extension"`
		Level     string `json:"level"`
		Text      string `json:"text"`
	}
	jsonDiagnostic struct {
		Extension string `json:"extension"`
		Text      string `json:"text"`
		Truncated bool   `json:"truncated"`
	}
	jsonChange struct {
		Action    string     `json:"action"`
		Path      string     `json:"path"`
		To        string     `json:"to,omitempty"`
		Dir       bool       `json:"dir,omitempty"`
		Entries   int        `json:"entries,omitempty"`
		Mode      string     `json:"mode,omitempty"`
		OldMode   string     `json:"old_mode,omitempty"`
		Size      int64      `json:"size,omitempty"`
		OldSize   int64      `json:"old_size,omitempty"`
		Digest    string     `json:"sha256,omitempty"`
		OldDigest string     `json:"old_sha256,omitempty"`
		Owners    []string   `json:"owners,omitempty"`
		Guarded   []jsonMark `json:"guarded,omitempty"`
		Foreign   []jsonMark `json:"foreign,omitempty"`
		Edits     []jsonEdit `json:"edits,omitempty"`
		OldSecret bool       `json:"old_secret,omitempty"`
		NewSecret bool       `json:"new_secret,omitempty"`
		URL       string     `json:"url,omitempty"`
		Ref       string     `json:"ref,omitempty"`
	}
	jsonEdit struct {
		Kind     string  `json:"kind"`
		At       *string `json:"at,omitempty"` // "" is a pointer too
		ID       string  `json:"id,omitempty"`
		New      string  `json:"new,omitempty"`
		NewBytes int     `json:"new_bytes"`
		OldBytes int     `json:"old_bytes"`
	}
)

// JSON returns the preview as a value that encoding/json writes in the stable form. Most callers want [Preview.WriteJSON],
// which escapes too.
func (p *Preview) JSON() any { return p.report() }

func (p *Preview) report() report {
	r := report{
		Format: Format, Action: valid(p.Action), Module: valid(p.Module), Version: valid(p.Version), Digest: valid(p.Digest), Project: valid(p.Project),
		Scope: valid(p.Scope), Targets: texts(p.Targets), Level: valid(p.Level), Confined: []jsonConfined{}, DryRun: p.DryRun, Changed: p.Changed, Stranger: p.Stranger, Counts: p.counts(),
		Runs: []jsonRun{}, Changes: []jsonChange{}, Stays: marks(p.Stays), Skipped: marks(p.Skipped), Notices: texts(p.Notices),
		Messages: []jsonMessage{}, Diagnostics: []jsonDiagnostic{},
	}
	for _, c := range p.Confined {
		r.Confined = append(r.Confined, jsonConfined{valid(c.Extension), valid(c.Level), c.Landlock, c.Seccomp, texts(c.Open)})
	}
	for _, x := range p.Runs {
		r.Runs = append(r.Runs, jsonRun{valid(x.What), valid(x.Path), valid(x.Text)})
	}
	for _, m := range p.Messages {
		r.Messages = append(r.Messages, jsonMessage{valid(m.Extension), valid(m.Level), valid(m.Text)})
	}
	for _, d := range p.Diagnostics {
		r.Diagnostics = append(r.Diagnostics, jsonDiagnostic{valid(d.Extension), valid(d.Text), d.Truncated})
	}
	for _, c := range p.Changes {
		r.Changes = append(r.Changes, c.json())
	}
	return r
}

func (c Change) json() jsonChange {
	j := jsonChange{
		Action: valid(c.Action), Path: valid(c.Path), To: valid(c.To), Dir: c.Dir, Entries: c.Entries, Mode: valid(c.Mode), OldMode: valid(c.OldMode),
		Size: c.Size, OldSize: c.OldSize, Digest: valid(c.Digest), OldDigest: valid(c.OldDigest), Owners: texts(c.Owners), OldSecret: c.OldSecret, NewSecret: c.NewSecret,
		Guarded: marks(c.Guarded), Foreign: marks(c.Foreign), URL: valid(c.URL), Ref: valid(c.Ref),
	}
	// The digest of a short secret gives it away to who tries enough.
	if c.OldSecret || len(c.Edits) > 0 {
		j.OldDigest = ""
	}
	if c.NewSecret || len(c.Edits) > 0 {
		j.Digest = ""
	}
	for _, mark := range [][]jsonMark{j.Guarded, j.Foreign} {
		for i := range mark {
			if mark[i].Path == "" {
				mark[i].Path = j.Path
			}
		}
	}
	for _, e := range c.Edits {
		shown := jsonEdit{Kind: valid(e.Kind), ID: valid(e.ID), NewBytes: len(e.New), OldBytes: len(e.Old)}
		if at := valid(e.At); e.ID == "" {
			shown.At = &at
		}
		if e.ShowNew && (e.Kind == "add" || e.Kind == "replace") {
			shown.New = valid(e.New)
		}
		j.Edits = append(j.Edits, shown)
	}
	return j
}

// WriteJSON writes the stable form, indented. What a terminal or a CI system would obey is escaped the JSON way, so that a
// reader gets it as it was; bytes that are not UTF-8, which JSON cannot hold, become \xNN in the text.
func (p *Preview) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p.report()); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	_, err := io.WriteString(w, EscapeJSON(b.String()))
	return err
}

// EscapeJSON escapes within the strings of a JSON text what [Escape] does. Outside of them it has nothing to find: newlines are its own.
func EscapeJSON(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		switch {
		case r == '\n' || printable(r) && (r != '#' || !beginsCommand(text[i:])):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// valid returns a text with its broken bytes as \xNN.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			fmt.Fprintf(&b, `\x%02x`, text[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func texts(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = valid(s)
	}
	return out
}

func marks(in []Mark) []jsonMark {
	out := make([]jsonMark, len(in))
	for i, m := range in {
		out[i] = jsonMark{valid(m.Path), valid(m.Why)}
	}
	return out
}
