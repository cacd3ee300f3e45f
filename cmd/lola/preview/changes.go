package preview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kinds is the order in which changes are shown, and what becomes of a kind of which there are very many.
var kinds = []struct {
	action string
	mark   string
	word   string // in "9,800 more WORD"
	cut    bool   // names may be left out
}{
	{"update", "~ ", "changed files", true},
	{"remove", "- ", "removed", false},
	{"move", "> ", "moved", false},
	{"create", "+ ", "new files", true},
	{"fetch", "+ ", "fetched", false},
	{"clone", "+ ", "cloned", false},
	{"", "? ", "others", false}, // what this package does not know
}

// kindOf returns the position of an action in kinds, -1 for keep.
func kindOf(action string) int {
	if action == "keep" {
		return -1
	}
	for i, k := range kinds {
		if k.action == action || k.action == "" {
			return i
		}
	}
	return -1
}

// changes writes what happens to each file and says whether anything does. Guarded paths come first, with all that they
// hold, then foreign changes, each of them named.
func (p *Preview) changes(pr *printer, src Source) bool {
	var guarded, foreign []Change
	of := make([][]Change, len(kinds))
	for _, c := range p.Changes {
		switch k := kindOf(c.Action); {
		case k < 0:
		case len(c.Guarded) > 0:
			guarded = append(guarded, c)
		case len(c.Foreign) > 0:
			foreign = append(foreign, c)
		default:
			of[k] = append(of[k], c)
		}
	}
	s := &shower{pr: pr, src: src, left: pr.o.MaxLines}
	for _, c := range sorted(guarded) {
		s.head(c)
		s.rows(s.body(c, true), true)
	}
	for i, c := range sorted(foreign) {
		if i >= pr.o.MaxFiles && !pr.o.Full || !s.show(c) {
			s.head(c)
		}
	}
	for k, changes := range of {
		s.kind(k, sorted(changes))
	}
	return s.shown
}

// shower writes changes.
type shower struct {
	pr    *printer
	src   Source
	left  int // lines of contents that may still be shown
	shown bool
}

// show writes a change with its contents, or says that there is no room for them.
func (s *shower) show(c Change) bool {
	full := s.pr.o.Full
	body := s.body(c, full)
	if !full && len(body) > s.left {
		return false
	}
	s.left -= len(body)
	s.head(c)
	s.rows(body, full)
	return true
}

// kind writes the changes of one kind: with contents as long as those are few, then by name.
func (s *shower) kind(k int, changes []Change) {
	if s.pr.o.Full || len(changes) <= s.pr.o.MaxFiles {
		for len(changes) > 0 && s.show(changes[0]) {
			changes = changes[1:]
		}
	}
	s.list(k, changes)
}

// list writes changes a line each, folder by folder, and how many are left out.
func (s *shower) list(k int, changes []Change) {
	type folder struct {
		path  string
		files []Change
		size  int64
	}
	var folders []*folder
	in := map[string]*folder{}
	for _, c := range changes {
		if c.Action == "move" || c.Action == "fetch" || c.Action == "clone" {
			s.head(c) // which names both ends
			continue
		}
		dir := path.Dir(c.Path)
		f := in[dir]
		if f == nil {
			f = &folder{path: dir}
			in[dir] = f
			folders = append(folders, f)
		}
		f.files = append(f.files, c)
		f.size += c.Size
	}
	slices.SortFunc(folders, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	room, more, moreIn := s.pr.o.MaxFiles, 0, 0
	for _, f := range folders {
		s.shown = true
		files := f.files
		if kinds[k].cut && room < len(files) {
			more, moreIn = more+len(files)-room, moreIn+1
			if files = files[:room]; room == 0 {
				continue
			}
		}
		room -= len(files)
		head := fmt.Sprintf("in %s: %s %s", name(f.path+"/"), count(len(f.files)), kinds[k].word)
		if f.size > 0 {
			head += ", " + bytesOf(f.size)
		}
		s.pr.line(strong, kinds[k].mark, head)
		for _, c := range files {
			s.pr.line(plain, "  "+kinds[k].mark, base(c)+details(c))
		}
	}
	if more > 0 {
		folders := "folders"
		if moreIn == 1 {
			folders = "folder"
		}
		s.pr.line(faint, "… ", fmt.Sprintf("and %s more %s in %s %s; --full shows all", count(more), kinds[k].word, count(moreIn), folders))
	}
}

func base(c Change) string {
	n := path.Base(c.Path)
	if c.Dir {
		n += "/"
	}
	return name(n)
}

// head writes the line that names a change.
func (s *shower) head(c Change) {
	s.shown = true
	slash := ""
	if c.Dir {
		slash = "/"
	}
	k := kinds[max(0, kindOf(c.Action))]
	text := name(c.Path + slash)
	switch c.Action {
	case "move":
		text += " → " + name(c.To+slash)
	case "fetch":
		text += " from " + name(c.URL)
	case "clone":
		text += " from " + name(c.URL) + " at " + name(c.Ref)
	}
	if k.action == "" {
		text = c.verb() + " " + text
	}
	s.pr.line(strong, k.mark, text+details(c))
}

// details is what is known of a change, in brackets.
func details(c Change) string {
	var d []string
	if c.Dir && c.Entries > 0 {
		noun := " entries"
		if c.Entries == 1 {
			noun = " entry"
		}
		d = append(d, "folder with "+count(c.Entries)+noun)
	}
	before, after := c.Action != "create" && c.Action != "fetch" && c.Action != "clone", c.Action != "remove"
	switch {
	case before && after && c.OldMode != "" && c.Mode != "" && c.OldMode != c.Mode:
		d = append(d, "mode "+c.OldMode+" → "+c.Mode)
	case after && c.Mode != "":
		d = append(d, c.Mode)
	case before && c.OldMode != "":
		d = append(d, c.OldMode)
	}
	switch {
	case c.Dir || len(c.Edits) > 0 || c.Action == "fetch" || c.Action == "clone":
	case c.Action == "update" && c.Size != c.OldSize:
		d = append(d, count(c.OldSize)+" → "+bytesOf(c.Size))
	case c.Action == "remove":
		d = append(d, bytesOf(c.OldSize))
	case c.Action != "move":
		d = append(d, bytesOf(c.Size))
	}
	if n := len(c.Edits); n > 0 {
		d = append(d, map[bool]string{true: "1 edit", false: count(n) + " edits"}[n == 1])
	}
	if len(c.Guarded) > 0 {
		d = append(d, "guarded")
	}
	if len(c.Foreign) > 0 {
		d = append(d, "foreign")
	}
	text := ""
	if len(d) > 0 {
		text = " (" + strings.Join(d, ", ") + ")"
	}
	for i, o := range c.Owners {
		text += []string{" for ", ", "}[min(i, 1)] + name(o)
	}
	return text
}

func bytesOf(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return count(n) + " bytes"
}

var signs = map[byte]style{'+': added, '-': removed, '@': place, '\\': faint, '!': faint}

// maxColumn is how much of a line of contents is shown unless all is asked for.
const maxColumn = 2000

// rows writes a body, whole or up to the bounds.
func (s *shower) rows(rows []row, whole bool) {
	for _, r := range rows {
		text, cut := r.text, 0
		if !whole && len(text) > maxColumn {
			n := maxColumn
			for n > maxColumn-utf8.UTFMax && !utf8.RuneStart(text[n]) {
				n--
			}
			text, cut = text[:n], len(text)-n
		}
		s.pr.line(signs[r.sign], gutter+string(r.sign), text)
		if cut > 0 {
			s.pr.line(faint, gutter+"!", " "+bytesOf(int64(cut))+" more in this line; --full shows all")
		}
	}
}

// body returns what is shown beneath the line that names a change.
func (s *shower) body(c Change, whole bool) []row {
	switch {
	case len(c.Edits) > 0:
		return edits(c.Edits)
	case c.Action != "create" && c.Action != "update" && c.Action != "remove" || c.Dir || s.src == nil:
		return nil
	case c.Action == "update" && c.Digest != "" && c.Digest == c.OldDigest:
		return nil // only its mode
	}
	rows := s.contents(c)
	if max := s.pr.o.MaxFileLines; !whole && len(rows) > max+1 {
		more := len(rows) - max
		rows = append(rows[:max:max], row{'!', " " + count(more) + " more lines; --full shows all"})
	}
	return rows
}

// edits shows edits by what they add; what was there is told by its length.
func edits(edits []Edit) []row {
	var rows []row
	for _, e := range edits {
		at, noun := name(e.At), "value"
		if e.ID != "" {
			at, noun = "block "+name(e.ID), "text"
		}
		hidden := func(sign byte, what, text string) {
			rows = append(rows, row{sign, fmt.Sprintf(" %s: (a %s that %s, %s)", at, noun, what, bytesOf(int64(len(text))))})
		}
		switch e.Kind {
		case "same":
			rows = append(rows, row{' ', fmt.Sprintf(" %s: (that %s is there already)", at, noun)})
			continue
		case "replace", "remove":
			hidden('-', "is there", e.Old)
		case "add":
		default:
			rows = append(rows, row{'!', " " + name(e.Kind) + " " + at})
		}
		switch text := strings.TrimSuffix(e.New, "\n"); {
		case e.Kind != "add" && e.Kind != "replace":
		case !e.ShowNew:
			hidden('+', "is put back", e.New)
		case strings.Contains(text, "\n"):
			rows = append(rows, row{'+', " " + at + ":"})
			for line := range lines(text) {
				rows = append(rows, row{'+', "   " + line})
			}
		default:
			rows = append(rows, row{'+', " " + at + ": " + text})
		}
	}
	return rows
}

// firstLines is how much is shown of a file that is too large to compare.
const firstLines = 20

// firstBytes is how much of it is read for that.
const firstBytes = 64 << 10

// contents compares what is there with what will be.
func (s *shower) contents(c Change) []row {
	var before, after content
	var rows []row
	hidden := func(sign byte, what string, size int64) {
		rows = append(rows, row{sign, fmt.Sprintf(" (what %s, %s, is not shown: it may hold secrets)", what, bytesOf(size))})
	}
	switch {
	case c.Action == "create":
	case c.OldSecret:
		hidden('-', "is there", c.OldSize)
		c.OldDigest = ""
	default:
		before = s.read(s.src.Before, c.Path, c.OldSize)
	}
	switch {
	case c.Action == "remove":
	case c.NewSecret:
		hidden('+', "will be there", c.Size)
		c.Digest = ""
	default:
		after = s.read(s.src.After, c.Path, c.Size)
	}
	for _, side := range []content{before, after} {
		if side.err != nil {
			return append(rows, row{'!', " the contents cannot be read: " + side.err.Error()})
		}
	}
	a, b := before.lines, after.lines
	large := before.large || after.large
	if !large && !before.binary && !after.binary {
		if (len(a) == 0 || crlf(a)) && (len(b) == 0 || crlf(b)) && len(a)+len(b) > 0 {
			rows, a, b = append(rows, row{'!', " line endings: CRLF"}), withoutCR(a), withoutCR(b)
		}
		return append(rows, compare(a, b)...)
	}
	why := "too large to compare"
	if before.binary || after.binary {
		why = "binary"
	}
	remark := func(sign byte, size int64, digest string) {
		text := " (" + why + ", " + bytesOf(size)
		if digest != "" {
			text += ", sha256:" + digest
		}
		rows = append(rows, row{sign, text + ")"})
	}
	if c.Action != "create" && !c.OldSecret {
		remark('-', c.OldSize, c.OldDigest)
	}
	if c.Action != "remove" && !c.NewSecret {
		remark('+', c.Size, c.Digest)
	}
	// Of what is too large, the beginning of what will be there; of what goes, nothing: its name and digest say enough.
	if after.large && !after.binary {
		first := b[:min(firstLines, len(b))]
		rows = append(rows, row{'!', " it begins so; the rest is not shown, nor with --full:"})
		for _, line := range first {
			rows = append(rows, row{'+', strings.TrimSuffix(line, "\n")})
		}
	}
	return rows
}

// crlf reports whether each line ends in CR LF, the last one perhaps in nothing. What two sides have both is said once; where
// they differ, or one has both kinds, the CR is shown with each line.
func crlf(lines []string) bool {
	for i, line := range lines {
		if !strings.HasSuffix(line, "\r\n") && (i == 0 || i < len(lines)-1 || strings.HasSuffix(line, "\n")) {
			return false
		}
	}
	return true
}

// withoutCR returns lines of which [crlf] holds with LF alone at their ends.
func withoutCR(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line
		if bare, ok := strings.CutSuffix(line, "\r\n"); ok {
			out[i] = bare + "\n"
		}
	}
	return out
}

// content is one side of a file.
type content struct {
	lines         []string
	large, binary bool // large: lines are only the first
	err           error
}

// read reads a file up to the bound.
func (s *shower) read(open func(string) (io.ReadCloser, error), path string, size int64) content {
	bound := s.pr.o.MaxBytes
	c := content{large: size > bound}
	if c.large {
		bound = min(bound, firstBytes)
	}
	r, err := open(path)
	if err != nil {
		return content{err: err}
	}
	if r == nil {
		return content{err: errors.New("there are none")}
	}
	data, err := io.ReadAll(io.LimitReader(r, bound+1))
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return content{err: err}
	}
	if int64(len(data)) > bound {
		c.large = true
	}
	c.binary = binary(data)
	if !c.binary {
		c.lines = split(string(data))
	}
	c.large = c.large || len(c.lines) > compareLines
	if c.large {
		c.first()
	}
	return c
}

// first leaves whole lines from the beginning, few and short ones.
func (c *content) first() {
	left := firstBytes
	for i, line := range c.lines {
		if i == firstLines || len(line) > left {
			c.lines = c.lines[:i]
			if i == 0 {
				c.lines = []string{line[:left]}
			}
			return
		}
		left -= len(line)
	}
}

// binary holds for what has no use as text: where more than a tenth of the beginning are bytes that texts do not have. One
// NUL does not hide a script, and what says by its beginning that it is one is always text.
func binary(data []byte) bool {
	if bytes.HasPrefix(data, []byte("#!")) {
		return false
	}
	data = data[:min(len(data), firstBytes)]
	bad := 0
	for b := data; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			bad++
		}
		b = b[n:]
	}
	return bad*10 > len(data)
}
