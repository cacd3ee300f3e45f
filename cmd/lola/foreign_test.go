package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestO02Gutter: every line of foreign text stands behind the name of where it comes from, whatever ends it.
func TestO02Gutter(t *testing.T) {
	for _, text := range []string{"::error::x", "one\n::set-output name=a::b\n##[command]c", "\n\n::x\n", "one\r::x", "one\r\n::x\r\n", "\u2028::x", "\v::x\f::y\x85::z", "one\n\r\r\n::x"} {
		var out bytes.Buffer
		(&app{stderr: &out}).gutter("cursor", text)
		lines := 0
		for line := range strings.Lines(out.String()) {
			lines++
			if !strings.HasPrefix(line, "  cursor │ ") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\v\f") {
				t.Errorf("gutter of %+q has the line %+q", text, line)
			}
		}
		if lines == 0 {
			t.Errorf("gutter of %+q prints nothing", text)
		}
	}
}
