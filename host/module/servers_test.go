package module_test

import (
	"testing"

	"github.com/lola-ext/lola/host/module"
)

// TestServersSay: a server in another assistant's words is the module's own; with anything more or other in it, it is not.
func TestServersSay(t *testing.T) {
	servers := module.ServersOf([]module.Run{{Path: "mcps.json", Text: `{"mcpServers": {
		"a": {"command": "${BIN:-npx}", "args": ["-y", "${env:HOME}/x"], "env": {"T": "${T}"}, "cwd": "tools", "timeout": 3},
		"b/c": {"url": "https://b.example", "headers": {"A": "Bearer ${B}"}, "includeTools": ["x"]}
	}}`}})
	if len(servers) != 2 {
		t.Fatalf("read %v", servers)
	}
	for _, tt := range []struct {
		at, value string
		want      bool
	}{
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}, "timeout": 3}`, true},
		{"/servers/a", `{"type": "stdio", "command": "${env:BIN}", "args": ["-y", "${env:HOME}/x"], "env": {"T": "${env:T}"}, "cwd": "tools"}`, true},
		{"/mcp/a", `{"type": "local", "command": ["{env:BIN}", "-y", "{env:HOME}/x"], "environment": {"T": "{env:T}"}}`, true},
		{"/mcpServers/b~1c", `{"httpUrl": "https://b.example", "headers": {"A": "Bearer ${B}"}, "includeTools": ["x"]}`, true},
		{"/mcpServers/b~1c", `{"type": "http", "url": "https://b.example", "headers": {"A": "Bearer ${B}"}, "tools": ["*"]}`, true},

		{"/mcpServers/x", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}}`, false},
		{"/hooks/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}}`, false},
		{"/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-evil}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}}`, false},
		{"/mcpServers/a", `{"command": "-y", "args": ["${BIN:-npx}", "${HOME}/x"], "env": {"T": "${T}"}}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y"], "env": {"T": "${T}"}}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"]}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}", "LD_PRELOAD": "x"}}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}, "cwd": "/"}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}, "trust": true}`, false},
		{"/mcpServers/a", `{"command": "${BIN:-npx}", "args": ["-y", "${HOME}/x"], "env": {"T": "${T}"}, "url": "https://evil.example"}`, false},
		{"/mcpServers/b~1c", `{"url": "https://b.example", "headers": {"A": "Bearer ${C}"}}`, false},
		{"/mcpServers/b~1c", `{"url": "https://b.example"}`, false},
		{"/mcpServers/b~1c", `{"headers": {"A": "Bearer ${B}"}, "command": "evil"}`, false},
		{"/mcpServers/b~1c", `"https://b.example"`, false},
		{"/mcpServers/b~1c", `{} {}`, false},
	} {
		if got := servers.Say(tt.at, tt.value); got != tt.want {
			t.Errorf("%s: %s: got %v", tt.at, tt.value, got)
		}
	}
	for name, runs := range map[string][]module.Run{
		"none": nil, "another file": {{Path: "a.md", Text: `{"mcpServers": {"a": {}}}`}}, "not shown": {{Path: "mcps.json", Text: "(70000 bytes, too long to be shown)"}},
	} {
		if servers := module.ServersOf(runs); servers.Say("/mcpServers/a", "{}") {
			t.Errorf("%s: it says something", name)
		}
	}
}
