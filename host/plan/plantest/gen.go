package plantest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lola-ext/lola/abi"
)

// Choices is where a generator takes its decisions from.
type Choices struct {
	random *rand.Rand
	data   []byte
}

// FromBytes decides by data, a byte a decision; when it has run out, for the first of everything.
func FromBytes(data []byte) *Choices { return &Choices{data: data} }

// FromRand decides by random numbers.
func FromRand(r *rand.Rand) *Choices { return &Choices{random: r} }

// Below returns a number from 0 to n-1; n is 256 at most.
func (c *Choices) Below(n int) int {
	switch {
	case c.random != nil:
		return c.random.IntN(n)
	case len(c.data) == 0:
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// spent reports whether there is nothing left to decide by.
func (c *Choices) spent() bool { return c.random == nil && len(c.data) == 0 }

func pick[T any](c *Choices, list []T) T { return list[c.Below(len(list))] }

// names are components, those of one row one by fold. Beside them stand some that sort between a name and what lies
// beneath it, and some that look alike and are not.
var names = [][]string{
	{"a", "A"}, {"b", "B"}, {"a!"}, {"a-b"}, {"a b", "A b"}, {"a.b"}, {"a0"},
	{"\u00e9", "e\u0301", "\u00c9", "E\u0301"},    // composed and decomposed
	{"ss", "\u00df", "SS", "\u1e9e", "s\u017f"},   // sharp s, small and capital; long s
	{"k", "K", "\u212a"},                          // kelvin sign
	{"i", "I"}, {"i\u0307", "\u0130"}, {"\u0131"}, // with a dot more, and without one
	{"fi", "\ufb01", "FI"},                     // ligature
	{"\u03c3", "\u03c2", "\u03a3"},             // sigma, final and capital
	{"\u13a0", "\uab70"}, {"\u13f0", "\u13f8"}, // Cherokee
	{"\u1ea1\u0301", "a\u0301\u0323", "\u1ea0\u0301"},    // marks in either order
	{"\uac00", "\u1100\u1161"},                           // Hangul
	{"\u03b1\u0345", "\u1fb3", "\u1fbc", "\u03b1\u03b9"}, // iota beneath
}

// Ops are all ops; TargetOps and SourceOps what these kinds may use.
var (
	Ops       = []abi.Op{abi.OpWrite, abi.OpEdit, abi.OpDelete, abi.OpRename, abi.OpFetch, abi.OpClone}
	TargetOps = []abi.Op{abi.OpWrite, abi.OpEdit, abi.OpDelete, abi.OpRename}
	SourceOps = []abi.Op{abi.OpWrite, abi.OpFetch, abi.OpClone}
)

// ModuleFiles are the files of a module that writes of [Proposals] name. None has the bytes of another content.
var ModuleFiles = map[string]string{"skills/m/SKILL.md": "module file 1", "skills/m/more.md": "module file 2"}

// Proposals makes one to three proposals of up to 40 intents together, of the ops given. Half of the paths are made from
// earlier ones (the same, spelled otherwise, beneath, above), so that most plans conflict a little and few entirely; and some
// intents repeat an earlier one.
func Proposals(c *Choices, ops []abi.Op) [][]abi.Intent {
	g := generator{Choices: c, ops: ops, proposals: make([][]abi.Intent, 1+c.Below(3))}
	g.names = 1 + c.Below(len(names))
	g.depth = 1 + c.Below(5)
	g.derive = c.Below(4) // of 8 paths, how many are made from earlier ones
	for range pick(c, []int{3, 1, 2, 4, 5, 6, 8, 2, 3, 4, 5, 6, 3, 4, 12, 40}) {
		if c.spent() {
			break
		}
		p := c.Below(len(g.proposals))
		var in abi.Intent
		if len(g.made) > 0 && c.Below(8) == 7 {
			in = pick(c, g.made[max(0, len(g.made)-256):])
		} else {
			in = g.intent()
		}
		g.made = append(g.made, in)
		g.proposals[p] = append(g.proposals[p], in)
	}
	return g.proposals
}

type generator struct {
	*Choices
	ops       []abi.Op
	names     int // how many rows of names are in use
	depth     int
	derive    int
	paths     []string
	made      []abi.Intent
	proposals [][]abi.Intent
}

func (g *generator) intent() abi.Intent {
	switch pick(g.Choices, g.ops) {
	case abi.OpEdit:
		if g.Below(3) == 2 {
			return abi.EditBlock{Path: g.path(), ID: pick(g.Choices, []string{"a", "b", "a.b"}), Text: pick(g.Choices, texts)}
		}
		in := abi.EditJSON{Path: g.path()}
		for range 1 + g.Below(6)/4 {
			in.Edits = append(in.Edits, g.jsonEdit())
		}
		return in
	case abi.OpDelete:
		return abi.Delete{Path: g.path()}
	case abi.OpRename:
		return abi.Rename{From: g.path(), To: g.path()}
	case abi.OpFetch:
		return abi.Fetch{URL: pick(g.Choices, []string{"https://a.example/x", "https://b.example/x"}), Method: "GET", Dest: g.path()}
	case abi.OpClone:
		return abi.Clone{Repo: "https://a.example/r", Ref: pick(g.Choices, []string{"main", "v1"}), Dest: g.path()}
	}
	in := abi.Write{Path: g.path(), Mode: pick(g.Choices, []abi.Mode{0o644, 0o644, 0o644, 0o755})}
	if n := g.Below(8); n < 6 {
		in.Content = abi.Bytes([]string{"x", "x", "x", "x", "y", ""}[n])
	} else {
		in.Module = []string{"skills/m/SKILL.md", "skills/m/more.md"}[n-6]
	}
	in.Expect.Absent = g.Below(8) == 7
	return in
}

// path makes a path, new or from an earlier one.
func (g *generator) path() string {
	if len(g.paths) > 0 && g.Below(8) < g.derive {
		old := strings.Split(pick(g.Choices, g.paths[max(0, len(g.paths)-256):]), "/")
		switch g.Below(5) {
		case 1:
			old = append(old, g.name())
		case 2:
			old = old[:max(1, len(old)-1)]
		case 3:
			old[len(old)-1] = g.name()
		case 4:
			for i := range old {
				old[i] = g.respelled(old[i])
			}
		}
		return g.keep(old[:min(len(old), 5)])
	}
	parts := make([]string, 1+g.Below(g.depth))
	for i := range parts {
		parts[i] = g.name()
	}
	return g.keep(parts)
}

func (g *generator) keep(parts []string) string {
	p := strings.Join(parts, "/")
	g.paths = append(g.paths, p)
	return p
}

// name is the first spelling three times out of four.
func (g *generator) name() string {
	row := names[g.Below(g.names)]
	if g.Below(4) == 3 {
		return pick(g.Choices, row)
	}
	return row[0]
}

func (g *generator) respelled(name string) string {
	for _, row := range names {
		for _, n := range row {
			if n == name {
				return pick(g.Choices, row)
			}
		}
	}
	return name
}

var texts = func() []*string {
	one, two := "one\n", "two\n"
	return []*string{&one, &two, nil}
}()

func (g *generator) jsonEdit() abi.JSONEdit {
	var at string
	for range pick(g.Choices, []int{1, 2, 2, 3, 1, 1, 1, 0}) {
		at += "/" + pick(g.Choices, []string{"a", "b", "A", "c", "a~1b", "a~0b", "a~01b", "", "0a"})
	}
	switch g.Below(8) {
	case 6:
		return abi.JSONEdit{At: at}
	case 7:
		at += "/-"
	}
	return abi.JSONEdit{At: at, Set: true, Value: pick(g.Choices, []any{
		"x", "y", nil, true, int64(1), []any{"x"}, map[string]any{"k": "v"}, map[string]any{},
	})}
}

// Sources returns a tree that has what the renames of the proposals move: a file at each source. Where one source lies
// beneath another, which is a conflict, one of the two is left out or a directory.
func Sources(proposals [][]abi.Intent) Tree {
	t := Tree{}
	for _, intents := range proposals {
		for _, in := range intents {
			r, ok := in.(abi.Rename)
			if !ok || t.blocked(r.From) {
				continue
			}
			t.makeParents(r.From)
			if _, ok := t[r.From]; !ok {
				t[r.From] = Node{Mode: 0o644, Data: []byte("{}\n")}
			}
		}
	}
	return t
}

// Surroundings returns Sources and, at half of the paths that are written, edited or deleted, a file, or a directory with one
// in it that is deleted.
func Surroundings(c *Choices, proposals [][]abi.Intent) Tree {
	t := Sources(proposals)
	file := func(path, text string) {
		if _, ok := t[path]; ok || t.blocked(path) {
			return
		}
		t.makeParents(path)
		t[path] = Node{Mode: 0o644, Data: []byte(text)}
	}
	for _, intents := range proposals {
		for _, in := range intents {
			if c.Below(2) == 0 {
				continue
			}
			switch in := in.(type) {
			case abi.Write:
				file(in.Path, "x")
			case abi.EditJSON:
				file(in.Path, "{\n  \"b\": {\"c\": 1}, // kept\n}\n")
			case abi.EditBlock:
				file(in.Path, "text\n")
			case abi.Delete:
				file(in.Path+strings.Repeat("/x", c.Below(2)), "x")
			}
		}
	}
	return t
}

// Shape is a kind of large plan.
type Shape struct {
	Name string
	// Make makes proposals of n intents in all.
	Make func(n int) [][]abi.Intent
	// Conflicts says whether intents conflict if n is 2 or more.
	Conflicts bool
}

// Shapes are the large plans for which the cost of one intent must not grow with their number. Up to 65,536 intents, none
// makes more new entries than the default limit allows, nor has longer or deeper paths.
var Shapes = []Shape{
	{"flat", one(func(i int) abi.Intent { return small(fmt.Sprintf("f%d.md", i)) }), false},
	{"one directory", one(func(i int) abi.Intent { return small(fmt.Sprintf("d/f%d.md", i)) }), false},
	{"many directories", one(func(i int) abi.Intent { return small(fmt.Sprintf("d%d/e%d/f%d.md", i/4096, i/64, i)) }), false},
	{"deep", one(func(i int) abi.Intent {
		return small(fmt.Sprintf("r%d/", i/1024) + strings.Repeat("d/", 30) + fmt.Sprintf("f%d", i))
	}), false},
	{"long names", one(func(i int) abi.Intent {
		return small(strings.Repeat(strings.Repeat("x", 200)+"/", 4) + fmt.Sprintf("f%d", i))
	}), false},
	{"not ASCII", one(func(i int) abi.Intent { return small(fmt.Sprintf("\u00e9\u00df/\u13a0/E\u0301%d", i)) }), false},
	{"deletes", one(func(i int) abi.Intent { return abi.Delete{Path: fmt.Sprintf("d/f%d", i)} }), false},
	{"nested deletes", one(func(i int) abi.Intent { return abi.Delete{Path: chain(i)} }), false},
	{"writes beneath a delete", one(func(i int) abi.Intent {
		if i == 0 {
			return abi.Delete{Path: "d"}
		}
		return small(fmt.Sprintf("d/f%d", i))
	}), false},
	{"edits of one file", one(func(i int) abi.Intent {
		return abi.EditJSON{Path: "f.json", Edits: []abi.JSONEdit{{At: fmt.Sprintf("/a/b%d", i), Set: true, Value: "x"}}}
	}), false},
	{"additions to one array", one(func(i int) abi.Intent {
		return abi.EditJSON{Path: "f.json", Edits: []abi.JSONEdit{{At: "/a/-", Set: true, Value: fmt.Sprint("x", i)}}}
	}), false},
	{"blocks of one file", one(func(i int) abi.Intent {
		text := "x\n"
		return abi.EditBlock{Path: "f.md", ID: fmt.Sprint("b", i), Text: &text}
	}), false},
	{"two owners each", func(n int) [][]abi.Intent {
		half := one(func(i int) abi.Intent { return small(fmt.Sprintf("d/f%d", i)) })((n + 1) / 2)[0]
		return [][]abi.Intent{half, half[:n/2]}
	}, false},
	{"pairs by case", one(func(i int) abi.Intent { return small(fmt.Sprintf("d/%c%d", "fF"[i%2], i/2)) }), true},
	{"pairs of a file and one beneath", one(func(i int) abi.Intent {
		return small(fmt.Sprintf("d/f%d", i/2) + strings.Repeat("/x", i%2))
	}), true},
	{"one path", one(func(int) abi.Intent { return small("a/b/c") }), true},
	{"one chain", one(func(i int) abi.Intent { return small(chain(i)) }), true},
	{"all beneath one file", one(func(i int) abi.Intent {
		if i == 0 {
			return small("d")
		}
		return small(fmt.Sprintf("d/f%d", i))
	}), true},
	{"edits of one value", one(func(i int) abi.Intent {
		return abi.EditJSON{Path: "f.json", Edits: []abi.JSONEdit{{At: "/a", Set: true, Value: int64(i)}}}
	}), true},
	{"edits within one value", one(func(i int) abi.Intent {
		return abi.EditJSON{Path: "f.json", Edits: []abi.JSONEdit{{At: strings.TrimSuffix(fmt.Sprintf("/a/%d", i), "/0"), Set: true, Value: "x"}}}
	}), true},
}

// one makes the proposals one, of the nth intents for n from 0.
func one(intent func(i int) abi.Intent) func(n int) [][]abi.Intent {
	return func(n int) [][]abi.Intent {
		in := make([]abi.Intent, n)
		for i := range in {
			in[i] = intent(i)
		}
		return [][]abi.Intent{in}
	}
}

func small(path string) abi.Write { return abi.Write{Path: path, Mode: 0o644, Content: abi.Bytes("x")} }

// chain returns a/a/a, 1 to 32 deep.
func chain(i int) string { return strings.Repeat("a/", i%32) + "a" }
