package audit

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// BrokenError says where a log stops being what was written, and why.
type BrokenError struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`   // from 1
	Offset int64  `json:"offset"` // of the line, in bytes
	Seq    uint64 `json:"seq"`    // the record that was due there; 0: not known
	Why    string `json:"why"`
}

// Error implements error.
func (e *BrokenError) Error() string {
	record := "a record"
	if e.Seq > 0 {
		record = fmt.Sprintf("record %d", e.Seq)
	}
	return fmt.Sprintf("%s is due at line %d of %q: %s", record, e.Line, e.File, e.Why)
}

// source is one file of a log, oldest first.
type source struct {
	name string
	from io.Reader
}

// scanner goes through records oldest to newest and holds each to the one before it. It keeps one line in memory.
type scanner struct {
	sources []source // those not yet begun
	lines   lines
	name    string // the file under way; empty: none
	line    int64  // lines of it that were read
	start   int64  // offset of the line that was read last
	offset  int64  // bytes of it that were read
	read    string // the file that was read last

	begins Record // the first record
	last   Record // the one before; Seq 0: none yet
	ended  *Rotated
	intact bool // no record of this file was read yet

	scrap     Scrap       // bytes since the last record that are none
	scrapHash hash.Hash   // of them
	scrapAt   BrokenError // where they begin
}

func newScanner(sources []source) *scanner {
	return &scanner{sources: sources, lines: lines{from: bufio.NewReaderSize(nil, 64<<10)}, scrapHash: sha256.New()}
}

// here is the place of the line that was read last.
func (s *scanner) here(why string) *BrokenError {
	return &BrokenError{File: s.read, Line: s.line, Offset: s.start, Seq: s.due(), Why: why}
}

// due is the number of the next record; 0 if any may be the first.
func (s *scanner) due() uint64 {
	if s.last.Seq == 0 {
		return 0
	}
	return s.last.Seq + 1
}

// next returns the next record. Its errors are [io.EOF], *[BrokenError] and what reading meets.
// At io.EOF, s.scrap is what a cut write left at the end.
func (s *scanner) next() (Record, error) {
	for {
		if s.name == "" {
			if len(s.sources) == 0 {
				return Record{}, io.EOF
			}
			s.name, s.line, s.start, s.offset, s.intact = s.sources[0].name, 0, 0, 0, true
			s.read = s.name
			s.lines.from.Reset(s.sources[0].from)
			s.sources = s.sources[1:]
		}
		// Bytes of a line that is no record are hashed as scrap; a line is too long to be one before its end is known.
		ln, err := s.lines.next(s.scrapHash)
		if err == io.EOF {
			if s.scrap.Bytes > 0 && len(s.sources) > 0 {
				at := s.scrapAt
				at.Why = "no record is there, and another file follows"
				return Record{}, &at
			}
			if s.last.Seq > 0 {
				s.ended = &Rotated{File: s.name, Last: s.last.Seq, Head: s.last.Hash}
			}
			s.name = ""
			continue
		}
		if err != nil {
			return Record{}, fmt.Errorf("reading %q: %w", s.name, err)
		}
		s.line++
		s.start = s.offset
		s.offset += ln.size
		why := fmt.Sprintf("it is longer than %d bytes", MaxRecord)
		var env envelope
		if ln.text != nil {
			env, why = open(ln.text)
		}
		if why != "" {
			if err := s.takeScrap(ln, why); err != nil {
				return Record{}, err
			}
			continue
		}
		if env.format != Format {
			return Record{}, fmt.Errorf("reading line %d of %q: %w", s.line, s.name, errNewer(env))
		}
		rec, err := decode(ln.text, env)
		if err != nil {
			return Record{}, s.here(err.Error())
		}
		if why := s.join(rec); why != "" {
			at := *s.here(why)
			if s.scrap.Bytes > 0 { // what this record does not fit is where it should begin
				at = s.scrapAt
				at.Why = why
			}
			return Record{}, &at
		}
		if rec.Event == EventDamaged {
			at := s.scrapAt
			at.Why = "no record is there, and no cut write leaves that; a later record tells of it"
			return Record{}, &at
		}
		s.scrap = Scrap{}
		s.scrapHash.Reset()
		if s.last.Seq == 0 {
			s.begins = rec
		}
		s.last, s.intact = rec, false
		return rec, nil
	}
}

// takeScrap accepts a line that is no record if a cut write can have left it: one without an end, or one that a writer
// closed with "~".
func (s *scanner) takeScrap(ln line, why string) error {
	if ln.ended && ln.last != scrapEnd {
		return s.here(why)
	}
	if !ln.ended && ln.text != nil && len(ln.text) > 0 {
		if _, why := open(ln.text[:len(ln.text)-1]); why == "" {
			return s.here("something stands after the record instead of the end of the line")
		}
	}
	if s.scrap.Bytes == 0 {
		s.scrapAt = *s.here("")
	}
	if ln.text != nil {
		s.scrapHash.Write(ln.text)
		if ln.ended {
			s.scrapHash.Write([]byte{'\n'})
		}
	}
	s.scrap.Bytes += ln.size
	return nil
}

// join says why rec does not follow what was read, or nothing.
func (s *scanner) join(rec Record) string {
	if due := s.due(); due != 0 && rec.Seq != due {
		return fmt.Sprintf("record %d comes next", rec.Seq)
	}
	if s.last.Seq != 0 && rec.Prev != s.last.Hash {
		return "it is not chained to the record before it"
	}
	if rec.Seq == 1 && rec.Prev != (Digest{}) {
		return "the first record names one before it"
	}
	s.scrap.Digest = Digest(s.scrapHash.Sum(nil))
	marks := rec.Event == EventTorn || rec.Event == EventDamaged
	switch {
	case marks != (rec.Scrap != nil):
		return "its event and what it tells do not fit"
	case marks && s.scrap.Bytes == 0:
		return "it tells of a cut write before it, and there is none"
	case marks && *rec.Scrap != s.scrap:
		return "what lies there is not what the record after it tells"
	case !marks && s.scrap.Bytes > 0:
		return "what a cut write may have left is there, and the record after it does not tell of that"
	case (rec.Event == EventRotated) != (rec.Rotated != nil), (rec.Event == EventDropped) != (rec.Dropped != nil):
		return "its event and what it tells do not fit"
	case rec.Rotated != nil && !s.intact:
		return "it tells that a file begins, within one"
	case rec.Rotated != nil && s.ended != nil && *rec.Rotated != *s.ended:
		return "it tells of another end of the file before than there is"
	}
	return ""
}
