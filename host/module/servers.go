package module

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Servers are the MCP servers of a module, by name, as its mcps.json shows them. Nil is none.
type Servers map[string]map[string]any

// ServersOf returns the servers that are among what a module shows. A file that cannot be read, or is not shown whole, has
// none.
func ServersOf(runs []Run) Servers {
	for _, r := range runs {
		var file struct {
			Servers Servers `json:"mcpServers"`
		}
		if r.Path == serversFile && decode(r.Text, &file) {
			return file.Servers
		}
	}
	return nil
}

// Say reports whether a value that goes to a JSON pointer of an assistant's file is one of the servers in that assistant's own
// words: the same program, arguments, environment, address and headers, and nothing that the module does not say. It is for
// not showing a thing twice: what cannot be told is shown again.
func (s Servers) Say(at, value string) bool {
	parts := strings.Split(at, "/")
	if len(parts) != 3 || !slices.Contains([]string{"mcpServers", "servers", "mcp"}, parts[1]) {
		return false
	}
	said, ok := s[strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[2])]
	var got map[string]any
	if !ok || !decode(value, &got) || !same(program(got), program(said)) {
		return false
	}
	for _, key := range []string{"env", "headers"} {
		if pairs, _ := said[key].(map[string]any); len(pairs) > 0 && got[key] == nil && got[renamed[key]] == nil {
			return false
		}
	}
	for key, v := range got {
		switch key {
		case "command", "args":
			continue // compared above
		case "type":
			if kind, _ := v.(string); !slices.Contains([]string{"stdio", "http", "sse", "local", "remote"}, kind) {
				return false
			}
			continue
		case "environment":
			key = "env"
		case "httpUrl":
			key = "url"
		case "tools":
			if key = "includeTools"; same(v, []any{"*"}) {
				continue
			}
		case "env", "url", "headers", "cwd", "envFile", "timeout", "description", "includeTools", "excludeTools":
		default:
			return false
		}
		if !same(v, said[key]) {
			return false
		}
	}
	return true
}

// renamed is what some assistants call a field.
var renamed = map[string]string{"env": "environment"}

// program is the command line of a server: OpenCode has it in one list.
func program(server map[string]any) any {
	all, ok := server["command"].([]any)
	if !ok && server["command"] != nil {
		all = []any{server["command"]}
	}
	args, ok := server["args"].([]any)
	if !ok && server["args"] != nil {
		args = []any{server["args"]}
	}
	return append(slices.Clone(all), args...)
}

// A placeholder of a variable is written ${VAR} or ${env:VAR}, with a default or without, and {env:VAR} by OpenCode. Compiling
// these takes as long as most of a start, and few commands need them.
var (
	placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\{env:([A-Za-z_][A-Za-z0-9_]*)\}`) })
	defaulted   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*):-[^{}]*\}`) })
)

// same compares a value with what the module says. Placeholders may be written in another way, and lack their default where an
// assistant knows none; none may have another.
func same(got, said any) bool {
	switch got := got.(type) {
	case string:
		said, ok := said.(string)
		if !ok {
			return false
		}
		got, said = placeholder().ReplaceAllString(got, "$${$1}"), placeholder().ReplaceAllString(said, "$${$1}")
		return got == said || got == defaulted().ReplaceAllString(said, "$${$1}")
	case []any:
		said, ok := said.([]any)
		return ok && slices.EqualFunc(got, said, same)
	case map[string]any:
		said, ok := said.(map[string]any)
		if !ok || len(got) != len(said) {
			return false
		}
		for key, v := range got {
			if w, ok := said[key]; !ok || !same(v, w) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, said)
}

// decode reads one JSON value and nothing behind it, numbers as they are written.
func decode(text string, v any) bool {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if d.Decode(v) != nil {
		return false
	}
	_, err := d.Token()
	return err == io.EOF
}
