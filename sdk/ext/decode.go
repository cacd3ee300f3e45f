package ext

import (
	"strconv"
	"unicode/utf8"

	"github.com/lola-ext/lola/abi"
)

// CBOR major types (RFC 8949, section 3.1).
const (
	majorUint = iota
	majorNint
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

// Arguments of the simple values that there are.
const (
	simpleFalse = 20
	simpleTrue  = 21
	simpleNull  = 22
)

// formError is why bytes are no request. It says what package abi's FormError says, without fmt.
type formError struct {
	class  abi.Class
	offset int
}

func (e *formError) Error() string {
	return "reading the request: " + string(e.class) + " at byte " + strconv.Itoa(e.offset)
}

// decodeRequest reads one request: strict CBOR in core deterministic encoding, exactly the protocol's keys, nothing after.
// It is the second implementation of what package abi/wire does; the vectors hold both to one meaning. Contents lie within
// b afterwards and are not copied. Limits are the host's, which made the request.
func decodeRequest(b []byte) (*abi.Request, error) {
	if len(b) == 0 {
		return nil, &formError{abi.ClassEmpty, 0}
	}
	d := decoder{b: b}
	req := d.request()
	if d.err == nil && d.at != len(b) {
		d.fail(abi.ClassTrailing)
	}
	if d.err != nil {
		return nil, d.err
	}
	return req, nil
}

// decoder reads from b. After the first error, which sticks, every method returns zero values and reads nothing, so that
// callers need not look at each step; loops are bounded by next and by each.
type decoder struct {
	b   []byte
	at  int
	err error
}

func (d *decoder) fail(class abi.Class) {
	if d.err == nil {
		d.err = &formError{class, d.at}
		d.at = len(d.b)
	}
}

// head reads an item's major type and argument.
func (d *decoder) head() (major byte, arg uint64) {
	if d.err != nil {
		return 0, 0
	}
	if d.at >= len(d.b) {
		d.fail(abi.ClassTruncated)
		return 0, 0
	}
	first := d.b[d.at]
	major, info := first>>5, first&31
	switch {
	case major == majorTag && info < 28:
		d.fail(abi.ClassTag)
	case major == majorSimple && info >= 25 && info <= 27:
		d.fail(abi.ClassFloat)
	case major == majorSimple && info < 28 && (info < simpleFalse || info > simpleNull):
		d.fail(abi.ClassSimple)
	case info == 31 && major >= majorBytes && major <= majorMap:
		d.fail(abi.ClassIndefinite)
	case info >= 28:
		d.fail(abi.ClassMalformed)
	}
	if d.err != nil {
		return 0, 0
	}
	if info < 24 {
		d.at++
		return major, uint64(info)
	}
	width := 1 << (info - 24)
	if len(d.b)-d.at-1 < width {
		d.fail(abi.ClassTruncated)
		return 0, 0
	}
	for _, c := range d.b[d.at+1 : d.at+1+width] {
		arg = arg<<8 | uint64(c)
	}
	least := uint64(24)
	if width > 1 {
		least = 1 << (4 * width)
	}
	if arg < least {
		d.fail(abi.ClassNonMinimal)
		return 0, 0
	}
	d.at += 1 + width
	return major, arg
}

// expect reads a head of one major type.
func (d *decoder) expect(want byte) uint64 {
	start := d.at
	major, arg := d.head()
	if d.err == nil && major != want {
		d.at = start
		d.wrongType(major, arg)
	}
	return arg
}

func (d *decoder) wrongType(major byte, arg uint64) {
	if major == majorSimple && arg == simpleNull {
		d.fail(abi.ClassNull)
	} else {
		d.fail(abi.ClassType)
	}
}

// take returns the next n bytes.
func (d *decoder) take(n uint64) []byte {
	if d.err != nil {
		return nil
	}
	if n > uint64(len(d.b)-d.at) {
		d.fail(abi.ClassLengthOverRest)
		return nil
	}
	s := d.b[d.at : d.at+int(n) : d.at+int(n)]
	d.at += int(n)
	return s
}

// bytes reads a byte string; empty is not nil.
func (d *decoder) bytes() []byte { return d.take(d.expect(majorBytes)) }

func (d *decoder) text() string {
	s := d.take(d.expect(majorText))
	if !utf8.Valid(s) {
		d.fail(abi.ClassUTF8)
	}
	return string(s)
}

// uint reads an unsigned integer of at most limit.
func (d *decoder) uint(limit uint64) uint64 {
	start := d.at
	major, arg := d.head()
	switch {
	case d.err != nil:
	case major == majorNint || major == majorUint && arg > limit:
		d.fail(abi.ClassValue)
	case major != majorUint:
		d.at = start
		d.wrongType(major, arg)
	}
	return arg
}

func (d *decoder) mode() abi.Mode { return abi.Mode(d.uint(uint64(abi.ModeMask))) }

func (d *decoder) digest() (digest abi.Digest) {
	b := d.bytes()
	if d.err == nil && len(b) != len(digest) {
		d.fail(abi.ClassValue)
		return digest
	}
	copy(digest[:], b)
	return digest
}

// array reads an array's head and calls item for each element.
func (d *decoder) array(item func()) {
	n := d.expect(majorArray)
	if n > uint64(len(d.b)-d.at) { // an element takes a byte at the least
		d.fail(abi.ClassLengthOverRest)
	}
	for ; n > 0 && d.err == nil; n-- {
		item()
	}
}

// keys is the set of keys that a map had, in a bit each.
type keys uint

// each reads a map: it calls value with each key's place in known, and at the end fails if one of the first required keys
// was not there. Keys must ascend bytewise in their encodings. A nil known takes any key and passes the key itself.
func (d *decoder) each(known []string, required int, value func(place int, key string)) keys {
	n := d.expect(majorMap)
	if n > uint64(len(d.b)-d.at)/2 { // a pair takes two bytes at the least
		d.fail(abi.ClassLengthOverRest)
	}
	var seen keys
	last := ""
	for ; n > 0 && d.err == nil; n-- {
		start := d.at
		major, arg := d.head()
		if d.err == nil && major != majorText {
			d.at = start
			d.fail(abi.ClassKeyType)
		}
		key := string(d.take(arg))
		if !utf8.ValidString(key) {
			d.fail(abi.ClassUTF8)
		}
		if d.err != nil {
			return 0
		}
		encoded := string(d.b[start:d.at])
		switch {
		case encoded == last:
			d.fail(abi.ClassDuplicateKey)
		case encoded < last:
			d.fail(abi.ClassUnsortedKey)
		}
		last = encoded
		place := index(known, key)
		if known != nil && place < 0 {
			d.fail(abi.ClassUnknownKey)
		}
		if d.err != nil {
			return 0
		}
		if place >= 0 {
			seen |= 1 << place
		}
		value(place, key)
	}
	if all := keys(1)<<required - 1; d.err == nil && seen&all != all {
		d.fail(abi.ClassMissingKey)
	}
	return seen
}

func index(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return -1
}

// The keys of each map, the required ones first.
var (
	requestKeys  = []string{"abi", "action", "extension", "scope", "params", "module", "inputs"}
	identityKeys = []string{"name", "version"}
	moduleKeys   = []string{"name", "version", "digest", "files"}
	fileKeys     = []string{"path", "mode", "size", "digest", "content"}
	inputKeys    = []string{"path", "state", "mode", "content", "digest"}
)

func (d *decoder) request() *abi.Request {
	req := new(abi.Request)
	d.each(requestKeys, 3, func(place int, _ string) {
		switch requestKeys[place] {
		case "abi":
			if v := d.uint(1<<64 - 1); d.err == nil && v != abi.Version {
				d.fail(abi.ClassVersion)
			}
		case "action":
			req.Action = d.text()
		case "extension":
			req.Extension = d.identity()
		case "scope":
			req.Scope = abi.Scope(d.text())
			if req.Scope != abi.ScopeProject && req.Scope != abi.ScopeUser {
				d.fail(abi.ClassValue)
			}
		case "params":
			req.Params = make(map[string]abi.Param)
			d.each(nil, 0, func(_ int, key string) { req.Params[key] = d.param() })
		case "module":
			req.Module = d.module()
		case "inputs":
			req.Inputs = []abi.Input{}
			d.array(func() {
				in := d.input()
				if n := len(req.Inputs); n > 0 && req.Inputs[n-1].Path >= in.Path {
					d.fail(abi.ClassOrder)
				}
				req.Inputs = append(req.Inputs, in)
			})
		}
	})
	return req
}

func (d *decoder) identity() (id abi.Identity) {
	d.each(identityKeys, 2, func(place int, _ string) {
		switch identityKeys[place] {
		case "name":
			id.Name = d.text()
		case "version":
			id.Version = d.text()
		}
	})
	return id
}

func (d *decoder) param() abi.Param {
	start := d.at
	major, arg := d.head()
	switch {
	case d.err != nil:
	case major == majorUint || major == majorNint:
		if arg > 1<<63-1 {
			d.fail(abi.ClassValue)
			return nil
		}
		if major == majorNint {
			return -1 - int64(arg)
		}
		return int64(arg)
	case major == majorText:
		d.at = start
		return d.text()
	case major == majorSimple && arg != simpleNull:
		return arg == simpleTrue
	default:
		d.at = start
		d.wrongType(major, arg)
	}
	return nil
}

func (d *decoder) module() *abi.Module {
	m := &abi.Module{Files: []abi.File{}}
	d.each(moduleKeys, 4, func(place int, _ string) {
		switch moduleKeys[place] {
		case "name":
			m.Name = d.text()
		case "version":
			m.Version = d.text()
		case "digest":
			m.Digest = d.digest()
		case "files":
			d.array(func() {
				f := d.file()
				if n := len(m.Files); n > 0 && m.Files[n-1].Path >= f.Path {
					d.fail(abi.ClassOrder)
				}
				m.Files = append(m.Files, f)
			})
		}
	})
	return m
}

func (d *decoder) file() (f abi.File) {
	d.each(fileKeys, 4, func(place int, _ string) {
		switch fileKeys[place] {
		case "path":
			f.Path = d.text()
		case "mode":
			f.Mode = d.mode()
		case "size":
			f.Size = int64(d.uint(1<<63 - 1))
		case "digest":
			f.Digest = d.digest()
		case "content":
			f.Content = d.bytes()
		}
	})
	return f
}

func (d *decoder) input() (in abi.Input) {
	seen := d.each(inputKeys, 2, func(place int, _ string) {
		switch inputKeys[place] {
		case "path":
			in.Path = d.text()
		case "state":
			in.State = abi.InputState(d.text())
			if in.State != abi.InputAbsent && in.State != abi.InputFile {
				d.fail(abi.ClassValue)
			}
		case "mode":
			mode := d.mode()
			in.Mode = &mode
		case "content":
			in.Content = d.bytes()
		case "digest":
			digest := d.digest()
			in.Digest = &digest
		}
	})
	if in.State == abi.InputAbsent && seen>>2 != 0 { // nothing is known of what is not there
		d.fail(abi.ClassExclusive)
	}
	return in
}
