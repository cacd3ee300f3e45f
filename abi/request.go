package abi

// Request is what the host asks of an extension: one action, with everything the extension may know.
type Request struct {
	// Action is what to do, as in "install". [Actions] says which kind of extension knows which.
	Action string
	// Extension is the extension that is asked, under the name and version that the host knows it by.
	Extension Identity
	// Scope says what the root is. Empty: not said, which an extension reads as [ScopeProject].
	Scope Scope
	// Params are the action's parameters. Keys are unique; on the wire they are sorted.
	Params map[string]Param
	// Module is what is being installed or scanned; nil if the action has none.
	Module *Module
	// Inputs are files of the root that the extension's grant lets it read, sorted bytewise by path.
	Inputs []Input
}

// Identity names an extension or a module in one version.
type Identity struct {
	Name    string
	Version string
}

// Scope says what kind of root a plan is for.
type Scope string

// The scopes.
const (
	ScopeProject Scope = "project" // the root is a project directory
	ScopeUser    Scope = "user"    // the root is the one assistant folder that the manifest names
)

// Kind is what an extension is for; it decides the actions and ops it may use.
type Kind string

// The kinds.
const (
	KindTarget  Kind = "target"  // knows where an assistant wants files
	KindSource  Kind = "source"  // knows how to get a module
	KindCatalog Kind = "catalog" // answers search, resolve and list
	KindScan    Kind = "scan"    // judges a module
)

// Param is one parameter: a string, a bool or an int64. Other types are refused by the encoder.
type Param any

// Module is a package of skills, commands and the like, with the files of it that the host shows to the extension.
type Module struct {
	Identity
	// Digest is the package digest: SHA-256 over the lines "HEX  PATH" LF of all its files, bytewise by path.
	Digest Digest
	// Files are all files of the module, sorted bytewise by path.
	Files []File
}

// File is one file of a module. A file always has a digest and a size; its content comes only if the extension's manifest
// asks for it under "contents".
type File struct {
	Path    string
	Mode    Mode
	Size    int64
	Digest  Digest
	Content []byte // nil: withheld; empty and not nil: an empty file whose content is given
}

// InputState says what lies at an input's path.
type InputState string

// The states of an input.
const (
	InputAbsent InputState = "absent"
	InputFile   InputState = "file"
)

// Input is one file of the root as it was when the request was made.
type Input struct {
	Path    string
	State   InputState
	Mode    *Mode   // nil when absent
	Content []byte  // nil when absent or withheld
	Digest  *Digest // nil when absent
}
