package wire

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/lola-ext/lola/abi"
)

// ErrBroken marks an error that is a fault of this package, never of the input: the codec refused what the walker had let
// through, or the other way round.
var ErrBroken = errors.New("wire: walker and codec disagree")

// decMode decodes items that the walker has checked. It is as strict as the library can be all the same, so that neither
// stands alone; package fuzz holds the two against each other. Every option is named, for the zero value of most allows.
var decMode = func() cbor.DecMode {
	simple := []func(*cbor.SimpleValueRegistry) error{cbor.WithRejectedSimpleValue(23)} // undefined
	for n := range 256 {
		if n < 20 || n >= 32 {
			simple = append(simple, cbor.WithRejectedSimpleValue(cbor.SimpleValue(n)))
		}
	}
	registry, err := cbor.NewSimpleValueRegistryFromDefaults(simple...)
	if err != nil {
		panic("wire: simple values: " + err.Error())
	}
	mode, err := cbor.DecOptions{
		DupMapKey:                 cbor.DupMapKeyEnforcedAPF,
		TimeTag:                   cbor.DecTagRequired,
		MaxNestedLevels:           abi.MaxDepth,
		MaxArrayElements:          math.MaxInt32, // the walker has counted
		MaxMapPairs:               math.MaxInt32, // the walker has counted
		IndefLength:               cbor.IndefLengthForbidden,
		TagsMd:                    cbor.TagsForbidden,
		IntDec:                    cbor.IntDecConvertSigned,
		MapKeyByteString:          cbor.MapKeyByteStringForbidden,
		ExtraReturnErrors:         cbor.ExtraDecErrorUnknownField,
		DefaultMapType:            reflect.TypeFor[map[string]any](),
		UTF8:                      cbor.UTF8RejectInvalid,
		FieldNameMatching:         cbor.FieldNameMatchingCaseSensitive,
		BigIntDec:                 cbor.BigIntDecodeValue,
		DefaultByteStringType:     reflect.TypeFor[[]byte](),
		ByteStringToString:        cbor.ByteStringToStringForbidden,
		FieldNameByteString:       cbor.FieldNameByteStringForbidden,
		UnrecognizedTagToAny:      cbor.UnrecognizedTagNumAndContentToAny,
		TimeTagToAny:              cbor.TimeTagToTime,
		SimpleValues:              registry,
		NaN:                       cbor.NaNDecodeForbidden,
		Inf:                       cbor.InfDecodeForbidden,
		ByteStringToTime:          cbor.ByteStringToTimeForbidden,
		ByteStringExpectedFormat:  cbor.ByteStringExpectedFormatNone,
		BignumTag:                 cbor.BignumTagForbidden,
		BinaryUnmarshaler:         cbor.BinaryUnmarshalerNone,
		TextUnmarshaler:           cbor.TextUnmarshalerNone,
		JSONUnmarshalerTranscoder: nil,
	}.DecMode()
	if err != nil {
		panic("wire: decoding options: " + err.Error())
	}
	return mode
}()

// encMode encodes core deterministic CBOR (RFC 8949, section 4.2.1).
var encMode = func() cbor.UserBufferEncMode {
	mode, err := cbor.EncOptions{
		Sort:                 cbor.SortBytewiseLexical,
		ShortestFloat:        cbor.ShortestFloat16, // floats are encoded only to be refused by name
		NaNConvert:           cbor.NaNConvert7e00,
		InfConvert:           cbor.InfConvertFloat16,
		BigIntConvert:        cbor.BigIntConvertReject,
		Time:                 cbor.TimeUnix,
		TimeTag:              cbor.EncTagNone,
		IndefLength:          cbor.IndefLengthForbidden,
		NilContainers:        cbor.NilContainerAsEmpty,
		TagsMd:               cbor.TagsForbidden,
		OmitEmpty:            cbor.OmitEmptyGoValue,
		String:               cbor.StringToTextString,
		FieldName:            cbor.FieldNameToTextString,
		ByteSliceLaterFormat: cbor.ByteSliceLaterFormatNone,
		ByteArray:            cbor.ByteArrayToByteSlice,
		BinaryMarshaler:      cbor.BinaryMarshalerNone,
		TextMarshaler:        cbor.TextMarshalerNone,
	}.UserBufferEncMode()
	if err != nil {
		panic("wire: encoding options: " + err.Error())
	}
	return mode
}()

// unmarshal decodes a checked item.
func unmarshal(item []byte, v any) error {
	if err := decMode.Unmarshal(item, v); err != nil {
		return fmt.Errorf("%w: decode item: %w", ErrBroken, err)
	}
	return nil
}

// The types below are the maps of SPEC.md as the library sees them. Package abi knows nothing of the library, and its types
// say some things otherwise. The option omitzero leaves out nil, but not what is empty.

type wireHeader struct {
	ABI      int           `cbor:"abi"`
	Count    int           `cbor:"count"`
	Result   *wireResult   `cbor:"result,omitzero"`
	Messages []wireMessage `cbor:"messages,omitzero"`
}

type wireMessage struct {
	Level abi.Level `cbor:"level"`
	Text  string    `cbor:"text"`
}

type wireResult struct {
	Entries  []wireEntry   `cbor:"entries,omitzero"`
	Source   *string       `cbor:"source,omitzero"`
	Version  string        `cbor:"version,omitzero"`
	Digest   *abi.Digest   `cbor:"digest,omitzero"`
	Verdict  abi.Verdict   `cbor:"verdict,omitzero"`
	Findings []wireFinding `cbor:"findings,omitzero"`
}

type wireEntry struct {
	Name        string `cbor:"name"`
	Source      string `cbor:"source"`
	Version     string `cbor:"version,omitzero"`
	Description string `cbor:"description,omitzero"`
}

type wireFinding struct {
	Rule     string `cbor:"rule"`
	Severity string `cbor:"severity"`
	Text     string `cbor:"text"`
	Path     string `cbor:"path,omitzero"`
}

type wireWrite struct {
	Op             abi.Op   `cbor:"op"`
	Path           string   `cbor:"path"`
	Mode           abi.Mode `cbor:"mode"`
	Expect         any      `cbor:"expect,omitzero"`
	Module         string   `cbor:"module,omitzero"`
	Content        []byte   `cbor:"content,omitzero"` // a stand-in, empty
	ReplaceSymlink bool     `cbor:"replace_symlink,omitzero"`
}

type wireEdit struct {
	Op     abi.Op         `cbor:"op"`
	Path   string         `cbor:"path"`
	Format string         `cbor:"format"`
	Edits  []wireJSONEdit `cbor:"edits,omitzero"`
	ID     *string        `cbor:"id,omitzero"`
	Text   *string        `cbor:"text,omitzero"`
}

type wireJSONEdit struct {
	At    string `cbor:"at"`
	Value *any   `cbor:"value,omitzero"` // decoded, null looks like absence: the walker notes which it is
}

type wireDelete struct {
	Op   abi.Op `cbor:"op"`
	Path string `cbor:"path"`
}

type wireRename struct {
	Op   abi.Op `cbor:"op"`
	From string `cbor:"from"`
	To   string `cbor:"to"`
}

type wireFetch struct {
	Op      abi.Op      `cbor:"op"`
	URL     string      `cbor:"url"`
	Method  string      `cbor:"method"`
	Headers [][2]string `cbor:"headers,omitzero"`
	Dest    string      `cbor:"dest"`
	Digest  *abi.Digest `cbor:"digest,omitzero"`
}

type wireClone struct {
	Op     abi.Op `cbor:"op"`
	Repo   string `cbor:"repo"`
	Ref    string `cbor:"ref"`
	Depth  int    `cbor:"depth,omitzero"`
	Dest   string `cbor:"dest"`
	Commit string `cbor:"commit,omitzero"`
}

type wireRequest struct {
	ABI       int            `cbor:"abi"`
	Action    string         `cbor:"action"`
	Extension wireIdentity   `cbor:"extension"`
	Scope     abi.Scope      `cbor:"scope,omitzero"`
	Params    map[string]any `cbor:"params,omitzero"`
	Module    *wireModule    `cbor:"module,omitzero"`
	Inputs    []wireInput    `cbor:"inputs,omitzero"`
}

type wireIdentity struct {
	Name    string `cbor:"name"`
	Version string `cbor:"version"`
}

type wireModule struct {
	Name    string     `cbor:"name"`
	Version string     `cbor:"version"`
	Digest  abi.Digest `cbor:"digest"`
	Files   []wireFile `cbor:"files"`
}

type wireFile struct {
	Path    string     `cbor:"path"`
	Mode    abi.Mode   `cbor:"mode"`
	Size    int64      `cbor:"size"`
	Digest  abi.Digest `cbor:"digest"`
	Content []byte     `cbor:"content,omitzero"`
}

type wireInput struct {
	Path    string         `cbor:"path"`
	State   abi.InputState `cbor:"state"`
	Mode    *abi.Mode      `cbor:"mode,omitzero"`
	Content []byte         `cbor:"content,omitzero"`
	Digest  *abi.Digest    `cbor:"digest,omitzero"`
}
