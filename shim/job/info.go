package job

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Form is which form of the guest ABI a module has.
type Form string

// The forms.
const (
	FormReactor Form = "reactor" // lola_run and its companions
	FormCommand Form = "command" // _start: request on descriptor 0, plan on descriptor 1
	FormNone    Form = "none"    // neither
)

// Bounds of an [Info]. What a module has beyond them is counted and left out.
const (
	MaxInfo  = 8 << 20 // bytes of the encoded form
	MaxNames = 1000    // imports, and exports
	MaxName  = 256     // bytes of a name or type; a longer one is cut
)

// Info is what a module says about itself. All of it is the module's own word.
type Info struct {
	Form        Form
	ABI         int64   // what lola_abi_version returned; 0: it has none, or it did not return
	MemoryMin   int64   // bytes of linear memory that it begins with
	MemoryMax   int64   // bytes that it says it takes at most; 0: not said
	Imports     []Name  // in the module's order
	Exports     []Name  // by kind and name
	MoreImports int64   // imports left out
	MoreExports int64   // exports left out
	Problem     Outcome // OK: it would start; otherwise how a run would fail, as far as that shows without a request
	Text        string  // the rest of the sentence to Problem, at most MaxText bytes
}

// Name is an import or an export.
type Name struct {
	Kind   string // "func", "memory", "table" or "global"
	Module string // where an import comes from; of an export empty
	Name   string
	Type   string // of a function, as in "(i32, i32) -> (i32)"; else empty
}

// Append appends the encoded form to b: a line about the module, then one for each import and export. Names and lists
// are cut to their bounds.
func (i Info) Append(b []byte) []byte {
	i.MoreImports += int64(max(0, len(i.Imports)-MaxNames))
	i.MoreExports += int64(max(0, len(i.Exports)-MaxNames))
	i.Imports, i.Exports = i.Imports[:min(len(i.Imports), MaxNames)], i.Exports[:min(len(i.Exports), MaxNames)]
	b = fmt.Appendf(b, "lola-info/%d form=%s abi=%d min=%d max=%d imports=%d exports=%d more-imports=%d more-exports=%d problem=%s text=%s\n",
		Version, i.Form, i.ABI, i.MemoryMin, i.MemoryMax, len(i.Imports), len(i.Exports), i.MoreImports, i.MoreExports,
		i.Problem, quote(i.Text, MaxText))
	for _, list := range [][]Name{i.Imports, i.Exports} {
		for _, n := range list {
			b = n.append(b)
		}
	}
	return b
}

func (n Name) append(b []byte) []byte {
	return fmt.Appendf(b, "lola-name/%d kind=%s module=%s name=%s type=%s\n",
		Version, n.Kind, quote(n.Module, MaxName), quote(n.Name, MaxName), quote(n.Type, MaxName))
}

// quote returns s as quoted ASCII, made valid UTF-8 and cut to bound bytes.
func quote(s string, bound int) string {
	s, _ = cut(s, bound)
	return strconv.QuoteToASCII(s)
}

// ReadInfo reads the encoded form, and nothing may follow it. Failures are [*FrameError].
func ReadInfo(r io.Reader) (Info, error) {
	var i Info
	br := bufio.NewReader(io.LimitReader(r, MaxInfo+1))
	var imports, exports int64
	err := readLine(br, "info", func(f *fields) ([]byte, error) {
		f.word("lola-info")
		i.Form = Form(f.text("form"))
		i.ABI, i.MemoryMin, i.MemoryMax = f.number("abi"), f.number("min"), f.number("max")
		imports, exports = f.number("imports"), f.number("exports")
		i.MoreImports, i.MoreExports = f.number("more-imports"), f.number("more-exports")
		i.Problem = Outcome(f.text("problem"))
		i.Text = f.quoted("text")
		switch {
		case f.err != nil:
		case i.Form != FormReactor && i.Form != FormCommand && i.Form != FormNone:
			f.fail("form")
		case !i.Problem.known():
			f.fail("problem")
		case imports > MaxNames || exports > MaxNames:
			f.fail("imports")
		}
		// Written again without its lists, whose lengths are numbers until they have been read.
		again := i
		again.Imports, again.Exports = make([]Name, min(imports, MaxNames)), make([]Name, min(exports, MaxNames))
		line, _, _ := bytes.Cut(again.Append(nil), []byte("\n"))
		return append(line, '\n'), f.err
	})
	if err != nil {
		return i, err
	}
	for n := range imports + exports {
		var name Name
		err := readLine(br, "info", func(f *fields) ([]byte, error) {
			f.word("lola-name")
			name.Kind = f.text("kind")
			if strings.Trim(name.Kind, "abcdefghijklmnopqrstuvwxyz") != "" {
				f.fail("kind")
			}
			name.Module, name.Name, name.Type = f.quoted("module"), f.quoted("name"), f.quoted("type")
			return name.append(nil), f.err
		})
		if err != nil {
			return i, err
		}
		if n < imports {
			i.Imports = append(i.Imports, name)
		} else {
			i.Exports = append(i.Exports, name)
		}
	}
	if _, err := br.ReadByte(); err != io.EOF {
		return i, &FrameError{What: "info", Err: errors.New("more follows its last line")}
	}
	return i, nil
}
