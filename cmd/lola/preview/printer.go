package preview

import (
	"bufio"
	"io"
	"strings"
)

// gutter stands before every line of contents, so that none begins at the margin.
const gutter = "  │ "

// A style is how a line looks where there is colour.
type style string

const (
	plain   style = ""
	strong  style = "\x1b[1m"
	faint   style = "\x1b[2m"
	danger  style = "\x1b[1;31m"
	added   style = "\x1b[32m"
	removed style = "\x1b[31m"
	place   style = "\x1b[36m"
	reset         = "\x1b[0m"
)

// printer is the only way to the output: each line is a head of ours and text that is escaped here, whoever made it.
type printer struct {
	w   *bufio.Writer
	o   Options
	err error
}

func newPrinter(w io.Writer, o Options) *printer {
	return &printer{w: bufio.NewWriterSize(w, 64<<10), o: o}
}

func (p *printer) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

func (p *printer) blank() { p.put("\n") }

func (p *printer) put(s string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(s)
	}
}

// line writes one line, which is one on the screen too: where the terminal would wrap it and let its rest begin at the
// margin, it goes on behind a head of the same kind that ends in ">".
func (p *printer) line(s style, head, text string) {
	if strings.HasPrefix(head, gutter) {
		text = escapeContent(text)
	} else {
		text = Escape(text)
	}
	if p.o.Width == 0 {
		p.row(s, head, text)
		return
	}
	rest := "    > "
	if strings.HasPrefix(head, gutter) {
		rest = gutter + ">" // where a sign stands, and none is this one
	}
	for {
		room := p.o.Width - 1 - cells(head) // a full line makes some terminals wrap
		n := fit(text, room)
		p.row(s, head, text[:n])
		text = text[n:]
		if text == "" {
			return
		}
		head = rest
	}
}

func (p *printer) row(s style, head, text string) {
	if p.o.Color && s != plain {
		p.put(string(s) + head + text + reset + "\n")
		return
	}
	p.put(head + text + "\n")
}

// fit returns how many bytes of the text have room, one character at least.
func fit(text string, room int) int {
	for i, r := range text {
		room -= width(r)
		if room < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}

// cells is how many columns a text takes at most.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += width(r)
	}
	return n
}

// wide are the characters that take two columns, and in between some that do not: too many is a line wrapped early, too few
// one wrapped by the terminal.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x23ff}, {0x25fd, 0x27bf}, {0x2b00, 0x2bff}, {0x2e80, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe10, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18fff}, {0x1aff0, 0x1b2ff}, {0x1d300, 0x1d37f}, {0x1f000, 0x3ffff},
}

// tabStop is how far apart terminals have their stops for tabs.
const tabStop = 8

// width is how many columns a character takes at most. A mark that combines counts for one: not every terminal combines.
func width(r rune) int {
	if r == '\t' {
		return tabStop
	}
	if r < wide[0][0] {
		return 1
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}
