package abi

import "fmt"

// Class is why bytes are refused as a request or a plan. Every refusal has exactly one; the vectors name it.
type Class string

// The classes of refusal. SPEC.md has a sentence and a vector for each.
const (
	ClassEmpty            Class = "empty"             // no bytes at all
	ClassTruncated        Class = "truncated"         // the bytes end within an item, or before the last intent
	ClassTrailing         Class = "trailing"          // bytes follow the last item
	ClassMalformed        Class = "malformed"         // not CBOR: reserved additional information, a lone break; not JSON
	ClassIndefinite       Class = "indefinite-length" // a string, array or map of indefinite length
	ClassNonMinimal       Class = "non-minimal"       // an integer or length in more bytes than it needs
	ClassTag              Class = "tag"               // a tagged item
	ClassFloat            Class = "float"             // a floating-point number, or a JSON number that is no integer
	ClassSimple           Class = "simple"            // undefined or another simple value than false, true, null
	ClassNull             Class = "null"              // null where a value or nothing is due
	ClassUTF8             Class = "invalid-utf8"      // a text string that is not UTF-8
	ClassDepth            Class = "depth"             // nesting over MaxDepth
	ClassKeyType          Class = "key-type"          // a map key that is not text
	ClassDuplicateKey     Class = "duplicate-key"     // a key twice in one map
	ClassUnsortedKey      Class = "unsorted-key"      // map keys out of bytewise order of their encodings
	ClassUnknownKey       Class = "unknown-key"       // a key that this map does not have, case counted
	ClassMissingKey       Class = "missing-key"       // a required key is absent
	ClassExclusive        Class = "exclusive"         // two keys that exclude each other, or none of those of which one is due
	ClassType             Class = "type"              // a value of another type than its key has
	ClassValue            Class = "value"             // a value of the right type outside its range, list or form
	ClassOrder            Class = "order"             // a list that must be sorted by path is not, or names one twice
	ClassVersion          Class = "version"           // an abi version that this host does not speak
	ClassLengthOverRest   Class = "length-over-rest"  // a declared length over the bytes that are known to be left
	ClassLimitPlan        Class = "limit-plan"        // plan or request over its limit
	ClassLimitIntents     Class = "limit-intents"     // count over its limit
	ClassLimitContent     Class = "limit-content"     // one content over its limit
	ClassLimitItem        Class = "limit-item"        // what would be kept of one item is over its limit
	ClassLimitValues      Class = "limit-values"      // more list elements and map entries in a plan than the limit
	ClassLimitMessages    Class = "limit-messages"    // more messages than the limit
	ClassLimitDiagnostics Class = "limit-diagnostics" // error text over its limit
)

// Classes lists every class, in the order of SPEC.md.
var Classes = []Class{
	ClassEmpty, ClassTruncated, ClassTrailing, ClassMalformed, ClassIndefinite, ClassNonMinimal, ClassTag, ClassFloat,
	ClassSimple, ClassNull, ClassUTF8, ClassDepth, ClassKeyType, ClassDuplicateKey, ClassUnsortedKey, ClassUnknownKey,
	ClassMissingKey, ClassExclusive, ClassType, ClassValue, ClassOrder, ClassVersion, ClassLengthOverRest, ClassLimitPlan,
	ClassLimitIntents, ClassLimitContent, ClassLimitItem, ClassLimitValues, ClassLimitMessages, ClassLimitDiagnostics,
}

// FormError says why bytes are refused and where. Decoders of package abi/wire return it.
type FormError struct {
	Class  Class
	Item   int    // which item of the sequence, the header being 0
	Offset int64  // bytes from the start of the whole input (CBOR) or of the line (JSON) to where it was noticed
	Key    string // the key it is about, as in "edits.value"; empty: about the item
	Detail string // the rest of the sentence; may hold foreign text, quoted
	// Limit is set for the classes limit-*: which limit, its bound, and what was seen.
	Limit *LimitError
}

// Unwrap returns Limit, if it is set.
func (e *FormError) Unwrap() error {
	if e.Limit == nil {
		return nil
	}
	return e.Limit
}

// Error implements error.
func (e *FormError) Error() string {
	where := fmt.Sprintf("item %d, byte %d", e.Item, e.Offset)
	if e.Key != "" {
		where += fmt.Sprintf(", key %q", e.Key)
	}
	return fmt.Sprintf("%s (%s): %s", e.Class, where, e.Detail)
}

// Is reports whether target is a *FormError of the same class, so that errors.Is(err, &FormError{Class: c}) works.
func (e *FormError) Is(target error) bool {
	t, ok := target.(*FormError)
	return ok && t.Class == e.Class
}

// LimitError says that something is over a named limit.
type LimitError struct {
	Limit string // the limit's name, as in "plan"
	Bound int64
	Got   int64 // at least this much; more may follow
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("limit %q is %d, got at least %d", e.Limit, e.Bound, e.Got)
}
