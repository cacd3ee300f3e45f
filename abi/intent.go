package abi

// Op names an intent on the wire.
type Op string

// The ops.
const (
	OpWrite  Op = "write"
	OpEdit   Op = "edit"
	OpDelete Op = "delete"
	OpRename Op = "rename"
	OpFetch  Op = "fetch"
	OpClone  Op = "clone"
)

// Intent is one effect that an extension asks for: [Write], [EditJSON], [EditBlock], [Delete], [Rename], [Fetch] or
// [Clone]. Nothing outside this package can be one.
type Intent interface {
	Op() Op
	intent()
}

// Write makes a file or replaces it.
type Write struct {
	Path string
	Mode Mode
	// Content is the bytes to write; nil if Module is set. Exactly one of the two is.
	Content Content
	// Module is the path of a file of the request's module, to be copied as it is.
	Module string
	// Expect is what must lie at Path now; the zero value expects nothing.
	Expect Expect
	// ReplaceSymlink lets the write replace a symlink at Path (never what it points to). It needs the grant
	// symlink:replace.
	ReplaceSymlink bool
}

// Expect is a precondition on what lies at a path. The zero value is no precondition.
type Expect struct {
	Absent bool    // nothing may be there
	Digest *Digest // a file with this digest must be there
}

// EditJSON changes values of a JSON file (comments allowed) without reading it.
type EditJSON struct {
	Path  string
	Edits []JSONEdit // one or more
}

// JSONEdit sets or removes one value.
type JSONEdit struct {
	At string // JSON pointer (RFC 6901)
	// Set is false to remove what is at the pointer.
	Set bool
	// Value is nil (null), bool, int64, string, []any or map[string]any of these. It counts only if Set.
	Value any
}

// EditBlock keeps one marked block in a text file.
type EditBlock struct {
	Path string
	ID   string // [a-z0-9.-]{1,64}
	// Text is what stands between the marker lines; nil removes the block.
	Text *string
}

// Delete removes a file or a whole directory. Deleting what is absent is no error.
type Delete struct{ Path string }

// Rename moves a file or a directory within the root.
type Rename struct{ From, To string }

// Fetch asks the host to get a URL into a file. The extension never sees the response.
type Fetch struct {
	URL     string
	Method  string       // "GET" or "HEAD"
	Headers []HTTPHeader // in order
	Dest    string
	Digest  *Digest // nil: not pinned
}

// HTTPHeader is one request header.
type HTTPHeader struct{ Name, Value string }

// Clone asks the host to clone a repository into a directory.
type Clone struct {
	Repo   string
	Ref    string
	Depth  int // 0: not said
	Dest   string
	Commit string // lower-case hexadecimal; empty: not pinned
}

// Op implements [Intent].
func (Write) Op() Op { return OpWrite }

// Op implements [Intent].
func (EditJSON) Op() Op { return OpEdit }

// Op implements [Intent].
func (EditBlock) Op() Op { return OpEdit }

// Op implements [Intent].
func (Delete) Op() Op { return OpDelete }

// Op implements [Intent].
func (Rename) Op() Op { return OpRename }

// Op implements [Intent].
func (Fetch) Op() Op { return OpFetch }

// Op implements [Intent].
func (Clone) Op() Op { return OpClone }

func (Write) intent()     {}
func (EditJSON) intent()  {}
func (EditBlock) intent() {}
func (Delete) intent()    {}
func (Rename) intent()    {}
func (Fetch) intent()     {}
func (Clone) intent()     {}
