package extension

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/grant"
)

const good = `name: demo
version: 1.2.3
kind: target
abi: 1
artifact: demo.wasm
actions: [install]
writes: [".demo/**"]
`

const goodSource = `name: demo
version: 1.2.3
kind: source
abi: 1
artifact: demo.wasm
actions: [fetch]
`

const full = `# everything
name: demo
version: "1.10"
kind: target
description: Installs demos – for Demo
abi: 1
artifact: demo.wasm
sha256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
tier: wasm
encoding: cbor
actions: [install, uninstall]
writes: [".demo/**", ".mcp.json"]
reads: ["demo.toml"]
contents: ["agents/**/*.md"]
capabilities: ["symlink:replace"]
limits: {plan: 1 MiB, request: 2MiB, intents: 100, content: 65536, new_entries: 10, messages: 5, diagnostics: 1 KiB, memory: 64 MiB, deadline: 500ms}
params:
  level: {type: int, default: 3, description: How much, enum: [1, 2, 3]}
  style: {type: text, required: true}
  dry: {type: bool, default: false}
user: {folder: .demo, writes: ["skills/*/**"]}
confine: on
license: Apache-2.0 OR MIT
`

// manifests is what parser and schema must agree on. A text of two parts is a change of good: what stands there, and what
// stands there instead; a text of one part is appended to it.
var manifests = []struct {
	name    string
	change  []string
	want    string // a part of the error; empty: taken
	lenient bool   // the schema cannot say it
}{
	{name: "good"},
	{name: "quoted version", change: []string{"1.2.3", `"2"`}},
	{name: "empty lists", change: []string{"reads: []\ncapabilities: []\ncontents: []\n"}},
	{name: "guarded path by name", change: []string{".demo/**", ".github/workflows/demo.yml"}},
	{name: "flow mapping", change: []string{"limits: {}\nparams: {}\n"}},
	{name: "text that looks like a number, quoted", change: []string{`license: "1"` + "\n"}},

	{name: "the longest that is taken", change: []string{
		"name: demo", "name: " + strings.Repeat("n", 64), "1.2.3", "1" + strings.Repeat(".0", 31), "abi: 1\n", "abi: 1\ndescription: " + strings.Repeat("d", 1024) + "\nlicense: " +
			strings.Repeat("l", 256) + "\nuser: {folder: \"" + strings.Repeat("f", 64) + "/b/c\", writes: [\"" + strings.Repeat("g", 1024) + "\"]}\n"}},
	{name: "an odd name of a parameter", change: []string{"params: {z9_-: {type: text, enum: [\"\"]}}\n"}},

	{name: "unknown field", change: []string{"wirtes: []\n"}, want: `did you mean "writes"`},
	{name: "unknown field like nothing", change: []string{"permissions: all\n"}, want: "known are name, version"},
	{name: "another case", change: []string{"Reads: []\n"}, want: `did you mean "reads"`},
	{name: "duplicate field", change: []string{"abi: 1\n"}, want: "already defined", lenient: true},
	{name: "no name", change: []string{"name: demo\n", ""}, want: "name"},
	{name: "no version", change: []string{"version: 1.2.3\n", ""}, want: "version"},
	{name: "no kind", change: []string{"kind: target\n", ""}, want: "kind"},
	{name: "no abi", change: []string{"abi: 1\n", ""}, want: "abi"},
	{name: "no artifact", change: []string{"artifact: demo.wasm\n", ""}, want: "artifact"},
	{name: "no actions", change: []string{"actions: [install]\n", ""}, want: "actions"},
	{name: "a null", change: []string{"writes: [\".demo/**\"]", "writes:"}, want: "has no value"},
	{name: "P15 name", change: []string{"name: demo", "name: ../../x"}, want: "name"},
	{name: "P15 name of dots", change: []string{"name: demo", `name: ".."`}, want: "name"},
	{name: "P15 version", change: []string{"1.2.3", "../../x"}, want: "version"},
	{name: "P15 artifact", change: []string{"demo.wasm", "../demo.wasm"}, want: "artifact"},
	{name: "version is a number", change: []string{"1.2.3", "1.10"}, want: "quotes"},
	{name: "name is a number", change: []string{"name: demo", "name: 7"}, want: "quotes"},
	{name: "name is a list", change: []string{"name: demo", "name: [demo]"}, want: "it is a list"},
	{name: "name is a device", change: []string{"name: demo", "name: con"}, want: "device", lenient: true},
	{name: "abi of the future", change: []string{"abi: 1", "abi: 2"}, want: "it speaks 1"},
	{name: "abi with a fraction", change: []string{"abi: 1", "abi: 1.5"}, want: "fraction"},
	{name: "abi as text", change: []string{"abi: 1", `abi: "1"`}, want: "is text"},
	{name: "unknown kind", change: []string{"kind: target", "kind: everything"}, want: "everything"},
	{name: "foreign action", change: []string{"[install]", "[search]"}, want: "has no action", lenient: true},
	{name: "unknown action", change: []string{"[install]", "[obey]"}, want: "has no action"},
	{name: "no action", change: []string{"[install]", "[]"}, want: "at least one"},
	{name: "an action twice", change: []string{"[install]", "[install, install]"}, want: "twice"},
	{name: "action is no text", change: []string{"[install]", "[true]"}, want: "entry 1"},
	{name: "actions is no list", change: []string{"[install]", "install"}, want: "want a list"},
	{name: "description of two lines", change: []string{"description: \"a\\nb\"\n"}, want: "line break"},
	{name: "description that turns around", change: []string{"description: \"a\\u202eb\"\n"}, want: "cannot be seen", lenient: true},
	{name: "description without end", change: []string{"description: " + strings.Repeat("a", 1025) + "\n"}, want: "at most 1024"},

	{name: "native tier", change: []string{"tier: native\n"}, want: "not supported by this version"},
	{name: "json", change: []string{"encoding: json\n"}, want: "not supported by this version"},
	{name: "short digest", change: []string{"sha256: abc\n"}, want: "sha256"},
	{name: "digest in upper case", change: []string{"sha256: " + strings.Repeat("AB", 32) + "\n"}, want: "sha256"},
	{name: "digest that is a number", change: []string{"sha256: 0x" + strings.Repeat("0", 60) + "12\n"}, want: "sha256"},
	{name: "seccomp", change: []string{"seccomp: strict.json\n"}, want: "tier native, which this version cannot run"},
	{name: "run_as", change: []string{"run_as: 1000:1000\n"}, want: "tier native, which this version cannot run"},
	{name: "X11 confine off", change: []string{"confine: off\n"}, want: "running unconfined is for the user to grant"},
	{name: "X11 confine is false", change: []string{"confine: false\n"}, want: "confine"},
	{name: "X11 unconfined as a capability", change: []string{"capabilities: [unconfined]\n"}, want: "a manifest cannot ask for it"},
	{name: "X11 as a limit", change: []string{"limits: {confine: 0}\n"}, want: "unknown field"},

	{name: "braces", change: []string{".demo/**", ".demo/{a,b}"}, want: "braces"},
	{name: "glob that climbs", change: []string{".demo/**", "../**"}, want: "component ..", lenient: true},
	{name: "absolute glob", change: []string{".demo/**", "/etc/**"}, want: "absolute"},
	{name: "glob is no text", change: []string{`".demo/**"`, "1"}, want: "entry 1"},
	{name: "P14 guarded by wildcard", change: []string{".demo/**", ".claude/settings*.json"}, want: "name each file", lenient: true},
	{name: "P14 guarded folder", change: []string{".demo/**", ".github/workflows/**"}, want: "name each file", lenient: true},
	{name: "P21 reads of secrets", change: []string{"reads: [\"**/.env\"]\n"}, want: "never supplied", lenient: true},
	{name: "P21 reads of a key", change: []string{"reads: [\"a\", \"keys/*.pem\"]\n"}, want: "never supplied", lenient: true},
	{name: "contents that climb", change: []string{"contents: [\"../x\"]\n"}, want: "component ..", lenient: true},
	{name: "unknown capability", change: []string{"capabilities: [exec]\n"}, want: "is not known"},
	{name: "capability nearly known", change: []string{"capabilities: [\"symlink:replaces\"]\n"}, want: `did you mean "symlink:replace"`},
	{name: "capability that a target cannot use", change: []string{"capabilities: [net.http]\n"}, want: `kind "target" does not have`, lenient: true},
	{name: "writes of a scan", change: []string{"kind: target", "kind: scan", "[install]", "[scan]"}, want: "writes no files", lenient: true},

	{name: "limit above the default", change: []string{"limits: {plan: 65 MiB}\n"}, want: "can only lower", lenient: true},
	{name: "deadline above the default", change: []string{"limits: {deadline: 31s}\n"}, want: "above the default, 30s", lenient: true},
	{name: "limit of nothing", change: []string{"limits: {intents: 0}\n"}, want: "no bound"},
	{name: "negative limit", change: []string{"limits: {intents: -1}\n"}, want: "no bound"},
	{name: "limit with a fraction", change: []string{"limits: {intents: 1.5}\n"}, want: "whole number"},
	{name: "unknown limit", change: []string{"limits: {memroy: 1}\n"}, want: `of limits; did you mean "memory"`},
	{name: "size in another unit", change: []string{"limits: {plan: 1 MB}\n"}, want: "KiB, MiB or GiB"},
	{name: "size with a zero before", change: []string{"limits: {plan: 01 MiB}\n"}, want: "KiB, MiB or GiB"},
	{name: "size without end", change: []string{"limits: {plan: 9999999999999 GiB}\n"}, want: "KiB, MiB or GiB", lenient: true},
	{name: "deadline without unit", change: []string{"limits: {deadline: 10}\n"}, want: "as in 10s"},
	{name: "deadline with a sign", change: []string{"limits: {deadline: -10s}\n"}, want: "as in 10s"},
	{name: "count with a unit", change: []string{"limits: {intents: 1 KiB}\n"}, want: "whole number"},
	{name: "limits is a list", change: []string{"limits: [plan]\n"}, want: "want a mapping"},

	{name: "parameter without type", change: []string{"params: {a: {}}\n"}, want: "params.a.type"},
	{name: "parameter of another type", change: []string{"params: {a: {type: string}}\n"}, want: "known are text, int, bool"},
	{name: "parameter of nearly a type", change: []string{"params: {a: {type: boole}}\n"}, want: `did you mean "bool"`},
	{name: "parameter that is no mapping", change: []string{"params: {a: text}\n"}, want: "want a mapping"},
	{name: "parameter in upper case", change: []string{"params: {A: {type: text}}\n"}, want: "lower-case"},
	{name: "parameter like a flag", change: []string{"params: {--a: {type: text}}\n"}, want: "lower-case"},
	{name: "default of another type", change: []string{"params: {a: {type: int, default: x}}\n"}, want: "want int", lenient: true},
	{name: "default with a fraction", change: []string{"params: {a: {type: int, default: 1.5}}\n"}, want: "fraction"},
	{name: "default outside the list", change: []string{"params: {a: {type: int, default: 3, enum: [1, 2]}}\n"}, want: "is not among 1, 2", lenient: true},
	{name: "required with a default", change: []string{"params: {a: {type: int, required: true, default: 3}}\n"}, want: "no default", lenient: true},
	{name: "required is text", change: []string{"params: {a: {type: int, required: \"yes\"}}\n"}, want: "true or false"},
	{name: "empty list of values", change: []string{"params: {a: {type: int, enum: []}}\n"}, want: "1 to 64"},
	{name: "list of other values", change: []string{"params: {a: {type: text, enum: [a, [b]]}}\n"}, want: "it is a list"},
	{name: "unknown field of a parameter", change: []string{"params: {a: {type: text, min: 1}}\n"}, want: "unknown field \"min\" of params.a"},

	{name: "user without folder", change: []string{"user: {writes: [a]}\n"}, want: "folder"},
	{name: "user without writes", change: []string{"user: {folder: .demo}\n"}, want: "user.writes"},
	{name: "user that writes nothing", change: []string{"user: {folder: .demo, writes: []}\n"}, want: "user.writes"},
	{name: "user with reads", change: []string{"user: {folder: .demo, writes: [a], reads: [b]}\n"}, want: `unknown field "reads" of user`},
	{name: "user is a list", change: []string{"user: [.demo]\n"}, want: "want a mapping"},
	{name: "user folder from the root", change: []string{"user: {folder: /home/me/.demo, writes: [a]}\n"}, want: "absolute"},
	{name: "user folder is the home", change: []string{"user: {folder: \"~\", writes: [a]}\n"}, want: "relative to the home"},
	{name: "user folder climbs", change: []string{"user: {folder: \"../x\", writes: [a]}\n"}, want: "component", lenient: true},
	{name: "user folder is shared", change: []string{"user: {folder: .config, writes: [a]}\n"}, want: "no single program's", lenient: true},
	{name: "user folder is guarded", change: []string{"user: {folder: .ssh, writes: [a]}\n"}, want: "guarded", lenient: true},
	{name: "user folder is deep", change: []string{"user: {folder: a/b/c/d, writes: [a]}\n"}, want: "at most 3"},
	{name: "user writes climb", change: []string{"user: {folder: .claude, writes: [\"../**\"]}\n"}, want: "component ..", lenient: true},
	{name: "P14 user settings by wildcard", change: []string{"user: {folder: .claude, writes: [\"settings*.json\"]}\n"}, want: "name each file", lenient: true},
	{name: "P14 user hooks", change: []string{"user: {folder: .claude, writes: [\"hooks/**\"]}\n"}, want: "name each file", lenient: true},

	{name: "aliases", change: []string{"abi: 1", "abi: &a 1"}, want: "anchors", lenient: true},
	{name: "brackets", change: []string{"[install]", strings.Repeat("[", 2000)}, want: "YAML tokens", lenient: true},
	{name: "not yaml", change: []string{"name: demo", "name: [demo"}, want: "extension.yaml", lenient: true},
	{name: "nothing", change: []string{good, ""}, want: "name"},
	{name: "a list", change: []string{good, "[]"}, want: "extension.yaml"},
}

func manifestText(t testing.TB, change []string) string {
	t.Helper()
	if len(change) == 1 {
		return good + change[0]
	}
	text := good
	for i := 0; i+1 < len(change); i += 2 {
		changed := strings.Replace(text, change[i], change[i+1], 1)
		if changed == text {
			t.Fatalf("%q: nothing was replaced", change[i])
		}
		text = changed
	}
	return text
}

func TestManifests(t *testing.T) {
	for _, c := range manifests {
		m, err := ParseManifest([]byte(manifestText(t, c.change)))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && err == nil:
			t.Errorf("%s: took %+v", c.name, m)
		case c.want != "" && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, which does not say %q", c.name, err, c.want)
		}
	}
}

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "demo" || m.Tier != TierWASM || m.Encoding != EncodingCBOR || !m.Grant().MayWrite(".demo/x") || m.Grant().MayWrite("x") || m.SHA256 != nil {
		t.Errorf("got %+v", m)
	}
	if m, err = ParseManifest([]byte(full)); err != nil {
		t.Fatal(err)
	}
	digest, _ := abi.ParseDigest(strings.Repeat("0123456789abcdef", 4))
	if m.Version != "1.10" || m.Kind != abi.KindTarget || m.ABI != 1 || *m.SHA256 != digest || m.License != "Apache-2.0 OR MIT" || m.Description == "" ||
		!slices.Equal(m.Actions, []string{"install", "uninstall"}) || len(m.Contents) != 1 || len(m.Writes) != 2 {
		t.Errorf("got %+v", m)
	}
	want := []string{"writes: .demo/**", "writes: .mcp.json", "reads: demo.toml", "capabilities: symlink:replace"}
	if got := m.Grant().Strings(); !slices.Equal(got, want) || m.Grant().Folder() != "" {
		t.Errorf("asks for %q, want %q", got, want)
	}
	if got := m.User.Grant().Strings(); !slices.Equal(got, []string{"writes: skills/*/**", "capabilities: symlink:replace"}) || m.User.Grant().Folder() != ".demo" {
		t.Errorf("asks in user scope for %q", got)
	}
	limits := abi.Limits{
		Plan: 1 << 20, Request: 2 << 20, Intents: 100, Content: 65536, NewEntries: 10, Messages: 5, Diagnostics: 1024, GuestMemory: 64 << 20, Deadline: 500 * time.Millisecond,
	}
	if m.Limits != limits {
		t.Errorf("got limits %+v, want %+v", m.Limits, limits)
	}
	params := []Param{
		{Name: "dry", Type: ParamBool, Default: false},
		{Name: "level", Type: ParamInt, Default: int64(3), Description: "How much", Enum: []abi.Param{int64(1), int64(2), int64(3)}},
		{Name: "style", Type: ParamText, Required: true},
	}
	if !slices.EqualFunc(m.Params, params, func(a, b Param) bool {
		return a.Name == b.Name && a.Type == b.Type && a.Required == b.Required && a.Default == b.Default && a.Description == b.Description && slices.Equal(a.Enum, b.Enum)
	}) {
		t.Errorf("got parameters %+v, want %+v", m.Params, params)
	}
	if err := m.CheckArtifact([]byte("x")); err == nil || !strings.Contains(err.Error(), digest.String()) {
		t.Errorf("another artifact: %v", err)
	}
	sum := abi.DigestOf([]byte("x"))
	m.SHA256 = &sum
	if err := m.CheckArtifact([]byte("x")); err != nil {
		t.Error(err)
	}
	m.SHA256 = nil
	if err := m.CheckArtifact([]byte("y")); err != nil {
		t.Error(err)
	}
}

// A manifest can only tighten (X11): whatever the host runs under, no limit gets higher.
func TestTighten_X11(t *testing.T) {
	m, err := ParseManifest([]byte(good + "limits: {plan: 1 MiB, deadline: 10s, messages: 900}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := m.Tighten(abi.DefaultLimits())
	want := abi.DefaultLimits()
	want.Plan, want.Deadline, want.Messages = 1<<20, 10*time.Second, 900
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	low, err := abi.Limits{Plan: 1000, Messages: 1}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Tighten(low); got.Plan != 1000 || got.Messages != 1 || got.Deadline != 10*time.Second {
		t.Errorf("the host's own limits were raised to %+v", got)
	}
	for _, f := range limitFields {
		if high, def := abi.HardLimits(), abi.DefaultLimits(); number(f.get(&high)) < number(f.get(&def)) || number(f.get(&def)) == 0 {
			t.Errorf("limit %q gets at another field", f.name)
		}
	}
}

func TestSourceCapabilities(t *testing.T) {
	m, err := ParseManifest([]byte(goodSource + "writes: [\"mod/**\"]\nreads: [a]\ncapabilities: [\"net.http:example.com/x\", net.git, \"symlink:replace\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := m.Grant()
	if !g.MayFetch("example.com", "/x/y") || g.MayFetch("example.com", "/") || !g.MayClone("any.example", "/") || !g.LiteralURLsOnly() || g.MayRunUnconfined() || !g.MayReplaceSymlink() {
		t.Errorf("got %v", g)
	}
}

func TestParseParams(t *testing.T) {
	m, err := ParseManifest([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given map[string]string
		want  map[string]abi.Param
		err   string
	}{
		{map[string]string{"style": "x"}, map[string]abi.Param{"style": "x", "level": int64(3), "dry": false}, ""},
		{map[string]string{"style": "", "level": "1", "dry": "true"}, map[string]abi.Param{"style": "", "level": int64(1), "dry": true}, ""},
		{nil, nil, `"style"`},
		{map[string]string{"style": "x", "levle": "1"}, nil, `did you mean "level"`},
		{map[string]string{"style": "x", "nonsense": "1"}, nil, "it takes dry, level, style"},
		{map[string]string{"style": "x", "level": "9"}, nil, "is not among 1, 2, 3"},
		{map[string]string{"style": "x", "level": "1.0"}, nil, "whole number"},
		{map[string]string{"style": "x", "dry": "yes"}, nil, "true or false"},
		{map[string]string{"style": "a\x00b"}, nil, "control character"},
		{map[string]string{"style": "\xff"}, nil, "UTF-8"},
		{map[string]string{"style": strings.Repeat("a", 5000)}, nil, "at most 4096"},
	} {
		got, err := m.ParseParams(c.given)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || !maps.Equal(got, c.want) {
			t.Errorf("%q: got %v, %v, want %v, %q", c.given, got, err, c.want, c.err)
		}
	}
	none, err := ParseManifest([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := none.ParseParams(nil); err != nil || len(got) != 0 {
		t.Errorf("no parameters: got %v, %v", got, err)
	}
	if _, err := none.ParseParams(map[string]string{"a": "b"}); err == nil || !strings.Contains(err.Error(), "it takes none") {
		t.Errorf("no parameters: %v", err)
	}
	catalog := strings.NewReplacer("kind: target", "kind: catalog", "[install]", "[search]", "writes: [\".demo/**\"]\n", "params: {query: {type: text}}\n").Replace(good)
	if _, err := ParseManifest([]byte(catalog)); err == nil || !strings.Contains(err.Error(), "the host sets it") {
		t.Errorf("a parameter that the host sets: %v", err)
	}
}

// FuzzManifest: the parser never panics, and what it takes holds what it promises: a name and a version that can be folders,
// an action, no path that a wildcard grants among guarded ones, nothing unconfined, no limit above the default, parameters that
// parse with their own defaults. Taken again, it is the same.
func FuzzManifest(f *testing.F) {
	f.Add(full)
	f.Add(goodSource + "capabilities: [\"net.http:a.example/x\"]\n")
	for _, c := range manifests {
		f.Add(manifestText(f, c.change))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseManifest([]byte(text))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x00\x1b") {
				t.Errorf("the error %q holds a control character", err)
			}
			return
		}
		if CheckName(m.Name) != nil || CheckVersion(m.Version) != nil || abi.CheckName(m.Artifact) != nil || len(m.Actions) == 0 || m.Tier != TierWASM || m.Encoding != EncodingCBOR {
			t.Errorf("took %+v", m)
		}
		sets := []grant.Set{m.Grant()}
		if m.User != nil {
			sets = append(sets, m.User.Grant())
			if err := checkFolder(m.User.Folder); err != nil || m.Kind != abi.KindTarget {
				t.Errorf("took the folder %q: %v", m.User.Folder, err)
			}
		}
		for _, s := range sets {
			if s.MayRunUnconfined() {
				t.Errorf("%v is unconfined", s)
			}
			for _, w := range s.Rights().Writes {
				g, err := grant.ParseGlob(w)
				if err != nil {
					t.Errorf("took %q: %v", w, err)
				}
				if _, ok := s.GuardedGlob(g); ok && !g.Literal() {
					t.Errorf("took %q, which lies among guarded paths", w)
				}
			}
			for _, p := range []string{".mcp.json", "settings.json", ".claude/settings.json", ".envrc", ".github/workflows/x.yml"} {
				if _, guarded := s.Guarded(p); guarded && s.MayWrite(p) && !slices.Contains(s.Rights().Writes, p) {
					t.Errorf("%v grants %q", s, p)
				}
			}
		}
		if _, err := m.Limits.Resolve(); err != nil {
			t.Error(err)
		}
		if got := m.Tighten(abi.DefaultLimits()); number(&got.Plan) > abi.DefaultLimits().Plan || got.Deadline > abi.DefaultLimits().Deadline {
			t.Errorf("limits raised to %+v", got)
		}
		given := map[string]string{}
		for _, p := range m.Params {
			if p.Required {
				given[p.Name] = map[ParamType]string{ParamInt: "1", ParamBool: "true", ParamText: "x"}[p.Type]
			}
			if len(p.Enum) > 0 && p.Required {
				delete(given, p.Name)
			}
		}
		if values, err := m.ParseParams(given); err == nil {
			for _, p := range m.Params {
				if v, ok := values[p.Name]; ok && p.allows(v) != nil {
					t.Errorf("parameter %q is %v", p.Name, v)
				}
			}
		}
		again, err := ParseManifest([]byte(text))
		if err != nil || !slices.Equal(again.Grant().Lines(), m.Grant().Lines()) {
			t.Errorf("parsed again: %+v, %v", again, err)
		}
	})
}
