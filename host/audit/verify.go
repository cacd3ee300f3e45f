package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// maxTorn bounds how many cut writes a report names; it counts all.
const maxTorn = 100

// VerifyOptions says what to hold a log to beside itself.
type VerifyOptions struct {
	// Anchor is a head that was kept elsewhere: the log must hold that very record. Without one, a log that was cut off
	// at its end, or written anew, is not told from a good one. The zero value anchors nothing.
	Anchor Head
}

// Report is what Verify found.
type Report struct {
	Files     int          `json:"files"`
	Records   int64        `json:"records"`
	First     uint64       `json:"first"`            // number of the first record; more than 1 after files were dropped
	Head      Head         `json:"head"`             // the last record that holds
	Anchored  bool         `json:"anchored"`         // the anchor was given and found
	Torn      []Place      `json:"torn,omitempty"`   // where cut writes lie, the first hundred
	TornCount int64        `json:"torn_count"`       // how many
	Broken    *BrokenError `json:"broken,omitempty"` // the first that does not hold; nil: all do
}

// Place is where something lies that is no record.
type Place struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Bytes  int64  `json:"bytes"`
	Marked bool   `json:"marked"` // the record after it tells of it; else it is at the end
}

// OK reports whether everything holds.
func (r Report) OK() bool { return r.Broken == nil }

// Verify reads the whole log and holds each record to its hash and to the one before it. It stops at the first that does
// not hold, which is Report.Broken and no error; an error says that the log could not be judged. Nothing is ever made.
func (l *Log) Verify(ctx context.Context, o VerifyOptions) (Report, error) {
	view, err := l.snapshot(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit log %q: %w", l.Path(), err)
	}
	defer view.close()
	report, err := verify(ctx, view.sources, o)
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit log %q: %w", l.Path(), err)
	}
	return report, nil
}

func verify(ctx context.Context, sources []source, o VerifyOptions) (Report, error) {
	r := Report{Files: len(sources)}
	s := newScanner(sources)
	begun := true // a record tells why the log begins where it does
	var first BrokenError
	for {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		rec, err := s.next()
		if broken := (*BrokenError)(nil); errors.As(err, &broken) {
			r.Broken = broken
			return r, nil
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Report{}, err
		}
		if r.Records == 0 {
			r.First = rec.Seq
			begun = rec.Seq == 1
			first = BrokenError{File: s.name, Line: s.line, Offset: s.start, Seq: 1, Why: fmt.Sprintf("the log begins with record %d, and none tells that those before it were dropped", rec.Seq)}
		}
		r.Records++
		r.Head = Head{Seq: rec.Seq, Hash: rec.Hash}
		switch {
		case rec.Event == EventTorn:
			r.torn(Place{File: s.scrapAt.File, Line: s.scrapAt.Line, Bytes: rec.Scrap.Bytes, Marked: true})
		case rec.Dropped != nil:
			begun = begun || rec.Dropped.Begins == s.begins.Seq && rec.Dropped.Prev == s.begins.Prev
		}
		if rec.Seq == o.Anchor.Seq {
			if rec.Hash != o.Anchor.Hash {
				r.Broken = s.here("it is not the record that was anchored")
				r.Broken.Seq = rec.Seq
				return r, nil
			}
			r.Anchored = true
		}
	}
	if s.scrap.Bytes > 0 {
		r.torn(Place{File: s.scrapAt.File, Line: s.scrapAt.Line, Bytes: s.scrap.Bytes})
	}
	switch {
	case !begun:
		r.Broken = &first
	case o.Anchor != (Head{}) && !r.Anchored && o.Anchor.Seq < r.First:
		r.Broken = &BrokenError{File: first.File, Line: 1, Seq: o.Anchor.Seq, Why: fmt.Sprintf("it was anchored, and the log begins with record %d: anchor a newer one", r.First)}
	case o.Anchor != (Head{}) && !r.Anchored:
		r.Broken = &BrokenError{File: s.read, Line: s.line + 1, Offset: s.offset, Seq: o.Anchor.Seq, Why: fmt.Sprintf("it was anchored, and the log ends with record %d", r.Head.Seq)}
	}
	return r, nil
}

func (r *Report) torn(p Place) {
	r.TornCount++
	if len(r.Torn) < maxTorn {
		r.Torn = append(r.Torn, p)
	}
}
