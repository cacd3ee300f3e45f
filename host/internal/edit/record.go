package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/lola-ext/lola/abi"
)

// Kind is what an edit did to a file.
type Kind string

// The kinds.
const (
	Add     Kind = "add"
	Replace Kind = "replace"
	Remove  Kind = "remove"
	Same    Kind = "same" // nothing: the file was so already
)

// Record is what one edit did: for a preview to show, and for [Revert] to take back. It is stored as JSON.
type Record struct {
	Kind Kind   `json:"kind"`
	At   string `json:"at,omitempty"` // the JSON pointer of an edited value
	ID   string `json:"id,omitempty"` // the id of an edited block
	// Old is the value that was there, or the lines between a block's markers, byte for byte. It may be a secret of the
	// user's.
	Old *string `json:"old,omitempty"`
	// New is what is there now, as it was written, or for Same what was asked for. It is nil if the edit is to remove.
	New *string `json:"new,omitempty"`

	// Made lists the objects, or at last an array, that were made on the way to the value, the outer before the inner.
	Made []Made `json:"made,omitempty"`
	// File is set if there was no file, or none with a value in it.
	File *File `json:"file,omitempty"`
	// Slot is where the value was put or was; nil if it was replaced, or came with what was made around it.
	Slot *Slot `json:"slot,omitempty"`
	// Place is where the block was put or was.
	Place *Place `json:"place,omitempty"`
}

// Made is an object or array that was made to put something into. It goes when it is empty again.
type Made struct {
	At   string `json:"at"`
	Slot *Slot  `json:"slot,omitempty"` // nil if it came with what was made around it
}

// File is what stood in a file that had no value in it.
type File struct {
	Made bool   `json:"made,omitempty"` // there was no file
	Was  string `json:"was,omitempty"`  // white space that has made way
	Lead string `json:"lead,omitempty"` // what was put before the value
	Tail string `json:"tail,omitempty"` // what was put behind it
}

// Place is where a block was put or was.
type Place struct {
	Rest   string `json:"rest"`            // digest of the file without the block and without the empty line before it
	Offset int64  `json:"offset"`          // where the block begins, or began, in the file that Rest is of
	Empty  bool   `json:"empty,omitempty"` // an empty line was put before an added block
	Cut    string `json:"cut,omitempty"`   // what was taken out with a removed block, markers included
}

// maxStored bounds stored records. A byte of a file takes up to six in a JSON string and can be in three of them (what was,
// what is, what was cut); the rest is layout.
const maxStored = 24 * MaxFile

// Decode reads stored records. An unknown field, a record that [JSON] and [Block] do not make, or more bytes than the
// records of one file can have, is an error.
func Decode(stored []byte) ([]Record, error) {
	if len(stored) > maxStored {
		return nil, &abi.LimitError{Limit: "edit records", Bound: maxStored, Got: int64(len(stored))}
	}
	d := json.NewDecoder(bytes.NewReader(stored))
	d.DisallowUnknownFields()
	var records []Record
	if err := d.Decode(&records); err != nil {
		return nil, fmt.Errorf("reading edit records: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("reading edit records: something follows them")
	}
	if err := Check(records); err != nil {
		return nil, err
	}
	return records, nil
}

// Check holds records to what [JSON] or [Block] can have made. Whoever stores records as part of something larger calls it
// after reading them; [Revert] does.
func Check(records []Record) error {
	for i := range records {
		if why := records[i].bad(); why != "" {
			return fmt.Errorf("reading edit record %d: %s", i, why)
		}
		if (records[i].ID == "") != (records[0].ID == "") {
			return fmt.Errorf("reading edit record %d: values and blocks of one file", i)
		}
	}
	return nil
}

func (r *Record) bad() string {
	texts := true
	switch r.Kind {
	case Add:
		texts = r.New != nil && r.Old == nil
	case Replace:
		texts = r.New != nil && r.Old != nil
	case Remove:
		texts = r.New == nil && r.Old != nil
	case Same:
		texts = r.Old == nil
	default:
		return fmt.Sprintf("its kind is %q", r.Kind)
	}
	if !texts {
		return fmt.Sprintf("it lacks a text, or has one too many, for its kind %q", r.Kind)
	}
	for _, t := range []*string{r.Old, r.New} {
		if t != nil && len(*t) > MaxFile {
			return "a text is larger than a file"
		}
	}
	if r.ID != "" {
		return r.badBlock()
	}
	return r.badValue()
}

func (r *Record) badBlock() string {
	switch {
	case !validID(r.ID):
		return fmt.Sprintf("its block id is %q", r.ID)
	case r.At != "" || r.Made != nil || r.Slot != nil:
		return "it is about a block and about a value"
	case (r.Kind == Add || r.Kind == Remove) != (r.Place != nil):
		return "a block's place is missing, or one too many"
	case r.File != nil && *r.File != File{Made: true}:
		return "a block's file is not as one is made"
	case r.Place != nil && (r.Place.Offset < 0 || r.Place.Offset > MaxFile || len(r.Place.Cut) > MaxFile):
		return "a block's place is out of range"
	}
	for _, t := range []*string{r.Old, r.New} {
		if t != nil && (!utf8.ValidString(*t) || markerIn(*t) != "") {
			return "a block's text holds a marker line, or is not valid UTF-8"
		}
	}
	return ""
}

func (r *Record) badValue() string {
	tokens, err := parsePointer(r.At)
	if err != nil || len(tokens) == 0 {
		return fmt.Sprintf("its pointer is %q", r.At)
	}
	if r.Place != nil || r.Kind == Remove && r.Slot == nil || appends(tokens) && (r.New == nil || r.Kind == Replace) {
		return "a value's place is missing, or one too many"
	}
	for _, t := range []*string{r.Old, r.New} {
		if t == nil {
			continue
		}
		if v, err := parseText([]byte(*t)); err != nil || v.BeforeExtra != nil || v.AfterExtra != nil {
			return "a value's text is not one JSON value"
		}
	}
	if r.Slot != nil {
		if why := r.Slot.bad(r.Kind == Remove); why != "" {
			return why
		}
		if r.Kind == Remove && *r.Slot.name() != tokens[len(tokens)-1] {
			return "a removed value has another name than its pointer"
		}
	}
	for _, m := range r.Made {
		if t, err := parsePointer(m.At); err != nil || len(t) == 0 {
			return fmt.Sprintf("it made %q", m.At)
		}
		if m.Slot != nil {
			if why := m.Slot.bad(false); why != "" {
				return why
			}
		}
	}
	if f := r.File; f != nil && (!isSpace(f.Was) || !isSpace(f.Lead) || !isSpace(f.Tail)) {
		return "its file's layout is not white space"
	}
	return ""
}

// bad looks whether anything but layout could come into a file by a slot.
func (s *Slot) bad(removed bool) string {
	if !removed {
		if !isSpace(s.Was) || !isSpace(s.Lead) || !isSpace(s.Tail) ||
			s.Prev != nil || s.Next != nil || s.Head != "" || s.After != "" || s.Comma || s.Moved != "" {
			return "a value's layout is not white space"
		}
		return ""
	}
	for _, extra := range []string{s.Was, s.Lead, s.Tail, s.After, s.Moved} {
		if !utf8.ValidString(extra) || !hujson.Extra(extra).IsValid() {
			return "a value's layout holds more than white space and comments"
		}
	}
	if s.name() == nil {
		return "a removed value has no name"
	}
	for _, n := range []*string{s.Prev, s.Next} {
		if n != nil && !json.Valid([]byte(*n)) || n != nil && (*n)[0] != '"' {
			return "what stood next to a removed value is no name"
		}
	}
	return ""
}

// name is the name of a removed member, nil if Head is not a name and a colon.
func (s *Slot) name() *string {
	v, err := parseText([]byte("{" + s.Head + "0}"))
	if err != nil {
		return nil
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok || len(object.Members) != 1 || string(object.AfterExtra) != "" || object.Members[0].Name.BeforeExtra != nil {
		return nil
	}
	name := text(object.Members[0].Name.Value.(hujson.Literal))
	return &name
}
