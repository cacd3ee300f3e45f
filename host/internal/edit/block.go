package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// Block puts a marked block into a text file at path, whose bytes are old if it exists, or replaces what stands between
// its markers, or removes it if e.Text is nil. The path says which form the markers have; the file itself is not touched.
//
// A new block goes to the end of the file after one empty line. Its lines end as the file's first line does. Text is one
// or more whole lines: a last line end is added where it lacks. With the block, the empty line before it goes, if nothing
// or another empty line follows. Removing what is absent is no error and makes no file.
//
// Errors are *[Error]: an id or text that cannot be in a block, a kind of file that has none, a file that is not UTF-8
// text, markers that do not pair.
func Block(path string, old []byte, exists bool, e abi.EditBlock) (Result, error) {
	if !exists {
		old = nil
	}
	r := Record{Kind: Same, ID: e.ID}
	refuse := func(format string, args ...any) (Result, error) {
		return Result{}, &Error{ID: e.ID, Why: fmt.Sprintf(format, args...)}
	}
	if !validID(e.ID) {
		return refuse("an id is 1 to 64 of a-z, 0-9, dot and hyphen")
	}
	if e.Text != nil {
		bare := strings.ReplaceAll(*e.Text, "\r\n", "\n")
		switch line := markerIn(bare); {
		case line != "":
			return refuse("its text holds the marker line %q", line)
		case strings.ContainsAny(bare, "\r\x00"):
			return refuse("its text holds a carriage return without a line feed, or a zero byte")
		case !utf8.ValidString(bare):
			return refuse("its text is not valid UTF-8")
		}
	}
	f, err := readLines(path, old)
	if err != nil {
		return Result{}, asBlock(err, e.ID)
	}
	result := Result{New: old}
	b := f.find(e.ID)
	switch {
	case e.Text == nil && b == nil:
	case e.Text == nil:
		r.Kind, r.Old = Remove, ref([]byte(f.text[b.body:b.bodyEnd]))
		r.Place = f.cut(*b, nil)
	case b == nil:
		body := f.lines(*e.Text)
		r.Kind, r.New, r.Place = Add, &body, f.append(e.ID, body)
		if !exists {
			r.File = &File{Made: true}
		}
	default:
		was, body := f.text[b.body:b.bodyEnd], f.lines(*e.Text)
		if sameLines(was, body) {
			r.New = &was
			break
		}
		r.Kind, r.Old, r.New = Replace, &was, &body
		f.text = f.text[:b.body] + body + f.text[b.bodyEnd:]
	}
	if r.Kind != Same {
		if len(f.text) > MaxFile-len(mark) {
			return refuse("the file would have %d bytes: want at most %d", len(f.text), MaxFile-len(mark))
		}
		result.New, result.Changed = f.bytes(), true
	}
	result.Records = []Record{r}
	return result, nil
}

// asBlock names the block that was to be edited, where an error names none.
func asBlock(err error, id string) error {
	if e, ok := err.(*Error); ok && e.ID == "" {
		e.ID = id
	}
	return err
}

// lined is a text file and the blocks in it.
type lined struct {
	mark   string // a byte order mark, or nothing
	text   string
	end    string // of a line
	marker marker
	blocks []section
}

func readLines(path string, old []byte) (*lined, error) {
	if len(old) > MaxFile {
		return nil, &Error{Why: fmt.Sprintf("the file has %d bytes: want at most %d", len(old), MaxFile)}
	}
	f := &lined{text: string(old), end: lineEnd(old)}
	if rest, ok := strings.CutPrefix(f.text, mark); ok {
		f.mark, f.text = mark, rest
	}
	if !utf8.ValidString(f.text) || strings.IndexByte(f.text, 0) >= 0 {
		return nil, &Error{Why: "the file is not UTF-8 text"}
	}
	m, err := markerOf(path)
	if err != nil {
		return nil, &Error{Why: err.Error()}
	}
	f.marker = m
	if f.blocks, err = sections(f.text, m); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *lined) bytes() []byte { return []byte(f.mark + f.text) }

func (f *lined) find(id string) *section {
	for i := range f.blocks {
		if f.blocks[i].id == id {
			return &f.blocks[i]
		}
	}
	return nil
}

// lines is a text as whole lines that end as the file's do.
func (f *lined) lines(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return strings.ReplaceAll(s, "\n", f.end)
}

// sameLines compares texts whatever ends their lines: a checkout may have changed that.
func sameLines(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

// append puts a new block behind everything.
func (f *lined) append(id, body string) *Place {
	p := &Place{Rest: digest(f.text), Offset: int64(len(f.text))}
	switch {
	case f.text == "" || endsEmpty(f.text):
	case strings.HasSuffix(f.text, "\n"):
		p.Empty, f.text = true, f.text+f.end
	default:
		p.Empty, f.text = true, f.text+f.end+f.end
	}
	f.text += f.marker.line(id, "start") + f.end + body + f.marker.line(id, "end") + f.end
	return p
}

func digest(s string) string { return abi.DigestOf([]byte(s)).String() }

// endsEmpty reports whether the last line is empty.
func endsEmpty(s string) bool {
	s, ok := cutEnd(s)
	return ok && (s == "" || strings.HasSuffix(s, "\n"))
}

func cutEnd(s string) (string, bool) {
	if rest, ok := strings.CutSuffix(s, "\r\n"); ok {
		return rest, true
	}
	return strings.CutSuffix(s, "\n")
}

// cut takes a block out, and the empty line that was put before it, unless that would join what stands before and behind.
// If nothing stands behind, and before it what stood there when it was put, that is what remains, to the byte. Without the
// place that it was put to, an empty line is taken for the block's.
func (f *lined) cut(b section, put *Place) *Place {
	from, behind := f.text[:b.start], f.text[b.end:]
	for _, end := range []string{"\n", "\r\n"} { // what the file began with may have looked like a part of a line end since
		for bare, ended := from, put != nil && behind == ""; ended; bare, ended = strings.CutSuffix(bare, end) {
			if len(from)-len(bare) <= 2*len(end) && digest(bare) == put.Rest {
				return f.without(bare, b)
			}
		}
	}
	apart := behind == "" || strings.HasPrefix(behind, "\n") || strings.HasPrefix(behind, "\r\n")
	if (put == nil || put.Empty) && apart && endsEmpty(from) && from != f.end {
		from, _ = cutEnd(from)
	}
	return f.without(from, b)
}

// without takes a block out together with what stands between it and from.
func (f *lined) without(from string, b section) *Place {
	p := &Place{Cut: f.text[len(from):b.end], Offset: int64(len(from))}
	f.text = from + f.text[b.end:]
	p.Rest = digest(f.text)
	return p
}

// restore puts a removed block back, to where it stood if the rest of the file is as it was left, else to the end.
func (f *lined) restore(id, body string, p *Place) {
	whole, err := sections(p.Cut, f.marker)
	if err == nil && len(whole) == 1 && whole[0].id == id && p.Cut[whole[0].body:whole[0].bodyEnd] == body &&
		isSpace(p.Cut[:whole[0].start]) && whole[0].end == len(p.Cut) &&
		p.Offset <= int64(len(f.text)) && digest(f.text) == p.Rest {
		f.text = f.text[:p.Offset] + p.Cut + f.text[p.Offset:]
		return
	}
	f.append(id, f.lines(body))
}
