package oracle

import "unicode"

// span is a range of code points, both ends in it.
type span struct{ first, last rune }

// defaultIgnorable is the property Default_Ignorable_Code_Point of the Unicode Character Database, file
// DerivedCoreProperties.txt (versions 15.0 to 17.0 have the same list). It is written out because the standard library
// has only parts of it; a test derives it again from those parts.
var defaultIgnorable = []span{
	{0x00AD, 0x00AD},   // soft hyphen
	{0x034F, 0x034F},   // combining grapheme joiner
	{0x061C, 0x061C},   // Arabic letter mark
	{0x115F, 0x1160},   // Hangul fillers
	{0x17B4, 0x17B5},   // Khmer inherent vowels
	{0x180B, 0x180F},   // Mongolian variation selectors and vowel separator
	{0x200B, 0x200F},   // zero width space, joiners, direction marks
	{0x202A, 0x202E},   // direction embeddings and overrides
	{0x2060, 0x206F},   // word joiner, invisible operators, isolates, deprecated formats
	{0x3164, 0x3164},   // Hangul filler
	{0xFE00, 0xFE0F},   // variation selectors, the one that asks for an emoji in colour among them
	{0xFEFF, 0xFEFF},   // zero width no-break space
	{0xFFA0, 0xFFA0},   // halfwidth Hangul filler
	{0xFFF0, 0xFFF8},   // reserved
	{0x1BCA0, 0x1BCA3}, // shorthand formats
	{0x1D173, 0x1D17A}, // musical formats
	{0xE0000, 0xE0FFF}, // tags, more variation selectors, reserved
}

// bidiControl is the property Bidi_Control, file PropList.txt. All of it is ignorable too; it is a list of its own because
// the requirement names it by itself.
var bidiControl = []span{
	{0x061C, 0x061C},
	{0x200E, 0x200F},
	{0x202A, 0x202E},
	{0x2066, 0x2069},
}

// blank holds characters that are neither space nor ignorable by their properties, and yet are drawn as nothing.
var blank = []span{
	{0x2800, 0x2800},   // Braille pattern blank
	{0x1D159, 0x1D159}, // musical symbol null notehead
}

func within(spans []span, r rune) bool {
	for _, s := range spans {
		if s.first <= r && r <= s.last {
			return true
		}
	}
	return false
}

func bidirectional(r rune) bool { return within(bidiControl, r) }

func ignorable(r rune) bool { return within(defaultIgnorable, r) }

// invisible takes the word, which Unicode does not define, for what is drawn as nothing and separates nothing: format
// characters, line and paragraph separators, and the blanks above. Spaces of all widths are seen by the gap they leave, and
// people have them in names (U+3000 in Japanese, U+202F in the names that a Mac gives to pictures of its screen).
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || within(blank, r)
}
