// Package ext is for people who write extensions for lola in Go.
//
// An extension gets one [Request] and fills one [Plan]. It performs nothing itself: the host judges the plan, shows it and
// carries it out. A whole extension:
//
//	package main
//
//	import "github.com/lola-ext/lola/sdk/ext"
//
//	func install(req *ext.Request, plan *ext.Plan) error {
//		module, err := ext.ModuleOf(req)
//		if err != nil {
//			return err
//		}
//		for _, file := range module.Files {
//			plan.Copy(file, ".example/"+file.Path)
//		}
//		return nil
//	}
//
//	func init() { ext.Register(install) }
//	func main() { ext.Main() }
//
// Built with GOOS=wasip1 GOARCH=wasm and -buildmode=c-shared it is a tier-1 module, in which init runs and main does not;
// hence two lines and not one. Built for this machine it is a tier-2 program, which reads the request from standard input
// and writes the plan to standard output. Package exttest calls a [Handler] in a test, with neither.
//
// What is not here: a clock, randomness, files, the network. In tier 1 time.Now and crypto/rand answer with the same fixed
// values in every run, so that a plan is a function of the module and the request; files and sockets are not there. No
// secret can be made in an extension, so this package has no function that seems to make one, and an extension that needs
// one cannot be written: let the host's user supply it.
//
// The package does not protect against a wrong plan. It refuses to encode what no host would decode, no more: whether a
// path or an op is allowed is for the host to say. It leaves fmt, encoding/json and reflect alone, which would double the
// size of a small module; so should an extension that cares.
//
// What may change before the first release: everything; after it, only additions.
package ext

import (
	"errors"

	"github.com/lola-ext/lola/abi"
)

// The types of the protocol, under the names that authors use. Package abi documents them.
type (
	Request  = abi.Request
	Module   = abi.Module
	File     = abi.File
	Input    = abi.Input
	Identity = abi.Identity
	Param    = abi.Param
	Digest   = abi.Digest
	Mode     = abi.Mode
	Bytes    = abi.Bytes

	Intent     = abi.Intent
	Write      = abi.Write
	Expect     = abi.Expect
	EditJSON   = abi.EditJSON
	JSONEdit   = abi.JSONEdit
	EditBlock  = abi.EditBlock
	Delete     = abi.Delete
	Rename     = abi.Rename
	Fetch      = abi.Fetch
	HTTPHeader = abi.HTTPHeader
	Clone      = abi.Clone

	Message     = abi.Message
	Entries     = abi.Entries
	Entry       = abi.Entry
	Resolved    = abi.Resolved
	Scan        = abi.Scan
	ScanFinding = abi.ScanFinding
)

// Handler is what an author writes. An error it returns becomes the text that the user reads, escaped, and nothing is
// applied; say what was being done, to which thing, and why it does not work.
type Handler func(req *Request, plan *Plan) error

// Plan is an answer in the making. The zero value is an empty plan, which is an answer too. Its fields may be set directly;
// the methods are shorter.
type Plan struct{ abi.Plan }

// Add adds intents.
func (p *Plan) Add(intents ...Intent) { p.Intents = append(p.Intents, intents...) }

// Write writes a file with mode 0644.
func (p *Plan) Write(path string, content []byte) {
	p.Add(Write{Path: path, Mode: 0o644, Content: Bytes(content)})
}

// Copy copies a file of the module, with its mode. Its content does not pass through the extension, so it may be withheld.
func (p *Plan) Copy(file File, path string) {
	p.Add(Write{Path: path, Mode: file.Mode, Module: file.Path})
}

// Info tells the user something.
func (p *Plan) Info(text string) { p.say(abi.LevelInfo, text) }

// Warn tells the user that something was left out or is not as it may be expected.
func (p *Plan) Warn(text string) { p.say(abi.LevelWarn, text) }

func (p *Plan) say(level abi.Level, text string) {
	p.Messages = append(p.Messages, Message{Level: level, Text: text})
}

// ModuleOf returns the request's module. That there is none is an error, fit to be returned by a [Handler].
func ModuleOf(req *Request) (*Module, error) {
	if req.Module == nil {
		return nil, errors.New(req.Action + ": the request has no module")
	}
	return req.Module, nil
}

// FileOf returns the module's file at a path, or false.
func FileOf(m *Module, path string) (File, bool) {
	for _, f := range m.Files { // sorted, but rarely long
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// Text returns a text parameter, or fallback if there is none of that name or it is of another type.
func Text(req *Request, name, fallback string) string {
	if s, ok := req.Params[name].(string); ok {
		return s
	}
	return fallback
}

// ErrNoHandler is what a host reads from an extension that never called [Register].
var ErrNoHandler = errors.New("the extension has no handler: call ext.Register in an init function")

// registered is the handler of this program. It is set while the program starts and read afterwards.
var registered Handler

// Register says which handler answers. Call it once, in an init function of package main: a WASM module of the reactor form
// has no other moment. A second call panics.
func Register(h Handler) {
	if registered != nil {
		panic("ext: Register called twice")
	}
	registered = h
}

// answer is the whole way from bytes to bytes.
func answer(h Handler, request []byte) ([]byte, error) {
	if h == nil {
		return nil, ErrNoHandler
	}
	req, err := decodeRequest(request)
	if err != nil {
		return nil, err
	}
	var plan Plan
	if err := h(req, &plan); err != nil {
		return nil, err
	}
	return encodePlan(&plan.Plan)
}
