package extension

import (
	"strings"
	"testing"
)

const good = `name: demo
version: 1.2.3
kind: target
abi: 1
artifact: demo.wasm
actions: [install]
writes: [".demo/**"]
`

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "demo" || m.Tier != TierWASM || !m.Grant().MayWrite(".demo/x") || m.Grant().MayWrite("x") {
		t.Errorf("got %+v", m)
	}
}

func TestParseManifestRefuses(t *testing.T) {
	for name, change := range map[string][2]string{
		"unknown field":     {"abi: 1", "abi: 1\nconfine: off"}, // X11 waits for the field; until then it is no field
		"duplicate field":   {"abi: 1", "abi: 1\nabi: 1"},
		"abi of the future": {"abi: 1", "abi: 2"},
		"unknown kind":      {"kind: target", "kind: everything"},
		"foreign action":    {"[install]", "[search]"},
		"no action":         {"[install]", "[]"},
		"native tier":       {"abi: 1", "abi: 1\ntier: native"},
		"braces":            {".demo/**", ".demo/{a,b}"},
		"glob that climbs":  {".demo/**", "../**"},
		"artifact path":     {"demo.wasm", "../demo.wasm"},
		"P15 name":          {"name: demo", "name: ../../x"},
		"P15 version":       {"1.2.3", "../../x"},
		"aliases":           {"abi: 1", "abi: &a 1"},
		"brackets":          {"[install]", strings.Repeat("[", 2000)},
		"not yaml":          {"name: demo", "name: [demo"},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if text == good {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if m, err := ParseManifest([]byte(text)); err == nil {
			t.Errorf("%s: took %+v", name, m)
		}
	}
}
