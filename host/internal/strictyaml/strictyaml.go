// Package strictyaml reads the small YAML documents of strangers: manifests and frontmatter.
//
//	var m manifest
//	err := strictyaml.Parse(text, &m)
//
// It takes one plain document. Control characters, aliases, anchors, tags and directives are refused, and so is more text
// than a manifest has: a few lines of aliases unfold to gigabytes in the parser, and a few kilobytes of brackets cost it
// minutes. It says nothing about the values. The set of what is refused may grow.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"github.com/lola-ext/lola/abi"
)

// maxTokens bounds what the YAML parser gets. A manifest has some tens of tokens; the parser's cost grows with the square
// of their number when they nest.
const maxTokens = 1000

// Parse reads text into v, a pointer to a struct or to a map by field. A field that v does not have, and one that is there
// twice, is an error. What a map holds is as YAML has it: numbers are not turned into texts.
func Parse(text []byte, v any) error { return parse(text, v, yaml.Strict()) }

// ParseSome is [Parse] for documents that hold more than v is about: other fields are passed over.
func ParseSome(text []byte, v any) error { return parse(text, v) }

// unprintable holds for what YAML leaves out of its c-printable (YAML 1.2.2, 5.1), and for the C1 control that it lets in.
func unprintable(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
}

func parse(text []byte, v any, options ...yaml.DecodeOption) error {
	if !utf8.Valid(text) {
		return errors.New("it is not valid UTF-8")
	}
	if i := bytes.IndexFunc(text, unprintable); i >= 0 { // an error of the parser would quote it
		r, _ := utf8.DecodeRune(text[i:])
		return fmt.Errorf("line %d: %U is no character of YAML", 1+bytes.Count(text[:i], []byte("\n")), r)
	}
	tokens := lexer.Tokenize(string(text))
	if len(tokens) > maxTokens {
		return &abi.LimitError{Limit: "YAML tokens", Bound: maxTokens, Got: int64(len(tokens))}
	}
	for i, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.DocumentEndType:
			return fmt.Errorf("line %d: %q: anchors, aliases, tags and directives are not supported", t.Position.Line, t.Value)
		case token.DocumentHeaderType:
			if i > 0 && tokens[i-1].Type != token.CommentType {
				return fmt.Errorf("line %d: want one document", t.Position.Line)
			}
		}
	}
	return yaml.UnmarshalWithOptions(text, v, options...)
}
