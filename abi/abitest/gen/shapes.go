package main

import "fmt"

// A shape is one kind of map of the wire with every key it may have, and a way to make a whole payload around it.
type shape struct {
	name     string
	subject  string
	full     object            // every key, valid, sorted
	required []string          // keys whose absence has class missing-key
	either   []string          // keys of which exactly one is due: absence of all, or two, has class exclusive
	wrap     func(m node) node // the payload around it
}

func header(count int, more ...pair) node {
	o := object{{"abi", uintOf(1)}, {"count", uintOf(uint64(count))}}
	return append(o, more...).sorted().node()
}

// plan is a header and the intents.
func plan(intents ...node) node {
	return sequence(append([]node{header(len(intents))}, intents...)...)
}

func planWith(key string, value node) node { return header(0, pair{key, value}) }

func intent(o object) node { return plan(o.node()) }

var (
	writeContent = object{{"op", textOf("write")}, {"path", textOf("a/b.md")}, {"mode", uintOf(0o644)},
		{"content", bytesOf("hello\n")}, {"expect", digestOf(32)}, {"replace_symlink", trueNode}}.sorted()
	writeModule = object{{"op", textOf("write")}, {"path", textOf("a/b.md")}, {"mode", uintOf(0o755)},
		{"module", textOf("skills/x/SKILL.md")}, {"expect", textOf("absent")}}.sorted()
	editJSON = object{{"op", textOf("edit")}, {"path", textOf("a.json")}, {"format", textOf("json")},
		{"edits", arrayOf(jsonEdit.node())}}.sorted()
	jsonEdit  = object{{"at", textOf("/servers/x")}, {"value", textOf("y")}}.sorted()
	editBlock = object{{"op", textOf("edit")}, {"path", textOf("AGENTS.md")}, {"format", textOf("block")},
		{"id", textOf("my.module-1")}, {"text", textOf("Be kind.\n")}}.sorted()
	remove = object{{"op", textOf("delete")}, {"path", textOf("old")}}.sorted()
	rename = object{{"op", textOf("rename")}, {"from", textOf("a")}, {"to", textOf("b")}}.sorted()
	fetch  = object{{"op", textOf("fetch")}, {"url", textOf("https://example.com/x.tgz")}, {"method", textOf("GET")},
		{"headers", arrayOf(arrayOf(textOf("Accept"), textOf("*/*")))}, {"dest", textOf("x.tgz")},
		{"digest", digestOf(32)}}.sorted()
	clone = object{{"op", textOf("clone")}, {"repo", textOf("https://example.com/r.git")}, {"ref", textOf("main")},
		{"depth", uintOf(1)}, {"dest", textOf("r")},
		{"commit", textOf("0123456789abcdef0123456789abcdef01234567")}}.sorted()

	message = object{{"level", textOf("warn")}, {"text", textOf("take care")}}.sorted()
	entry   = object{{"name", textOf("m")}, {"source", textOf("https://example.com/m.git")},
		{"version", textOf("1.0.0")}, {"description", textOf("does m")}}.sorted()
	entries  = object{{"entries", arrayOf(entry.node())}}
	resolved = object{{"source", textOf("https://example.com/m.git")}, {"version", textOf("1.0.0")},
		{"digest", digestOf(32)}}.sorted()
	finding = object{{"rule", textOf("r1")}, {"severity", textOf("high")}, {"text", textOf("bad")},
		{"path", textOf("a.sh")}}.sorted()
	scan       = object{{"verdict", textOf("warn")}, {"findings", arrayOf(finding.node())}}.sorted()
	fullHeader = object{{"abi", uintOf(1)}, {"count", uintOf(0)}, {"result", resolved.with("version", textOf("2.0.0")).node()},
		{"messages", arrayOf(message.node())}}.sorted()

	identity  = object{{"name", textOf("claude-code")}, {"version", textOf("0.1.0")}}.sorted()
	fileGiven = object{{"path", textOf("a.md")}, {"mode", uintOf(0o644)}, {"size", uintOf(3)},
		{"digest", digestOf(32)}, {"content", bytesOf("hi\n")}}.sorted()
	fileWithheld = fileGiven.without("content").with("path", textOf("b.bin"))
	module       = object{{"name", textOf("git-doctor")}, {"version", textOf("1.2.3")}, {"digest", digestOf(32)},
		{"files", arrayOf(fileGiven.node(), fileWithheld.node())}}.sorted()
	inputFile = object{{"path", textOf("a.json")}, {"state", textOf("file")}, {"mode", uintOf(0o600)},
		{"content", bytesOf("{}\n")}, {"digest", digestOf(32)}}.sorted()
	inputAbsent    = object{{"path", textOf("b.json")}, {"state", textOf("absent")}}.sorted()
	params         = object{{"name", textOf("x")}, {"deep", trueNode}, {"n", negOf(4)}}.sorted()
	minimalRequest = object{{"abi", uintOf(1)}, {"action", textOf("list")}, {"extension", identity.node()}}.sorted()
	request        = object{{"abi", uintOf(1)}, {"action", textOf("install")}, {"extension", identity.node()},
		{"scope", textOf("project")}, {"params", params.node()}, {"module", module.node()},
		{"inputs", arrayOf(inputFile.node(), inputAbsent.node())}}.sorted()
)

func bare(m node) node { return m }

func inResult(m node) node { return planWith("result", m) }

func writeShape(name string, full object) shape {
	return shape{name: name, subject: "plan", full: full, required: []string{"op", "path", "mode"},
		either: []string{"content", "module"}, wrap: func(m node) node { return plan(m) }}
}

// shapes lists every kind of map. The key-by-key vectors are made from it.
var shapes = []shape{
	{name: "header", subject: "plan", full: fullHeader, required: []string{"abi", "count"}, wrap: bare},
	{name: "message", subject: "plan", full: message, required: []string{"level", "text"},
		wrap: func(m node) node {
			return planWith("messages", arrayOf(m, message.with("text", textOf("and again")).node()))
		}},
	{name: "entries", subject: "plan", full: entries, either: []string{"entries"}, wrap: inResult},
	{name: "entry", subject: "plan", full: entry, required: []string{"name", "source"},
		wrap: func(m node) node {
			return planWith("result", object{{"entries", arrayOf(m, entry.with("name", textOf("other")).node())}}.node())
		}},
	{name: "resolved", subject: "plan", full: resolved, either: []string{"source"}, wrap: inResult},
	{name: "scan", subject: "plan", full: scan, required: []string{"findings"}, either: []string{"verdict"}, wrap: inResult},
	{name: "finding", subject: "plan", full: finding, required: []string{"rule", "severity", "text"},
		wrap: func(m node) node {
			return planWith("result", scan.with("findings", arrayOf(m, finding.with("rule", textOf("r2")).node())).node())
		}},
	writeShape("write", writeContent),
	writeShape("write-module", writeModule),
	{name: "edit-json", subject: "plan", full: editJSON, required: []string{"op", "path", "format", "edits"},
		wrap: func(m node) node { return plan(m) }},
	{name: "json-edit", subject: "plan", full: jsonEdit, required: []string{"at"},
		wrap: func(m node) node {
			return intent(editJSON.with("edits", arrayOf(m, jsonEdit.with("at", textOf("/other")).node())))
		}},
	{name: "edit-block", subject: "plan", full: editBlock, required: []string{"op", "path", "format", "id"},
		wrap: func(m node) node { return plan(m) }},
	{name: "delete", subject: "plan", full: remove, required: []string{"op", "path"}, wrap: func(m node) node { return plan(m) }},
	{name: "rename", subject: "plan", full: rename, required: []string{"op", "from", "to"}, wrap: func(m node) node { return plan(m) }},
	{name: "fetch", subject: "plan", full: fetch, required: []string{"op", "url", "method", "dest"},
		wrap: func(m node) node { return plan(m) }},
	{name: "clone", subject: "plan", full: clone, required: []string{"op", "repo", "ref", "dest"},
		wrap: func(m node) node { return plan(m) }},
	{name: "request", subject: "request", full: request, required: []string{"abi", "action", "extension"}, wrap: bare},
	{name: "extension", subject: "request", full: identity, required: []string{"name", "version"}, wrap: func(m node) node { return minimalRequest.with("extension", m).node() }},
	{name: "module", subject: "request", full: module, required: []string{"name", "version", "digest", "files"}, wrap: func(m node) node { return minimalRequest.with("module", m).node() }},
	{name: "file", subject: "request", full: fileGiven, required: []string{"path", "mode", "size", "digest"},
		wrap: func(m node) node {
			return minimalRequest.with("module", module.with("files", arrayOf(m)).node()).node()
		}},
	{name: "input", subject: "request", full: inputFile, required: []string{"path", "state"},
		wrap: func(m node) node { return minimalRequest.with("inputs", arrayOf(m)).node() }},
}

// wrongType returns a value of a type that the key does not have.
func wrongType(key string) node {
	switch key {
	case "abi", "count", "depth", "mode", "size":
		return textOf("1")
	case "content", "digest":
		return textOf("x")
	case "replace_symlink":
		return uintOf(1)
	case "value":
		return bytesOf("x")
	case "messages", "entries", "findings", "edits", "headers", "files", "inputs":
		return object{}.node()
	case "result", "extension", "module", "params":
		return arrayOf()
	default: // text, and expect, which is text or a digest
		return uintOf(7)
	}
}

// shapeVectors makes, for each kind of map: the full map, each optional key left out and null, each required key missing, each key with a wrong type, an unknown key, a key twice, and keys out of order.
func shapeVectors() []vector {
	var out []vector
	for _, s := range shapes {
		add := func(defect, expect, comment string, o object) {
			out = append(out, vector{name: s.name + "_" + defect, expect: expect, form: "cbor", subject: s.subject,
				comment: comment, body: s.wrap(o.node())})
		}
		add("full", valid, "every key that there is", s.full)
		add("unknown_key", "unknown-key", "a key that this map does not have", s.full.with("zz", uintOf(0)))
		first := s.full[0]
		add("duplicate_"+first.key, "duplicate-key", "D04: a key twice", append(object{first}, s.full...))
		if len(s.full) > 1 {
			add("unsorted_keys", "unsorted-key", "the first key comes last", append(s.full.without(first.key), first))
		}
		for _, p := range s.full {
			add("type_"+p.key, "type", fmt.Sprintf("%q has another type", p.key), s.full.with(p.key, wrongType(p.key)))
			switch {
			case in(s.required, p.key):
				add("missing_"+p.key, "missing-key", fmt.Sprintf("%q is required", p.key), s.full.without(p.key))
			case in(s.either, p.key):
				add("missing_"+p.key, "exclusive", fmt.Sprintf("neither %q nor what may stand for it", p.key), s.full.without(p.key))
			case p.key == "value":
				add("without_value", valid, "no value: what is at the pointer goes", s.full.without(p.key))
			default:
				add("null_"+p.key, "null", fmt.Sprintf("%q is null, not left out", p.key), s.full.with(p.key, nullNode))
				add("without_"+p.key, valid, fmt.Sprintf("%q is optional", p.key), s.full.without(p.key))
			}
		}
	}
	return out
}

func in(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
